import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type {
  AgentId,
  ObjectId,
  ProposalId,
  RunId,
  SessionId,
  TaskId,
  TransactionId,
} from '../../../src/engine/domain/ids.ts';
import type { Clock } from '../../../src/engine/ports/clock.ts';
import type { Fs } from '../../../src/engine/ports/fs.ts';
import type { Store, WriteScope } from '../../../src/engine/ports/store.ts';
import type { TargetRepository } from '../../../src/engine/ports/target-repository.ts';
import type { Settle, TransactionJournal, TransactionOutcome } from '../../../src/engine/ports/transaction-journal.ts';
import { createNodeFs } from '../../../src/engine/repo/node-fs.ts';
import { openTargetRepository } from '../../../src/engine/repo/target-repository.ts';
import type { BusyPolicy, TransactionDeps } from '../../../src/engine/run/transactions/deps.ts';
import {
  type ApplyRequest,
  createTransactionManager,
  type RollbackRequest,
  type TransactionManager,
} from '../../../src/engine/run/transactions/manager.ts';
import { createStoreJournal } from '../../../src/engine/run/transactions/store-journal.ts';
import { openStore } from '../../../src/engine/store/open-store.ts';
import { git } from './git.ts';

export const systemClock: Clock = {
  now: () => new Date().toISOString(),
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** A file as a test writes it: content, or content with a mode, or a link; null removes. */
export type FileSpec =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly executable: true }
  | null;
export type Files = Readonly<Record<string, FileSpec>>;

/** One repository with a project's state in it. Everything lies below one temporary directory. */
export interface World {
  readonly dir: string;
  /** Directory that stands for "the project": a work tree, or a bare repository. */
  readonly project: string;
  readonly state: string;
  readonly objects: string;
  readonly branch: string;
}

export interface WorldOptions {
  readonly files?: Files;
  readonly config?: Readonly<Record<string, string>>;
  readonly identity?: boolean;
}

/** A repository with one commit, dirt that no transaction may touch, and the private repository with its objects. */
export function createWorld(options: WorldOptions = {}): World {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'rt-tx-'));
  const project = path.join(dir, 'repo');
  mkdirSync(project);
  git(project, ['init', '-q', '--template=', '-b', 'main', '.']);
  if (options.identity !== false) {
    git(project, ['config', 'user.name', 'Olive Operator']);
    git(project, ['config', 'user.email', 'olive@example.org']);
  }
  for (const [key, value] of Object.entries(options.config ?? {})) git(project, ['config', key, value]);
  writeFiles(project, { ...BASE_FILES, ...(options.files ?? {}) });
  git(project, ['add', '-A']);
  git(project, [
    '-c',
    'user.name=B',
    '-c',
    'user.email=b@example.org',
    '-c',
    'commit.gpgSign=false',
    'commit',
    '-q',
    '-m',
    'base',
  ]);
  // Bytes as git checks them out, not as they were written: line endings and the like.
  for (const name of readdirSync(project)) if (name !== '.git') rmSync(path.join(project, name), { recursive: true });
  git(project, ['checkout', '-q', '--', '.']);
  writeFiles(project, DIRT);
  git(project, ['add', 'elsewhere/staged.txt']);
  const state = path.join(project, '.git', 'roundtable');
  for (const sub of ['', 'tmp']) mkdirSync(path.join(state, sub), { mode: 0o700 });
  const objects = path.join(state, 'objects.git');
  git(dir, ['init', '-q', '--template=', '--bare', objects]);
  git(objects, ['fetch', '-q', project, 'main']);
  return { dir, project, state, objects, branch: 'refs/heads/main' };
}

/** Copies have other inodes and times; what is dirty stays so, and git says it with its exit code. */
function refresh(project: string): void {
  try {
    git(project, ['update-index', '-q', '--refresh']);
  } catch {
    // Exit code 1: some entries need an update, as they should.
  }
}

/** A second world with the same history and the same dirt, much faster than making one. */
export function copyWorld(template: World): World {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'rt-tx-'));
  cpSync(template.dir, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const project = path.join(dir, 'repo');
  refresh(project);
  const state = path.join(project, '.git', 'roundtable');
  return { dir, project, state, objects: path.join(state, 'objects.git'), branch: template.branch };
}

export function destroyWorld(world: World): void {
  rmSync(world.dir, { recursive: true, force: true });
}

export const BASE_FILES: Files = {
  '.gitignore': '*.ignored\n',
  'elsewhere/dirty.txt': 'committed\n',
  'elsewhere/staged.txt': 'committed\n',
  'README.md': 'hello\n',
  'src/a.txt': 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n',
  'src/b.txt': 'bee\n',
  'src/deep/only/one.txt': 'alone\n',
  'tool.sh': '#!/bin/sh\n',
  'dir/x.txt': 'x\n',
  'dir/sub/y.txt': 'y\n',
  plain: 'a file that may become a directory\n',
  'blob.bin': new Uint8Array([0, 1, 2, 255, 254, 10, 13, 10]),
};

/** What the user has in the air when a transaction comes: none of it may change by a byte. */
const DIRT: Files = {
  'elsewhere/dirty.txt': 'edited, not staged\n',
  'elsewhere/staged.txt': 'edited and staged\n',
  'elsewhere/untracked.txt': 'untracked\n',
  'elsewhere/some.ignored': 'ignored\n',
};

export function writeFiles(root: string, files: Files): void {
  for (const [name, spec] of Object.entries(files)) {
    const file = path.join(root, name);
    if (spec === null) {
      rmSync(file, { recursive: true, force: true });
      continue;
    }
    mkdirSync(path.dirname(file), { recursive: true });
    const plain = typeof spec === 'string' || spec instanceof Uint8Array;
    writeFileSync(file, plain ? spec : spec.content);
    if (!plain) chmodSync(file, 0o755);
  }
}

export function link(root: string, name: string, target: string): void {
  mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  symlinkSync(target, path.join(root, name));
}

export interface Revision {
  readonly baseCommit: ObjectId;
  readonly baseTree: ObjectId;
  readonly resultTree: ObjectId;
}

/** A revision in the private repository: the tip of the branch with some files replaced, bytes as blobs. */
export function revise(world: World, files: Files, base: string = world.branch): Revision {
  const baseCommit = git(world.project, ['rev-parse', base]) as ObjectId;
  git(world.objects, ['fetch', '-q', path.join(world.project), baseCommit]);
  const index = path.join(world.dir, 'revision-index');
  const run = (args: readonly string[], input?: string | Uint8Array) =>
    git(world.dir, ['--git-dir', world.objects, ...args], input, { GIT_INDEX_FILE: index });
  const removals: string[] = [];
  const additions: string[] = [];
  for (const [name, spec] of Object.entries(files)) {
    if (spec === null) {
      removals.push(`0 ${'0'.repeat(40)}\t${name}\0`);
      continue;
    }
    const plain = typeof spec === 'string' || spec instanceof Uint8Array;
    const blob = run(['hash-object', '-w', '--no-filters', '--stdin'], plain ? spec : spec.content);
    additions.push(`${plain ? '100644' : '100755'} ${blob}\t${name}\0`);
  }
  run(['read-tree', baseCommit]);
  run(['update-index', '-z', '--index-info'], [...removals, ...additions].join(''));
  const resultTree = run(['write-tree']) as ObjectId;
  rmSync(index, { force: true });
  return { baseCommit, baseTree: git(world.project, ['rev-parse', `${baseCommit}^{tree}`]) as ObjectId, resultTree };
}

/** Parts of an engine that a test may wrap, to stop, fail or record what goes through them. */
export interface EngineParts {
  readonly fs: Fs;
  readonly target: TargetRepository;
  readonly journal: TransactionJournal;
}

export interface Engine {
  readonly store: Store;
  readonly manager: TransactionManager;
  readonly deps: TransactionDeps;
  /** Every outcome that was settled, in order. */
  readonly settled: TransactionOutcome[];
  close(): void;
}

/** An engine as the product composes it, on the world's real database, repository and file system. */
export async function openEngine(
  world: World,
  wrap: (parts: EngineParts) => EngineParts = (parts) => parts,
  options: { readonly project?: string; readonly busy?: BusyPolicy; readonly state?: string } = {},
): Promise<Engine> {
  const state = options.state ?? world.state;
  const opened = openStore({ path: path.join(state, 'roundtable.db'), clock: systemClock });
  if (!opened.ok) throw new Error(opened.error.message);
  const store = opened.value;
  await seed(store);
  const fs = createNodeFs();
  const target = await openTargetRepository({
    git: 'git',
    directory: options.project ?? world.project,
    processIdentity: fs.processIdentity,
  });
  const parts = wrap({ fs, target, journal: createStoreJournal(store, systemClock) });
  const deps: TransactionDeps = {
    ...parts,
    clock: systemClock,
    stateTempDir: path.join(state, 'tmp'),
    keptDir: path.join(state, 'kept'),
    busy: options.busy ?? { attempts: 4, delayMs: 10 },
  };
  return { store, deps, manager: createTransactionManager(deps), settled: [], close: () => store.close() };
}

/** The smallest history in which a transaction makes sense. */
async function seed(store: Store): Promise<void> {
  const at = systemClock.now();
  await store.write('normal', (scope) => {
    if (scope.runs.get(RUN) !== null) return;
    scope.runs.insert({
      id: RUN,
      goal: 'test',
      status: 'active',
      statusReason: null,
      scope: [],
      targetRef: 'refs/heads/main',
      approveMode: 'operator',
      maxIterations: null,
      iterations: 0,
      deadlineAt: null,
      createdAt: at,
      updatedAt: at,
    });
    scope.tasks.insert({
      id: TASK,
      runId: RUN,
      title: 'task',
      body: '',
      status: 'in_review',
      statusReason: null,
      readablePaths: [],
      writablePaths: [],
      risk: 'normal',
      priority: 0,
      role: 'Implementer',
      agentId: null,
      dependsOn: [],
      expectedTests: [],
      attempts: 1,
      notBefore: null,
      feedback: null,
      createdBy: 'operator',
      createdAt: at,
      updatedAt: at,
    });
    scope.agents.insert({
      id: AGENT,
      role: 'Implementer',
      adapter: 'test',
      model: 'test',
      maxSessions: 1,
      status: 'idle',
      enabledByOperator: true,
      retired: false,
      updatedAt: at,
    });
    scope.sessions.insert({
      id: SESSION,
      agentId: AGENT,
      role: 'Implementer',
      runId: RUN,
      taskId: TASK,
      adapter: 'test',
      model: 'test',
      mode: 'start',
      status: 'succeeded',
      statusReason: null,
      attempt: 1,
      baseCommit: '0'.repeat(40) as ObjectId,
      imageDigest: '',
      containerId: null,
      engineInstance: '',
      externalId: null,
      withheld: [],
      exitCode: 0,
      stdoutBytes: 0,
      stderrBytes: 0,
      stdoutTruncated: false,
      stderrTruncated: false,
      usage: null,
      createdAt: at,
      startedAt: at,
      endedAt: at,
      lastSeenAt: at,
      durations: {},
    });
    scope.proposals.insert({
      id: PROPOSAL,
      runId: RUN,
      taskId: TASK,
      agentId: AGENT,
      sessionId: SESSION,
      title: 'proposal',
      status: 'approved',
      statusReason: null,
      currentRevision: 1,
      createdAt: at,
      updatedAt: at,
    });
    scope.proposals.insertRevision({
      proposalId: PROPOSAL,
      number: 1,
      source: 'workspace',
      author: 'agent:impl-1',
      parent: null,
      baseCommit: '0'.repeat(40) as ObjectId,
      baseTree: '0'.repeat(40) as ObjectId,
      resultTree: '0'.repeat(40) as ObjectId,
      patchDigest: '',
      rollbackPlan: null,
      changes: [],
      additions: 0,
      deletions: 0,
      highRiskPaths: [],
      policyDigest: '',
      policy: { testsRequired: false, humanApprovalRequired: false },
      createdAt: at,
    });
  });
}

const RUN = 'R-1' as RunId;
const TASK = 'T-1' as TaskId;
const AGENT = 'impl-1' as AgentId;
const SESSION = 'S-1' as SessionId;
export const PROPOSAL = 'P-1' as ProposalId;

/** An outcome leaves an event, in the commit that closes the transaction: so a test sees both or neither. */
export function settleInto(settled: TransactionOutcome[]): Settle {
  return (scope, outcome) => {
    scope.append({
      type: `transaction.${outcome.outcome}`,
      principal: 'system',
      entity: 'transaction',
      entityId: outcome.record.id,
      runId: RUN,
    });
    settled.push(outcome);
  };
}

const ids = (engine: Engine) => ({
  proposalId: PROPOSAL,
  revision: 1,
  begin: (scope: WriteScope) =>
    void scope.append({
      type: 'transaction.prepared',
      principal: 'system',
      entity: 'transaction',
      entityId: 'TX',
      runId: RUN,
    }),
  settle: settleInto(engine.settled),
});

export function applyRequest(
  world: World,
  engine: Engine,
  revision: Revision,
  more: Partial<ApplyRequest> = {},
): ApplyRequest {
  return {
    ...ids(engine),
    transactionId: 'TX-1' as TransactionId,
    message: 'Do the thing\n\nBecause it was asked for.',
    trailers: [
      ['Roundtable-Proposal', 'P-1'],
      ['Roundtable-Transaction', more.transactionId ?? 'TX-1'],
      ['Roundtable-Agent', 'impl-1'],
    ],
    targetRef: world.branch,
    ...revision,
    objectsGitDir: world.objects,
    commit: true,
    ...more,
  };
}

export function rollbackRequest(engine: Engine, reverts: string, id: string): RollbackRequest {
  const record = engine.deps.journal.get(reverts as TransactionId);
  if (record === null) throw new Error(`${reverts} is not there`);
  return {
    ...ids(engine),
    transactionId: id as TransactionId,
    message: `Undo ${reverts}`,
    trailers: [['Roundtable-Transaction', id]],
    reverts: record,
  };
}

export const never = (): AbortSignal => new AbortController().signal;
