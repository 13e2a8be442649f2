// The CustomResourceDefinitions of Karpenter's releases, to install ours over them: taken once from its Go modules.
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool } from './go-build.ts';

/** One of every minor release that the module proxy has, from the first with v1. */
export const coreReleases = [
  '1.0.8',
  '1.1.5',
  '1.5.5',
  '1.6.4',
  '1.9.0',
  '1.10.0',
  '1.11.2',
  '1.12.1',
  '1.13.0',
  '1.14.1',
  '1.15.0',
] as const;
const awsReleases = ['1.0.8', '1.14.1'] as const;

const modules: Record<string, { path: string; folders: string[] }> = {
  core: { path: 'sigs.k8s.io/karpenter', folders: ['pkg/apis/crds', 'kwok/apis/crds'] },
  aws: { path: 'github.com/aws/karpenter-provider-aws', folders: ['pkg/apis/crds'] },
};

export interface Definition {
  metadata: { name: string };
  spec: { versions: { name: string; storage: boolean; schema: { openAPIV3Schema: object } }[] };
}

/** `core 1.9.0`, `aws 1.14.1`. */
export const definitionReleases: readonly string[] = [
  ...coreReleases.map((version) => `core ${version}`),
  ...awsReleases.map((version) => `aws ${version}`),
];

export async function karpenterDefinitions(release: string, progress: Progress): Promise<Definition[]> {
  const [kind = '', version = ''] = release.split(' ');
  const module = modules[kind];
  if (module === undefined) throw new Error(`there is no module ${kind}`);
  const folder = await makeOnce({
    folder: join(cacheFolder(), `karpenter-definitions-${kind}-${version}`),
    progress,
    make: async (work) => {
      const go = new GoTool(process.env, progress);
      await go.require("Karpenter's definitions", '');
      progress(`fetching the definitions of Karpenter ${release}`);
      const found = await go.run(['mod', 'download', '-json', `${module.path}@v${version}`], work);
      const { Dir } = JSON.parse(found) as { Dir: string };
      for (const each of module.folders.map((name) => join(Dir, name)).filter((path) => existsSync(path)))
        cpSync(each, work, { recursive: true, dereference: true });
      await go.writable(work);
    },
  });
  return readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => parse(readFileSync(join(folder, name), 'utf8')) as Definition);
}
