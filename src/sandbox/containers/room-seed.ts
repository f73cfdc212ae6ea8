import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pack } from 'tar-stream';
import { ROOM_PATHS } from '../../engine/ports/container-runtime.ts';
import { AGENT_UID, ROOM_PATH } from '../hardening.ts';
import { callEngine } from './engine-call.ts';
import type { EngineConnection } from './engine-connection.ts';
import { type ExecPlace, runToEnd } from './room-exec.ts';
import { failure } from './runtime-failure.ts';
import { workspaceArchive } from './workspace-archive.ts';

const ARCHIVE_TIMEOUT_MS = 120_000;
const SMALL_ARCHIVE_TIMEOUT_MS = 30_000;
const SCRIPT_TIMEOUT_MS = 120_000;

export interface WorkspaceSeed {
  readonly sourceDir: string;
  /** Directory below the workspace where prepared dependencies are mounted, or null. */
  readonly dependencyDir: string | null;
}

/**
 * Fills the workspace with a copy of the source and, if the image has git, one commit of it. The copy is made in the
 * room, by the same program that commits: one engine call instead of two, and no archive to pack and unpack. Where that can't be
 * done (no `cp`, a file that only we may read, a mount in the way) an archive is sent.
 */
export async function seedWorkspace(place: ExecPlace, seed: WorkspaceSeed, signal: AbortSignal): Promise<void> {
  if (await canBeCopiedInside(seed)) {
    const copied = await runWorkspaceScript(place, COPY_SCRIPT + COMMIT_SCRIPT, seed.dependencyDir, signal);
    if (copied.exitCode === 0) return;
    if (copied.exitCode !== COPY_FAILED) throw commitFailed(copied);
  }
  const { engine, containerId } = place;
  const archive = workspaceArchive(seed.sourceDir, seed.dependencyDir);
  await putArchive(engine, containerId, ROOM_PATHS.workspace, archive, ARCHIVE_TIMEOUT_MS, signal);
  const committed = await runWorkspaceScript(place, COMMIT_SCRIPT, seed.dependencyDir, signal);
  if (committed.exitCode !== 0) throw commitFailed(committed);
}

/** Small files of uid 1000 with mode 0400. Keys are absolute paths below the room's home or temp directory. */
export async function seedFiles(
  engine: EngineConnection,
  containerId: string,
  files: Readonly<Record<string, Uint8Array>>,
  signal: AbortSignal,
): Promise<void> {
  const places = [ROOM_PATHS.home, ROOM_PATHS.temp] as const;
  for (const [file] of Object.entries(files)) {
    if (!places.some((place) => isPlainPathBelow(file, place))) {
      throw failure(
        'engine_failed',
        `${file} can't be seeded: it is not a plain path below ${places.join(' or ')}`,
        'choose a path below the home or temp directory of the room',
      );
    }
  }
  // One archive per volume: the engine can't write through the read-only root they are mounted on.
  await Promise.all(
    places.map(async (place) => {
      const own = Object.entries(files).filter(([file]) => file.startsWith(`${place}/`));
      if (own.length === 0) return;
      const relative = own.map(([file, bytes]) => [file.slice(place.length + 1), bytes] as const);
      await putArchive(engine, containerId, place, await smallArchive(relative), SMALL_ARCHIVE_TIMEOUT_MS, signal);
    }),
  );
}

/**
 * The engine makes the place of a mount, and a new volume's top, as root. This gives the directories above it to the agent's user,
 * and, while dependencies are prepared, the top itself. (An archive entry `.` would be passed over by the engine.)
 */
export async function openDependencyPlace(
  engine: EngineConnection,
  containerId: string,
  dependencies: { readonly dir: string; readonly writable: boolean },
  signal: AbortSignal,
): Promise<void> {
  const parts = dependencies.dir.split('/');
  const depth = dependencies.writable ? parts.length : parts.length - 1;
  if (depth === 0) return;
  const archive = pack();
  for (let n = 1; n <= depth; n += 1) {
    const name = parts.slice(0, n).join('/');
    archive.entry({ name, type: 'directory', mode: 0o755, uid: AGENT_UID, gid: AGENT_UID, mtime: new Date() });
  }
  archive.finalize();
  const bytes = await collect(archive);
  await putArchive(engine, containerId, ROOM_PATHS.workspace, bytes, SMALL_ARCHIVE_TIMEOUT_MS, signal);
}

async function putArchive(
  engine: EngineConnection,
  containerId: string,
  target: string,
  archive: Readable | Buffer,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const doing = `copy files to ${target} in container ${containerId.slice(0, 12)}`;
  try {
    await callEngine({ doing, timeoutMs, signal }, async (abortSignal) => {
      const put = engine.docker.getContainer(containerId).putArchive(archive, { path: target, abortSignal });
      if (Buffer.isBuffer(archive)) return put;
      const broken = new Promise<never>((_, reject) => archive.once('error', reject));
      return Promise.race([put, broken]);
    });
  } finally {
    if (!Buffer.isBuffer(archive)) archive.destroy();
  }
}

async function smallArchive(files: ReadonlyArray<readonly [string, Uint8Array]>): Promise<Buffer> {
  const archive = pack();
  const owned = { uid: AGENT_UID, gid: AGENT_UID, mtime: new Date() };
  const directories = new Set<string>();
  for (const [name] of files) {
    const parts = name.split('/').slice(0, -1);
    for (let depth = 1; depth <= parts.length; depth += 1) directories.add(parts.slice(0, depth).join('/'));
  }
  for (const name of [...directories].sort()) archive.entry({ ...owned, name, type: 'directory', mode: 0o700 });
  for (const [name, bytes] of files) {
    archive.entry({ ...owned, name, type: 'file', mode: 0o400 }, Buffer.from(bytes));
  }
  archive.finalize();
  return collect(archive);
}

async function collect(archive: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

function isPlainPathBelow(file: string, place: string): boolean {
  if (!file.startsWith(`${place}/`) || file.includes('\0')) return false;
  const parts = file.slice(place.length + 1).split('/');
  return parts.every((part) => part !== '' && part !== '.' && part !== '..');
}

/** A copy inside leaves nothing out, so there must be nothing to leave out. */
async function canBeCopiedInside({ sourceDir, dependencyDir }: WorkspaceSeed): Promise<boolean> {
  const inTheWay = ['.git', ...(dependencyDir === null ? [] : [dependencyDir])];
  const found = await Promise.all(inTheWay.map((name) => lstat(path.join(sourceDir, name)).catch(() => null)));
  return found.every((stats) => stats === null);
}

const COPY_FAILED = 97;

const COPY_SCRIPT = `umask 022
cp -R -P ${ROOM_PATHS.source}/. . || exit ${COPY_FAILED}
`;

/**
 * `$1` is the directory of mounted dependencies, or empty. Without git there is nothing to do. `add --force`: what the
 * ignore rules exclude but the base tree has belongs to the commit.
 */
const COMMIT_SCRIPT = `command -v git >/dev/null 2>&1 || exit 0
set -e
git -c init.defaultBranch=main init -q .
printf '[user]\n\tname = agent\n\temail = agent@localhost\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n' >> .git/config
if [ -n "$1" ]; then
  mkdir -p .git/info
  printf '/%s\n' "$1" >> .git/info/exclude
  git -c core.looseCompression=0 add --all --force -- . ":(exclude,top,literal)$1"
else
  git -c core.looseCompression=0 add --all --force -- .
fi
git commit -q --allow-empty --no-verify -m 'Base'
`;

type Ran = { readonly exitCode: number | null; readonly output: string };

function runWorkspaceScript(
  place: ExecPlace,
  script: string,
  dependencyDir: string | null,
  signal: AbortSignal,
): Promise<Ran> {
  return runToEnd(
    place,
    {
      argv: ['sh', '-c', script, 'seed-workspace', dependencyDir ?? ''],
      env: { PATH: ROOM_PATH, HOME: ROOM_PATHS.home, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
      cwd: ROOM_PATHS.workspace,
      stdin: null,
    },
    AbortSignal.any([signal, AbortSignal.timeout(SCRIPT_TIMEOUT_MS)]),
  );
}

function commitFailed({ exitCode, output }: Ran) {
  return failure(
    'engine_failed',
    `the first commit of the workspace failed (exit ${exitCode}): ${output.trim().slice(-500)}`,
    'check that git works in the image and that the workspace is large enough, or use an image without git',
  );
}
