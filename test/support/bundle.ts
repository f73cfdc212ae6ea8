import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Ink's optional development tool; nothing of it may reach a bundle. */
const withoutDevtools: Plugin = {
  name: 'without-devtools',
  setup(plugins) {
    plugins.onResolve({ filter: /^react-devtools-core$/ }, () => ({ path: 'react-devtools-core', namespace: 'stub' }));
    plugins.onLoad({ filter: /.*/, namespace: 'stub' }, () => ({ contents: 'export default {};' }));
  },
};

/** Bundles an entry (a path from the repository's root) the way the product is shipped; answers the file. */
export async function bundleEntry(entry: string, outdir: string): Promise<string> {
  const name = path.basename(entry).replace(/\.tsx?$/, '');
  await build({
    entryPoints: [path.join(root, entry)],
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    splitting: true,
    minify: true,
    outExtension: { '.js': '.mjs' },
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
    plugins: [withoutDevtools],
    logLevel: 'error',
  });
  return path.join(outdir, `${name}.mjs`);
}
