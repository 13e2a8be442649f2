// The validator: every rule a finished plan must keep, checked slowly from the snapshot alone. It knows nothing of how the
// plan was made; each violation is one sentence.
import type { Plan, Snapshot } from '../../../src/core/index.ts';
import { readCluster } from '../rules/cluster.ts';
import { accountingViolations } from './accounting.ts';
import { bindAll } from './binding.ts';
import { newNodeViolations } from './new-nodes.ts';

export function violations(snapshot: Snapshot, plan: Plan): string[] {
  const cluster = readCluster(snapshot);
  return [
    ...accountingViolations(plan, cluster),
    ...newNodeViolations(plan, cluster),
    ...bindAll(plan, cluster).refused,
  ];
}
