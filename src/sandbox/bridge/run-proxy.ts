import { renameSync, writeFileSync } from 'node:fs';
import type { ProxyArguments } from './arguments.ts';
import { startLoopbackProxy } from './loopback-proxy.ts';
import { runCommand } from './run-command.ts';

/** Starts the loopback proxy, runs the command behind it, and resolves to the command's exit status. */
export async function runProxy(options: ProxyArguments): Promise<number> {
  const proxy = await startLoopbackProxy(options.socketPath, options.port);
  try {
    if (options.portFile !== null) writeWhole(options.portFile, `${proxy.port}\n`);
    return await runCommand(options.command, options.args, proxyEnvironment(process.env, proxy.port));
  } finally {
    proxy.close();
  }
}

/** Only HTTPS leaves, so only HTTPS gets a proxy; an inherited exception list or other proxy would lead nowhere. */
export function proxyEnvironment(inherited: NodeJS.ProcessEnv, port: number): NodeJS.ProcessEnv {
  const url = `http://127.0.0.1:${port}`;
  const others = Object.entries(inherited).filter(([name]) => !/^(?:https?|all|no)_proxy$/i.test(name));
  return { ...Object.fromEntries(others), HTTPS_PROXY: url, https_proxy: url, NO_PROXY: '', no_proxy: '' };
}

/** A reader that waits for the file never sees half of it. */
function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
