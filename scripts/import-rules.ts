// Runs the import rules and asserts that they saw every module: dependency-cruiser under a compiler without a JS API
// silently checks nothing, and a rule that sees nothing is always green.
import { globSync } from 'node:fs';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
// @ts-expect-error: plain JavaScript, because the tool's own command reads it too
import config from '../.dependency-cruiser.mjs';

const files = globSync('src/**/*.ts');
const { output } = await cruise(['src'], {
  ruleSet: { forbidden: config.forbidden },
  validate: true,
  ...config.options,
});
const result = output as ICruiseResult;
const seen = new Set(result.modules.map((module) => module.source));
const unseen = files.filter((file) => !seen.has(file));
const withImports = result.modules.filter(
  (module) => module.source.startsWith('src/') && module.dependencies.length > 0,
).length;

for (const { from, to, rule, comment } of result.summary.violations) {
  console.error(`${from} -> ${to}\n    breaks ${rule.name}${comment ? `: ${comment}` : ''}`);
}
for (const file of unseen) console.error(`${file} was not seen by the import rules: is it valid TypeScript?`);
if (files.length > 5 && withImports === 0)
  console.error('The import rules saw no import at all: they checked nothing.');
const failed = result.summary.violations.length > 0 || unseen.length > 0 || (files.length > 5 && withImports === 0);
console.log(`${files.length} modules, ${result.summary.violations.length} violations`);
process.exit(failed ? 1 : 0);
