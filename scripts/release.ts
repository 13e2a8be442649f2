// `npm run release`: everything that a release consists of, in one folder, with checksums; signed where a key is given.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { messageOf } from '../src/base/index.ts';
import { buildImage, buildTimeSeconds, created, sha256 } from './image/build-image.ts';
import { bundleSbom } from './image/sbom.ts';
import { architectures } from './image/sources.ts';
import { writeTar } from './image/tar.ts';
import { type Artefact, charts, definitions, kubectlPlugin, npmPackage } from './release/artefacts.ts';
import { sign } from './release/sign.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'release' },
    /** A key that cosign takes: a file, or the address of one in a key service. */
    'cosign-key': { type: 'string', default: process.env['COSIGN_KEY'] ?? '' },
    /** Also record the signature in the public log of Sigstore. */
    'transparency-log': { type: 'boolean', default: false },
  },
});
const run = (program: string, args: readonly string[]): void => {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit' });
  if (status === 0) return;
  console.error(`cannot make the release: ${program} ${args.join(' ')}: ${error?.message ?? `ended with ${status}`}`);
  process.exit(1);
};
run(process.execPath, ['scripts/generate.ts', '--check']);
run(process.execPath, ['scripts/build.ts']);
const image = await buildImage(architectures, (line) => console.error(line));
const { version } = manifest;
const artefacts: Artefact[] = [
  { name: `kerf-${version}-image.tar`, content: writeTar(image.entries, buildTimeSeconds) },
  { name: `kerf-${version}-image.digest`, content: Buffer.from(`${image.digest}\n`) },
  ...image.perArchitecture.map(({ arch, sbom }) => ({
    name: `kerf-${version}-image-${arch}.cdx.json`,
    content: Buffer.from(sbom),
  })),
  { name: `kerf-${version}.cdx.json`, content: Buffer.from(bundleSbom(created)) },
  ...charts(),
  definitions(),
  npmPackage(),
  ...kubectlPlugin(),
];
rmSync(values.out, { recursive: true, force: true });
mkdirSync(join(values.out, 'charts'), { recursive: true });
for (const { name, content } of artefacts) writeFileSync(join(values.out, name), content);
const sums = artefacts.map(({ name, content }) => `${sha256(content)}  ${name}\n`).sort();
writeFileSync(join(values.out, 'SHA256SUMS'), sums.join(''));
if (values['cosign-key'] !== '') {
  try {
    sign(join(values.out, 'SHA256SUMS'), { key: values['cosign-key'], isLogged: values['transparency-log'] });
  } catch (error) {
    console.error(`cannot make the release: ${messageOf(error)}`);
    process.exit(1);
  }
}
for (const { name, content } of artefacts) console.log(`${(content.length / 1e6).toFixed(2).padStart(8)} MB  ${name}`);
console.log(`kerf ${version} in ${values.out}, image ${image.digest}`);
