import type { Adapter, AdapterPlan, AdapterSessionInput } from '../../engine/ports/adapter-catalog.ts';
import { ROOM_PATHS } from '../../engine/ports/container-runtime.ts';
import { ROOM_PATH } from '../hardening.ts';

// Any program: a script, or an agent CLI that has no adapter of its own. Trusts nothing in the texts it passes on: they
// become whole argument elements, files or stdin, never part of a string that something parses.

const FILES = {
  prompt: `${ROOM_PATHS.home}/.roundtable/prompt.md`,
  briefing: `${ROOM_PATHS.home}/.roundtable/briefing.md`,
} as const;

/**
 * `command` (default `sh`) with `args`. An argument that is exactly `{{prompt}}` becomes the prompt (at most 128 KiB: the
 * kernel refuses longer ones), `{{prompt_file}}` and `{{briefing_file}}` become the path of a file with the text. Without any of
 * them the prompt comes by stdin; with one of them stdin is closed.
 */
export const genericAdapter: Adapter = {
  kind: 'generic',
  plan: planGeneric,
  // Its output has no form that we know: nothing is read from it, so nothing is guessed.
  parse: () => ({ externalSessionId: null, usage: null, outcome: null }),
};

function planGeneric(input: AdapterSessionInput): AdapterPlan {
  const texts = new TextEncoder();
  const files: Record<string, Uint8Array> = {};
  let placed = false;
  const args = input.args.map((arg) => {
    switch (arg) {
      case '{{prompt}}':
        placed = true;
        return input.prompt;
      case '{{prompt_file}}':
        placed = true;
        files[FILES.prompt] = texts.encode(input.prompt);
        return FILES.prompt;
      case '{{briefing_file}}':
        placed = true;
        files[FILES.briefing] = texts.encode(input.briefing);
        return FILES.briefing;
      default:
        return arg;
    }
  });
  return {
    argv: [input.command ?? 'sh', ...args],
    // Ours last: a credential can't steer where programs and the home are looked for.
    env: { ...input.credentials, PATH: ROOM_PATH, HOME: ROOM_PATHS.home, LANG: 'C.UTF-8' },
    files,
    stdin: placed ? null : texts.encode(input.prompt),
    cwd: ROOM_PATHS.workspace,
  };
}
