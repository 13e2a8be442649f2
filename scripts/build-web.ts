// Builds the dashboard's page into dist/web: three files, each also compressed, within its budget.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const outDir = 'dist/web';
/** Script and style together, compressed: what is meant, and where the build fails. */
const budgetBytes = { meant: 110_000, most: 150_000 };

export async function buildWeb(): Promise<void> {
  await build({
    configFile: false,
    root: 'src/web',
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: join(process.cwd(), outDir),
      emptyOutDir: true,
      modulePreload: false,
      cssCodeSplit: false,
      assetsInlineLimit: 0,
      rollupOptions: {
        output: {
          entryFileNames: 'app.js',
          chunkFileNames: '[name].js',
          assetFileNames: 'app[extname]',
          codeSplitting: false,
        },
      },
    },
  });
  let total = 0;
  for (const name of ['index.html', 'app.js', 'app.css']) {
    const path = join(outDir, name);
    const body = readFileSync(path);
    const zipped = gzipSync(body, { level: 9 });
    if (name !== 'index.html') total += zipped.length;
    writeFileSync(`${path}.gz`, zipped);
    writeFileSync(`${path}.br`, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
  const text = `the page: script and style ${(total / 1000).toFixed(1)} kB gzip, html ${statSync(join(outDir, 'index.html')).size} bytes`;
  if (total > budgetBytes.most) throw new Error(`${text}, more than ${budgetBytes.most / 1000} kB`);
  console.log(total > budgetBytes.meant ? `${text}: above the ${budgetBytes.meant / 1000} kB it should have` : text);
}

if (import.meta.main) await buildWeb();
