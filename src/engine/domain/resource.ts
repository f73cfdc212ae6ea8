import { type DirectoryPath, normalizePath, type PathRefusal, type RepoPath } from './path.ts';
import { ok, type Result } from './result.ts';

/** What can be claimed. The parts are what is stored; an id is made of them and never taken apart again. */
export type Resource =
  | { readonly type: 'file'; readonly path: RepoPath }
  | { readonly type: 'directory'; readonly path: DirectoryPath }
  | { readonly type: 'symbol'; readonly path: RepoPath; readonly name: string; readonly lines: LineRange }
  | { readonly type: 'schema'; readonly name: string; readonly globs: readonly string[] }
  | { readonly type: 'command'; readonly argv: readonly string[] }
  | { readonly type: 'endpoint'; readonly method: string; readonly path: string };

/** First and last line, counted from 1, both included. */
export type LineRange = readonly [first: number, last: number];

/** A resource whose path is still as somebody wrote it. */
export type StatedResource =
  | Exclude<Resource, { type: 'file' | 'directory' | 'symbol' }>
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'directory'; readonly path: string }
  | { readonly type: 'symbol'; readonly path: string; readonly name: string; readonly lines: LineRange };

/** Brings the path of a stated resource into its normal form, or refuses it. */
export function toResource(stated: StatedResource): Result<Resource, PathRefusal> {
  switch (stated.type) {
    case 'file': {
      const path = normalizePath('file', stated.path);
      return path.ok ? ok({ type: 'file', path: path.value }) : path;
    }
    case 'directory': {
      const path = normalizePath('directory', stated.path);
      return path.ok ? ok({ type: 'directory', path: path.value }) : path;
    }
    case 'symbol': {
      const path = normalizePath('file', stated.path);
      return path.ok ? ok({ ...stated, path: path.value }) : path;
    }
    case 'schema':
    case 'command':
    case 'endpoint':
      return ok(stated);
  }
}

/**
 * Id of a resource, for people and as a key: equal for the same resource and different for any two others.
 * A symbol's lines and a schema's globs are not part of it: they move while the resource stays the same.
 */
export function resourceId(resource: Resource): string {
  switch (resource.type) {
    case 'file':
    case 'directory':
      return `${resource.type}:${resource.path}`;
    case 'symbol':
      return `symbol:${escapeHash(resource.path)}#${resource.name}`;
    case 'schema':
      return `schema:${resource.name}`;
    case 'command':
      return `command:${resource.argv.map(quoteArgument).join(' ')}`;
    case 'endpoint':
      return `endpoint:${resource.method} ${resource.path}`;
  }
}

// Without this, file `a` with symbol `b#c` and file `a#b` with symbol `c` would be one key.
function escapeHash(path: string): string {
  return path.replaceAll('%', '%25').replaceAll('#', '%23');
}

// `["a b"]` and `["a", "b"]` are two commands and need two keys.
function quoteArgument(argument: string): string {
  return /^[\w@%+=:,./~^-]+$/.test(argument) ? argument : JSON.stringify(argument);
}
