/**
 * The whole environment of a git process. Nothing is inherited but PATH: a variable of the host (GIT_DIR, GIT_SSH_COMMAND,
 * GIT_EXTERNAL_DIFF, LD_PRELOAD, …) can't reach git, and no configuration but the repository's own and `SETTINGS` is read.
 */
export function gitEnvironment(options: {
  /** Where git is looked up. */
  readonly path: string;
  /** Existing, empty directory: working directory and home. */
  readonly emptyDir: string;
  readonly gitDir: string;
}): Record<string, string> {
  return {
    PATH: options.path,
    HOME: options.emptyDir,
    XDG_CONFIG_HOME: options.emptyDir,
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_DIR: options.gitDir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    GIT_SSH_COMMAND: 'false',
    GIT_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'file',
    GIT_LITERAL_PATHSPECS: '1',
    ...configurationVariables(),
  };
}

/** Settings given on the command scope: they win over whatever the configuration of a repository says. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['core.excludesFile', '/dev/null'],
  ['core.symlinks', 'true'],
  ['core.fileMode', 'true'],
  ['core.ignoreCase', 'false'],
  ['core.precomposeUnicode', 'false'],
  ['core.autocrlf', 'false'],
  ['core.eol', 'lf'],
  ['core.safecrlf', 'false'],
  ['core.sparseCheckout', 'false'],
  ['core.splitIndex', 'false'],
  ['core.untrackedCache', 'false'],
  ['core.warnAmbiguousRefs', 'false'],
  ['core.quotePath', 'true'],
  ['core.protectNTFS', 'true'],
  ['core.commitGraph', 'false'],
  ['protocol.version', '2'],
  ['protocol.allow', 'never'],
  ['protocol.file.allow', 'always'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['fetch.fsckObjects', 'false'],
  ['transfer.bundleURI', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['submodule.recurse', 'false'],
  ['diff.algorithm', 'myers'],
  ['diff.external', ''],
  ['diff.noprefix', 'false'],
  ['diff.mnemonicPrefix', 'false'],
  ['diff.renameLimit', '2000'],
  ['apply.whitespace', 'nowarn'],
  ['apply.ignoreWhitespace', 'no'],
];

function configurationVariables(): Record<string, string> {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(SETTINGS.length) };
  for (const [index, [key, value]] of SETTINGS.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return variables;
}
