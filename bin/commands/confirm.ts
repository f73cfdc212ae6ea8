import { type DecisionOrigin, type EngineError, engineError, err, ok, type Result } from '../../src/engine/api.ts';
import { sanitizeLine } from '../../src/tui/text/sanitize.ts';
import type { CommandContext } from './context.ts';
import type { Invocation } from './invocation.ts';

const LONGEST_ANSWER = 1024;

/**
 * The operator's word for a decision about `id` (law 7): typed on a terminal, or, where the configuration allows it,
 * given by a script. `question` says what would be decided.
 */
export async function confirmDecision<O>(
  { ctx, directory }: Invocation<O>,
  id: string,
  question: string,
): Promise<Result<DecisionOrigin, EngineError>> {
  if (ctx.stdin.isTTY === true && ctx.stderr.isTTY === true) {
    ctx.stderr.write(`${sanitizeLine(question)}\nType ${sanitizeLine(id)} to confirm: `);
    const answer = await readLine(ctx);
    if (answer === id) return ok('cli-typed');
    const said = answer === null ? 'nothing was typed' : `${JSON.stringify(answer)} is not ${id}`;
    return err(
      engineError('human_decision_required', `${said}, so nothing was decided`, `run it again and type ${id}`),
    );
  }
  const allowed = await ctx.app.allowsNoninteractive(directory);
  if (!allowed.ok) return allowed;
  if (allowed.value) return ok('noninteractive');
  return err(
    engineError(
      'human_decision_required',
      `a decision about ${id} needs a terminal and the id typed`,
      'run it in a terminal, or set operator.allow_noninteractive: true in the configuration',
    ),
  );
}

/** One line without its end, or null when the input ends, is too long, or the process is interrupted. */
function readLine({ stdin, interrupt }: CommandContext): Promise<string | null> {
  return new Promise((resolve) => {
    let text = '';
    const finish = (answer: string | null) => {
      stdin.off('data', onData);
      stdin.off('end', onEnd);
      interrupt.removeEventListener('abort', onEnd);
      stdin.pause();
      resolve(answer);
    };
    const onEnd = () => finish(null);
    const onData = (chunk: Buffer | string) => {
      text += chunk.toString();
      const end = text.search(/[\r\n]/);
      if (end !== -1) finish(text.slice(0, end).trim());
      else if (text.length > LONGEST_ANSWER) finish(null);
    };
    if (interrupt.aborted) return finish(null);
    stdin.on('data', onData);
    stdin.on('end', onEnd);
    interrupt.addEventListener('abort', onEnd);
    stdin.resume();
  });
}
