import { err, ok, type Result } from '../../engine/domain/result.ts';

export interface ProxyArguments {
  readonly subcommand: 'proxy';
  /** The egress socket that the gateway listens on. */
  readonly socketPath: string;
  /** Port on 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  /** Where the port is written as decimal text once the proxy listens. */
  readonly portFile: string | null;
  readonly command: string;
  readonly args: readonly string[];
}

/** Everything after `--` is the command, element by element: no shell reads it. */
export function parseBridgeArguments(argv: readonly string[]): Result<ProxyArguments, string> {
  const [subcommand, ...rest] = argv;
  if (subcommand !== 'proxy')
    return err(subcommand === undefined ? 'no subcommand' : `unknown subcommand ${subcommand}`);
  const dashes = rest.indexOf('--');
  const [command, ...args] = dashes === -1 ? [] : rest.slice(dashes + 1);
  if (command === undefined) return err('no command after --');

  let socketPath: string | null = null;
  let portFile: string | null = null;
  let port = 0;
  const options = rest.slice(0, dashes);
  for (let index = 0; index < options.length; index += 2) {
    const [name = '', value] = options.slice(index, index + 2);
    if (value === undefined || value === '') return err(`${name} needs a value`);
    if (name === '--socket') socketPath = value;
    else if (name === '--port-file') portFile = value;
    else if (name === '--port') {
      if (!/^[0-9]{1,5}$/.test(value) || Number(value) > 65_535) return err(`--port is no port: ${value}`);
      port = Number(value);
    } else return err(`unknown option ${name}`);
  }
  if (socketPath === null) return err('--socket is missing');
  return ok({ subcommand, socketPath, port, portFile, command, args });
}
