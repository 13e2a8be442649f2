// An OCI image layout: blobs by digest, a manifest per architecture, one index over them. The same content gives the same
// bytes and so the same digest.
import { createHash } from 'node:crypto';
import type { TarEntry } from './tar.ts';
import { gzip, writeTar } from './tar.ts';

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: Record<string, string>;
  annotations?: Record<string, string>;
}

interface Layer {
  descriptor: Descriptor;
  diffId: string;
}

export interface ImageOptions {
  platform: { architecture: string; variant?: string };
  config: object;
  labels: Record<string, string>;
  created: string;
  layers: readonly { blob: Buffer; diffId: string; note: string }[];
}

const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

export class ImageLayout {
  private readonly blobs = new Map<string, Buffer>();
  private readonly manifests: Descriptor[] = [];

  /** Adds the image of one architecture. */
  add({ platform, config, labels, created, layers }: ImageOptions): Descriptor {
    const made = layers.map(({ blob, diffId }): Layer => {
      const descriptor = this.blob('application/vnd.oci.image.layer.v1.tar+gzip', blob);
      return { descriptor, diffId };
    });
    const imageConfig = {
      created,
      ...platform,
      os: 'linux',
      config: { ...config, Labels: labels },
      rootfs: { type: 'layers', diff_ids: made.map(({ diffId }) => diffId) },
      history: layers.map(({ note }) => ({ created, created_by: note })),
    };
    const manifest = this.json('application/vnd.oci.image.manifest.v1+json', {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: this.json('application/vnd.oci.image.config.v1+json', imageConfig),
      layers: made.map(({ descriptor }) => descriptor),
      annotations: labels,
    });
    const described = { ...manifest, platform: { os: 'linux', ...platform } };
    this.manifests.push(described);
    return described;
  }

  /** Every file of the layout; `index.json` names the one index over all architectures by `name`. */
  files(name: string): { entries: TarEntry[]; digest: string } {
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    const index = this.json(mediaType, { schemaVersion: 2, mediaType, manifests: this.manifests });
    const tag = name.split(':').at(-1) ?? name;
    const annotations = {
      'org.opencontainers.image.ref.name': tag,
      'io.containerd.image.name': `docker.io/library/${name}`,
    };
    const top = { schemaVersion: 2, mediaType, manifests: [{ ...index, annotations }] };
    const file = (path: string, content: Buffer): TarEntry => ({ kind: 'file', path, content, mode: 0o644 });
    const entries = [
      file('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}')),
      file('index.json', Buffer.from(JSON.stringify(top))),
      ...[...this.blobs].map(([digest, content]) => file(`blobs/${digest.replace(':', '/')}`, content)),
    ];
    return { entries, digest: index.digest };
  }

  private json(mediaType: string, value: object): Descriptor {
    return this.blob(mediaType, Buffer.from(JSON.stringify(value)));
  }

  private blob(mediaType: string, content: Buffer): Descriptor {
    const digest = digestOf(content);
    this.blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  }
}

/** A layer of these files, packed. */
export function packLayer(entries: readonly TarEntry[], timeSeconds: number): { blob: Buffer; diffId: string } {
  const tar = writeTar(entries, timeSeconds);
  return { blob: gzip(tar), diffId: digestOf(tar) };
}
