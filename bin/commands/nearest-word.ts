import { distance } from 'fastest-levenshtein';

/** The known word that was probably meant, or null. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const scored = known.map((candidate) => ({ candidate, steps: distance(word.toLowerCase(), candidate) }));
  const best = scored.sort((a, b) => a.steps - b.steps)[0];
  return best !== undefined && best.steps <= Math.min(word.length - 1, Math.max(2, Math.floor(word.length / 3)))
    ? best.candidate
    : null;
}
