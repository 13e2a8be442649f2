// Karpenter's own specs of its API, built to run against our definitions: its module is fetched, its definitions are
// replaced by ours, and the test programs are kept in the cache. Nothing of it is kept in the repository.
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool } from './go-build.ts';

/** The newest release that the module proxy serves. */
export const specsVersion = '1.15.0';

const definitions = [
  'autoscaling.x-k8s.io_capacitybuffers.yaml',
  'karpenter.sh_nodeclaims.yaml',
  'karpenter.sh_nodeoverlays.yaml',
  'karpenter.sh_nodepools.yaml',
];
const ours = join(import.meta.dirname, '../../crds');

/** Packages with specs of the API, and how many there are: fewer would mean that some were not run. */
export const specPackages = [
  { path: 'pkg/apis/v1', specs: 190 },
  { path: 'pkg/apis/v1alpha1', specs: 70 },
] as const;

const programOf = (path: string): string => path.replaceAll('/', '-');

/** The folder each package's program runs in, and the program. */
export async function provideKarpenterSpecs(progress: Progress): Promise<(path: string) => string> {
  const text = definitions.map((name) => readFileSync(join(ours, name), 'utf8')).join('\n');
  const content = createHash('sha256').update(text).digest('hex').slice(0, 12);
  const folder = await makeOnce({
    folder: join(cacheFolder(), `karpenter-specs-${specsVersion}-${content}`),
    progress,
    make: async (work) => {
      const go = new GoTool({ ...process.env, GOFLAGS: '-mod=mod' }, progress);
      await go.require("Karpenter's specs", '');
      const source = join(work, 'source');
      progress(`fetching Karpenter ${specsVersion}`);
      const found = await go.run(['mod', 'download', '-json', `sigs.k8s.io/karpenter@v${specsVersion}`], work);
      cpSync((JSON.parse(found) as { Dir: string }).Dir, source, { recursive: true });
      await go.writable(source);
      for (const name of definitions) cpSync(join(ours, name), join(source, 'pkg/apis/crds', name));
      for (const { path } of specPackages) {
        progress(`compiling the specs of ${path}`);
        await go.run(['test', '-c', '-o', join(work, programOf(path)), `./${path}`], source);
      }
      rmSync(source, { recursive: true });
    },
  });
  return (path) => join(folder, programOf(path));
}
