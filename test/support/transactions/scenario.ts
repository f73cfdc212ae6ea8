import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TransactionId } from '../../../src/engine/domain/ids.ts';
import type { RecoverySummary } from '../../../src/engine/run/transactions/manager.ts';
import { git } from './git.ts';
import { type Case, judge } from './judge.ts';
import { leftovers, snapshot } from './snapshot.ts';
import {
  applyRequest,
  copyWorld,
  createWorld,
  destroyWorld,
  type Engine,
  type EngineParts,
  type Files,
  never,
  openEngine,
  type Revision,
  revise,
  rollbackRequest,
  settleInto,
  type World,
} from './world.ts';

export type Operation = 'apply' | 'apply-uncommitted' | 'rollback';

/** A world just before one transaction, with all that is needed to judge what became of it. */
export interface Scenario {
  readonly template: World;
  readonly operation: Operation;
  readonly revision: Revision;
  readonly touched: readonly string[];
  readonly expectation: Omit<Case, 'edits'>;
}

/** Plays the transaction once to its end, to learn what "wholly done" looks like. */
export async function prepareScenario(change: Files, operation: Operation, base: Files = {}): Promise<Scenario> {
  const template = createWorld({ files: base });
  const revision = revise(template, change);
  if (operation === 'rollback') await once(template, (engine) => play(template, engine, 'apply', revision, 'TX-1'));
  const rehearsal = copyWorld(template);
  try {
    const id = operation === 'rollback' ? 'TX-2' : 'TX-1';
    const oldCommit = git(rehearsal.project, ['rev-parse', 'HEAD']);
    const before = snapshot(rehearsal);
    await once(rehearsal, (engine) => play(rehearsal, engine, operation, revision, id));
    const resultTree = operation === 'rollback' ? revision.baseTree : revision.resultTree;
    const commits = operation !== 'apply-uncommitted';
    const done = snapshot(rehearsal);
    const expectation = {
      transactionId: id,
      before,
      oldCommit,
      after: done.tree,
      afterIndex: done.index,
      resultTree,
      commits,
    };
    return { template, operation, revision, touched: Object.keys(change), expectation };
  } finally {
    destroyWorld(rehearsal);
  }
}

export async function play(
  world: World,
  engine: Engine,
  operation: Operation,
  revision: Revision,
  id: string,
): Promise<void> {
  const outcome =
    operation === 'rollback'
      ? await engine.manager.rollback(rollbackRequest(engine, 'TX-1', id), never())
      : await engine.manager.apply(applyRequest(world, engine, revision, { commit: operation === 'apply' }), never());
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
}

/** What the user does between the crash and the next start. */
export type LaterEdit = (world: World) => Readonly<Record<string, string>>;

export const noEdit: LaterEdit = () => ({});

/** Writes to one file as an editor would; where a directory stands, or none that could hold the file, he does nothing. */
export function editOf(name: string): LaterEdit {
  return (world) => {
    const file = path.join(world.project, name);
    const isFile = existsSync(file) && lstatSync(file).isFile();
    const parent = path.dirname(file);
    if (!isFile && (existsSync(file) || !existsSync(parent) || !lstatSync(parent).isDirectory())) return {};
    const text = `the user was here, in ${name}\n`;
    writeFileSync(file, text);
    return { [name]: text };
  };
}

export interface Interrupted {
  /** What is not as it must be; empty for a right run. */
  readonly problems: string[];
  /** Of the transaction in the journal, or null when it never came to a row. */
  readonly status: string | null;
  readonly edited: boolean;
}

/** Runs the interrupted engine, the user's edit and the next start's recovery; answers what is wrong afterwards. */
export async function interrupted(
  scenario: Scenario,
  interrupt: (world: World) => Promise<void>,
  later: LaterEdit,
  inspect: (world: World) => void = () => undefined,
): Promise<Interrupted> {
  const world = copyWorld(scenario.template);
  try {
    await interrupt(world);
    const edits = later(world);
    const engine = await openEngine(world);
    try {
      const summary: RecoverySummary = await engine.manager.recover(settleInto(engine.settled));
      await orphansEnded(world);
      const problems = judge(world, engine, summary, { ...scenario.expectation, edits });
      const again = await engine.manager.recover(settleInto(engine.settled));
      if (again.closed.length > 0) problems.push('a second recovery found something to do');
      inspect(world);
      const status = engine.deps.journal.get(scenario.expectation.transactionId as TransactionId)?.status ?? null;
      return { problems, status, edited: Object.keys(edits).length > 0 };
    } finally {
      engine.close();
    }
  } finally {
    destroyWorld(world);
  }
}

/** A git that the dead engine had started may still be about its work for a moment, with a lock of its own. */
async function orphansEnded(world: World): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (Date.now() < deadline && leftovers(world).some((name) => name.endsWith('index.lock'))) await delay(20);
}

/** Plays the scenario's transaction in an engine whose parts are wrapped; whatever it throws is the crash. */
export async function playWrapped(
  world: World,
  scenario: Scenario,
  wrap: (parts: EngineParts) => EngineParts,
): Promise<void> {
  const engine = await openEngine(world, wrap);
  try {
    await play(world, engine, scenario.operation, scenario.revision, scenario.expectation.transactionId);
  } catch {
    // Dead, or refused: recovery will tell.
  } finally {
    engine.close();
  }
}

async function once(world: World, work: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await openEngine(world);
  try {
    await work(engine);
  } finally {
    engine.close();
  }
}

/** Changes of every kind in one revision, and each kind for itself. */
export const CHANGES: Readonly<Record<string, Files>> = {
  mixed: {
    'src/a.txt': 'one\nTWO\nthree\n',
    'src/new.txt': 'new\n',
    'README.md': null,
    'Readme.md': 'hello\n',
    'tool.sh': { content: '#!/bin/sh\n', executable: true },
    'dir/x.txt': null,
    'dir/sub/y.txt': null,
    dir: 'now a file\n',
    plain: null,
    'plain/inner/file.txt': 'inside\n',
    'src/deep/only/one.txt': null,
    'blob.bin': new Uint8Array([0, 9, 0, 9]),
  },
  edit: { 'src/a.txt': 'one\nTWO\nthree\n', 'src/b.txt': 'bumble\n' },
  add: { 'n/e/w.txt': 'new\n', 'src/new.txt': 'new\n' },
  delete: { 'src/deep/only/one.txt': null, 'README.md': null },
  swap: { 'dir/x.txt': null, 'dir/sub/y.txt': null, dir: 'file\n', plain: null, 'plain/p': 'dir\n' },
  mode: { 'README.md': { content: 'hello\n', executable: true } },
};
