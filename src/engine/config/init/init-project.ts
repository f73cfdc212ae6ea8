/**
 * `roundtable init`: scaffolds a repository, all or nothing. Trusts: the templates that came with the program. Does not
 * trust: anything that already lies in the project; it is kept, or backed up first.
 */
import { createHash } from 'node:crypto';
import { constants, promises as fs } from 'node:fs';
import path from 'node:path';
import { type EngineError, engineError } from '../../domain/errors.ts';
import { err, ok, type Result } from '../../domain/result.ts';
import type { ProjectFacts, RepositoryFacts } from '../../ports/project-facts.ts';
import { detectProject, type ProjectFindings } from './detect-project.ts';
import { nodePlacingFs } from './node-placing-fs.ts';
import { type FileToPlace, PlacingError, type PlacingFs, placeFiles } from './place-files.ts';
import { type ScaffoldFile, scaffold } from './scaffold.ts';

export interface InitRequest {
  /** Any directory of the work tree. */
  readonly directory: string;
  /** Back up and replace what is there. */
  readonly force: boolean;
  /** Rewrite generated files that nobody has edited. */
  readonly refreshGenerated: boolean;
}

export interface InitDeps {
  readonly facts: ProjectFacts;
  readonly templatesDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** UTC RFC 3339. */
  readonly now: () => string;
  readonly placing?: PlacingFs;
}

/** Structurally the report of the API. */
export interface InitOutcome {
  readonly root: string;
  readonly stateDir: string;
  readonly created: readonly string[];
  readonly kept: readonly string[];
  readonly backedUp: readonly { readonly path: string; readonly backup: string }[];
  readonly detected: readonly string[];
  readonly next: readonly string[];
}

/** Errors: those of the facts, and `storage_failed` with everything undone. */
export async function initProject(deps: InitDeps, request: InitRequest): Promise<Result<InitOutcome, EngineError>> {
  const facts = await deps.facts.read(request.directory);
  if (!facts.ok) return facts;
  const root = facts.value.topLevel;
  const stateDir = path.join(facts.value.commonDir, 'roundtable');
  const findings = await detectProject(
    (name) => readSmallFile(path.join(root, name)),
    (name) => isOnPath(name, deps.environment.PATH ?? ''),
  );
  const placing = deps.placing ?? nodePlacingFs;
  let madeState = false;
  try {
    const readTemplate = (name: string) => fs.readFile(path.join(deps.templatesDir, name), 'utf8');
    const files = await scaffold(readTemplate, path.basename(root), findings);
    const suffix = `.bak-${deps.now().replaceAll(/[-:]|\.\d+/g, '')}`;
    const plan = await planPlacing(root, files, request);
    madeState = (await fs.mkdir(stateDir, { recursive: true, mode: 0o700 })) !== undefined;
    await placeFiles(placing, root, plan.place, suffix);
    return ok({
      root,
      stateDir,
      created: plan.place.filter((file) => file.how === 'create').map((file) => file.path),
      kept: plan.kept,
      backedUp: plan.place
        .filter((file) => file.how === 'backup')
        .map((file) => ({ path: file.path, backup: `${file.path}${suffix}` })),
      detected: describe(facts.value, findings),
      next: nextSteps(facts.value, findings, plan.kept),
    });
  } catch (cause) {
    // Only an empty directory goes; somebody may already use the state.
    if (madeState) await fs.rmdir(stateDir).catch(() => undefined);
    return err(toError(cause));
  }
}

const MANIFEST = '.roundtable/generated.json';

async function planPlacing(
  root: string,
  files: readonly ScaffoldFile[],
  request: InitRequest,
): Promise<{ place: FileToPlace[]; kept: string[] }> {
  const place: FileToPlace[] = [];
  const kept: string[] = [];
  const recorded = parseManifest(await readSmallFile(path.join(root, MANIFEST)));
  const digests: Record<string, string> = { ...recorded };
  for (const file of files) {
    const there = await existing(path.join(root, file.path));
    const how = decide(file, there, recorded?.[file.path], request);
    if (how === 'keep') kept.push(file.path);
    else place.push({ path: file.path, text: file.text, how });
    if (file.generated && (how !== 'keep' || there?.text === file.text)) digests[file.path] = sha256(file.text);
  }
  const manifest = `${JSON.stringify({ note: 'digests of generated files as they were written; see init --refresh-generated', files: digests }, null, 2)}\n`;
  const old = await existing(path.join(root, MANIFEST));
  if (old === null) place.push({ path: MANIFEST, text: manifest, how: 'create' });
  else if (recorded === null) kept.push(MANIFEST);
  else if (old.text !== manifest) place.push({ path: MANIFEST, text: manifest, how: 'replace' });
  return { place, kept };
}

function decide(
  file: ScaffoldFile,
  there: { readonly text: string | null } | null,
  recordedDigest: string | undefined,
  request: InitRequest,
): FileToPlace['how'] | 'keep' {
  if (there === null) return 'create';
  if (there.text === null || there.text === file.text) return 'keep';
  const untouched = file.generated && recordedDigest === sha256(there.text);
  if (request.refreshGenerated && untouched) return 'replace';
  return request.force ? 'backup' : 'keep';
}

/** `text` is null for what is no regular file: it is kept in any case. */
async function existing(file: string): Promise<{ readonly text: string | null } | null> {
  try {
    const stat = await fs.lstat(file);
    return { text: stat.isFile() ? await fs.readFile(file, 'utf8') : null };
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(cause))) return null;
    throw cause;
  }
}

function parseManifest(text: string | null): Readonly<Record<string, string>> | null {
  if (text === null) return null;
  try {
    const files: unknown = (JSON.parse(text) as { files?: unknown } | null)?.files;
    if (typeof files !== 'object' || files === null) return null;
    return Object.fromEntries(
      Object.entries(files).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return null;
  }
}

function describe(facts: RepositoryFacts, findings: ProjectFindings): string[] {
  const { name, email, signs } = facts.identity;
  const tests = findings.tests.map(({ argv, from }) => `${argv.join(' ')} (${from})`);
  return [
    `branch: ${facts.branch ?? 'none, HEAD is detached'}${facts.headCommit === null ? ', without a commit yet' : ''}`,
    `git identity: ${name === null || email === null ? 'none' : `${name} <${email}>`}${signs ? ', commits are signed' : ''}`,
    `test command: ${tests[0] ?? 'none found'}`,
    ...(tests.length > 1 ? [`other test commands: ${tests.slice(1).join(', ')}`] : []),
    ...(findings.packageManager === null
      ? []
      : [`package manager: ${findings.packageManager.name} (${findings.packageManager.from})`]),
    `agent programs on PATH: ${findings.programs.length === 0 ? 'none' : findings.programs.join(', ')}`,
  ];
}

function nextSteps(facts: RepositoryFacts, findings: ProjectFindings, kept: readonly string[]): string[] {
  const { name, email } = facts.identity;
  const steps: string[] = [];
  if (name === null) steps.push('tell git your name: git config user.name "Your Name"');
  if (email === null) steps.push('tell git your e-mail: git config user.email you@example.com');
  if (kept.length === 0 || facts.headCommit === null) {
    const first = facts.headCommit === null ? 'make the first commit; agents start from one' : 'commit what init wrote';
    steps.push(`${first}: git add . && git commit -m "Set up Roundtable"`);
  }
  if (findings.tests.length === 0) {
    steps.push('set tests.required in .roundtable/config.yaml and tests_required: true in POLICIES.ROUNDTABLE.md');
  }
  if (findings.packageManager !== null) {
    steps.push('tests need the installed dependencies? Take the # from tests.prepare in .roundtable/config.yaml');
  }
  steps.push(
    'say which program the agents run, in .roundtable/config.yaml under adapters: (command, args); what stands there only writes the task into NOTES.md',
  );
  steps.push('make an image for it: roundtable image build generic');
  steps.push('check it: roundtable config check');
  return steps;
}

function toError(cause: unknown): EngineError {
  if (cause instanceof PlacingError) {
    const left = cause.leftovers.length === 0 ? 'nothing was changed' : `not undone: ${cause.leftovers.join('; ')}`;
    const message = `init stopped${cause.file === '' ? '' : ` at ${cause.file}`}: ${cause.message} (${left})`;
    return engineError('storage_failed', message, 'mend that and run init again', {
      path: cause.file,
      leftovers: cause.leftovers,
    });
  }
  const words = cause instanceof Error ? cause.message : String(cause);
  return engineError('storage_failed', `init stopped: ${words} (nothing was changed)`, 'mend that and run init again');
}

const MAX_READ_BYTES = 1024 * 1024;

async function readSmallFile(file: string): Promise<string | null> {
  try {
    const stat = await fs.lstat(file);
    return stat.isFile() && stat.size <= MAX_READ_BYTES ? await fs.readFile(file, 'utf8') : null;
  } catch {
    return null;
  }
}

async function isOnPath(name: string, searchPath: string): Promise<boolean> {
  for (const directory of searchPath.split(path.delimiter)) {
    if (!path.isAbsolute(directory)) continue;
    const file = path.join(directory, name);
    const runnable = await fs.access(file, constants.X_OK).then(
      async () => (await fs.stat(file)).isFile(),
      () => false,
    );
    if (runnable) return true;
  }
  return false;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}
