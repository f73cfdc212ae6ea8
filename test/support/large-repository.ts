import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';

/** What a repository of real size holds, besides what the caller adds. */
export interface LargeRepositoryOptions {
  readonly dir: string;
  /** Files at the head, spread over `src/`, `lib/`, `docs/` and `data/`. */
  readonly files: number;
  readonly commits: number;
}

/**
 * Adds to the branch `main` of a repository, through `git fast-import`: thousands of files of different size with a real history of
 * edits, an executable script, a binary, a tracked link, a tracked `.env.example` and a submodule entry.
 */
export function fillLargeRepository({ dir, files, commits }: LargeRepositoryOptions): void {
  const parts: Buffer[] = [];
  const say = (text: string): void => void parts.push(Buffer.from(text));
  const data = (content: Buffer): void => {
    say(`data ${content.length}\n`);
    parts.push(content, Buffer.from('\n'));
  };
  const perCommit = Math.ceil(files / commits);
  for (let commit = 0; commit < commits; commit += 1) {
    say(
      `commit refs/heads/main\ncommitter Test Operator <operator@example.invalid> ${1_700_000_000 + commit * 3600} +0000\n`,
    );
    data(Buffer.from(`Change number ${commit + 1}`));
    if (commit === 0) say('from refs/heads/main^0\n');
    for (let n = commit * perCommit; n < Math.min(files, (commit + 1) * perCommit); n += 1)
      put(say, data, nameOf(n), '100644', contentOf(n, 0));
    // Every commit also edits files of earlier ones, so that the history is one.
    for (let n = commit; n < commit * perCommit; n += Math.max(1, commit * 37))
      put(say, data, nameOf(n), '100644', contentOf(n, commit));
    if (commit === 0) {
      put(say, data, 'src/run.sh', '100755', Buffer.from('#!/bin/sh\necho run\n'));
      put(
        say,
        data,
        'data/logo.bin',
        '100644',
        Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256)),
      );
      put(say, data, 'src/.env.example', '100644', Buffer.from('KEY=\n'));
      put(say, data, 'src/.env', '100644', Buffer.from('KEY=not for agents\n'));
      put(say, data, 'src/link.txt', '120000', Buffer.from('run.sh'));
      put(
        say,
        data,
        '.gitmodules',
        '100644',
        Buffer.from('[submodule "vendor/sub"]\n\tpath = vendor/sub\n\turl = ./sub.git\n'),
      );
      say(`M 160000 ${'1'.repeat(40)} vendor/sub\n`);
    }
  }
  say('done\n');
  execFileSync('git', ['fast-import', '--quiet', '--done'], {
    cwd: dir,
    input: Buffer.concat(parts),
    maxBuffer: 64 * 1024 * 1024,
  });
  execFileSync('git', ['reset', '--quiet', '--hard', 'main'], { cwd: dir });
}

function put(
  say: (text: string) => void,
  data: (content: Buffer) => void,
  name: string,
  mode: string,
  content: Buffer,
): void {
  say(`M ${mode} inline ${name}\n`);
  data(content);
}

export function nameOf(n: number): string {
  const top = ['src', 'lib', 'docs', 'data'][n % 4];
  return `${top}/part-${Math.floor(n / 40) % 25}/file-${n}.${n % 4 === 2 ? 'md' : 'js'}`;
}

function contentOf(n: number, edit: number): Buffer {
  const lines = 5 + (n % 60);
  const word = createHash('sha256').update(`${n}`).digest('hex');
  return Buffer.from(
    Array.from(
      { length: lines },
      (_, line) => `// ${word.slice(0, 20)} line ${line}${line === edit % lines ? ` edited ${edit}` : ''}\n`,
    ).join(''),
  );
}
