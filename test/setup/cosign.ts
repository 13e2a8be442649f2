// cosign, to sign a release and to verify it as its users do: built once from its Go module into the cache.
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool, toolsFile } from './go-build.ts';

const version = '3.1.3';
const module = 'github.com/sigstore/cosign/v3';

/** The path of the program. */
export async function provideCosign(progress: Progress): Promise<string> {
  const folder = join(cacheFolder(), `cosign-${version}`);
  const go = new GoTool(process.env, progress);
  await makeOnce({
    folder,
    progress,
    make: async (work) => {
      await go.require('cosign', '');
      await go.build(join(work, 'module'), {
        what: 'cosign',
        files: {
          'tools.go': toolsFile([`${module}/cmd/cosign`]),
          'go.mod': `module kerf.test/cosign\n\ngo 1.25\n\nrequire ${module} v${version}\n`,
        },
        args: ['-o', `${work}/`, '-ldflags', '-s -w', `${module}/cmd/cosign`],
      });
    },
  });
  return join(folder, 'cosign');
}
