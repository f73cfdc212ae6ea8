import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The `cases` of one case file, or an empty list after telling `onMissing` that there is none. */
export async function readCases<Case>(
  directory: string,
  file: string,
  onMissing: (file: string) => void,
): Promise<readonly Case[]> {
  let text: string;
  try {
    text = await readFile(path.join(directory, file), 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    onMissing(file);
    return [];
  }
  const parsed: unknown = JSON.parse(text);
  if (typeof parsed !== 'object' || parsed === null || !('cases' in parsed) || !Array.isArray(parsed.cases)) {
    throw new Error(`${file} holds no list of cases`);
  }
  return parsed.cases as readonly Case[];
}
