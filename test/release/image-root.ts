// An image as a container runtime sees it: its layers unpacked into a folder, its command run in there as its user, with a
// root that cannot be written.
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readTar, type TarEntry } from '../../scripts/image/tar.ts';

export interface ImageConfig {
  architecture: string;
  config: { User: string; Env: string[]; Entrypoint: string[]; Cmd: string[]; Labels: Record<string, string> };
  rootfs: { diff_ids: string[] };
}

interface Manifest {
  config: { digest: string };
  layers: { digest: string; size: number }[];
  manifests: { digest: string; platform?: { architecture: string } }[];
}

/** Reads an OCI layout as its specification says, from `index.json` on. */
export class ImageReader {
  private readonly content: ReadonlyMap<string, Buffer>;
  private readonly unpacked = new Map<string, TarEntry[]>();

  constructor(entries: readonly TarEntry[]) {
    this.content = new Map(entries.flatMap((each) => (each.kind === 'file' ? [[each.path, each.content]] : [])));
  }

  manifest(architecture: string): Manifest {
    const top = this.json<Manifest>('index.json');
    const index = this.blob<Manifest>(top.manifests[0]?.digest);
    return this.blob<Manifest>(index.manifests.find((each) => each.platform?.architecture === architecture)?.digest);
  }

  config(architecture: string): ImageConfig {
    return this.blob<ImageConfig>(this.manifest(architecture).config.digest);
  }

  files(architecture: string): TarEntry[] {
    const known = this.unpacked.get(architecture);
    if (known !== undefined) return known;
    const all = this.manifest(architecture).layers.flatMap(({ digest }) => readTar(gunzipSync(this.bytes(digest))));
    const entries = [...new Map(all.map((entry) => [entry.path, entry])).values()];
    this.unpacked.set(architecture, entries);
    return entries;
  }

  /** Into an empty folder. */
  unpack(architecture: string, folder: string): void {
    for (const entry of this.files(architecture)) {
      const path = join(folder, entry.path);
      mkdirSync(dirname(path), { recursive: true });
      if (entry.kind === 'link') {
        rmSync(path, { force: true });
        symlinkSync(entry.target, path);
      } else if (entry.kind === 'file') {
        writeFileSync(path, entry.content);
        chmodSync(path, entry.mode);
      }
    }
  }

  private bytes(digest = ''): Buffer {
    const found = this.content.get(`blobs/${digest.replace(':', '/')}`);
    if (found === undefined) throw new Error(`the layout has no blob ${digest}`);
    return found;
  }

  private blob<T>(digest?: string): T {
    return JSON.parse(this.bytes(digest).toString('utf8')) as T;
  }

  private json<T>(path: string): T {
    return JSON.parse(this.content.get(path)?.toString('utf8') ?? 'null') as T;
  }
}

export interface Mount {
  from: string;
  /** In the container. */
  at: string;
}

export interface ContainerCommand {
  root: string;
  argv: readonly string[];
  /** All that the process sees. */
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
}

/**
 * The command that runs `argv` in the root: namespaces of its own, the user of the image, HOSTNAME as the name
 * of its host, nothing writable. Mount points are made in the folder first, as runtimes do.
 */
export function inRoot({ root, argv, env, mounts }: ContainerCommand): { program: string; args: string[] } {
  const all: Mount[] = [{ from: '/dev', at: '/dev' }, { from: '/proc', at: '/proc' }, ...mounts];
  for (const { at } of all) mkdirSync(join(root, at), { recursive: true });
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const isRoot = process.getuid?.() === 0;
  const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  const user = isRoot ? ['--userspec=65532:65532'] : [];
  const script = [
    'set -e',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
    ...(env['HOSTNAME'] === undefined ? [] : [`printf %s ${quoted(env['HOSTNAME'])} > /proc/sys/kernel/hostname`]),
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    ...all.map(({ from, at }) => `mount --rbind ${quoted(from)} ${quoted(join(root, at))}`),
    `mount -o remount,ro,bind ${quoted(root)}`,
    `exec env -i ${variables.join(' ')} "$(command -v chroot)" ${[...user, root, ...argv].map(quoted).join(' ')}`,
  ].join('\n');
  const namespaces = isRoot ? [] : ['--user', '--map-user=65532', '--map-group=65532', '--keep-caps'];
  return { program: 'unshare', args: [...namespaces, '--mount', '--uts', 'sh', '-c', script] };
}
