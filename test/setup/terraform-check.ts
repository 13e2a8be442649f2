// A reader of Terraform modules: HashiCorp's own parser of its language, built once from its Go module into the cache. A tool of
// the tests only; what the providers alone know (their attributes) it does not check.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, makeOnce, type Progress } from './cache-folder.ts';
import { GoTool } from './go-build.ts';

const hclVersion = '2.24.0';
const source = join(import.meta.dirname, 'terraform-check/main.go');

/** The path of the program. */
export async function provideTerraformCheck(progress: Progress): Promise<string> {
  const folder = await makeOnce({
    folder: join(cacheFolder(), `terraform-check-1-hcl-${hclVersion}`),
    progress,
    make: async (work) => {
      const go = new GoTool(process.env, progress);
      await go.require('the parser of Terraform modules', '');
      await go.build(join(work, 'module'), {
        what: 'the parser of Terraform modules',
        files: {
          'main.go': readFileSync(source, 'utf8'),
          'go.mod': `module kerf.test/terraform-check\n\ngo 1.24\n\nrequire github.com/hashicorp/hcl/v2 v${hclVersion}\n`,
        },
        args: ['-o', join(work, 'terraform-check'), '.'],
      });
    },
  });
  return join(folder, 'terraform-check');
}
