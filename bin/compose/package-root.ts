import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Directory of this package: where `templates/` and `dist/` lie, from the sources and from any chunk of the bundle. */
export function packageRoot(): string {
  let directory = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(directory, 'templates'))) {
    const parent = path.dirname(directory);
    if (parent === directory) throw new Error('the package is incomplete: its templates directory is missing');
    directory = parent;
  }
  return directory;
}
