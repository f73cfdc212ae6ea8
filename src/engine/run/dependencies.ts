import { decide, fromRepository } from '../app/deps.ts';
import { type EngineError, engineError } from '../domain/errors.ts';
import { commandText } from '../domain/gates.ts';
import type { ObjectId } from '../domain/ids.ts';
import { err, ok, type Result } from '../domain/result.ts';
import { type PinnedImage, ROOM_PATHS } from '../ports/container-runtime.ts';
import type { EgressGateway } from '../ports/egress-gateway.ts';
import type { PrepareSettings } from '../ports/settings.ts';
import type { WorkDeps } from './deps.ts';
import { fromRuntime } from './resolve-adapter.ts';
import { COMMAND_ENV, roomLabels, roomSpec } from './room-request.ts';
import { runInRoom } from './run-in-room.ts';
import { isWithheldIn } from './withhold-scope.ts';

/** Files that decide what a preparation installs; only those of the base count, never those a proposal brings. */
const LOCK_FILES = [
  'package.json',
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'requirements.txt',
  'poetry.lock',
  'uv.lock',
  'Pipfile.lock',
  'go.mod',
  'go.sum',
  'Cargo.toml',
  'Cargo.lock',
  'Gemfile.lock',
  'composer.lock',
] as const;

export interface Dependencies {
  /** The volume for a room whose workspace is made from this base, or null when nothing is to be prepared. */
  ensure(
    runId: string,
    base: ObjectId,
    image: PinnedImage,
    signal: AbortSignal,
  ): Promise<Result<{ readonly volume: string; readonly dir: string } | null, EngineError>>;
  /** Owner ids of the rooms that are being filled now. */
  live(): readonly string[];
}

/** One preparation and how many wait for it; when the last one leaves, it ends. */
interface Preparation {
  readonly ownerId: string;
  readonly done: Promise<Result<void, EngineError>>;
  readonly controller: AbortController;
  waiting: number;
}

/**
 * Prepared dependencies (`tests.prepare`): one volume per (command, hosts, image, lock files of the base), filled once in a
 * sealed room whose only way out is the egress gateway to the configured hosts, mounted read-only afterwards.
 */
export function createDependencies(deps: WorkDeps, digest: (text: string) => string): Dependencies {
  const underWay = new Map<string, Preparation>();

  /** Two sessions that need the same volume wait for one preparation. */
  async function join(filling: Filling): Promise<Preparation> {
    for (;;) {
      const running = underWay.get(filling.key);
      if (!running) break;
      if (!running.controller.signal.aborted) return running;
      await running.done.catch(() => undefined);
    }
    const controller = new AbortController();
    const signal = AbortSignal.any([deps.lifetime, controller.signal]);
    const done = fill(deps, filling, signal).finally(() => underWay.delete(filling.key));
    const preparation = { ownerId: ownerOf(filling), done, controller, waiting: 0 };
    underWay.set(filling.key, preparation);
    return preparation;
  }

  async function prepared(filling: Filling, signal: AbortSignal): Promise<Result<void, EngineError>> {
    const preparation = await join(filling);
    preparation.waiting += 1;
    try {
      const filled = await unlessAborted(preparation.done, signal);
      if (filled !== null) return filled;
      if (preparation.waiting === 1) {
        preparation.controller.abort();
        await preparation.done.catch(() => undefined);
      }
      return err(engineError('cancelled', 'the wait for the dependencies was ended', 'start it again'));
    } finally {
      preparation.waiting -= 1;
    }
  }

  return {
    async ensure(runId, base, image, signal) {
      const prepare = deps.settings.current().tests.prepare;
      if (prepare === null) return ok(null);
      const locks = await deps.revisions.entryIds(base, LOCK_FILES, signal);
      if (!locks.ok) return err(fromRepository(locks.error));
      const key = digest(JSON.stringify([prepare, image.imageId, [...locks.value].sort()])).slice(0, 12);
      const volume = `roundtable-${deps.projectId}-deps-${key}`;
      const filled = await prepared({ volume, key, prepare, runId, base, image }, signal);
      return filled.ok ? ok({ volume, dir: prepare.dir }) : filled;
    },
    live: () => [...underWay.values()].map((preparation) => preparation.ownerId),
  };
}

/** Null when the signal fires first. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  if (signal.aborted) return null;
  let leave: () => void = () => undefined;
  const aborted = new Promise<null>((resolve) => {
    leave = () => resolve(null);
  });
  signal.addEventListener('abort', leave);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function ownerOf({ key }: Filling): string {
  return `prepare-${key}`;
}

interface Filling {
  readonly volume: string;
  readonly key: string;
  readonly prepare: PrepareSettings;
  readonly runId: string;
  readonly base: ObjectId;
  readonly image: PinnedImage;
}

async function fill(deps: WorkDeps, filling: Filling, signal: AbortSignal): Promise<Result<void, EngineError>> {
  const { volume, prepare, runId, base, image } = filling;
  const ownerId = ownerOf(filling);
  const labels = roomLabels(deps, 'prepare', runId, ownerId);
  const ensured = await deps.runtime.ensureDependencyVolume(volume, labels, signal);
  if (!ensured.ok) return err(fromRuntime(ensured.error));
  if (!ensured.value.created) return ok(undefined);

  const root = await deps.files.prepareRoot(ownerId);
  let gateway: EgressGateway | null = null;
  let complete = false;
  try {
    const tree = await deps.revisions.ensureBase(base, signal);
    if (!tree.ok) return err(fromRepository(tree.error));
    const laid = await deps.revisions.materialise(tree.value.tree, isWithheldIn(deps), root.source, signal);
    if (!laid.ok) return err(fromRepository(laid.error));
    await deps.files.makeReadable(root.source);
    if (prepare.hosts.length > 0) {
      const opened = await openGateway(deps, `${root.sockets}/egress.sock`, prepare.hosts, ownerId, runId, signal);
      if (!opened.ok) return opened;
      gateway = opened.value;
    }
    const ended = await runInRoom(
      deps,
      {
        ownerId,
        spec: roomSpec(deps, {
          labels,
          image,
          sourceDir: root.source,
          dependencies: { volume, dir: prepare.dir, writable: true },
          ...(gateway ? { socketDir: root.sockets } : {}),
        }),
        files: {},
        exec: {
          argv: gateway ? throughBridge(prepare.argv) : prepare.argv,
          env: COMMAND_ENV,
          cwd: ROOM_PATHS.workspace,
          stdin: null,
        },
        wallMs: deps.settings.current().tests.timeoutMs,
        idleMs: deps.settings.current().tests.timeoutMs,
        outputBytes: deps.settings.current().outputBytes,
        stop: signal,
        started: async () => undefined,
        sign: () => undefined,
      },
      async (_room, end) => end,
    );
    if (!ended.ok) return ended;
    if (ended.value.how !== 'exited' || ended.value.exitCode !== 0) {
      const said = await deps.files.readLog(
        ownerId,
        'stderr',
        Math.max(0, ended.value.stderr.keptBytes - 2_000),
        2_000,
      );
      return err(
        engineError(
          'container_failed',
          `preparing the dependencies (${commandText(prepare.argv)}) ended ${ended.value.how === 'exited' ? `with exit code ${ended.value.exitCode}` : `early: ${ended.value.how}`}: ${said?.text.trim() ?? ''}`,
          'check tests.prepare in .roundtable/config.yaml: the command, and the hosts it may reach',
        ),
      );
    }
    const marked = await deps.runtime.completeDependencyVolume(volume, signal);
    if (!marked.ok) return err(fromRuntime(marked.error));
    complete = true;
    await decide(deps.store, (scope) => {
      scope.append({
        type: 'dependencies.prepared',
        principal: 'system',
        entity: 'dependencies',
        entityId: volume,
        runId: null,
        data: { argv: prepare.argv, base, image: image.imageId, ms: ended.value.durations },
      });
    });
    return ok(undefined);
  } finally {
    await gateway?.close();
    if (!complete) await deps.runtime.removeVolume(volume);
    await deps.files.removeRoot(ownerId, { keepExport: false });
  }
}

const MAX_RECORDED_DECISIONS = 1_000;

/** The bridge lends the command a loopback proxy that ends at the gateway's socket. */
function throughBridge(argv: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return [
    'node',
    `${ROOM_PATHS.bridge}/bridge.mjs`,
    'proxy',
    '--socket',
    `${ROOM_PATHS.sockets}/egress.sock`,
    '--',
    ...argv,
  ];
}

async function openGateway(
  deps: WorkDeps,
  socketPath: string,
  hosts: readonly string[],
  ownerId: string,
  runId: string,
  signal: AbortSignal,
): Promise<Result<EgressGateway, EngineError>> {
  let recorded = 0;
  const opened = await deps.gateways.open({
    socketPath,
    allow: { hosts },
    signal,
    onDecision: (decision) => {
      // A hostile command can open connections without end; the log must not grow with them.
      recorded += 1;
      if (recorded > MAX_RECORDED_DECISIONS) return;
      void deps.store
        .write('normal', (scope) => {
          scope.append({
            type: `egress.${decision.verdict}`,
            principal: 'system',
            entity: 'dependencies',
            entityId: ownerId,
            runId: runId as never,
            data: { ...decision },
          });
        })
        .then((written) => {
          if (!written.ok) deps.warn(`an egress decision could not be recorded: ${written.error.message}`);
        });
    },
  });
  if (opened.ok) return opened;
  return err(
    engineError('config_invalid', `the egress gateway refuses to open: ${opened.error.code}`, opened.error.remedy),
  );
}
