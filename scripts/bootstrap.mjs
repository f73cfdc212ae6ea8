// Two commands set everything up: `npm run demo` and `npm test` both come here first. Does what is missing, says each
// thing it did, and is quick when there is nothing to do. Node's own modules only: packages may not be installed yet.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [goal, ...rest] = process.argv.slice(2);
const yes = rest.includes('--yes');
const json = rest.includes('--json');
const interactive = Boolean(process.stdin.isTTY && process.stdout.isTTY) && !yes;

checkNode();
await ensurePackages();
if (await ensureGit()) await ensureEngine();
ensureBuild();
process.exitCode = await run(goal, rest);

function say(text) {
  // With --json the standard output belongs to the program's own lines.
  (json ? process.stderr : process.stdout).write(`setup: ${text}\n`);
}

function fail(text) {
  process.stderr.write(`error: ${text}\n`);
  process.exit(1);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 20)) return;
  fail(`Node ${process.versions.node} is too old; install Node 20.20 or newer`);
}

async function ensurePackages() {
  const lock = path.join(root, 'package-lock.json');
  const stamp = path.join(root, 'node_modules', '.roundtable-lock');
  // Native modules belong to one Node ABI: another Node needs them built again.
  const wanted = `${process.versions.modules}\n${readFileSync(lock, 'utf8')}`;
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  say('installing packages (npm ci), about 90 seconds');
  must('npm', ['ci', '--no-audit', '--no-fund'], { env: { ...process.env, npm_config_loglevel: 'error' } });
  writeFileSync(stamp, wanted);
  say('packages are installed');
}

async function ensureGit() {
  if (succeeds('git', ['--version'])) return true;
  if (!isDebianRoot()) fail('git is missing; install git 2.39 or newer');
  await consent('git is missing. Install it with apt-get?');
  apt(['git']);
  return true;
}

async function ensureEngine() {
  if (engineAnswers()) return ensureBusybox();
  if (!isDebianRoot()) {
    if (goal === 'test')
      return say(
        'no container engine answers; tests that need one will say so (install and start Docker or Podman to run them)',
      );
    fail('no container engine answers; install and start Docker (or Podman) and run this again');
  }
  if (!existsSync('/usr/sbin/dockerd') && !existsSync('/usr/bin/dockerd')) {
    await consent('No container engine is installed. Install Docker (docker.io) with apt-get?');
    apt(['docker.io', 'busybox-static', 'ca-certificates']);
    say('Docker is installed');
  }
  ensureBusybox();
  if (engineAnswers()) return;
  await startDocker();
}

function ensureBusybox() {
  if (existsSync('/bin/busybox') || existsSync('/usr/bin/busybox') || !isDebianRoot()) return;
  apt(['busybox-static']);
  say('busybox-static is installed (a piece of the images that are built here)');
}

async function startDocker() {
  await consent('Docker does not run. Start dockerd?');
  rmSync('/var/run/docker.pid', { force: true });
  const log = path.join(os.tmpdir(), 'roundtable-dockerd.log');
  const out = openSync(log, 'a');
  // No bridge and no firewall rules: rooms have no network at all.
  const daemon = spawn('dockerd', ['--iptables=false', '--bridge=none'], {
    detached: true,
    stdio: ['ignore', out, out],
  });
  let ended = false;
  daemon.on('exit', () => {
    ended = true;
  });
  daemon.on('error', () => {
    ended = true;
  });
  for (let i = 0; i < 150 && !ended; i += 1) {
    if (engineAnswers()) {
      daemon.unref();
      say(`dockerd is started (log: ${log})`);
      if (process.env.ROUNDTABLE_DOCKERD_PID_FILE)
        writeFileSync(process.env.ROUNDTABLE_DOCKERD_PID_FILE, String(daemon.pid));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  fail(`dockerd did not start; its log is ${log}`);
}

function ensureBuild() {
  const stamp = path.join(root, 'dist', '.built');
  const built = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  const sources = ['bin', 'src', 'scripts/build.mjs', 'package.json'].map((name) => path.join(root, name));
  if (built > newest(sources)) return;
  say('building the program');
  must(process.execPath, [path.join(root, 'scripts', 'build.mjs')]);
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
}

function newest(paths) {
  const found = spawnSync(
    'find',
    [...paths, '-type', 'f', '-newer', path.join(root, 'dist', '.built'), '-print', '-quit'],
    { encoding: 'utf8' },
  );
  return found.status === 0 && found.stdout === '' ? 0 : Number.POSITIVE_INFINITY;
}

async function run(what, args) {
  if (what === 'demo') return start(process.execPath, [path.join(root, 'dist', 'roundtable.js'), 'demo', ...args]);
  if (what === 'test')
    return start(process.execPath, [
      path.join(root, 'scripts', 'run-tests.mjs'),
      ...args.filter((arg) => arg !== '--yes'),
    ]);
  if (what === 'setup') return 0;
  return fail('usage: bootstrap.mjs demo|test|setup [--yes]');
}

function start(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'inherit', cwd: process.cwd() });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}

async function consent(question) {
  if (!interactive) return;
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await prompt.question(`${question} [Y/n] `);
  prompt.close();
  if (/^n/i.test(answer.trim())) fail('nothing was installed or started; a container engine is needed');
}

function apt(packages) {
  say(`installing ${packages.join(', ')} (apt-get)`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '-q', '--no-install-recommends', ...packages];
  if (spawnSync('apt-get', install, { env, stdio: 'ignore' }).status === 0) return;
  must('apt-get', ['update', '-q'], { env });
  must('apt-get', install, { env });
}

function isDebianRoot() {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && succeeds('apt-get', ['--version']);
}

function engineAnswers() {
  if (succeeds('docker', ['version', '--format', '{{.Server.Version}}'])) return true;
  return succeeds('podman', ['info', '--format', '{{.Host.RemoteSocket.Exists}}']);
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 20_000 }).status === 0;
}

/** Runs a step quietly; its output is shown only when it fails. */
function must(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  if (result.status === 0) return;
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`);
  fail(`${command} ${args.join(' ')} failed`);
}
