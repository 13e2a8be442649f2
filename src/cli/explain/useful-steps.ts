// Of everything that keeps a node, what is worth doing: where no step makes it go in the end, the others are left out.
import type { NodeVerdict } from '../../core/index.ts';

type Blocker = NodeVerdict['blockers'][number];

/** Nothing a user can do about it makes the node go. */
function isFinal({ suggestion }: Blocker): boolean {
  return suggestion?.startsWith('nothing to do') === true;
}

export function usefulSteps({ blockers }: Pick<NodeVerdict, 'blockers'>): readonly Blocker[] {
  const final = blockers.filter(isFinal);
  return final.length > 0 ? final : blockers;
}
