// The page's files as the build left them, with their compressed forms: read once, served from memory.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Asset {
  type: string;
  body: Buffer;
  gzip: Buffer | undefined;
  brotli: Buffer | undefined;
}

const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
};

/** From the bundle's folder, from its parts, or from the sources. */
const places = ['./web', '../web', '../../../dist/web'];

const missing = `<!doctype html><title>Kerf</title><p>The page was not built: run <code>npm run build</code>.</p>`;

const known = new Map<string, Asset | undefined>();

export function assetNamed(name: string): Asset | undefined {
  if (!Object.hasOwn(types, name)) return undefined;
  if (!known.has(name)) known.set(name, readAsset(name));
  return known.get(name);
}

function readAsset(name: string): Asset | undefined {
  const type = types[name] as string;
  const folder = places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((each) => existsSync(join(each, 'index.html')));
  if (folder === undefined) {
    return name === 'index.html' ? { type, body: Buffer.from(missing), gzip: undefined, brotli: undefined } : undefined;
  }
  const read = (file: string): Buffer | undefined => {
    const path = join(folder, file);
    return existsSync(path) ? readFileSync(path) : undefined;
  };
  const body = read(name);
  return body === undefined ? undefined : { type, body, gzip: read(`${name}.gz`), brotli: read(`${name}.br`) };
}
