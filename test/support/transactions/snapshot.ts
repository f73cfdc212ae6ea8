import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { git } from './git.ts';
import type { World } from './world.ts';

/** Everything of the user's that a transaction could touch, by bytes. */
export interface Snapshot {
  /** `path` → kind, permission bits and digest; directories included. */
  readonly tree: Readonly<Record<string, string>>;
  /** Digest of the index file, as bytes. */
  readonly indexFile: string;
  readonly index: string;
  readonly refs: string;
  readonly head: string;
  readonly status: string;
}

export function snapshot(world: World): Snapshot {
  const { project } = world;
  const gitDir = path.join(project, '.git');
  return {
    tree: workTree(project),
    indexFile: existsSync(path.join(gitDir, 'index')) ? digest(path.join(gitDir, 'index')) : 'none',
    index: git(project, ['ls-files', '--stage', '-t']),
    refs: git(project, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)']),
    head: readFileSync(path.join(gitDir, 'HEAD'), 'utf8'),
    status: git(project, ['status', '--porcelain=v1', '--ignored']),
  };
}

export function workTree(root: string): Record<string, string> {
  const entries: Record<string, string> = {};
  const walk = (directory: string) => {
    for (const name of readdirSync(path.join(root, directory)).sort()) {
      const file = path.join(directory, name);
      if (file === '.git') continue;
      const stats = lstatSync(path.join(root, file));
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isDirectory()) {
        entries[`${file}/`] = mode;
        walk(file);
      } else if (stats.isSymbolicLink()) entries[file] = `link ${readlinkSync(path.join(root, file))}`;
      else entries[file] = `${mode} ${digest(path.join(root, file))}`;
    }
  };
  walk('');
  return entries;
}

function digest(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Names of ours and locks of git that must not be there once everything is over. */
export function leftovers(world: World, project = world.project): string[] {
  const found: string[] = [];
  const walk = (directory: string) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const file = path.join(directory, entry.name);
      if (/^\.?roundtable-TX/.test(entry.name) || (entry.name.endsWith('.lock') && entry.name !== 'package.lock'))
        found.push(path.relative(world.dir, file));
      if (entry.name.startsWith('tmp_')) found.push(path.relative(world.dir, file));
      if (entry.isDirectory() && entry.name !== 'objects.git') walk(file);
    }
  };
  walk(world.dir);
  if (project !== world.project && !project.startsWith(world.dir)) walk(project);
  return found;
}
