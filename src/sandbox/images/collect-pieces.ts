import { access, lstat, readdir, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { ROOM_PATHS } from '../../engine/ports/container-runtime.ts';
import { findProgram, librariesOf, outputOf } from './host-programs.ts';
import { type ImageEntry, type ImagePieces, MissingPiece } from './image-entry.ts';

/** Every entry of the image's layer, parents before children, one per path. Throws `MissingPiece`. */
export async function collectPieces(pieces: ImagePieces): Promise<readonly ImageEntry[]> {
  const groups: ImageEntry[][] = [skeleton(), await shell(), await certificates()];
  if (pieces.node || pieces.npm) groups.push(await program(process.execPath, '/usr/local/bin/node'));
  if (pieces.npm) groups.push(await npm());
  if (pieces.git) groups.push(await git());
  for (const [hostPath, imagePath] of Object.entries(pieces.copies ?? {})) {
    groups.push(await copyTree(hostPath, imagePath));
  }
  for (const [linkPath, target] of Object.entries(pieces.links ?? {})) {
    groups.push([{ kind: 'link', path: linkPath, target }]);
  }
  return withParents(groups.flat());
}

/** Users by name only for programs that look themselves up; ids are what counts. */
function skeleton(): ImageEntry[] {
  const text = (file: string, lines: string[]): ImageEntry => ({
    kind: 'text',
    path: file,
    text: `${lines.join('\n')}\n`,
    executable: false,
  });
  const directory = (dir: string, mode = 0o755): ImageEntry => ({ kind: 'directory', path: dir, mode });
  return [
    text('/etc/passwd', [
      'root:x:0:0:root:/root:/sbin/nologin',
      `agent:x:1000:1000:agent:${ROOM_PATHS.home}:/bin/sh`,
      'nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin',
    ]),
    text('/etc/group', ['root:x:0:', 'agent:x:1000:', 'nogroup:x:65534:']),
    text('/etc/nsswitch.conf', ['passwd: files', 'group: files', 'hosts: files dns']),
    directory(ROOM_PATHS.source),
    directory(ROOM_PATHS.workspace),
    directory(ROOM_PATHS.bridge),
    directory(ROOM_PATHS.sockets),
    { kind: 'directory', path: ROOM_PATHS.home, mode: 0o755, owner: 1000 },
    directory(ROOM_PATHS.temp, 0o1777),
    directory('/var/tmp', 0o1777),
  ];
}

async function shell(): Promise<ImageEntry[]> {
  const busybox = await findProgram('busybox', 'busybox-static');
  if ((await librariesOf(busybox)).size > 0) throw new MissingPiece('a static busybox', 'busybox-static');
  const applets = (await outputOf(busybox, ['--list'])).split('\n').filter((name) => /^[\w[.-]+$/.test(name));
  const links = applets.filter((name) => name !== 'busybox');
  return [
    { kind: 'copy', path: '/bin/busybox', hostPath: await realpath(busybox), executable: true },
    ...links.map((name): ImageEntry => ({ kind: 'link', path: `/bin/${name}`, target: 'busybox' })),
    // Scripts of npm packages start with `#!/usr/bin/env node`.
    { kind: 'link', path: '/usr/bin/env', target: '../../bin/busybox' },
  ];
}

async function certificates(): Promise<ImageEntry[]> {
  const bundle = '/etc/ssl/certs/ca-certificates.crt';
  await mustExist(bundle, 'a bundle of CA certificates', 'ca-certificates');
  return [{ kind: 'copy', path: bundle, hostPath: await realpath(bundle), executable: false }];
}

async function program(hostPath: string, imagePath: string): Promise<ImageEntry[]> {
  const file = await realpath(hostPath);
  const libraries = await librariesOf(file);
  return [
    { kind: 'copy', path: imagePath, hostPath: file, executable: true },
    ...[...libraries].map(([at, from]): ImageEntry => ({ kind: 'copy', path: at, hostPath: from, executable: true })),
  ];
}

async function npm(): Promise<ImageEntry[]> {
  const prefix = path.dirname(path.dirname(await realpath(process.execPath)));
  const candidates = [path.join(prefix, 'lib/node_modules/npm'), '/usr/lib/node_modules/npm', '/usr/share/nodejs/npm'];
  for (const candidate of candidates) {
    if (!(await exists(path.join(candidate, 'bin/npm-cli.js')))) continue;
    const home = '/usr/local/lib/node_modules/npm';
    const bin = (name: string): ImageEntry => ({
      kind: 'link',
      path: `/usr/local/bin/${name}`,
      target: `../lib/node_modules/npm/bin/${name}-cli.js`,
    });
    return [...(await copyTree(candidate, home)), bin('npm'), bin('npx')];
  }
  throw new MissingPiece('npm', 'npm');
}

/** Parts of git that talk to networks or need Perl: useless in a room without a network. */
const GIT_LEFT_OUT =
  /^(git-(daemon|http-|imap-send|shell|remote-|instaweb|add--interactive|cvs|svn|send-email)|scalar)/;

async function git(): Promise<ImageEntry[]> {
  const executable = await findProgram('git', 'git');
  const execPath = (await outputOf(executable, ['--exec-path'])).trim();
  const entries = await program(executable, '/usr/bin/git');
  const real = await realpath(executable);
  for (const name of (await readdir(execPath)).sort()) {
    if (GIT_LEFT_OUT.test(name)) continue;
    const hostPath = await realpath(path.join(execPath, name));
    const imagePath = path.join('/usr/lib/git-core', name);
    if (await sameProgram(hostPath, real)) {
      entries.push({ kind: 'link', path: imagePath, target: '../../bin/git' });
    } else if ((await stat(hostPath)).isFile()) {
      entries.push({ kind: 'copy', path: imagePath, hostPath, executable: true });
    }
  }
  // git looks for its programs where it was compiled to; the link keeps that true wherever that was.
  if (execPath !== '/usr/lib/git-core') entries.push({ kind: 'link', path: execPath, target: '/usr/lib/git-core' });
  entries.push({ kind: 'directory', path: '/usr/share/git-core/templates', mode: 0o755 });
  return entries;
}

/** Git's built-ins are links, hard links or plain copies of one file, depending on who packaged it. */
async function sameProgram(hostPath: string, program: string): Promise<boolean> {
  const [one, other] = await Promise.all([stat(hostPath), stat(program)]);
  if (one.ino === other.ino && one.dev === other.dev) return true;
  return path.basename(hostPath) === 'git' && one.size === other.size;
}

async function copyTree(hostPath: string, imagePath: string): Promise<ImageEntry[]> {
  const found = await lstat(hostPath).catch((cause: unknown) => {
    throw new MissingPiece(hostPath, 'none; check the path', cause);
  });
  if (found.isSymbolicLink()) return [{ kind: 'link', path: imagePath, target: await readlink(hostPath) }];
  if (found.isFile()) return [{ kind: 'copy', path: imagePath, hostPath, executable: (found.mode & 0o111) !== 0 }];
  if (!found.isDirectory()) return [];
  const entries: ImageEntry[] = [{ kind: 'directory', path: imagePath, mode: 0o755 }];
  for (const name of (await readdir(hostPath)).sort()) {
    entries.push(...(await copyTree(path.join(hostPath, name), path.posix.join(imagePath, name))));
  }
  return entries;
}

/** The first entry of a path wins; parents that nobody named become plain directories; sorted, so that equal pieces make equal layers. */
function withParents(entries: readonly ImageEntry[]): readonly ImageEntry[] {
  const byPath = new Map<string, ImageEntry>();
  for (const entry of entries) {
    if (!byPath.has(entry.path)) byPath.set(entry.path, entry);
  }
  for (const entry of entries) {
    for (let dir = path.posix.dirname(entry.path); dir !== '/'; dir = path.posix.dirname(dir)) {
      if (!byPath.has(dir)) byPath.set(dir, { kind: 'directory', path: dir, mode: 0o755 });
    }
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function mustExist(file: string, piece: string, debianPackage: string): Promise<void> {
  if (!(await exists(file))) throw new MissingPiece(piece, debianPackage);
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
