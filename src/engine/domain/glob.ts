/**
 * Does a normal repository path match a glob? Passed into the domain, which knows no library.
 * `*` stays inside a component, `**` spans any number of components, also none; dot files match like others.
 */
export type GlobMatcher = (pattern: string, path: string) => boolean;
