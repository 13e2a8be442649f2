// What stands between a cluster's cost and the least it could be, in words: the same in the page and in a terminal. Without
// imports of its own beside types.
import type { ClusterMoney } from '../core/index.ts';

export const moneyCauseTexts: Readonly<Record<ClusterMoney['causes'][number]['cause'], string>> = {
  KerfReaches: 'Kerf gets it by itself',
  NodeFees: 'what nodes cost beside their price',
  PodDisruptionBudgets: 'PodDisruptionBudgets allow no eviction',
  DoNotDisrupt: 'the annotation karpenter.sh/do-not-disrupt',
  Budgets: 'budgets of NodePools are used up or closed',
  SpotToSpot: 'spot nodes are not replaced by spot nodes',
  UnmovablePods: 'pods that fit nowhere else',
  NotQuiet: 'nodes that are not quiet yet, or came just now',
  Policy: 'consolidation is off or limited for their NodePool',
  OnItsWayOut: 'nodes that are leaving',
  Daemons: 'daemons that every node runs',
  WholeNodes: 'no cheaper node or mix is worth the move: sizes do not fit exactly',
};
