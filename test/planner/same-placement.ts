// The comparison between the planner and the naive planner, and what exactly has to be equal.
//
// Both follow the same queue order, the same order of machines, of nodes under construction (fewest pods first, otherwise
// as before) and of pools, and settle ties between domains by name. Without the improvement step nothing is left open, so
// the comparison is strict: the same pods on the same machines, the same groups of pods on new nodes of the same pools.
// Not compared: names of new nodes, their order, and reasons beyond the codes that the plan format fixes.
import type { Plan } from '../../src/core/index.ts';

export interface Placement {
  placed: string[];
  existing: string[];
  newNodes: string[];
}

export function placementOf(plan: Plan): Placement {
  const listed = (pods: readonly string[]): string => [...pods].sort().join(' ');
  return {
    placed: [...plan.newNodes, ...plan.existingNodes].flatMap(({ pods }) => pods).sort(),
    existing: plan.existingNodes
      .filter(({ pods }) => pods.length > 0)
      .map(({ name, pods }) => `${name}: ${listed(pods)}`)
      .sort(),
    newNodes: plan.newNodes
      .map(({ nodePool, instanceTypes, pods }) => `${nodePool} [${listed(instanceTypes)}]: ${listed(pods)}`)
      .sort(),
  };
}
