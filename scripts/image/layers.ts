// The files of the image: what Node needs of Debian, Node, our bundle. No shell, no package manager, no one but uid 65532.
import { readFileSync } from 'node:fs';
import { thirdPartyLicences } from '../release/third-party.ts';
import type { Architecture, DebianPackage } from './sources.ts';
import type { TarEntry } from './tar.ts';

export const userId = 65532;

/** Shared libraries that Node loads: directly, or to look names up. */
const libraries =
  /\/(ld-linux-[\w-]+\.so\.\d+|lib(c|m|dl|pthread|rt|resolv|nss_dns|nss_files|gcc_s)\.so\.\d+|libstdc\+\+\.so\.6(\.[\d.]+)?)$/;

const file = (path: string, content: string | Buffer, mode = 0o644): TarEntry => ({
  kind: 'file',
  path,
  content: Buffer.from(content),
  mode,
});

export function systemLayer(packages: readonly DebianPackage[]): TarEntry[] {
  const kept = packages.flatMap(({ name, entries }) =>
    entries.filter(({ path }) => {
      if (path.endsWith('/copyright')) return true;
      if (name === 'tzdata') return /^usr\/share\/zoneinfo\/(?!posix\/|right\/)/.test(path);
      return libraries.test(`/${path}`);
    }),
  );
  const authorities = packages
    .flatMap(({ entries }) => entries)
    .filter(({ path }) => /^usr\/share\/ca-certificates\/mozilla\/.*\.crt$/.test(path))
    .sort((left, right) => (left.path < right.path ? -1 : 1))
    .map((entry) => (entry.kind === 'file' ? entry.content.toString('utf8').trimEnd() : ''));
  return [
    ...kept,
    file('etc/ssl/certs/ca-certificates.crt', `${authorities.join('\n')}\n`),
    file('etc/passwd', `root:x:0:0::/:/sbin/nologin\nnonroot:x:${userId}:${userId}::/:/sbin/nologin\n`),
    file('etc/group', `root:x:0:\nnonroot:x:${userId}:\n`),
    file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    { kind: 'folder', path: 'tmp' },
  ];
}

/** `build` has made the bundle. */
export function bundleLayer(): TarEntry[] {
  return [
    file('app/kerf.cjs', readFileSync('dist/kerf.cjs'), 0o755),
    file('usr/share/doc/kerf/LICENSE', readFileSync('LICENSE')),
    file('usr/share/doc/kerf/THIRD-PARTY', thirdPartyLicences()),
  ];
}

export const imageConfig = {
  User: `${userId}:${userId}`,
  WorkingDir: '/',
  ExposedPorts: { '8080/tcp': {}, '8081/tcp': {} },
  Env: [
    'PATH=/usr/bin',
    'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
    'TZDIR=/usr/share/zoneinfo',
    // As bin/kerf sets them, and for its reasons.
    'MALLOC_ARENA_MAX=1',
    'MALLOC_MMAP_THRESHOLD_=65536',
    'MALLOC_TRIM_THRESHOLD_=131072',
  ],
  // Debian's authorities instead of those built into Node, so that others can be mounted in their place.
  Entrypoint: ['/usr/bin/node', '--use-openssl-ca', '/app/kerf.cjs'],
  Cmd: ['controller'],
};

export const ociArchitecture = (arch: Architecture): { architecture: string; variant?: string } =>
  arch === 'arm64' ? { architecture: 'arm64', variant: 'v8' } : { architecture: 'amd64' };
