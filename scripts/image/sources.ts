// What the image is made from besides our bundle: Node's binary from the registry of npm, five of Debian's packages from the
// mirror that this machine's apt uses. Both check signatures or digests themselves; both are kept in the cache folder.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { cacheFolder, makeOnce, type Progress } from '../../test/setup/cache-folder.ts';
import { MissingComponent } from '../../test/setup/missing-component.ts';
import { runProgram } from '../../test/setup/run-program.ts';
import debian from './debian-packages.json' with { type: 'json' };
import { readTar, type TarEntry } from './tar.ts';

export type Architecture = 'amd64' | 'arm64';
export const architectures: readonly Architecture[] = ['amd64', 'arm64'];
export const nodeVersion: string = manifest.devDependencies.node;

export interface DebianPackage {
  name: string;
  version: string;
  licence: string;
  sha256: string;
  entries: TarEntry[];
}

/** Everything for both architectures, in the cache. */
export async function provideImageSources(progress: Progress): Promise<void> {
  try {
    for (const arch of architectures) {
      await nodeFiles(arch, progress);
      await debianPackages(arch, progress);
    }
  } catch (cause) {
    throw new MissingComponent({
      component: 'image sources',
      problem: cause instanceof Error ? cause.message : String(cause),
      remedy: 'run it on Debian or Ubuntu, with a network',
      cause,
    });
  }
}

/** The binary and its licence. */
export async function nodeFiles(arch: Architecture, progress: Progress): Promise<TarEntry[]> {
  const name = `node-linux-${arch === 'amd64' ? 'x64' : arch}`;
  const folder = await makeOnce({
    folder: join(cacheFolder(), 'image', `${name}-${nodeVersion}`),
    progress,
    make: async (work) => {
      progress(`fetching ${name} ${nodeVersion}`);
      const { stdout } = await runProgram(
        'npm',
        ['pack', '--silent', '--pack-destination', work, `${name}@${nodeVersion}`],
        {
          cwd: work,
        },
      );
      const tarball = join(work, stdout.trim().split('\n').at(-1) ?? '');
      for (const entry of readTar(gunzipSync(readFileSync(tarball)))) {
        const file = { 'package/bin/node': 'node', 'package/LICENSE': 'LICENSE' }[entry.path];
        if (file !== undefined && entry.kind === 'file') writeFileSync(join(work, file), entry.content);
      }
      rmSync(tarball);
    },
  });
  return [
    { kind: 'file', path: 'usr/bin/node', content: readFileSync(join(folder, 'node')), mode: 0o755 },
    { kind: 'file', path: 'usr/share/doc/node/LICENSE', content: readFileSync(join(folder, 'LICENSE')), mode: 0o644 },
  ];
}

/** The packages at the versions of debian-packages.json; where a mirror has only newer ones, those, and a line that says so. */
export async function debianPackages(arch: Architecture, progress: Progress): Promise<DebianPackage[]> {
  const wanted = Object.entries(debian.packages);
  const digest = createHash('sha256').update(JSON.stringify(debian)).digest('hex').slice(0, 12);
  const folder = await makeOnce({
    folder: join(cacheFolder(), 'image', `debian-${digest}-${arch}`),
    progress,
    make: (work) => downloadPackages(work, arch, progress),
  });
  return Promise.all(
    wanted.map(async ([name, { version, licence }]) => {
      const file = readdirSync(folder).find((each) => each.startsWith(`${name}_`));
      if (file === undefined) throw new Error(`${folder} lacks ${name}: remove the folder and build again`);
      const found = decodeURIComponent(file.split('_')[1] ?? '');
      if (found !== version)
        progress(`${name} ${found} instead of ${version}, which the mirror no longer has: update debian-packages.json`);
      const path = join(folder, file);
      const { stdout } = await runBinary('dpkg-deb', ['--fsys-tarfile', path]);
      const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
      return { name, version: found, licence, sha256, entries: readTar(stdout) };
    }),
  );
}

async function downloadPackages(work: string, arch: Architecture, progress: Progress): Promise<void> {
  const state = join(work, 'apt');
  for (const part of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(state, part), { recursive: true });
  writeFileSync(join(state, 'status'), '');
  const options = [
    `Dir::State::lists=${state}/lists`,
    `Dir::Cache=${state}/cache`,
    `Dir::State::status=${state}/status`,
    `APT::Architecture=${arch}`,
    `APT::Architectures=${arch}`,
    'Acquire::Languages=none',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  const apt = async (...args: string[]): Promise<void> => {
    try {
      await runProgram('apt-get', ['-q', ...options, ...args], { cwd: work });
    } catch (cause) {
      throw new Error('cannot get Debian packages for the image; it takes apt-get and a mirror of Debian 12', {
        cause,
      });
    }
  };
  progress(`fetching Debian packages for ${arch}`);
  await apt('update');
  for (const [name, { version }] of Object.entries(debian.packages)) {
    await apt('download', `${name}=${version}`).catch(() => apt('download', name));
  }
  rmSync(state, { recursive: true });
}

/** Standard output as bytes. */
async function runBinary(program: string, args: string[]): Promise<{ stdout: Buffer }> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    execFile(program, args, { encoding: 'buffer', maxBuffer: 256 * 1024 * 1024 }, (error, stdout) =>
      error === null ? resolve({ stdout }) : reject(error),
    );
  });
}
