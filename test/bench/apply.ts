import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { GIT_ENVIRONMENT, git } from '../support/transactions/git.ts';
import {
  applyRequest,
  copyWorld,
  createWorld,
  destroyWorld,
  never,
  openEngine,
  revise,
} from '../support/transactions/world.ts';

export interface ApplyBenchmark {
  readonly files: number;
  readonly rounds: number;
  /** Medians, milliseconds. */
  readonly applyMs: number;
  /** `git apply --index` and `git commit` of the same patch on a copy of the same repository. */
  readonly gitMs: number;
  readonly ratio: number;
  /** One write of 1 KiB and its fsync on the same disk. */
  readonly fsyncMs: number;
}

/** How long an application of a revision of that many edited files takes, against plain git. */
export async function benchApply(options: {
  readonly files: number;
  readonly rounds: number;
}): Promise<ApplyBenchmark> {
  const names = Array.from({ length: options.files }, (_, n) => `many/${n % 40}/file-${n}.txt`);
  const text = (name: string, line: string) => `${line}\n${`${name} `.repeat(20)}\n`.repeat(12);
  const template = createWorld({ files: Object.fromEntries(names.map((name) => [name, text(name, 'before')])) });
  const ours: number[] = [];
  const theirs: number[] = [];
  try {
    const revision = revise(template, Object.fromEntries(names.map((name) => [name, text(name, 'after')])));
    const diff = ['diff-tree', '-p', '--binary', '--full-index', revision.baseTree, revision.resultTree];
    const patch = git(template.objects, diff);
    for (let round = 0; round < options.rounds; round += 1) {
      ours.push(await timeApply());
      theirs.push(timeGit(`${patch}\n`));
    }
    async function timeApply(): Promise<number> {
      const world = copyWorld(template);
      const engine = await openEngine(world);
      try {
        const started = performance.now();
        const outcome = await engine.manager.apply(applyRequest(world, engine, revision), never());
        const took = performance.now() - started;
        if (!outcome.ok) throw new Error(outcome.error.message);
        return took;
      } finally {
        engine.close();
        destroyWorld(world);
      }
    }
    function timeGit(input: string): number {
      const world = copyWorld(template);
      try {
        // What is staged elsewhere would be committed with it.
        git(world.project, ['reset', '-q']);
        const started = performance.now();
        runGit(world.project, ['apply', '--index'], input);
        runGit(world.project, ['commit', '-q', '-m', 'the same']);
        return performance.now() - started;
      } finally {
        destroyWorld(world);
      }
    }
  } finally {
    destroyWorld(template);
  }
  const [applyMs, gitMs] = [median(ours), median(theirs)];
  return { files: options.files, rounds: options.rounds, applyMs, gitMs, ratio: applyMs / gitMs, fsyncMs: fsyncCost() };
}

function runGit(directory: string, args: readonly string[], input = ''): void {
  const done = spawnSync('git', args, { cwd: directory, env: GIT_ENVIRONMENT, input, maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(done.stderr.toString('utf8'));
}

function fsyncCost(): number {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'rt-fsync-'));
  const samples: number[] = [];
  try {
    for (let n = 0; n < 50; n += 1) {
      const file = openSync(path.join(directory, String(n)), 'w');
      writeSync(file, Buffer.alloc(1024, n));
      const started = performance.now();
      fsyncSync(file);
      samples.push(performance.now() - started);
      closeSync(file);
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return median(samples);
}

function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
