import { MESSAGE_PLACEHOLDERS } from '../domain/commit-message.ts';
import { normalizePath } from '../domain/path.ts';
import type { Role } from '../domain/records.ts';
import { nearestName } from './problem.ts';
import type { Complaint } from './validate.ts';

/** Rules for names that a configuration may hold. Each answers what is wrong, or null. */

export const ROLES = [
  'Chair',
  'Architect',
  'Implementer',
  'Reviewer',
  'Tester',
  'Security',
  'MemoryOracle',
] as const satisfies readonly Role[];

const DIGEST = /^(?:(?<name>[a-z0-9][a-z0-9._:/-]{0,254})@)?sha256:[0-9a-f]{64}$/;

/** An image is `name@sha256:…` or a local `sha256:…`; a tag may mean another image tomorrow. */
export function complainAboutImage(image: string): Complaint | null {
  if (DIGEST.test(image)) return null;
  return {
    code: 'image_not_pinned',
    message: `${JSON.stringify(image)} is not pinned by digest`,
    remedy:
      'use name@sha256:… or a local image id sha256:… with 64 hex digits; `docker image inspect --format {{.Id}} NAME` shows it',
  };
}

/** One exact DNS name: no wildcard, no address, no port. */
export function complainAboutHost(host: string): Complaint | null {
  const remedy = 'give one exact DNS name such as api.example.com';
  if (host.includes('*')) return { message: `${JSON.stringify(host)} has a wildcard`, remedy };
  if (/^[\d.]+$|[:[\]]/.test(host)) return { message: `${JSON.stringify(host)} is an address or has a port`, remedy };
  const labels = host.split('.');
  const proper = labels.every((label) => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/.test(label));
  const top = labels.at(-1) ?? '';
  if (host.length > 253 || labels.length < 2 || !proper || /^\d+$|^0x[0-9a-f]*$/.test(top)) {
    return { message: `${JSON.stringify(host)} is not an exact DNS name in lower case`, remedy };
  }
  return null;
}

// Variables that decide what runs, where files are found or where traffic goes, for the loader, shells, interpreters,
// git, proxies, engines, the agent CLIs and ourselves.
const STEERING =
  /^(?:PATH|HOME|SHELL|USER|LOGNAME|PWD|OLDPWD|TMPDIR|TERM|LANG|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|PS4|CDPATH|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|XDG_\w+|LC_\w+|LD_\w+|DYLD_\w+|GLIBC_\w+|MALLOC_\w+|NODE_\w+|NPM_CONFIG_\w+|PYTHON\w*|PERL\w*|RUBY\w*|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_\w+|CONFIG\w*|EXEC_PATH|SSH\w*|ASKPASS|EDITOR|PAGER|PROXY\w*|TEMPLATE_DIR|EXTERNAL_DIFF|TRACE\w*)|SSH_\w+|SSL_CERT_\w+|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|\w*_PROXY|DOCKER_\w+|CONTAINER_HOST|PODMAN_\w+|ROUNDTABLE_\w+|CODEX_(?:HOME|CA_CERTIFICATE|SANDBOX\w*)|CLAUDE_CONFIG_DIR|CLAUDE_CODE_(?!OAUTH_TOKEN$)\w+|GEMINI_CLI_\w+|OPENCODE_\w+)$/;

/** Names of environment variables that may be handed to an agent program; values never stand in a configuration. */
export function complainAboutCredential(name: string): Complaint | null {
  if (name.includes('=')) {
    return { message: 'holds a value', remedy: 'write the name only; the value comes from the environment' };
  }
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) {
    return {
      message: `${JSON.stringify(name)} is no variable name`,
      remedy: 'use capitals, digits and _, beginning with a letter',
    };
  }
  if (STEERING.test(name)) {
    return {
      message: `${name} steers the program rather than being a credential`,
      remedy: 'remove it; only credentials are passed on',
    };
  }
  return null;
}

/** One argv element, not a command line. */
export function complainAboutCommand(command: string): Complaint | null {
  if (!/\s/.test(command)) return null;
  const [first, ...rest] = command.trim().split(/\s+/);
  const words = rest.map((word) => JSON.stringify(word)).join(', ');
  return {
    message: 'is one program, without arguments, and this has white space',
    remedy: `write command: ${first ?? ''} and put the rest into args: [${words}]`,
  };
}

/** A file of this machine. */
export function complainAboutFile(path: string): Complaint | null {
  if (path.startsWith('/') && !path.includes('\0')) return null;
  return { message: 'is not an absolute path', remedy: 'write the path from / on' };
}

const EXTERNAL_ID = '{{external_session_id}}';

/** Split on white space, exactly one part is the placeholder and no other part contains it. */
export function complainAboutResumePattern(pattern: string): Complaint | null {
  const parts = pattern.split(/\s+/).filter((part) => part !== '');
  const standalone = parts.filter((part) => part === EXTERNAL_ID).length;
  if (standalone === 1 && parts.filter((part) => part.includes('{{') || part.includes('}}')).length === 1) return null;
  return {
    message: `needs exactly one ${EXTERNAL_ID} that stands alone between blanks`,
    remedy: `for example: resume ${EXTERNAL_ID}`,
  };
}

const PLACEHOLDERS = ['{{prompt}}', '{{prompt_file}}', '{{briefing_file}}'];

/** A placeholder is a whole argv element, so that no text is ever pasted into another. */
export function complainAboutArgument(argument: string): Complaint | null {
  if (argument.includes('\0')) return { message: 'contains a NUL character', remedy: 'remove it' };
  if (!/\{\{\w*\}\}/.test(argument) || PLACEHOLDERS.includes(argument)) return null;
  const nearest = nearestName(argument, PLACEHOLDERS);
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return {
    message: `${JSON.stringify(argument)} holds a placeholder that is unknown or not the whole element`,
    remedy: `use one of ${PLACEHOLDERS.join(', ')} as a whole element${hint}`,
  };
}

/** A commit message with placeholders of the engine's; a mistyped one would end up in the history. */
export function complainAboutMessageTemplate(template: string): Complaint | null {
  const known = MESSAGE_PLACEHOLDERS.map((name) => `{{${name}}}`);
  const wrong = (template.match(/\{\{[^{}]*\}\}/g) ?? []).find((placeholder) => !known.includes(placeholder));
  if (wrong === undefined) return null;
  const nearest = nearestName(wrong, known);
  const remedy =
    nearest === null ? `known: ${known.join(', ')}` : `did you mean ${nearest}? Known: ${known.join(', ')}`;
  return { message: `the placeholder ${wrong} is not known`, remedy };
}

/** One directory of the workspace, by its name: not the workspace itself, not a glob. */
export function complainAboutDirectory(directory: string): Complaint | null {
  const remedy = 'name one directory, such as node_modules';
  if (directory === '.' || /[*?[\]{}!]/.test(directory))
    return { message: `${JSON.stringify(directory)} is not one directory`, remedy };
  return complainAboutScope(directory);
}

/** A scope entry: `.`, a path, or a glob, relative to the root of the repository. */
export function complainAboutScope(pattern: string): Complaint | null {
  if (pattern === '.') return null;
  if (pattern.startsWith('!'))
    return { message: 'a scope can not exclude', remedy: 'list what is inside the scope instead' };
  const normal = normalizePath('directory', pattern.replace(/^\.\//, ''));
  return normal.ok
    ? null
    : { message: `${JSON.stringify(pattern)} is refused (${normal.error.reason})`, remedy: normal.error.remedy };
}

/** The role a name stands for in any case and with `_` or `-` inside: `reviewer`, `memory_oracle`. */
export function roleNamed(name: string): Role | null {
  const plain = name.replaceAll(/[-_]/g, '').toLowerCase();
  return ROLES.find((role) => role.toLowerCase() === plain) ?? null;
}

/** `implementers` → `implementer`; a name that is no plural stays. */
export function singular(name: string): string {
  return name.length > 1 && name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : name;
}
