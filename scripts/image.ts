// `npm run image`: the container image as an OCI layout and archive under release/, built without a container daemon.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../package.json' with { type: 'json' };
import { buildImage, buildTimeSeconds } from './image/build-image.ts';
import { architectures } from './image/sources.ts';
import { writeTar } from './image/tar.ts';

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: architectures.join(',') },
    out: { type: 'string', default: 'release' },
  },
});
const archs = architectures.filter((each) => values.arch.split(',').includes(each));
if (archs.length === 0) {
  console.error(`--arch ${values.arch}: write ${architectures.join(' or ')}, or both with a comma`);
  process.exit(2);
}
const built = spawnSync(process.execPath, ['scripts/build.ts'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(1);
const image = await buildImage(archs, (line) => console.error(line));
const folder = join(values.out, 'image');
rmSync(folder, { recursive: true, force: true });
for (const entry of image.entries) {
  if (entry.kind !== 'file') continue;
  mkdirSync(dirname(join(folder, entry.path)), { recursive: true });
  writeFileSync(join(folder, entry.path), entry.content);
}
const archive = join(values.out, `kerf-${manifest.version}-image.tar`);
writeFileSync(archive, writeTar(image.entries, buildTimeSeconds));
for (const { arch, sbom, digest, compressedBytes } of image.perArchitecture) {
  writeFileSync(join(values.out, `kerf-${manifest.version}-image-${arch}.cdx.json`), sbom);
  console.log(`${arch}  ${digest}  ${(compressedBytes / 1e6).toFixed(1)} MB compressed`);
}
console.log(`index  ${image.digest}\n${image.name} as a layout in ${folder} and as an archive in ${archive}`);
