// The charts of Karpenter itself, to hold ours beside them: taken once from its Go module, which carries them.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool } from './go-build.ts';
import { definitionReleases, karpenterDefinitions } from './karpenter-definitions.ts';

/** The reference, and the first 1.x, whose values files people still have. */
export const chartVersions = ['1.14.1', '1.0.8'] as const;
export type ChartVersion = (typeof chartVersions)[number];

/** The folder with `karpenter` and `karpenter-crd` in it. */
export async function provideKarpenterChart(version: ChartVersion, progress: Progress): Promise<string> {
  return makeOnce({
    folder: join(cacheFolder(), `karpenter-charts-${version}`),
    progress,
    make: async (work) => {
      const go = new GoTool(process.env, progress);
      await go.require("Karpenter's charts", '');
      progress(`fetching the charts of Karpenter ${version}`);
      const module = `github.com/aws/karpenter-provider-aws@v${version}`;
      const { Dir } = JSON.parse(await go.run(['mod', 'download', '-json', module], work)) as { Dir: string };
      for (const name of ['karpenter', 'karpenter-crd'])
        cpSync(join(Dir, 'charts', name), join(work, name), { recursive: true, dereference: true });
      await go.writable(work);
    },
  });
}

export async function provideKarpenterCharts(progress: Progress): Promise<void> {
  for (const version of chartVersions) await provideKarpenterChart(version, progress);
  for (const release of definitionReleases) await karpenterDefinitions(release, progress);
}
