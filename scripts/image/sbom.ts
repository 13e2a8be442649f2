// What an image or a bundle consists of, as CycloneDX: every package with version, licence and origin.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import manifest from '../../package.json' with { type: 'json' };
import debian from './debian-packages.json' with { type: 'json' };
import { type Architecture, type DebianPackage, nodeVersion } from './sources.ts';

interface Component {
  type: 'application' | 'library' | 'platform';
  'bom-ref': string;
  name: string;
  version: string;
  purl: string;
  licenses: ({ license: { id: string } } | { expression: string })[];
  hashes?: { alg: 'SHA-256'; content: string }[];
}

interface Lock {
  packages: Record<string, { version: string; license?: string }>;
}

const licences = (licence: string): Component['licenses'] =>
  / (AND|OR|WITH) |^LicenseRef-/.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }];

const component = (
  type: Component['type'],
  name: string,
  version: string,
  purl: string,
  licence: string,
): Component => ({
  type,
  'bom-ref': purl,
  name,
  version,
  purl,
  licenses: licences(licence),
});

/** The npm packages that esbuild found in the bundle, at the versions of the lock file. */
function bundled(): Component[] {
  const folders = JSON.parse(readFileSync('dist/packages.json', 'utf8')) as string[];
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
  return folders.map((folder) => {
    const entry = lock.packages[folder];
    if (entry?.license === undefined) throw new Error(`package-lock.json knows no licence of ${folder}`);
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return component(
      'library',
      name,
      entry.version,
      `pkg:npm/${name.replace('@', '%40')}@${entry.version}`,
      entry.license,
    );
  });
}

const ourselves = (): Component =>
  component('application', 'kerf', manifest.version, `pkg:npm/kerf@${manifest.version}`, manifest.license);

export const bundleSbom = (created: string): string => bom(ourselves(), bundled(), created);

export function imageSbom(arch: Architecture, packages: readonly DebianPackage[], created: string): string {
  const image = { ...ourselves(), 'bom-ref': `pkg:oci/kerf@${manifest.version}?arch=${arch}` };
  const system = packages.map(
    ({ name, version, licence, sha256 }): Component => ({
      ...component(
        'library',
        name,
        version,
        `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=${debian.release}`,
        licence,
      ),
      hashes: [{ alg: 'SHA-256', content: sha256 }],
    }),
  );
  const node = component('platform', 'node', nodeVersion, `pkg:generic/node@${nodeVersion}?arch=${arch}`, 'MIT');
  return bom(image, [...system, node, ...bundled()], created);
}

function bom(subject: Component, components: Component[], created: string): string {
  const sorted = components.sort((left, right) => (left.purl < right.purl ? -1 : 1));
  const body = {
    metadata: { timestamp: created, component: subject },
    components: sorted,
    dependencies: [{ ref: subject['bom-ref'], dependsOn: sorted.map((each) => each['bom-ref']) }],
  };
  // A name made of the content, so that the same content has the same one.
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const uuid = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: `urn:uuid:${uuid}`, version: 1 };
  return `${JSON.stringify({ ...head, ...body }, undefined, 2)}\n`;
}
