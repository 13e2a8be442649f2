// Bundles the command into dist/: one file per part that is loaded for itself, so that a command reads its own code and no
// other's, and the code as V8 compiled it in a first run, so that nobody's first run compiles it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { existing } from '../bench/workloads/snapshots.ts';

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

rmSync('dist', { recursive: true, force: true });
const { outputFiles } = await build({
  entryPoints: { kerf: 'src/cli/main.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  splitting: true,
  minifySyntax: true,
  minifyWhitespace: true,
  plugins: [dataAsText, embedSolver],
  legalComments: 'external',
  loader: { '.json': 'json' },
  // Dependencies in CommonJS ask for Node's own modules that way.
  banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
  logLevel: 'warning',
  write: false,
});
// bin/kerf keeps compiled code here.
mkdirSync('dist/compiled', { recursive: true });
for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));

/** One letter beyond ASCII (in a regular expression, say) makes a file twice as large in memory and slow to read. */
function inAscii(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: everything but ASCII is what is meant
  return text.replace(/[^\x00-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Code counts as compiled once it has run: a plan that needs most of the planner is made for nobody. */
function runOnce(): void {
  const input = JSON.stringify(existing(1000, 50));
  const args = ['bin/kerf', 'plan', '--snapshot', '-', '-o', 'json'];
  const { status } = spawnSync(process.execPath, args, { input, stdio: ['pipe', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('the bundled command cannot plan');
}
runOnce();
