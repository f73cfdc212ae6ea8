import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { err, ok, type Result } from '../../engine/domain/result.ts';
import { DEFAULT_ROOM_LIMITS } from '../../engine/domain/room-limits.ts';
import type {
  ContainerRuntime,
  PinnedImage,
  Room,
  RoomLabels,
  RuntimeError,
} from '../../engine/ports/container-runtime.ts';
import { ROOM_PATH } from '../hardening.ts';

/** What the image has to have besides a POSIX `sh` and `sleep`. */
export interface ImageNeeds {
  /** The bridge runs on Node ≥ 18; needed unless neither tools nor egress are used. */
  readonly node: boolean;
  readonly git: boolean;
  /** The agent's program, looked up in PATH; null when nothing else has to be there. */
  readonly command: string | null;
}

/** What was found; a caller may keep it under the image id, which names the contents. */
export interface ImageFacts {
  readonly imageId: string;
  readonly nodeVersion: string | null;
  readonly gitVersion: string | null;
}

export interface CheckImageContractOptions {
  readonly runtime: ContainerRuntime;
  readonly image: PinnedImage;
  readonly needs: ImageNeeds;
  /** `kind` should be `probe`. */
  readonly labels: RoomLabels;
  readonly seccompProfile: string | null;
  readonly allowUnboundedVolumes: boolean;
  readonly signal: AbortSignal;
}

const MINIMUM_NODE = 18;

/**
 * Tries the image in a sealed container. `image_contract` names everything that is missing at once, each with its
 * remedy. Of the image's claims about itself nothing is believed that wasn't run.
 */
export async function checkImageContract(
  options: CheckImageContractOptions,
): Promise<Result<ImageFacts, RuntimeError>> {
  const sourceDir = await mkdtemp(path.join(os.tmpdir(), 'roundtable-probe-'));
  try {
    const room = await options.runtime.createRoom(
      {
        labels: options.labels,
        image: options.image,
        limits: DEFAULT_ROOM_LIMITS,
        sourceDir,
        dependencies: null,
        bridgeDir: null,
        socketDir: null,
        seccompProfile: options.seccompProfile,
        allowUnboundedVolumes: options.allowUnboundedVolumes,
      },
      options.signal,
    );
    // PID 1 is the image's own sh: without one the container doesn't even start.
    if (!room.ok) return isShellMissing(room.error) ? err(broken(options.image, [SHELL])) : room;
    try {
      return await probe(room.value, options);
    } finally {
      await room.value.remove();
    }
  } finally {
    await rm(sourceDir, { recursive: true, force: true });
  }
}

interface Lack {
  readonly what: string;
  readonly remedy: string;
}

const SHELL: Lack = { what: 'a POSIX sh in PATH', remedy: 'base it on an image with a shell (busybox is enough)' };
const SLEEP: Lack = { what: 'sleep', remedy: 'add coreutils or busybox' };
const GIT: Lack = { what: 'git', remedy: 'install git in it' };

/** `set -u` shows a real POSIX shell rather than something that merely answers. Output: `<name>=<value>` lines. */
const PROBE = `set -u
command -v sleep >/dev/null 2>&1 && sleep 0 && echo sleep=yes
v=$(node --version 2>/dev/null) && echo "node=$v"
v=$(git --version 2>/dev/null) && echo "git=$v"
[ -n "$1" ] && command -v -- "$1" >/dev/null 2>&1 && echo command=yes
echo sh=yes
`;

async function probe(room: Room, options: CheckImageContractOptions): Promise<Result<ImageFacts, RuntimeError>> {
  const { needs, image, signal } = options;
  const running = await room.exec(
    {
      argv: ['sh', '-c', PROBE, 'probe', needs.command ?? ''],
      env: { PATH: ROOM_PATH, HOME: '/home/agent' },
      cwd: '/',
      stdin: null,
    },
    signal,
  );
  // A shell that ends instead of idling takes the room with it.
  if (!running.ok) return running.error.code === 'container_gone' ? err(broken(image, [SHELL])) : running;
  const [stdout, , exit] = await Promise.all([
    text(running.value.stdout),
    text(running.value.stderr),
    running.value.done,
  ]);
  if (!exit.ok) return exit;
  const found = new Map(stdout.split('\n').map((line) => splitOnce(line)));

  const nodeVersion = found.get('node') ?? null;
  const lacks: Lack[] = [];
  if (found.get('sh') !== 'yes') lacks.push(SHELL);
  if (found.get('sleep') !== 'yes') lacks.push(SLEEP);
  if (needs.node) lacks.push(...nodeLacks(nodeVersion));
  if (needs.git && !found.has('git')) lacks.push(GIT);
  if (needs.command !== null && found.get('command') !== 'yes') {
    lacks.push({ what: `the program ${needs.command}`, remedy: `install ${needs.command} in a directory of its PATH` });
  }
  if (lacks.length > 0) return err(broken(image, lacks));
  return ok({ imageId: image.imageId, nodeVersion, gitVersion: found.get('git') ?? null });
}

function nodeLacks(version: string | null): Lack[] {
  const what = `Node ${MINIMUM_NODE} or newer`;
  if (version === null) return [{ what, remedy: 'install Node in it; the bridge to the tools runs on it' }];
  const major = Number(/^v(\d+)\./.exec(version)?.[1] ?? 0);
  if (major >= MINIMUM_NODE) return [];
  return [{ what: `${what} (it has ${version.slice(0, 40)})`, remedy: 'update Node in it' }];
}

function isShellMissing(error: RuntimeError): boolean {
  return error.code === 'engine_failed' && /exec: "sh"|stat sh|"sh": executable file not found/.test(error.message);
}

function broken(image: PinnedImage, lacks: readonly Lack[]): RuntimeError {
  return {
    code: 'image_contract',
    message: `the image ${image.reference} lacks ${lacks.map((lack) => lack.what).join(', ')}`,
    remedy: `${lacks.map((lack) => lack.remedy).join('; ')}; or build one with \`roundtable image build\``,
  };
}

async function text(stream: Readable): Promise<string> {
  let kept = '';
  for await (const chunk of stream) if (kept.length < 8192) kept += String(chunk);
  return kept.slice(0, 8192);
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf('=');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}
