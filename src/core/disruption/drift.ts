// Drift: nodes that are no longer what their pool asks for are replaced one command at a time, those without pods to move
// first, then the ones that have waited longest. Static pools exchange theirs one for one.

import { conditionOf, parseTime, type Sliced } from '../../base/index.ts';
import type { NodePool } from '../kube/objects.ts';
import type { ExistingPlacement, PlannedNode } from '../plan.ts';
import { countsWhileLeaving, nodesLeft } from '../pools/limits.ts';
import { hasReschedulablePods } from './candidates.ts';
import type { Command, Replacement, TerminateFirstReason } from './command.ts';
import { isStatic, type Member } from './fleet.ts';
import { type MethodOutcome, outcomeOf, type Refusal } from './method.ts';
import type { Round } from './round.ts';
import { atNodeLimit, type Gate, isGateOn, slotOf, stuckOf } from './terminate-first.ts';
import { noPlace } from './what-if.ts';

export function* driftCommand(round: Round): Sliced<MethodOutcome> {
  const allowance = round.allowance('Drifted');
  const drifted = round.eligible.Drifted;
  const refused: Refusal[] = [];
  for (const member of [
    ...byDriftTime(drifted.filter((each) => !hasReschedulablePods(each))),
    ...byDriftTime(drifted.filter(hasReschedulablePods)),
  ]) {
    if (allowance.of(member.poolName) < 1) continue;
    const move = yield* driftMove(round, member, 'TerminateFirstDrift');
    yield undefined;
    if (move.kind === 'blocked') {
      refused.push({ member, answer: move.answer });
      continue;
    }
    return outcomeOf({ command: { ...driftedCommand(member), ...partsOf(move) }, refused });
  }
  return outcomeOf({ refused });
}

export type DriftMove =
  | { readonly kind: 'blocked'; readonly answer: Refusal['answer'] }
  | {
      readonly kind: 'move';
      readonly nodes: readonly PlannedNode[];
      readonly placements: readonly ExistingPlacement[];
      readonly savings: number;
      /** Its pods fit only the slot that it holds itself. */
      readonly terminateFirst?: TerminateFirstReason;
    };

/** What the move is as part of a command. */
export function partsOf({ nodes, placements, savings, terminateFirst }: DriftMove & { kind: 'move' }) {
  return {
    replacements: nodes.map((node): Replacement => ({ kind: 'planned', node })),
    placements,
    savings,
    ...(terminateFirst === undefined ? {} : { terminateFirst }),
  };
}

/** What would come instead of the node, or why its pods have no other place. */
export function* driftMove(round: Round, member: Member, gate: Gate): Sliced<DriftMove> {
  const simulation = yield* round.whatIf.simulateInSlices([member], { sparesRestless: false });
  if (simulation.failed.length > 0) {
    const freedSlot = isGateOn(round.fleet, gate) ? slotOf(round.fleet, member) : undefined;
    if (freedSlot !== undefined) {
      const afterwards = yield* round.whatIf.simulateInSlices([member], { sparesRestless: false, freedSlot });
      if (afterwards.failed.length === 0) {
        const placements = afterwards.placements();
        return { kind: 'move', nodes: [], placements, savings: 0, terminateFirst: 'no-reserved-capacity' };
      }
    }
    return { kind: 'blocked', answer: noPlace(simulation) };
  }
  const { nodes, errors } = simulation.finish();
  if (errors.length > 0) {
    const texts = errors.map(({ pod, message }) => `${pod} => ${message}`);
    return {
      kind: 'blocked',
      answer: { code: 'PodsDoNotFit', message: `Not all pods would schedule, ${texts.join(' ')}` },
    };
  }
  const price = nodes.reduce((sum, node) => sum + node.chosen.pricePerHour, 0);
  return { kind: 'move', nodes, placements: simulation.placements(), savings: member.price - price };
}

/** One command per node of static pools, as many as budgets and the limit on nodes allow. */
export function staticDriftCommands(round: Round): MethodOutcome {
  const { fleet } = round;
  const commands: Command[] = [];
  const refused: Refusal[] = [];
  const allowance = round.allowance('Drifted');
  for (const pool of fleet.allPools()) {
    if (!isStatic(pool) || hasSurplus(round, pool)) continue;
    const { name } = pool.metadata;
    let room = exchangeRoom(round, pool);
    const mayExchange = room >= 1;
    const own = byDriftTime(round.staticDrifted.filter((member) => member.poolName === name));
    // Those that free a slot first: the others wait for them.
    for (const member of [
      ...own.filter((each) => slotOf(fleet, each)),
      ...own.filter((each) => !slotOf(fleet, each)),
    ]) {
      if (allowance.of(name) < 1) break;
      const stuck = stuckOf(fleet, member, pool, 'TerminateFirstDrift', room);
      if (stuck?.kind === 'blocked') {
        // Where some are exchanged the others only wait.
        if (!mayExchange || stuck.answer !== atNodeLimit) refused.push({ member, answer: stuck.answer });
        continue;
      }
      if (stuck?.kind === 'terminate' && mayExchange && stuck.reason === 'static-at-limit') continue;
      allowance.take(name);
      if (stuck === undefined) {
        room -= 1;
        commands.push({ ...driftedCommand(member), replacements: [{ kind: 'template', nodePool: name }] });
      } else commands.push({ ...driftedCommand(member), terminateFirst: stuck.reason });
    }
  }
  const [command, ...also] = commands;
  return outcomeOf({ command, also, refused });
}

/** How many more nodes a static pool may have for a while, given its limit; none while it has too many anyway. */
export function exchangeRoom(round: Round, pool: NodePool): number {
  const { active, pendingDisruption, deleting } = nodesOf(round, pool);
  if (hasSurplus(round, pool)) return 0;
  return nodesLeft(pool, active + (countsWhileLeaving(pool) ? deleting : 0) + pendingDisruption);
}

/** More nodes than it is to have: those go first, and what is exchanged now would be one of them. */
export function hasSurplus(round: Round, pool: NodePool): boolean {
  const { active, pendingDisruption } = nodesOf(round, pool);
  return active + pendingDisruption > (pool.spec?.replicas ?? 0);
}

function nodesOf(round: Round, pool: NodePool) {
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
  return { active, pendingDisruption, deleting };
}

function driftedCommand(member: Member): Command {
  return {
    reason: 'Drifted',
    consolidationType: '',
    members: [member],
    replacements: [],
    savings: 0,
    placements: [],
  };
}

function byDriftTime(members: readonly Member[]): Member[] {
  const since = ({ machine }: Member): number =>
    parseTime(conditionOf(machine.claim?.status?.conditions, 'Drifted')?.lastTransitionTime ?? '') ?? 0;
  return [...members].sort((left, right) => since(left) - since(right) || (left.name < right.name ? -1 : 1));
}
