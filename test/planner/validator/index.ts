// The validator: every rule a finished plan must keep, checked slowly from the snapshot alone. It knows nothing of how the
// plan was made; each violation is one sentence.
import type { Plan, Snapshot } from '../../../src/core/index.ts';
import { readCluster } from '../rules/cluster.ts';
import { accountingViolations } from './accounting.ts';
import { bindAll } from './binding.ts';
import { newNodeViolations } from './new-nodes.ts';

export interface Judgement {
  violations: string[];
  /** What kube-scheduler would refuse for now, for one of the three known differences between it and planning. */
  excused: string[];
}

const asPlanned = { lateMachines: true, leavingMachines: true };

export function judge(snapshot: Snapshot, plan: Plan): Judgement {
  const cluster = readCluster(snapshot);
  const own = [...accountingViolations(plan, cluster), ...newNodeViolations(plan, cluster)];
  const { refused } = bindAll(plan, cluster);
  if (refused.length === 0) return { violations: own, excused: [] };
  const isKnown = (['preferences tie', 'preferences do not tie'] as const).some(
    (openLabels) => bindAll(plan, cluster, { ...asPlanned, openLabels }).refused.length === 0,
  );
  return isKnown ? { violations: own, excused: refused } : { violations: [...own, ...refused], excused: [] };
}

export function violations(snapshot: Snapshot, plan: Plan): string[] {
  return judge(snapshot, plan).violations;
}
