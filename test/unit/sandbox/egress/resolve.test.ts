import { describe, expect, it } from 'vitest';
import { type NameResolver, resolveName } from '../../../../src/sandbox/egress/resolve.ts';

const never = new AbortController().signal;

function resolver(four: readonly string[] | Error, six: readonly string[] | Error): NameResolver {
  return (_name, family) => {
    const answer = family === 4 ? four : six;
    // One of them throws instead of rejecting, as a careless resolver might.
    if (answer instanceof Error && family === 4) throw answer;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
}

describe('resolving a name', () => {
  it.each([
    [
      'both families together',
      resolver(['8.8.8.8'], ['2606:4700::1']),
      { ok: true, answers: ['8.8.8.8', '2606:4700::1'] },
    ],
    [
      'one family when the other fails',
      resolver(['8.8.8.8'], new Error('SERVFAIL')),
      { ok: true, answers: ['8.8.8.8'] },
    ],
    ['nothing when there is nothing', resolver([], []), { ok: true, answers: [] }],
    ['a failure when both fail', resolver(new Error('x'), new Error('y')), { ok: false, rule: 'resolve-failed' }],
    [
      'a failure when one fails and the other is empty',
      resolver(new Error('x'), []),
      { ok: false, rule: 'resolve-failed' },
    ],
  ])('gives %s', async (_name, fake, expected) => {
    expect(await resolveName(fake, 'a.example', 1_000, never)).toEqual(expected);
  });

  it('gives up at its limit, also when one family has answered, and stops the query', async () => {
    let stopped = false;
    const hanging: NameResolver = (_name, family, signal) =>
      family === 4
        ? Promise.resolve(['8.8.8.8'])
        : new Promise((_, reject) =>
            signal.addEventListener('abort', () => {
              stopped = true;
              reject(new Error('aborted'));
            }),
          );
    expect(await resolveName(hanging, 'a.example', 20, never)).toEqual({ ok: false, rule: 'resolve-timeout' });
    expect(stopped).toBe(true);
  });
});
