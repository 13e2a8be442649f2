// Writes every generated file of the project; with --check it writes nothing and fails if one is stale.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { kinds } from '../src/api/index.ts';
import { crdFiles, crdYaml } from '../src/cli/crds/crd-files.ts';
import { validateReferencePage } from '../src/cli/validate/reference-page.ts';
import { failuresPage } from '../src/failures/index.ts';
import { chartFiles } from './chart/render.ts';
import { valuesIndex } from './chart/values-index.ts';
import { errorsPage } from './errors-page.ts';
import { dashboards } from './monitoring/panels.ts';
import { dashboardJson, mixinLibsonnet, rulesYaml } from './monitoring/render.ts';
import { objectReference } from './object-reference.ts';
import { definedMetrics, metricsReference, settingsReference } from './process-reference.ts';
import { awsExampleRights, rightsPage } from './rights-page.ts';
import { terraformModule } from './terraform-module.ts';

/** Path (from the root) and content of every generated file. */
async function generatedFiles(): Promise<Map<string, string>> {
  const metrics = await definedMetrics();
  const hasPool = (metric: string): boolean =>
    metrics.get(metric.replace(/_bucket$/, ''))?.labels?.includes('nodepool') === true;
  return new Map([
    ...crdFiles().map(({ name, crd }) => [`crds/${name}`, crdYaml(crd)] as const),
    ...chartFiles(),
    ['src/cli/preflight/chart-values.json', valuesIndex()] as const,
    ...terraformModule(),
    ['docs/reference/rbac.md', rightsPage()] as const,
    ['examples/aws/rbac.yaml', awsExampleRights()] as const,
    ['monitoring/rules.yaml', rulesYaml()] as const,
    ['monitoring/mixin.libsonnet', mixinLibsonnet()] as const,
    ...Object.keys(dashboards).map(
      (name) => [`monitoring/dashboards/${name}.json`, dashboardJson(name, hasPool)] as const,
    ),
    ['docs/reference/objects.md', objectReference(kinds)] as const,
    ['docs/reference/errors.md', errorsPage()] as const,
    ['docs/reference/failures.md', failuresPage()] as const,
    ['docs/reference/validate.md', validateReferencePage()] as const,
    ['docs/reference/settings.md', settingsReference()] as const,
    ['docs/reference/metrics.md', await metricsReference()] as const,
  ]);
}

const check = process.argv.includes('--check');
let stale = 0;
for (const [path, content] of await generatedFiles()) {
  let current: string | undefined;
  try {
    current = readFileSync(path, 'utf8');
  } catch {
    current = undefined;
  }
  if (current === content) continue;
  stale += 1;
  if (check) {
    console.error(`${path} is stale: run \`npm run generate\``);
  } else {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    console.log(`wrote ${path}`);
  }
}
process.exit(check && stale > 0 ? 1 : 0);
