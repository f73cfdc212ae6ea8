import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { appendFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Engine, EngineError, EngineState, OpenOptions } from '../../src/engine/api.ts';
import { createBaseStates } from '../../src/engine/app/base-states.ts';
import type { DecisionDeps } from '../../src/engine/app/deps.ts';
import { syncAgents } from '../../src/engine/app/sync-agents.ts';
import { createGlobMatcher, globProblem } from '../../src/engine/config/glob-matcher.ts';
import type { Configuration } from '../../src/engine/config/load-config.ts';
import { parseTaskFile, taskFileStem } from '../../src/engine/config/task-file.ts';
import { engineError } from '../../src/engine/domain/errors.ts';
import { err, ok, type Result } from '../../src/engine/domain/result.ts';
import type { ProjectFacts, RepositoryFacts } from '../../src/engine/ports/project-facts.ts';
import type { OwnerLock, Store, StoreError } from '../../src/engine/ports/store.ts';
import { createPrivateRepository } from '../../src/engine/repo/private-repository.ts';
import { createProjectGit } from '../../src/engine/repo/project-git.ts';
import type { WorkDeps } from '../../src/engine/run/deps.ts';
import { createEngine } from '../../src/engine/run/engine.ts';
import type { EngineOwner } from '../../src/engine/run/engine-owner.ts';
import { openStore } from '../../src/engine/store/open-store.ts';
import { openOwnerLocks } from '../../src/engine/store/owner-lock.ts';
import { createSessionFiles } from '../../src/engine/store/session-files.ts';
import { openStateDirectory, type StateDirectory } from '../../src/engine/store/state-directory.ts';
import { configError, liveSettings, readConfig } from './project-config.ts';
import { findRoot } from './project-root.ts';
import { systemClock } from './system-clock.ts';

export interface OpenContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly facts: ProjectFacts;
  readonly packageRoot: string;
}

export interface OpenedProject {
  readonly engine: Engine;
  /** Null in a client. */
  readonly owned: { readonly owner: EngineOwner; readonly deps: WorkDeps } | null;
}

/** Opens the state of the project around a directory, as its engine owner or as a client, in the order that closing reverses. */
export async function openProject(
  context: OpenContext,
  options: OpenOptions,
): Promise<Result<OpenedProject, EngineError>> {
  const found = await findRoot(context.facts, options.directory);
  if (!found.ok) return found;
  const { root, facts } = found.value;
  const read = readConfig(root);
  if (!read.ok) return read;
  const { config } = read.value;
  if (config === null) return err(configError(read.value.problems));
  const state = openStateDirectory({
    gitCommonDir: facts.commonDir,
    storageDir: config.storage.dir === 'auto' ? null : config.storage.dir,
  });
  if (!state.ok) return err(engineError('storage_failed', state.error.message, state.error.remedy));
  const store = openStore({ path: state.value.db, clock: systemClock });
  if (!store.ok) return err(storeError(store.error));
  const locks = openOwnerLocks({ lockFile: state.value.lockDb, clock: systemClock });
  let lock: OwnerLock | null = null;
  if (options.ownership !== 'never') {
    const acquired = locks.tryAcquire(options.command);
    if (acquired.ok) lock = acquired.value;
    else if (options.ownership === 'require') {
      store.value.close();
      return err(engineError('engine_owned', acquired.error.message, acquired.error.remedy));
    }
  }
  try {
    return ok(
      await assemble({
        context,
        options,
        root,
        facts,
        config,
        loaded: { ...read.value, config },
        state: state.value,
        store: store.value,
        lock,
        ownerInfo: locks.owner,
      }),
    );
  } catch (cause) {
    lock?.release();
    store.value.close();
    throw cause;
  }
}

interface Assembly {
  readonly context: OpenContext;
  readonly options: OpenOptions;
  readonly root: string;
  readonly facts: RepositoryFacts;
  readonly config: Configuration;
  readonly loaded: Parameters<typeof liveSettings>[1];
  readonly state: StateDirectory;
  readonly store: Store;
  readonly lock: OwnerLock | null;
  readonly ownerInfo: () => EngineState['owner'];
}

async function assemble(parts: Assembly): Promise<OpenedProject> {
  const { context, options, root, facts, config, loaded, state, store, lock } = parts;
  const lifetime = new AbortController();
  // Every call under way listens to it; that is no leak.
  setMaxListeners(0, lifetime.signal);
  const warn = engineLog(state, context.env);
  let owner: EngineOwner | null = null;
  const settings = liveSettings(root, loaded, lock === null ? null : () => void configurationChanged());
  const revisions = createPrivateRepository({
    gitDir: state.objects,
    userGitDir: facts.commonDir,
    userWorkTree: root,
    tempDir: path.join(state.temp, 'revisions'),
  });
  const decisions: DecisionDeps = {
    store,
    clock: systemClock,
    settings,
    matches: createGlobMatcher(),
    globProblem,
    git: createProjectGit({
      gitDir: facts.gitDir,
      emptyDir: path.join(state.temp, 'empty'),
      refCacheMs: 200,
      nowMs: () => performance.now(),
    }),
    revisions,
  };
  const configurationChanged = async (): Promise<void> => {
    if (settings.problem() === null) await syncAgents(decisions);
    owner?.wake();
  };
  const bases = createBaseStates(decisions);
  const projectId = store.read((rows) => rows.facts.get('project_id')) ?? '';
  const socketsDir = await placeSockets(context.env, state, projectId);
  const files = createSessionFiles({ sessionsDir: state.sessions, logsDir: state.logs, socketsDir });
  let work: Awaited<ReturnType<typeof import('./work.ts')['composeWork']>> | null = null;
  let containerEngine: string | null = null;
  if (lock !== null) {
    const { composeWork } = await import('./work.ts');
    await revisions.sweep();
    work = await composeWork({
      decisions,
      bases,
      files,
      facts: context.facts,
      state,
      root,
      packageRoot: context.packageRoot,
      engine: {
        engine: config.runtime.engine,
        socket: config.runtime.socket,
        ociRuntime: config.runtime.oci_runtime,
        env: context.env,
      },
      env: context.env,
      projectId,
      engineInstance: randomUUID(),
      lifetime: lifetime.signal,
      schedules: options.ownership !== 'brief',
      warn,
    });
    owner = work.owner;
    await syncAgents(decisions);
    await owner.start();
    void work.deps.runtime.info(lifetime.signal).then((info) => {
      if (info.ok) containerEngine = `${info.value.kind} ${info.value.version}`;
    });
  }

  const engineState = (): EngineState => {
    const other = lock === null ? parts.ownerInfo() : { pid: process.pid, startedAt: '', command: options.command };
    return {
      role: lock === null ? 'client' : 'owner',
      owner: other,
      containerEngine,
      containerEngineProblem: owner?.containerProblem()?.message ?? null,
      configProblem: settings.problem(),
    };
  };
  let closing: Promise<void> | null = null;
  const engine = createEngine({
    deps: decisions,
    bases,
    files,
    owner,
    project: { name: config.project_name, root },
    engineState,
    parseTaskFile: (name, text) => {
      const parsed = parseTaskFile(name, text);
      if (!parsed.ok) return err(parsed.error[0]);
      return ok({ ...parsed.value, key: taskFileStem(name) });
    },
    lifetime: lifetime.signal,
    close: (how) => {
      // A second call may only make it end sooner: a drain under way becomes a stop.
      if (closing !== null && how === 'stop') void owner?.close('stop');
      closing ??= (async () => {
        await owner?.close(how);
        lifetime.abort();
        await settings.close();
        work?.close();
        store.close();
        lock?.release();
      })();
      return closing;
    },
  });
  return { engine, owned: owner !== null && work !== null ? { owner, deps: work.deps } : null };
}

function storeError(error: StoreError): EngineError {
  const code = error.code === 'store_busy' || error.code === 'store_newer' ? error.code : 'storage_failed';
  return engineError(code, error.message, error.remedy);
}

/** `$XDG_RUNTIME_DIR/roundtable/<8 hex>`, else the state directory: paths of sockets are bounded to 100 bytes. */
async function placeSockets(env: OpenContext['env'], state: StateDirectory, projectId: string): Promise<string> {
  const runtime = env.XDG_RUNTIME_DIR;
  const directory = runtime ? path.join(runtime, 'roundtable', projectId.slice(0, 8)) : path.join(state.dir, 'sockets');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** What goes wrong where nobody waits for an answer goes into a log: the screen belongs to the screen. */
function engineLog(state: StateDirectory, env: OpenContext['env']): (message: string) => void {
  return (message) => {
    const line = `${new Date().toISOString()} ${message}\n`;
    try {
      appendFileSync(path.join(state.logs, 'engine.log'), line, { mode: 0o600 });
    } catch {
      // Nothing is left to tell it to.
    }
    if (env.ROUNDTABLE_DEBUG === '1') process.stderr.write(line);
  };
}
