import { describe, expect, it } from 'vitest';
import { createGlobMatcher, globProblem } from '../../../src/engine/config/glob-matcher.ts';
import { resourceId, type StatedResource, toResource } from '../../../src/engine/domain/resource.ts';

function idOf(stated: StatedResource): string {
  const resource = toResource(stated);
  if (!resource.ok) throw new Error(resource.error.reason);
  return resourceId(resource.value);
}

describe('ids of resources', () => {
  it.each<[StatedResource, string]>([
    [{ type: 'file', path: 'cafe\u0301' }, 'file:caf\u00e9'],
    [{ type: 'directory', path: 'src' }, 'directory:src/'],
    [{ type: 'symbol', path: 'src/m.ts', name: 'C.#m', lines: [1, 2] }, 'symbol:src/m.ts#C.#m'],
    [{ type: 'schema', name: 'users', globs: ['db/**'] }, 'schema:users'],
    [{ type: 'command', argv: ['npm', 'run', 'build'] }, 'command:npm run build'],
    [{ type: 'endpoint', method: 'GET', path: '/users/:id' }, 'endpoint:GET /users/:id'],
  ])('%j → %s', (stated, id) => {
    expect(idOf(stated)).toBe(id);
  });

  it('differ wherever the parts differ', () => {
    const lines = [1, 2] as const;
    expect(idOf({ type: 'symbol', path: 'a#b', name: 'c', lines })).not.toBe(
      idOf({ type: 'symbol', path: 'a', name: 'b#c', lines }),
    );
    expect(idOf({ type: 'command', argv: ['a b'] })).not.toBe(idOf({ type: 'command', argv: ['a', 'b'] }));
    expect(idOf({ type: 'command', argv: ['x', ''] })).not.toBe(idOf({ type: 'command', argv: ['x'] }));
  });

  it('are refused for paths that the path function refuses', () => {
    expect(toResource({ type: 'symbol', path: '../m.ts', name: 'f', lines: [1, 2] })).toMatchObject({
      ok: false,
      error: { reason: 'path_dotdot' },
    });
  });
});

describe('the glob matcher', () => {
  const matches = createGlobMatcher();
  it.each([
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/b/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['**/.env*', 'x/.env.local', true],
    ['*', '.hidden', true],
    ['**', '.a/.b', true],
    ['{a,b}/**', 'b/c', true],
    ['!a', 'b', false],
    ['src/@(a)', 'src/a', false],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it('does not let a pattern take for ever', () => {
    const pattern = `${'*a'.repeat(12)}b`;
    expect(globProblem(pattern)).toContain('stars');
    const started = performance.now();
    expect(matches(pattern, 'a'.repeat(255))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
    expect(globProblem('')).not.toBeNull();
    expect(globProblem('apps/**/migrations/*.sql')).toBeNull();
  });
});
