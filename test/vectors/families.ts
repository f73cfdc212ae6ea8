import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { VectorFamily } from './family.ts';

/** Every family has a module of its name beside this file that exports it as `family`. */
export const FAMILY_NAMES = ['paths', 'tar', 'patches', 'egress'] as const;

/** The families whose module is there; `onAbsent` hears of the others. */
export async function loadFamilies(onAbsent: (name: string) => void): Promise<VectorFamily[]> {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const families: VectorFamily[] = [];
  for (const name of FAMILY_NAMES) {
    const file = path.join(here, `${name}.ts`);
    if (!existsSync(file)) {
      onAbsent(name);
      continue;
    }
    const loaded: { family?: VectorFamily } = await import(pathToFileURL(file).href);
    if (loaded.family === undefined) throw new Error(`${file} exports no family`);
    families.push(loaded.family);
  }
  return families;
}
