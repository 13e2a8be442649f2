// Builds the image of both architectures into memory: layers, layout, bills of materials.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { cacheFolder, type Progress } from '../../test/setup/cache-folder.ts';
import { bundleLayer, imageConfig, ociArchitecture, systemLayer } from './layers.ts';
import { ImageLayout, packLayer } from './oci.ts';
import { imageSbom } from './sbom.ts';
import { type Architecture, debianPackages, nodeFiles, nodeVersion } from './sources.ts';
import type { TarEntry } from './tar.ts';

export interface BuiltImage {
  name: string;
  /** Of the index over all architectures. */
  digest: string;
  /** Files of the OCI layout. */
  entries: TarEntry[];
  perArchitecture: { arch: Architecture; digest: string; compressedBytes: number; sbom: string }[];
}

/** One time for everything, so that two builds of the same sources are the same. */
export const buildTimeSeconds = Number(process.env['SOURCE_DATE_EPOCH'] ?? 0);
export const created = new Date(buildTimeSeconds * 1000).toISOString().replace('.000', '');

export async function buildImage(archs: readonly Architecture[], progress: Progress): Promise<BuiltImage> {
  const layout = new ImageLayout();
  const commit = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout?.trim() || 'unknown';
  const labels = {
    'org.opencontainers.image.title': 'kerf',
    'org.opencontainers.image.description': manifest.description,
    'org.opencontainers.image.version': manifest.version,
    'org.opencontainers.image.revision': commit,
    'org.opencontainers.image.licenses': manifest.license,
  };
  const perArchitecture: BuiltImage['perArchitecture'] = [];
  for (const arch of archs) {
    const packages = await debianPackages(arch, progress);
    const node = await nodeFiles(arch, progress);
    progress(`packing ${arch}`);
    const layers = [
      {
        ...packLayer(systemLayer(packages), buildTimeSeconds),
        note: "Debian's C and C++ libraries, certificates, zones",
      },
      { ...packedOnce(`node-${nodeVersion}-${arch}`, node), note: `Node ${nodeVersion}` },
      { ...packLayer(bundleLayer(), buildTimeSeconds), note: `kerf ${manifest.version}` },
    ];
    const config = { ...imageConfig, Env: [...imageConfig.Env, `KERF_COMMIT=${commit}`] };
    const { digest } = layout.add({ platform: ociArchitecture(arch), config, labels, created, layers });
    const compressedBytes = layers.reduce((sum, { blob }) => sum + blob.length, 0);
    perArchitecture.push({ arch, digest, compressedBytes, sbom: imageSbom(arch, packages, created) });
  }
  const name = `kerf:${manifest.version}`;
  return { name, ...layout.files(name), perArchitecture };
}

/** Node's layer takes most of the time and never changes: its packed form is kept. */
function packedOnce(name: string, entries: readonly TarEntry[]): { blob: Buffer; diffId: string } {
  const folder = join(cacheFolder(), 'image');
  const file = join(folder, `${name}-${process.version}-${buildTimeSeconds}.tar.gz`);
  const packed = existsSync(file) ? readFileSync(file) : undefined;
  if (packed !== undefined) {
    const diffId = readFileSync(`${file}.diff-id`, 'utf8');
    if (readFileSync(`${file}.sha256`, 'utf8') === sha256(packed)) return { blob: packed, diffId };
  }
  const made = packLayer(entries, buildTimeSeconds);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.diff-id`, made.diffId);
  writeFileSync(`${file}.sha256`, sha256(made.blob));
  writeFileSync(`${file}.${process.pid}`, made.blob);
  renameSync(`${file}.${process.pid}`, file);
  return made;
}

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');
