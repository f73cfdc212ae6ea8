import { describe, expect, it } from 'vitest';
import type { AdapterSessionInput } from '../../../src/engine/ports/adapter-catalog.ts';
import { createAdapterCatalog } from '../../../src/sandbox/adapters/catalog.ts';
import { genericAdapter } from '../../../src/sandbox/adapters/generic.ts';

const INPUT: AdapterSessionInput = {
  adapterName: 'mine',
  command: null,
  args: [],
  model: 'default',
  prompt: 'do $(it)\n',
  briefing: 'earlier: "that"',
  credentials: {},
};
const PROMPT_FILE = '/home/agent/.roundtable/prompt.md';
const BRIEFING_FILE = '/home/agent/.roundtable/briefing.md';

describe('the generic adapter', () => {
  it.each([
    ['puts the prompt in as one element', ['{{prompt}}'], ['sh', INPUT.prompt], {}],
    [
      'points to a file with the prompt',
      ['-f', '{{prompt_file}}'],
      ['sh', '-f', PROMPT_FILE],
      { [PROMPT_FILE]: INPUT.prompt },
    ],
    [
      'points to a file with the briefing',
      ['{{briefing_file}}'],
      ['sh', BRIEFING_FILE],
      { [BRIEFING_FILE]: INPUT.briefing },
    ],
  ])('%s', (_, args, argv, files) => {
    const plan = genericAdapter.plan({ ...INPUT, args });
    expect(plan.argv).toEqual(argv);
    expect(
      Object.fromEntries(Object.entries(plan.files).map(([at, bytes]) => [at, Buffer.from(bytes).toString()])),
    ).toEqual(files);
    expect(plan.stdin).toBeNull();
  });

  it('gives the prompt by stdin when no argument asks for it', () => {
    const plan = genericAdapter.plan({
      ...INPUT,
      command: 'my-agent',
      args: ['--fast', '--p={{prompt}}', '{{other}}'],
    });
    expect(plan.argv).toEqual(['my-agent', '--fast', '--p={{prompt}}', '{{other}}']);
    expect(Buffer.from(plan.stdin ?? []).toString()).toBe(INPUT.prompt);
    expect(plan.files).toEqual({});
  });

  it('has an environment of four kinds of variables, which credentials can not bend', () => {
    const { env, cwd } = genericAdapter.plan({ ...INPUT, credentials: { API_KEY: 'k', PATH: '/evil', HOME: '/evil' } });
    expect(env).toEqual({
      API_KEY: 'k',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/home/agent',
      LANG: 'C.UTF-8',
    });
    expect(cwd).toBe('/roundtable/workspace');
  });

  it('guesses nothing from the output', () => {
    expect(genericAdapter.parse('{"session_id":"x"}', false)).toEqual({
      externalSessionId: null,
      usage: null,
      outcome: null,
    });
  });
});

describe('the catalog', () => {
  it('finds what it lists and nothing else', () => {
    const catalog = createAdapterCatalog();
    expect(catalog.kinds()).toEqual(['generic']);
    expect(catalog.find('generic')).toBe(genericAdapter);
    expect(catalog.find('codex')).toBeNull();
  });
});
