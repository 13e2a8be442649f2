// Every production dependency must carry a licence of the allow list. Reads the installed package.json files.
import { readFileSync } from 'node:fs';

const allowed = new Set(['Apache-2.0', 'MIT', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC']);

interface Lock {
  packages: Record<string, { dev?: boolean; optional?: boolean; peer?: boolean; license?: string; link?: boolean }>;
}

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
const production = Object.entries(lock.packages).filter(([path, entry]) => path !== '' && !entry.dev && !entry.link);
const refused = production.filter(([, entry]) => !allowed.has(entry.license ?? ''));
for (const [path, entry] of refused) {
  console.error(
    `${path.replace('node_modules/', '')}: licence ${entry.license ?? 'unknown'} is not one of ${[...allowed].join(', ')}`,
  );
}
console.log(`${production.length} production packages, ${refused.length} refused`);
process.exit(refused.length > 0 || production.length === 0 ? 1 : 0);
