// Bundles the program into dist/: the entry answers --version without loading anything else; every part is its own
// chunk, loaded when a command needs it. The bridge is one file of its own that needs only Node.
import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version, dependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const outdir = `${root}/dist`;
rmSync(outdir, { recursive: true, force: true });

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"', __ROUNDTABLE_VERSION__: JSON.stringify(version) },
};

/** Ink loads its developer tools only when DEV is set; without the package the import must still resolve. */
const withoutDevtools = {
  name: 'without-devtools',
  setup(plugins) {
    plugins.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'empty' }));
    plugins.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({
      contents: 'export default { initialize() {}, connectToDevTools() {} };',
    }));
  },
};

// Native, or loading files beside itself: these stay packages.
const packages = ['better-sqlite3', 'dockerode'].filter((name) => name in dependencies);

await build({
  ...common,
  entryPoints: { roundtable: 'bin/roundtable.ts' },
  outdir,
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  external: packages,
  plugins: [withoutDevtools],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
});

await build({
  ...common,
  entryPoints: { bridge: 'src/sandbox/bridge/bridge.ts' },
  outdir: `${outdir}/bridge`,
  outExtension: { '.js': '.mjs' },
});
