// Bundles the command into dist/, twice. `kerf.cjs` is all of it in one file that runs wherever there is a Node. `parts/` is
// one file per part that is loaded for itself, so that a command reads its own code and no other's, beside the code as V8
// compiled it in a first run, so that no one's first run compiles it: what bin/kerf prefers.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { existing } from '../bench/workloads/snapshots.ts';
import { buildWeb } from './build-web.ts';

/** Large data as text that is parsed when first used: a string is scanned many times faster than an object literal. */
const dataAsText: Plugin = {
  name: 'data-as-text',
  setup(builder) {
    builder.onLoad({ filter: /\/data\/[^/]+\.json$/ }, ({ path }) => ({
      contents: `export default JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))))});`,
      loader: 'js',
    }));
  },
};

/** The solver's WebAssembly goes into the bundle, compressed: 0.9 MB instead of 3.5, unpacked only when it is used. */
const embedSolver: Plugin = {
  name: 'embed-solver',
  setup(builder) {
    builder.onLoad({ filter: /solver-binary\.ts$/ }, () => {
      const binary = readFileSync(createRequire(import.meta.url).resolve('highs/runtime'));
      const packed = brotliCompressSync(binary, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
      const contents = `import { brotliDecompressSync } from 'node:zlib';
export const solverBinary = async () => brotliDecompressSync(Buffer.from('${packed.toString('base64')}', 'base64'));`;
      return { contents, loader: 'js' };
    });
  },
};

async function bundle(options: BuildOptions): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    metafile: true,
    bundle: true,
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [dataAsText, embedSolver],
    legalComments: 'external',
    loader: { '.json': 'json' },
    logLevel: 'warning',
    ...options,
    write: false,
  });
  for (const { path, text } of outputFiles ?? []) {
    if (/\bexport default require_\w+\(\);/.test(text)) {
      throw new Error(`${path}: a CommonJS package is imported dynamically and loses its names; re-export them first`);
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, inAscii(text));
  }
  return Object.keys(metafile?.inputs ?? {});
}

/** Folders of the packages among these files: what a bill of materials lists. */
function packagesOf(inputs: readonly string[]): string[] {
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  return [...new Set(folders)].sort();
}

/** One letter beyond ASCII (in a regular expression, say) makes a file twice as large in memory and slow to read. */
function inAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything but ASCII is what is meant
  return text.replace(/[^\x00-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Code counts as compiled once it has run: a plan that needs most of the planner is made for no one. */
function runOnce(): void {
  const input = JSON.stringify(existing(1000, 50));
  const args = ['bin/kerf', 'plan', '--snapshot', '-', '-o', 'json'];
  const { status } = spawnSync(process.execPath, args, { input, stdio: ['pipe', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('the bundled command cannot plan');
}

rmSync('dist', { recursive: true, force: true });
// bin/kerf keeps compiled code here.
mkdirSync('dist/compiled', { recursive: true });
const inputs = await bundle({
  entryPoints: ['src/cli/main.ts'],
  outfile: 'dist/kerf.cjs',
  // CommonJS, because an ES module in one file would load every Node module that any command needs before its first line runs.
  format: 'cjs',
  // Some dependencies ask where they are; in CommonJS that is this file.
  define: { 'import.meta.url': 'kerfUrl' },
  banner: {
    js: [
      '#!/usr/bin/env node',
      "if (Number(process.versions.node.split('.')[0]) < 24) { console.error(`kerf needs Node 24 or newer, this is ${process.version}. Put a newer one first in the path: https://nodejs.org`); process.exit(2); }",
      "const kerfUrl = require('node:url').pathToFileURL(__filename).href;",
    ].join('\n'),
  },
});
chmodSync('dist/kerf.cjs', 0o755);
writeFileSync('dist/packages.json', JSON.stringify(packagesOf(inputs)));
await bundle({
  entryPoints: { kerf: 'src/cli/main.ts' },
  outdir: 'dist/parts',
  outExtension: { '.js': '.mjs' },
  format: 'esm',
  splitting: true,
  // Dependencies in CommonJS ask for Node's own modules that way.
  banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
});
await buildWeb();
runOnce();
