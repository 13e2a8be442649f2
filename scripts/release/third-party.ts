// The licences of what is inside the bundle, as one text: they ask to be passed on with it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Package {
  name: string;
  version: string;
  license?: string;
}

export function thirdPartyLicences(): string {
  const folders = JSON.parse(readFileSync('dist/packages.json', 'utf8')) as string[];
  const parts = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package;
    const file = existsSync(folder)
      ? readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each))
      : undefined;
    const text =
      file === undefined
        ? `Licensed under ${license ?? 'terms of its own'}.`
        : readFileSync(join(folder, file), 'utf8').trim();
    return `${name} ${version} (${license ?? 'see below'})\n\n${text}\n`;
  });
  return `The bundle contains these packages.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
