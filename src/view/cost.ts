// What the cluster costs, whose it is, and what holds money that a person could free. Prices of nodes are divided among the
// namespaces of their pods by the larger of their shares of cpu and memory; what no pod requests is left over and said so.
import type { ClusterMoney, NodeVerdict } from '../core/index.ts';
import type { NodeFacts } from './view-model.ts';
import type { Cell } from './wire.ts';

export interface CostShare {
  name: string;
  pricePerHour: number;
  nodes: number;
  pods: number;
}

/** Nodes that stay for one cause that a person can change. */
export interface HeldMoney {
  code: string;
  /** The PodDisruptionBudget, workload, NodePool or setting. */
  by: string;
  nodes: string[];
  nodesLeftOut: number;
  /** Node by node: freeing all of them at once can save less. */
  savingsPerHour: number;
  suggestion?: string;
}

export interface CostView {
  apiVersion: 'kerf/v1';
  kind: 'CostView';
  time: string;
  pricePerHour: number;
  /** Equal to `money` of `kerf explain cluster`. */
  money?: ClusterMoney;
  moneyTime?: string;
  /** Why there is none. */
  noMoney?: 'being worked out' | 'pods differ too much';
  byNamespace: CostShare[];
  byPool: CostShare[];
  byCapacityType: CostShare[];
  /** Of nodes with a price: what no pod requests. */
  notRequestedPerHour: number;
  held: HeldMoney[];
  /** Nodes without a known price. */
  unpriced: { count: number; names: string[] };
}

export interface CostInput {
  time: string;
  rows: Iterable<{ facts: NodeFacts; cells: readonly Cell[] }>;
  verdicts: readonly NodeVerdict[];
  money?: MoneyKnown;
}

/** Undefined where pods differ too much for a bound. */
export interface MoneyKnown {
  value: ClusterMoney | undefined;
  time: string;
}

const mostShares = 50;
const mostNames = 50;

export function costView({ time, rows, verdicts, money }: CostInput): CostView {
  const namespaces = new Shares();
  const pools = new Shares();
  const capacityTypes = new Shares();
  const unpriced: string[] = [];
  let pricePerHour = 0;
  let notRequestedPerHour = 0;
  for (const { facts, cells } of rows) {
    const { pricePerHour: price } = facts;
    if (price === 0) unpriced.push(facts.name);
    pricePerHour += price;
    pools.add(facts.pool || 'not managed', price, facts.pods, facts.name);
    capacityTypes.add(facts.capacityType || 'unknown', price, facts.pods, facts.name);
    const shares = cells.map((cell) => ({ cell, share: dominantShare(cell, facts) }));
    const asked = shares.reduce((sum, { share }) => sum + share, 0);
    // Cpu of one pod and memory of another can come to more than the node: then all of it is divided.
    const whole = Math.max(1, asked);
    for (const { cell, share } of shares) {
      const namespace = cell.workload.split('/')[0] ?? '';
      namespaces.add(namespace, (price * share) / whole, cell.count, facts.name);
    }
    notRequestedPerHour += price * (1 - asked / whole);
  }
  return {
    apiVersion: 'kerf/v1',
    kind: 'CostView',
    time,
    pricePerHour,
    ...(money?.value === undefined
      ? { noMoney: money === undefined ? ('being worked out' as const) : ('pods differ too much' as const) }
      : { money: money.value, moneyTime: money.time }),
    byNamespace: namespaces.list(),
    byPool: pools.list(),
    byCapacityType: capacityTypes.list(),
    notRequestedPerHour,
    held: heldMoney(verdicts),
    unpriced: { count: unpriced.length, names: unpriced.slice(0, mostNames) },
  };
}

const dominantShare = (cell: Cell, { cpu, memory }: NodeFacts): number =>
  Math.max(cpu === 0 ? 0 : cell.cpu / cpu, memory === 0 ? 0 : cell.memory / memory);

class Shares {
  private readonly byName = new Map<string, { pricePerHour: number; pods: number; nodes: Set<string> }>();

  add(name: string, pricePerHour: number, pods: number, node: string): void {
    const known = this.byName.get(name) ?? { pricePerHour: 0, pods: 0, nodes: new Set<string>() };
    known.pricePerHour += pricePerHour;
    known.pods += pods;
    known.nodes.add(node);
    this.byName.set(name, known);
  }

  list(): CostShare[] {
    return [...this.byName]
      .map(([name, { pricePerHour, pods, nodes }]) => ({ name, pricePerHour, pods, nodes: nodes.size }))
      .sort((left, right) => right.pricePerHour - left.pricePerHour || (left.name < right.name ? -1 : 1))
      .slice(0, mostShares);
  }
}

/** Largest first. */
function heldMoney(verdicts: readonly NodeVerdict[]): HeldMoney[] {
  const groups = new Map<string, HeldMoney>();
  for (const verdict of verdicts) {
    const { savingsIfFreedPerHour = 0, blockers, node } = verdict;
    const [first] = blockers;
    if (savingsIfFreedPerHour === 0 || first === undefined) continue;
    const by = holderOf(verdict);
    const known = groups.get(`${first.code} ${by}`) ?? {
      code: first.code,
      by,
      nodes: [],
      nodesLeftOut: 0,
      savingsPerHour: 0,
      ...(first.suggestion !== undefined && { suggestion: first.suggestion }),
    };
    known.savingsPerHour += savingsIfFreedPerHour;
    if (known.nodes.length < mostNames) known.nodes.push(node);
    else known.nodesLeftOut += 1;
    groups.set(`${first.code} ${by}`, known);
  }
  return [...groups.values()]
    .sort((left, right) => right.savingsPerHour - left.savingsPerHour || (left.by < right.by ? -1 : 1))
    .slice(0, mostShares);
}

/** Who can change it: as the first blocker names it, else the pool. */
function holderOf({ blockers, nodePool = '', node }: NodeVerdict): string {
  const { code = '', message = '', pods = [] } = blockers[0] ?? {};
  if (code === 'NodeDoNotDisrupt') return `Node ${node}`;
  const budgets = /PodDisruptionBudget=\[([^\]]*)\]/.exec(message)?.[1];
  if (budgets !== undefined && budgets !== '') return `PodDisruptionBudget ${budgets}`;
  const pod = /\(Pod=([^)]*)\)/.exec(message)?.[1] ?? pods[0];
  if (pod !== undefined) return `pods of ${pod.split('/')[0] ?? ''}`;
  return code.startsWith('SpotToSpot') ? 'feature gate' : `NodePool ${nodePool}`;
}
