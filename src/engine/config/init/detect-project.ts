/** What `init` can tell from the files of a project and from PATH. */
export interface ProjectFindings {
  /** Test commands in the order in which they were found; the first is the one to use. */
  readonly tests: readonly { readonly argv: readonly string[]; readonly from: string }[];
  readonly packageManager: PackageManager | null;
  /** Names of agent programs on PATH. */
  readonly programs: readonly string[];
}

interface PackageManager {
  readonly name: string;
  readonly from: string;
  readonly install: readonly string[];
  readonly hosts: readonly string[];
  readonly dir: string;
}

/** Text of a file at the root of the project, or null when there is no regular file of a sensible size. */
export type ReadRootFile = (name: string) => Promise<string | null>;

const AGENT_PROGRAMS = ['claude', 'codex', 'gemini', 'opencode'];

export async function detectProject(
  read: ReadRootFile,
  onPath: (name: string) => Promise<boolean>,
): Promise<ProjectFindings> {
  const manifest = parseManifest(await read('package.json'));
  const packageManager = await detectPackageManager(read, manifest);
  const found = await Promise.all(AGENT_PROGRAMS.map(async (name) => ((await onPath(name)) ? [name] : [])));
  return { tests: await detectTests(read, manifest, packageManager), packageManager, programs: found.flat() };
}

interface Manifest {
  readonly testScript: string | null;
  readonly packageManager: string | null;
}

const NPM = { install: ['npm', 'ci', '--ignore-scripts'], dir: 'node_modules' };

const LOCK_FILES: readonly (readonly [file: string, name: string])[] = [
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
];

const INSTALLS: Readonly<Record<string, Pick<PackageManager, 'install' | 'dir'>>> = {
  npm: NPM,
  pnpm: { ...NPM, install: ['pnpm', 'install', '--frozen-lockfile', '--ignore-scripts'] },
  yarn: { ...NPM, install: ['yarn', 'install', '--immutable', '--mode=skip-build'] },
  bun: { ...NPM, install: ['bun', 'install', '--frozen-lockfile', '--ignore-scripts'] },
};

async function detectPackageManager(read: ReadRootFile, manifest: Manifest | null): Promise<PackageManager | null> {
  const locks: { readonly file: string; readonly name: string; readonly text: string }[] = [];
  for (const [file, name] of LOCK_FILES) {
    const text = await read(file);
    if (text !== null) locks.push({ file, name, text });
  }
  const declared = manifest?.packageManager?.split('@')[0] ?? '';
  const lock = locks.find(({ name }) => name === declared) ?? locks[0];
  const hosts = lock === undefined ? [] : hostsOf(lock.text);
  const declaredInstall = INSTALLS[declared];
  if (declaredInstall !== undefined) return { name: declared, from: 'package.json', hosts, ...declaredInstall };
  const install = lock === undefined ? undefined : INSTALLS[lock.name];
  if (lock === undefined || install === undefined) return null;
  return { name: lock.name, from: lock.file, hosts, ...install };
}

/** Hosts that a lock file says packages come from (`"resolved": "https://…"`), most frequent first. */
function hostsOf(lock: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const [, host] of lock.matchAll(/\bresolved"?:? "https:\/\/([a-z0-9.-]+)\//g)) {
    if (host !== undefined) counts.set(host, (counts.get(host) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([host]) => host);
}

async function detectTests(read: ReadRootFile, manifest: Manifest | null, manager: PackageManager | null) {
  const tests: { argv: readonly string[]; from: string }[] = [];
  if (manifest?.testScript) {
    const program = manager?.name ?? 'npm';
    tests.push({ argv: program === 'bun' ? ['bun', 'run', 'test'] : [program, 'test'], from: 'package.json' });
  }
  for (const file of ['GNUmakefile', 'makefile', 'Makefile']) {
    const text = await read(file);
    if (text === null) continue;
    // A rule, not an assignment (`test := …`) and not a recipe line.
    if (/^test[ \t]*::?(?!=)/m.test(text)) tests.push({ argv: ['make', 'test'], from: file });
    break;
  }
  if ((await read('go.mod')) !== null) tests.push({ argv: ['go', 'test', './...'], from: 'go.mod' });
  if ((await read('Cargo.toml')) !== null) tests.push({ argv: ['cargo', 'test'], from: 'Cargo.toml' });
  const python = await pytestEvidence(read);
  if (python !== null) tests.push({ argv: ['python3', '-m', 'pytest'], from: python });
  return tests;
}

async function pytestEvidence(read: ReadRootFile): Promise<string | null> {
  const evidence: readonly (readonly [string, RegExp])[] = [
    ['pytest.ini', /(?:)/],
    ['conftest.py', /(?:)/],
    ['pyproject.toml', /^\s*\[tool\.pytest\b|["']pytest\b/m],
    ['setup.cfg', /^\[tool:pytest\]/m],
    ['tox.ini', /^\[pytest\]/m],
    ['requirements-dev.txt', /^pytest\b/m],
    ['requirements.txt', /^pytest\b/m],
  ];
  for (const [file, pattern] of evidence) {
    const text = await read(file);
    if (text !== null && pattern.test(text)) return file;
  }
  return null;
}

function parseManifest(text: string | null): Manifest | null {
  if (text === null) return null;
  try {
    const data: unknown = JSON.parse(text);
    const test = property(property(data, 'scripts'), 'test');
    const manager = property(data, 'packageManager');
    // What `npm init` writes is the absence of tests, put in words.
    const real = typeof test === 'string' && test.trim() !== '' && !/no test specified/.test(test);
    return { testScript: real ? test : null, packageManager: typeof manager === 'string' ? manager : null };
  } catch {
    return null;
  }
}

function property(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
