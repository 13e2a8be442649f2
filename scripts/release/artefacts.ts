// What a release consists of beside the image: charts, definitions, the npm package, the kubectl plugin. Each is made of
// files of this checkout and of the bundle, packed so that the same content gives the same bytes.
import { globSync, readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { buildTimeSeconds, sha256 } from '../image/build-image.ts';
import { gzip, type TarEntry, writeTar } from '../image/tar.ts';
import { thirdPartyLicences } from './third-party.ts';

export interface Artefact {
  /** Path in the folder of the release. */
  name: string;
  content: Buffer;
}

const { version } = manifest;

/** Files of a folder of the checkout, under another one in the archive. */
function filesOf(folder: string, under: string): TarEntry[] {
  return globSync([`${folder}/**/*`, `${folder}/.helmignore`])
    .filter((path) => statSync(path).isFile())
    .map((path) =>
      file(`${under}/${relative(folder, path)}`, readFileSync(path), statSync(path).mode & 0o100 ? 0o755 : 0o644),
    );
}

const file = (path: string, content: Buffer | string, mode = 0o644): TarEntry => ({
  kind: 'file',
  path,
  content: Buffer.from(content),
  mode,
});

const packed = (entries: readonly TarEntry[]): Buffer => gzip(writeTar(entries, buildTimeSeconds));

/** As `helm package` names and arranges them. */
export function charts(): Artefact[] {
  return ['kerf', 'kerf-crd'].map((name) => ({
    name: `charts/${name}-${version}.tgz`,
    content: packed(filesOf(`charts/${name}`, name)),
  }));
}

export function definitions(): Artefact {
  const files = globSync('crds/*.yaml').sort();
  const text = files.map((path) => readFileSync(path, 'utf8')).join('---\n');
  return { name: `kerf-${version}-crds.yaml`, content: Buffer.from(text) };
}

/** Nothing to install with it: everything is in the bundle. */
export function npmPackage(): Artefact {
  const { name, description, license, type, bin, engines, files } = manifest;
  const own = { name, version, description, license, type, bin, engines, files: [...files, 'THIRD-PARTY'] };
  const entries = [
    file('package/package.json', `${JSON.stringify(own, undefined, 2)}\n`),
    file('package/bin/kerf', readFileSync('bin/kerf'), 0o755),
    file('package/bin/hand-over.mjs', readFileSync('bin/hand-over.mjs')),
    ...filesOf('dist/parts', 'package/dist/parts'),
    file('package/README.md', readFileSync('README.md')),
    file('package/LICENSE', readFileSync('LICENSE')),
    file('package/THIRD-PARTY', thirdPartyLicences()),
  ];
  return { name: `kerf-${version}.tgz`, content: packed(entries) };
}

/** `kubectl kerf …`: one file that runs on Node 24, and what krew has to know about it. */
export function kubectlPlugin(): Artefact[] {
  const archive = packed([
    file('kubectl-kerf', readFileSync('dist/kerf.cjs'), 0o755),
    file('LICENSE', readFileSync('LICENSE')),
    file('THIRD-PARTY', thirdPartyLicences()),
  ]);
  const name = `kubectl-kerf-${version}.tar.gz`;
  const platforms = ['linux', 'darwin'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch })));
  const krew = `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: kerf
spec:
  version: v${version}
  shortDescription: Explain and plan what a node autoscaler does
  description: |
    ${manifest.description}
    kubectl kerf explain pod NAME says why a pod waits, kubectl kerf plan what would be launched.
  caveats: |
    Needs Node 24 or newer in the path.
  platforms:
${platforms
  .map(
    ({ os, arch }) => `    - selector:
        matchLabels:
          os: ${os}
          arch: ${arch}
      # Replace the folder by where the files of the release are published.
      uri: https://example.com/kerf/v${version}/${name}
      sha256: ${sha256(archive)}
      bin: kubectl-kerf
`,
  )
  .join('')}`;
  return [
    { name, content: archive },
    { name: 'kubectl-kerf.krew.yaml', content: Buffer.from(krew) },
  ];
}
