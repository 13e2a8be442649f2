// Drift: nodes that are no longer what their pool asks for are replaced one command at a time, those without pods to move
// first, then the ones that have waited longest. Static pools exchange theirs one for one.

import { parseTime, type Sliced } from '../../base/index.ts';
import type { NodePool } from '../kube/objects.ts';
import type { ExistingPlacement, PlannedNode } from '../plan.ts';
import { countsWhileLeaving, nodesLeft } from '../pools/limits.ts';
import { hasReschedulablePods } from './candidates.ts';
import type { Command, Replacement } from './command.ts';
import { conditionOf, isStatic, type Member } from './fleet.ts';
import { type MethodOutcome, outcomeOf, type Refusal } from './method.ts';
import type { Round } from './round.ts';
import { failureText } from './what-if.ts';

export function* driftCommand(round: Round): Sliced<MethodOutcome> {
  const allowance = round.allowance('Drifted');
  const drifted = round.eligible.Drifted;
  const refused: Refusal[] = [];
  for (const member of [
    ...byDriftTime(drifted.filter((each) => !hasReschedulablePods(each))),
    ...byDriftTime(drifted.filter(hasReschedulablePods)),
  ]) {
    if (allowance.of(member.poolName) < 1) continue;
    const move = yield* driftMove(round, member);
    yield undefined;
    if (move.kind === 'blocked') {
      refused.push({ member, answer: { code: 'PodsDoNotFit', message: move.message } });
      continue;
    }
    const replacements = move.nodes.map((node): Replacement => ({ kind: 'planned', node }));
    return outcomeOf({ command: driftedCommand([member], replacements, move.savings, move.placements), refused });
  }
  return outcomeOf({ refused });
}

export type DriftMove =
  | { readonly kind: 'blocked'; readonly message: string }
  | {
      readonly kind: 'move';
      readonly nodes: readonly PlannedNode[];
      readonly placements: readonly ExistingPlacement[];
      readonly savings: number;
    };

/** What would come instead of the node, or why its pods have no other place. */
export function* driftMove(round: Round, member: Member): Sliced<DriftMove> {
  const simulation = yield* round.whatIf.simulateInSlices([member], { sparesRestless: false });
  if (simulation.failed.length > 0) return { kind: 'blocked', message: failureText(simulation) };
  const { nodes, errors } = simulation.finish();
  if (errors.length > 0) {
    const texts = errors.map(({ pod, message }) => `${pod} => ${message}`);
    return { kind: 'blocked', message: `Not all pods would schedule, ${texts.join(' ')}` };
  }
  const price = nodes.reduce((sum, node) => sum + node.chosen.pricePerHour, 0);
  return { kind: 'move', nodes, placements: simulation.placements(), savings: member.price - price };
}

/** One command per node of static pools, as many as budgets and the limit on nodes allow. */
export function staticDriftCommands(round: Round): MethodOutcome {
  const commands: Command[] = [];
  const allowance = round.allowance('Drifted');
  for (const pool of round.fleet.allPools()) {
    if (!isStatic(pool)) continue;
    const { name } = pool.metadata;
    const own = byDriftTime(round.staticDrifted.filter((member) => member.poolName === name));
    const room = exchangeRoom(round, pool);
    for (const member of own.slice(0, Math.max(0, room))) {
      if (!allowance.take(name)) break;
      commands.push(driftedCommand([member], [{ kind: 'template', nodePool: name }], 0, []));
    }
  }
  const [command, ...also] = commands;
  return outcomeOf({ command, also });
}

/** How many more nodes a static pool may have for a while, given its limit; none while it has too many anyway. */
export function exchangeRoom(round: Round, pool: NodePool): number {
  const { name } = pool.metadata;
  const { objects } = round.fleet.movable;
  let active = 0;
  let pendingDisruption = 0;
  let deleting = 0;
  for (const { machine, poolName, isQueued } of round.fleet.members) {
    if (poolName !== name || machine.claim === undefined) continue;
    if (machine.leaving) deleting += 1;
    else if (isQueued) pendingDisruption += 1;
    else active += 1;
  }
  for (const claim of objects.nodeClaims.values()) {
    if (claim.metadata.labels?.['karpenter.sh/nodepool'] === name && !claim.status?.providerID) active += 1;
  }
  if (active + pendingDisruption > (pool.spec?.replicas ?? 0)) return 0;
  return nodesLeft(pool, active + (countsWhileLeaving(pool) ? deleting : 0) + pendingDisruption);
}

function driftedCommand(
  members: readonly Member[],
  replacements: readonly Replacement[],
  savings: number,
  placements: readonly ExistingPlacement[],
): Command {
  return { reason: 'Drifted', consolidationType: '', members, replacements, savings, placements };
}

function byDriftTime(members: readonly Member[]): Member[] {
  const since = ({ machine }: Member): number =>
    parseTime(conditionOf(machine.claim?.status?.conditions, 'Drifted')?.lastTransitionTime ?? '') ?? 0;
  return [...members].sort((left, right) => since(left) - since(right) || (left.name < right.name ? -1 : 1));
}
