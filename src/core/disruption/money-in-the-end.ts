// The nodes that are there when Kerf has done by itself what it can: in clusters of moderate size at the end of the way
// ahead, in larger ones as if every node that may go were bought anew together with the others. For each, its price, what its
// pods need, and what keeps it.

import type { Sliced } from '../../base/index.ts';
import { isOwnedByDaemonSet } from '../pods/pod-classes.ts';
import { RequestsOfPods } from '../resources/pod-requests.ts';
import { usualNodeCostPerHour } from '../world.ts';
import { afterCommand } from './after-command.ts';
import type { Command } from './command.ts';
import { emptinessCommand } from './emptiness.ts';
import type { Member } from './fleet.ts';
import { isWorthLookingAhead } from './look-ahead.ts';
import { wayAhead } from './multi-node.ts';
import { Round } from './round.ts';
import { type NodeVerdict, nodeVerdicts, verdictCode } from './verdicts.ts';

/** A node, or several that come together. */
export interface Kept {
  readonly nodes: number;
  readonly price: number;
  /** What is paid for it beside its price. */
  readonly fee: number;
  /** What the pods on it would cost by the room they take, and what its daemons would. */
  readonly need: number;
  readonly daemons: number;
  /** Of its verdict. */
  readonly code: string;
}

/** Several new nodes at once are a way of one step: it goes on from there, so many times. */
const mostWays = 3;
/** New nodes are named by number; those of a way begin with 1 and are fewer. */
const numbersPerWay = 1_000;

/** Nodes with a NodeClaim; one that is not launched yet costs nothing. */
export function managedOf({ fleet }: Round): Member[] {
  return fleet.members.filter(
    ({ machine: { claim, node } }) => claim !== undefined && (node !== undefined || Boolean(claim.status?.providerID)),
  );
}

/** By pool what is paid for a node beside its price; nothing where no one set it. */
export function nodeFees({ fleet }: Round): (poolName: string | undefined) => number {
  const { templates } = fleet.movable.world;
  if (templates.every(({ nodeCostPerHour }) => nodeCostPerHour === usualNodeCostPerHour)) return () => 0;
  const fees = new Map(templates.map(({ poolName, nodeCostPerHour }) => [poolName, nodeCostPerHour]));
  return (poolName) => fees.get(poolName ?? '') ?? 0;
}

export function* keptByItself(round: Round, verdicts: readonly NodeVerdict[]): Sliced<readonly Kept[]> {
  const now = yield* keptOf(round, verdicts);
  if (!isWorthLookingAhead(round)) return yield* boughtAnew(round, verdicts, now);
  const end = yield* endOf(round);
  if (end === round) return [...now.values()];
  const kept = [...(yield* keptOf(end, yield* nodeVerdicts(end))).values()];
  return costOf(kept) < costOf(now.values()) ? kept : [...now.values()];
}

function* endOf(round: Round): Sliced<Round> {
  let end = round;
  for (let number = numbersPerWay; number <= mostWays * numbersPerWay; number += numbersPerWay) {
    const { command } = emptinessCommand(end);
    if (command !== undefined) end = yield* after(end, command, number);
    const way = yield* wayAhead(end);
    const [first] = way.commands;
    if (first === undefined) return end;
    if (way.end !== undefined) return way.end;
    end = yield* after(end, first, number);
  }
  return end;
}

function* after({ fleet }: Round, command: Command, number: number): Sliced<Round> {
  return yield* Round.inSlices(afterCommand(fleet, command, number).snapshot, fleet.options);
}

function* keptOf(round: Round, verdicts: readonly NodeVerdict[]): Sliced<Map<Member, Kept>> {
  const fees = nodeFees(round);
  const { splitting } = round.consolidator;
  // Pods that must not be disturbed need their room as well.
  const freed = yield* round.withoutPodBlockers();
  const freedMembers = new Map(freed.fleet.members.map((member) => [member.name, member]));
  const codeOf = new Map(verdicts.map((verdict) => [verdict.node, verdictCode(verdict)]));
  const kept = new Map<Member, Kept>();
  for (const member of managedOf(round)) {
    yield;
    kept.set(member, {
      nodes: 1,
      price: member.price,
      fee: fees(member.poolName),
      need: splitting.leastFor(freed.whatIf.loadOf(freedMembers.get(member.name) ?? member)),
      daemons: daemonsOn(round, member),
      code: codeOf.get(member.name) ?? '',
    });
  }
  return kept;
}

function* boughtAnew(
  round: Round,
  verdicts: readonly NodeVerdict[],
  now: ReadonlyMap<Member, Kept>,
): Sliced<readonly Kept[]> {
  const kept = new Map(now);
  const empty = new Set(verdicts.filter(({ reason }) => reason === 'Empty').map(({ node }) => node));
  for (const member of now.keys()) if (empty.has(member.name)) kept.delete(member);
  const allowed = round.eligible.Underutilized.filter(
    (member) => kept.has(member) && member.pool && round.fleet.budget(member.pool, 'Underutilized').allowed > 0,
  );
  if (allowed.length === 0) return [...kept.values()];
  const answer = yield* round.consolidator.decideInSlices(allowed);
  const going = allowed.map((member) => kept.get(member) as Kept);
  if (answer.kind !== 'none') {
    for (const member of allowed) kept.delete(member);
    const pools = answer.kind === 'replace' ? answer.replacements.map(({ nodePool }) => nodePool) : [];
    const fees = nodeFees(round);
    const coming: Kept = {
      nodes: pools.length,
      price: sumOf(going.map(({ price }) => price)) - answer.savings,
      fee: sumOf(pools.map(fees)),
      need: sumOf(going.map(({ need }) => need)),
      daemons: 0,
      code: '',
    };
    return [...kept.values(), coming];
  }
  // Not all together: then at least the one that saves most by itself.
  const best = verdicts.reduce<NodeVerdict | undefined>(
    (most, each) => (each.verdict !== 'keep' && each.savingsPerHour > (most?.savingsPerHour ?? 0) ? each : most),
    undefined,
  );
  const member = allowed.find(({ name }) => name === best?.node);
  const own = member && kept.get(member);
  if (own && best) kept.set(member, { ...own, price: Math.max(0, own.price - best.savingsPerHour) });
  return [...kept.values()];
}

function daemonsOn({ fleet, consolidator }: Round, { pods }: Member): number {
  const { resources } = fleet.movable.world;
  const requests = new RequestsOfPods(resources);
  const load = new Float64Array(resources.names.length);
  for (const pod of pods) {
    if (!isOwnedByDaemonSet(pod)) continue;
    for (const [name, amount] of requests.of(pod)) {
      const column = resources.column(name);
      if (column < load.length) load[column] = (load[column] as number) + amount;
    }
  }
  return consolidator.splitting.leastFor(load);
}

function costOf(kept: Iterable<Kept>): number {
  return sumOf([...kept].map(({ price, fee }) => price + fee));
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}
