// Helm, to render and check the chart as its users do: built once from its Go module into the cache.
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool, toolsFile } from './go-build.ts';

const helmVersion = '3.22.0';
const command = 'helm.sh/helm/v3/cmd/helm';

/** The path of the program. */
export async function provideHelm(progress: Progress, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const folder = join(cacheFolder(env), `helm-${helmVersion}`);
  const go = new GoTool(env, progress);
  const make = async (work: string): Promise<void> => {
    await go.require('Helm', '');
    await go.build(join(work, 'module'), {
      what: 'Helm',
      files: {
        'tools.go': toolsFile([command]),
        'go.mod': `module kerf.test/helm\n\ngo 1.25\n\nrequire helm.sh/helm/v3 v${helmVersion}\n`,
      },
      args: [
        '-o',
        `${work}/`,
        '-ldflags',
        `-s -w -X helm.sh/helm/v3/internal/version.version=v${helmVersion}`,
        command,
      ],
    });
  };
  await makeOnce({ folder, make, progress });
  return join(folder, 'helm');
}
