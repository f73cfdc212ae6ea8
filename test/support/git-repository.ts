import { execFileSync } from 'node:child_process';
import type { ObjectId } from '../../src/engine/domain/ids.ts';

/** Content of a base tree for tests: mode and bytes per path; a gitlink names a commit instead. */
export type TreeContent = ReadonlyMap<string | Buffer, { readonly mode: string; readonly content: Buffer | string }>;

/** Runs git in a directory with a plain test identity and no configuration from outside; answers its output, trimmed. */
export function git(cwd: string, args: readonly string[], input?: string | Buffer): string {
  return gitBytes(cwd, args, input).toString('utf8').trimEnd();
}

/** The same with the output as it is. */
export function gitBytes(cwd: string, args: readonly string[], input?: string | Buffer): Buffer {
  return execFileSync('git', args, {
    cwd,
    input: input ?? '',
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: cwd,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@example.invalid',
      GIT_AUTHOR_DATE: '@1700000000 +0000',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.invalid',
      GIT_COMMITTER_DATE: '@1700000000 +0000',
    },
  });
}

/** Makes one parentless commit per tree with a single `git fast-import`; answers their ids in order. */
export function importCommits(gitDir: string, trees: readonly TreeContent[]): ObjectId[] {
  const stream: Buffer[] = [];
  for (const [index, tree] of trees.entries()) {
    stream.push(
      Buffer.from(`commit refs/heads/base-${index}\ncommitter Test <test@example.invalid> ${index} +0000\ndata 0\n`),
    );
    for (const [path, { mode, content }] of tree) {
      const name = quoted(typeof path === 'string' ? Buffer.from(path) : path);
      if (mode === '160000') stream.push(Buffer.from(`M 160000 ${content.toString()} ${name}\n`));
      else {
        const bytes = Buffer.from(content);
        stream.push(Buffer.from(`M ${mode} inline ${name}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n'));
      }
    }
  }
  git(gitDir, ['fast-import', '--quiet', '--force'], Buffer.concat(stream));
  const names = trees.map((_, index) => `refs/heads/base-${index}\n`).join('');
  const ids = git(gitDir, ['cat-file', '--batch-check=%(objectname)'], names).split('\n');
  return ids as ObjectId[];
}

function quoted(path: Buffer): string {
  const bytes = [...path].map((byte) => {
    const plain = byte > 32 && byte < 127 && byte !== 34 && byte !== 92;
    return plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${bytes.join('')}"`;
}
