import { StringDecoder } from 'node:string_decoder';
import { type Key, keyDecoder } from './decode-keys.ts';
import type { TuiIo } from './io.ts';

/** Bytes of one sequence come within this time, even over a slow line; a lone Esc is told after it. */
const ESC_MS = 30;

/** Keys from the terminal until it is closed; all keys of one read are handed on together. */
export function keyboard(stdin: TuiIo['stdin'], onKeys: (keys: readonly Key[]) => void): { close(): void } {
  const decoder = keyDecoder();
  const utf8 = new StringDecoder('utf8');
  let timer: NodeJS.Timeout | null = null;

  function give(keys: readonly Key[]): void {
    if (keys.length > 0) onKeys(keys);
  }

  function onData(chunk: Buffer | string): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    give(decoder.push(typeof chunk === 'string' ? chunk : utf8.write(chunk)));
    if (decoder.pending) timer = setTimeout(() => give(decoder.flush()), ESC_MS);
  }

  stdin.on('data', onData);
  stdin.resume();
  return {
    close() {
      if (timer !== null) clearTimeout(timer);
      stdin.off('data', onData);
      stdin.pause();
    },
  };
}
