import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import type { BaseStates } from '../../src/engine/app/base-states.ts';
import type { DecisionDeps } from '../../src/engine/app/deps.ts';
import type { ProjectFacts } from '../../src/engine/ports/project-facts.ts';
import type { SessionFiles } from '../../src/engine/ports/session-files.ts';
import { createNodeFs } from '../../src/engine/repo/node-fs.ts';
import { openTargetRepository } from '../../src/engine/repo/target-repository.ts';
import { createTransactions } from '../../src/engine/run/create-transactions.ts';
import type { WorkDeps } from '../../src/engine/run/deps.ts';
import { createEngineOwner, type EngineOwner } from '../../src/engine/run/engine-owner.ts';
import { createTransactionManager } from '../../src/engine/run/transactions/manager.ts';
import { createStoreJournal } from '../../src/engine/run/transactions/store-journal.ts';
import type { StateDirectory } from '../../src/engine/store/state-directory.ts';
import { createAdapterCatalog } from '../../src/sandbox/adapters/catalog.ts';
import { createContainerRuntime } from '../../src/sandbox/containers/create-container-runtime.ts';
import type { EngineOptions } from '../../src/sandbox/containers/engine-connection.ts';
import { createEgressGateways } from '../../src/sandbox/egress/egress-gateways.ts';
import { systemDialer } from '../../src/sandbox/egress/system-dialer.ts';
import { createSystemResolver } from '../../src/sandbox/egress/system-resolver.ts';
import { createRootedExtractor } from '../../src/sandbox/export/rooted-extractor.ts';
import { createPolicySource } from './policy-source.ts';

export interface WorkParts {
  readonly decisions: DecisionDeps;
  readonly bases: BaseStates;
  readonly files: SessionFiles;
  readonly facts: ProjectFacts;
  readonly state: StateDirectory;
  readonly root: string;
  readonly packageRoot: string;
  readonly engine: EngineOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly projectId: string;
  readonly engineInstance: string;
  readonly lifetime: AbortSignal;
  readonly schedules: boolean;
  readonly warn: (message: string) => void;
}

export interface Work {
  readonly owner: EngineOwner;
  readonly deps: WorkDeps;
  close(): void;
}

/** Everything that only the engine owner needs; loaded when a process becomes it. */
export async function composeWork(parts: WorkParts): Promise<Work> {
  const { decisions, bases, state, root, env, warn } = parts;
  const runtime = createContainerRuntime(parts.engine);
  const deps: WorkDeps = {
    ...decisions,
    runtime,
    exporter: createRootedExtractor(),
    adapters: createAdapterCatalog(),
    files: parts.files,
    gateways: createEgressGateways({
      resolver: createSystemResolver(),
      dialer: systemDialer,
      now: () => performance.now(),
    }),
    policies: createPolicySource(decisions.revisions, root),
    credential: (name) => env[name],
    projectId: parts.projectId,
    engineInstance: parts.engineInstance,
    bridgeDir: await placeBridge(parts),
    lifetime: parts.lifetime,
    random: Math.random,
    warn,
  };
  const fs = createNodeFs();
  const manager = createTransactionManager({
    target: await openTargetRepository({
      git: 'git',
      directory: root,
      processIdentity: (pid) => fs.processIdentity(pid),
    }),
    fs,
    journal: createStoreJournal(decisions.store, decisions.clock),
    clock: decisions.clock,
    stateTempDir: state.temp,
    keptDir: path.join(state.dir, 'kept'),
    busy: { attempts: 20, delayMs: 100 },
  });
  const transactions = createTransactions({
    deps,
    bases,
    manager,
    objectsGitDir: state.objects,
    identity: async () => {
      const facts = await parts.facts.read(root);
      if (!facts.ok || facts.value.identity.name === null || facts.value.identity.email === null) return null;
      return { name: facts.value.identity.name, email: facts.value.identity.email };
    },
  });
  const owner = createEngineOwner({ deps, bases, transactions, digest: sha256, schedules: parts.schedules });
  return { owner, deps, close: () => runtime.close() };
}

/** The bridge as rooms see it: a copy with modes of its own, so that neither umask nor an upgrade changes it under a session. */
async function placeBridge({ state, packageRoot, warn }: WorkParts): Promise<string> {
  const directory = path.join(state.dir, 'bridge');
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
  const file = path.join(directory, 'bridge.mjs');
  try {
    await copyFile(path.join(packageRoot, 'dist', 'bridge', 'bridge.mjs'), `${file}.new`);
    await chmod(`${file}.new`, 0o644);
    await rename(`${file}.new`, file);
  } catch (cause) {
    warn(
      `the bridge is not built, so preparations can't reach their hosts: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
  return directory;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
