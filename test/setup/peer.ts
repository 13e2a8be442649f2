// The peer beside us: Karpenter's core with its simulated provider, built once from its Go module into the cache.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool } from './go-build.ts';

/** The newest, the reference, and an older release that people come from. */
export const peerVersions = ['1.15.0', '1.14.1', '1.9.0'] as const;
export type PeerVersion = (typeof peerVersions)[number];

/** The program of that release. */
export async function providePeerRelease(version: PeerVersion, progress: Progress): Promise<string> {
  const folder = await makeOnce({
    folder: join(cacheFolder(), `peer-kwok-${version}`),
    progress,
    make: async (work) => {
      const go = new GoTool({ ...process.env, GOFLAGS: '-mod=mod' }, progress);
      await go.require('Karpenter', '');
      const source = join(work, 'source');
      progress(`fetching Karpenter ${version}`);
      const found = await go.run(['mod', 'download', '-json', `sigs.k8s.io/karpenter@v${version}`], work);
      cpSync((JSON.parse(found) as { Dir: string }).Dir, source, { recursive: true });
      await go.writable(source);
      progress(`compiling Karpenter ${version}`);
      await go.run(['build', '-trimpath', '-buildvcs=false', '-o', join(work, 'karpenter'), './kwok'], source);
      rmSync(source, { recursive: true });
    },
  });
  return join(folder, 'karpenter');
}

export async function providePeer(progress: Progress): Promise<void> {
  for (const version of peerVersions) await providePeerRelease(version, progress);
}
