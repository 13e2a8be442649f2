// The files of a release: the image built twice is the same image, holds what it should and nothing else, and each of the
// other files does its work outside this checkout.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { type BuiltImage, buildImage } from '../../scripts/image/build-image.ts';
import { bundleSbom } from '../../scripts/image/sbom.ts';
import { architectures } from '../../scripts/image/sources.ts';
import { charts, definitions, kubectlPlugin, npmPackage } from '../../scripts/release/artefacts.ts';
import { helm } from '../chart/helm.ts';
import { type Output, runProgram } from '../setup/run-program.ts';
import { ImageReader } from './image-root.ts';

const { version } = manifest;
const quiet = (): void => {};
const host = process.arch === 'arm64' ? 'arm64' : 'amd64';
let folder = '';
let image: BuiltImage;
let reader: ImageReader;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-release-'));
  image = await buildImage(architectures, quiet);
  reader = new ImageReader(image.entries);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('image', () => {
  test('two builds have the same digest', async () => {
    expect((await buildImage(architectures, quiet)).digest).toBe(image.digest);
  });

  test.each(['amd64', 'arm64'])('%s has at most 60 MB compressed', (arch) => {
    const bytes = reader.manifest(arch).layers.reduce((sum, { size }) => sum + size, 0);
    expect(bytes).toBeLessThan(60e6);
    expect(image.perArchitecture.find((each) => each.arch === arch)?.compressedBytes).toBe(bytes);
  });

  test.each(['amd64', 'arm64'])(
    '%s holds Node, the bundle, libraries, certificates and zones, and nothing else',
    (arch) => {
      const paths = reader.files(arch).map(({ path }) => path);
      expect(paths).toEqual(
        expect.arrayContaining([
          'usr/bin/node',
          'app/kerf.cjs',
          'etc/ssl/certs/ca-certificates.crt',
          'usr/share/zoneinfo/Europe/Berlin',
        ]),
      );
      const others = paths.filter(
        (path) =>
          !/^(usr\/share\/(zoneinfo|doc)\/|etc\/(passwd|group|nsswitch\.conf|ssl\/certs\/ca-certificates\.crt)$|(usr\/)?lib(64)?\/.*\.so)/.test(
            path,
          ),
      );
      expect(others.sort()).toEqual(['app/kerf.cjs', 'usr/bin/node']);
      expect(paths.filter((path) => /\/(sh|bash|busybox|apt|dpkg|npm)$/.test(path))).toEqual([]);
    },
  );

  test.each(['amd64', 'arm64'])('%s runs as an unprivileged user', (arch) => {
    const { config, architecture, rootfs } = reader.config(arch);
    expect(architecture).toBe(arch);
    expect(config).toMatchObject({ User: '65532:65532', Cmd: ['controller'] });
    expect(config.Labels['org.opencontainers.image.version']).toBe(version);
    expect(rootfs.diff_ids).toHaveLength(3);
    const writable = reader.files(arch).filter((each) => each.kind === 'file' && (each.mode & 0o022) !== 0);
    expect(writable.map(({ path }) => path)).toEqual([]);
  });

  test.each(['amd64', 'arm64'])('the binary of %s is for that processor', (arch) => {
    const node = reader.files(arch).find(({ path }) => path === 'usr/bin/node');
    // e_machine of an ELF header.
    expect(node?.kind === 'file' ? node.content.readUInt16LE(18) : 0).toBe(arch === 'arm64' ? 0xb7 : 0x3e);
  });
});

interface Bom {
  bomFormat: string;
  specVersion: string;
  components: {
    name: string;
    version: string;
    purl: string;
    licenses: { license?: { id: string }; expression?: string }[];
  }[];
}

describe('bills of materials', () => {
  const boms = (): Bom[] =>
    [...image.perArchitecture.map(({ sbom }) => sbom), bundleSbom('1970-01-01T00:00:00Z')].map(
      (text) => JSON.parse(text) as Bom,
    );

  test('name every part with version, origin and licence', () => {
    for (const { bomFormat, specVersion, components } of boms()) {
      expect([bomFormat, specVersion]).toEqual(['CycloneDX', '1.6']);
      for (const { version: found, purl, licenses } of components) {
        expect(found).not.toBe('');
        expect(purl).toMatch(/^pkg:(npm|deb|generic)\//);
        expect(licenses[0]?.license?.id ?? licenses[0]?.expression).toMatch(/\w/);
      }
    }
  });

  test('list what is in the bundle and in the image', () => {
    const [amd64, , bundle] = boms().map(({ components }) => components.map(({ name }) => name));
    expect(bundle).toEqual(expect.arrayContaining(['undici', 'commander', 'highs', '@aws-sdk/client-ec2']));
    expect(bundle).not.toContain('vitest');
    expect(amd64).toEqual(expect.arrayContaining(['libc6', 'tzdata', 'ca-certificates', 'node', 'undici']));
  });

  test('the image carries the licences of its parts', () => {
    const paths = reader.files(host).map(({ path }) => path);
    // Those of libgcc and libstdc++ are in the package that both are based on.
    const named = ['libc6', 'gcc-12-base', 'ca-certificates', 'tzdata'].map(
      (name) => `usr/share/doc/${name}/copyright`,
    );
    const others = ['usr/share/doc/node/LICENSE', 'usr/share/doc/kerf/THIRD-PARTY'];
    expect(paths).toEqual(expect.arrayContaining([...named, ...others]));
  });
});

describe('files', () => {
  const write = (name: string, content: Buffer): string => {
    const path = join(folder, name.replaceAll('/', '-'));
    writeFileSync(path, content);
    return path;
  };

  test('charts are what Helm takes, with the one version', async () => {
    for (const { name, content } of charts()) {
      const { stdout } = await helm(['show', 'chart', write(name, content)]);
      expect(parse(stdout)).toMatchObject({ version, appVersion: version });
    }
  });

  test('manifests that name the image name this version', () => {
    const [, tag] = /image: \S+\/kerf:(\S+)/.exec(readFileSync('examples/aws/controller.yaml', 'utf8')) ?? [];
    expect(tag).toBe(version);
  });

  test('npx kerf works from the packed tarball in an empty folder', async () => {
    const { name, content } = npmPackage();
    const empty = mkdtempSync(join(folder, 'empty-'));
    const tarball = write(name, content);
    const npx = (...args: string[]): Promise<Output> =>
      runProgram('npx', ['--yes', '--offline', '--package', tarball, 'kerf', ...args], { cwd: empty });
    expect((await npx('--version')).stdout.trim()).toBe(version);
    expect((await npx('crds', 'nodepools')).stdout).toContain('name: nodepools.karpenter.sh');
  });

  test('the plugin for kubectl is one file, and krew can check it', () => {
    const [archive, krew] = kubectlPlugin();
    if (archive === undefined || krew === undefined) throw new Error('a file is missing');
    const path = write(archive.name, archive.content);
    execFileSync('tar', ['-xzf', path, '-C', folder]);
    const said = execFileSync(join(folder, 'kubectl-kerf'), ['--version'], { encoding: 'utf8' });
    expect(said.trim()).toBe(version);
    const sum = createHash('sha256').update(readFileSync(path)).digest('hex');
    const { spec } = parse(krew.content.toString()) as { spec: { version: string; platforms: { sha256: string }[] } };
    expect(spec.version).toBe(`v${version}`);
    expect(spec.platforms.map((each) => each.sha256)).toEqual([sum, sum, sum, sum]);
  });

  test('definitions are all six, as in crds/', () => {
    const text = definitions().content.toString();
    expect(text.match(/^kind: CustomResourceDefinition$/gm)).toHaveLength(6);
    expect(text).toContain(readFileSync('crds/karpenter.sh_nodepools.yaml', 'utf8'));
  });
});
