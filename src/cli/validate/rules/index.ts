// All rules, in the order of their ids; the reference page and the findings come from this one list.
import { disruptionRules } from './disruption.ts';
import { documentRules } from './documents.ts';
import { imageRules } from './images.ts';
import { nodeClassRules } from './node-class.ts';
import { nodePoolRules } from './node-pool.ts';
import type { Rule } from './rule.ts';
import { versionRules } from './versions.ts';
import { workloadRules } from './workloads.ts';

export const rules: readonly Rule[] = [
  ...versionRules,
  ...nodeClassRules,
  ...imageRules,
  ...disruptionRules,
  ...nodePoolRules,
  ...workloadRules,
  ...documentRules,
].sort((one, other) => ruleOrder(one.id) - ruleOrder(other.id));

/** M rules by number, then L rules. */
function ruleOrder(id: string): number {
  return (id.startsWith('L') ? 1000 : 0) + Number(id.slice(1));
}

export { textRules } from './documents.ts';
export type { Rule, RuleContext, SchemaProblem } from './rule.ts';
export { isRemoved } from './versions.ts';
