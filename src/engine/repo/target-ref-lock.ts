/**
 * The reference transaction: one `git update-ref --stdin` that is prepared and kept alive. Trusts git to hold the locks of
 * the reference and of HEAD from `prepare` on, and to drop them when its input ends because this process died.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { err, ok, type Result } from '../domain/result.ts';
import type { RefLock, RefLockSpec, TargetFailure, TargetPlace } from '../ports/target-repository.ts';
import type { TargetGit } from './target-git.ts';

export async function lockRef(
  git: TargetGit,
  place: TargetPlace,
  spec: RefLockSpec,
  identify: (pid: number) => Promise<string>,
): Promise<Result<RefLock, TargetFailure>> {
  const args = ['update-ref', '-m', spec.reflogMessage, '--stdin'];
  // In a process group of its own: a Ctrl-C in the terminal must not end it between prepare and commit.
  const child = git.start({ gitDir: place.gitDir, workTree: place.worktree?.root, args }, { detached: true });
  const talk = conversation(child);
  const pid = child.pid;
  if (pid === undefined) return err({ code: 'git_failed', message: `git could not be started: ${await talk.ended}` });

  let process: string;
  try {
    await spec.announced(pid);
    process = await identify(pid);
  } catch (cause) {
    // It holds nothing yet; left alone it would wait for us for ever, and recovery for it.
    child.stdin.end();
    await talk.ended;
    throw cause;
  }
  // A verify without a value means that the reference must not exist.
  const old = spec.old === null ? '' : ` ${spec.old}`;
  const change = spec.new === null ? `verify ${place.ref}${old}` : `update ${place.ref} ${spec.new}${old}`;
  talk.say(`start\n${change}\nprepare\n`);
  if (!(await talk.hears('start: ok')) || !(await talk.hears('prepare: ok'))) {
    child.stdin.end();
    return err({
      code: 'git_busy',
      message: `${place.ref} can't be locked: ${(await talk.ended).trim().slice(0, 400)}`,
    });
  }
  return ok({
    process,
    async commit() {
      talk.say('commit\n');
      const committed = await talk.hears('commit: ok');
      child.stdin.end();
      await talk.ended;
      return committed;
    },
    async abort() {
      child.stdin.end('abort\n');
      await talk.ended;
    },
  });
}

interface Conversation {
  say(text: string): void;
  /** True when the next line is the expected one, false when there is another or none any more. */
  hears(line: string): Promise<boolean>;
  /** What was said on standard error, when the process has ended. */
  readonly ended: Promise<string>;
}

function conversation(child: ChildProcessWithoutNullStreams): Conversation {
  let text = '';
  let complaints = '';
  let over = false;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    child.emit('rt-progress');
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    if (complaints.length < 4096) complaints += chunk;
  });
  const ended = new Promise<string>((resolve) => {
    const end = (words: string) => {
      over = true;
      child.emit('rt-progress');
      resolve(words);
    };
    child.once('error', (cause) => end(String(cause)));
    child.once('close', () => end(complaints));
  });
  return {
    ended,
    say: (words) => void child.stdin.write(words),
    async hears(line) {
      while (!text.includes('\n') && !over) await once(child, 'rt-progress');
      const end = text.indexOf('\n');
      if (end === -1) return false;
      const heard = text.slice(0, end);
      text = text.slice(end + 1);
      return heard === line;
    },
  };
}
