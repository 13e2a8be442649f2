// The fleet: every machine of a snapshot as disruption sees it, with its price, its pods and what they cost to move. It
// compiles the snapshot once; candidates, budgets and what-ifs are questions to it.

import { label } from '../../api/names.ts';
import { atOnce, conditionOf, parseGoDuration, parseTime, type Sliced } from '../../base/index.ts';
import { allowedDisruptions, budgetsOpenAt, type PoolCounts } from '../budgets/budgets.ts';
import { conditionIsTrue, type DisruptionBudget, type NodePool, type Pod } from '../kube/objects.ts';
import type { Machine } from '../nodes/machines.ts';
import { isRebooting, type Repair } from '../nodes/repairs.ts';
import type { InstanceTypeSpec, Snapshot } from '../snapshot.ts';
import { type IndexOptions, indexMovableInSlices, type MovableWorld } from '../world.ts';
import { rescheduleCost, residentCost } from './costs.ts';
import { type DeletionCostsBy, deletionCostsBy } from './eviction-cost.ts';
import { PodBlockers } from './pod-blockers.ts';

/** One machine, seen by disruption. */
export interface Member {
  readonly machine: Machine;
  readonly name: string;
  /** Its number among the nodes that take pods; -1 if it takes none. */
  readonly index: number;
  readonly poolName: string | undefined;
  readonly pool: NodePool | undefined;
  readonly isStatic: boolean;
  readonly pods: readonly Pod[];
  readonly instanceType: string | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
  readonly isTypeKnown: boolean;
  /** USD per hour; zero if unknown. */
  readonly price: number;
  readonly rescheduleCost: number;
  readonly isNominated: boolean;
  readonly isQueued: boolean;
  /** Broken for longer than the provider tolerates: what is to be done about it. */
  readonly repair: Repair | undefined;
}

/** What a pool's budgets come to, for one reason. */
export interface PoolBudget {
  readonly allowed: number;
  readonly remaining: number;
  readonly counts: PoolCounts;
  /** When the end of a scheduled budget lets a node go, if nothing else changes. */
  opensMs(): number | undefined;
}

export interface FleetOptions extends IndexOptions {
  /** Names of claims that a command is disrupting already. */
  readonly queued?: ReadonlySet<string>;
}

export class Fleet {
  readonly snapshot: Snapshot;
  readonly options: FleetOptions;
  readonly movable: MovableWorld;
  readonly members: readonly Member[];
  readonly nowMs: number;
  readonly spotToSpot: boolean;
  readonly podBlockers: PodBlockers;
  private readonly costsBy: DeletionCostsBy;
  private readonly poolTypes = new Map<string, Map<string, InstanceTypeSpec>>();
  private readonly servedKinds: ReadonlySet<string> | undefined;
  private readonly pools: ReadonlyMap<string, NodePool>;
  private readonly counts = new Map<boolean, ReadonlyMap<string, PoolCounts>>();

  static of(snapshot: Snapshot, options: FleetOptions = {}): Fleet {
    return atOnce(Fleet.inSlices(snapshot, options));
  }

  /** Yields after every pod and every machine. */
  static *inSlices(snapshot: Snapshot, options: FleetOptions = {}): Sliced<Fleet> {
    const members: Member[] = [];
    const fleet = new Fleet(snapshot, options, yield* indexMovableInSlices(snapshot, options), members);
    const { active, machines, podsOn, repairs } = fleet.movable;
    const nominated = new Set<string>();
    for (const { node, nodeClaim, nominated: isNominated } of snapshot.nodeState ?? []) {
      if (isNominated) for (const name of [node, nodeClaim]) if (name !== undefined) nominated.add(name);
    }
    const indexOf = new Map(active.map((machine, index) => [machine, index]));
    for (const machine of machines) {
      const nodeName = machine.node?.metadata.name ?? '';
      const claimName = machine.claim?.metadata.name ?? '';
      const state = {
        isNominated: nominated.has(nodeName) || nominated.has(claimName),
        isQueued: options.queued?.has(claimName) ?? false,
        repair: repairs?.due.get(nodeName),
      };
      members.push(fleet.member(machine, indexOf.get(machine) ?? -1, podsOn.get(nodeName) ?? [], state));
      yield;
    }
    return fleet;
  }

  private constructor(snapshot: Snapshot, options: FleetOptions, movable: MovableWorld, members: readonly Member[]) {
    this.snapshot = snapshot;
    this.options = options;
    this.movable = movable;
    this.members = members;
    const { objects } = movable;
    this.nowMs = (snapshot.time === undefined ? undefined : parseTime(snapshot.time)) ?? 0;
    this.spotToSpot = snapshot.settings?.featureGates?.['SpotToSpotConsolidation'] ?? false;
    this.costsBy = deletionCostsBy(snapshot.settings ?? {});
    this.podBlockers = new PodBlockers(objects.disruptionBudgets, this.nowMs);
    this.pools = objects.nodePools;
    const served = snapshot.provider?.nodeClasses ?? [];
    this.servedKinds = served.length === 0 ? undefined : new Set(served);
    for (const entry of snapshot.instanceTypes ?? []) {
      const types = new Map((entry.items ?? []).map((type) => [type.name, type]));
      if (entry.error === undefined) this.poolTypes.set(entry.nodePool, types);
    }
  }

  pool(name: string): NodePool | undefined {
    return this.pools.get(name);
  }

  allPools(): Iterable<NodePool> {
    return this.pools.values();
  }

  /** Whether the pool is one of ours with instance types to offer: nodes of others are left alone. */
  hasTypes(poolName: string): boolean {
    const pool = this.pools.get(poolName);
    if (pool === undefined) return false;
    const { group = '', kind = '' } = pool.spec?.template?.spec?.nodeClassRef ?? {};
    if (this.servedKinds !== undefined && !this.servedKinds.has(`${kind}.${group}`)) return false;
    return (this.poolTypes.get(poolName)?.size ?? 0) > 0;
  }

  typeOf(poolName: string, name: string): InstanceTypeSpec | undefined {
    return this.poolTypes.get(poolName)?.get(name);
  }

  /** Nodes of the pool that its budgets are about, and those of them that are out already. */
  countsOf(poolName: string, reason?: string): PoolCounts {
    const forRepair = reason === 'Unhealthy';
    const counts = this.counts.get(forRepair) ?? countsByPool(this.members, forRepair);
    this.counts.set(forRepair, counts);
    return counts.get(poolName) ?? noNodes;
  }

  /** What a pool's budgets allow for the reason, before and after counting nodes that are out. */
  budget(pool: NodePool, reason: string): PoolBudget {
    const counts = this.countsOf(pool.metadata.name, reason);
    const budgets = budgetsOf(pool);
    const timeZone = this.snapshot.settings?.budgetTimeZone;
    const allowed = allowedDisruptions(budgets, reason, counts.total, this.nowMs, timeZone);
    return {
      allowed,
      remaining: Math.max(0, allowed - counts.consuming),
      counts,
      opensMs: () => budgetsOpenAt(budgets, reason, counts, this.nowMs, timeZone),
    };
  }

  /** Hourly price of everything the pool has. */
  poolCost(poolName: string): number {
    let cost = 0;
    for (const member of this.members) if (member.poolName === poolName && member.machine.claim) cost += member.price;
    return cost;
  }

  /** What moving every pod of the pool would cost. */
  poolDisruption(poolName: string, isCandidate: (member: Member) => boolean): number {
    let cost = 0;
    for (const member of this.members) {
      if (member.poolName !== poolName || member.machine.claim === undefined) continue;
      cost += isCandidate(member) ? member.rescheduleCost : residentCost(member.pods, this.costsBy);
    }
    return cost;
  }

  private member(
    machine: Machine,
    index: number,
    pods: readonly Pod[],
    state: Pick<Member, 'isNominated' | 'isQueued' | 'repair'>,
  ): Member {
    const { labels } = machine;
    const poolName = labels[label.nodePool];
    const instanceType = labels[label.instanceType];
    const zone = labels[label.zone];
    const capacityType = labels[label.capacityType];
    const pool = poolName === undefined ? undefined : this.pools.get(poolName);
    const type = poolName === undefined || instanceType === undefined ? undefined : this.typeOf(poolName, instanceType);
    return {
      machine,
      name: machine.node?.metadata.name ?? machine.name,
      index,
      poolName,
      pool,
      isStatic: isStatic(pool),
      pods,
      instanceType,
      zone,
      capacityType,
      isTypeKnown: type !== undefined,
      price:
        type === undefined || zone === undefined || capacityType === undefined ? 0 : priceOf(type, zone, capacityType),
      rescheduleCost: rescheduleCost(pods, this.costsBy),
      ...state,
    };
  }
}

const noNodes: PoolCounts = { total: 0, consuming: 0 };

/** A budget for repairs is not used up by nodes that wait for one. */
function countsByPool(members: readonly Member[], forRepair: boolean): Map<string, PoolCounts> {
  const counts = new Map<string, PoolCounts>();
  for (const { machine, poolName = '' } of members) {
    if (machine.claim === undefined || machine.node === undefined) continue;
    const reboots = isRebooting(machine.claim);
    if (!machine.initialized && !reboots) continue;
    if (conditionIsTrue(machine.claim.status?.conditions, 'InstanceTerminating')) continue;
    const { total, consuming } = counts.get(poolName) ?? noNodes;
    const isReady = conditionIsTrue(machine.node.status?.conditions, 'Ready');
    const isOut = machine.leaving || reboots || (!isReady && !forRepair);
    counts.set(poolName, { total: total + 1, consuming: consuming + (isOut ? 1 : 0) });
  }
  return counts;
}

export function isStatic(pool: NodePool | undefined): boolean {
  return pool?.spec?.replicas !== undefined && pool.spec.replicas !== null;
}

/** What the API server fills in for a pool that says nothing. */
const defaultBudgets: readonly DisruptionBudget[] = [{ nodes: '10%' }];
const defaultQuietTime = '0s';

export function budgetsOf(pool: NodePool): readonly DisruptionBudget[] {
  return pool.spec?.disruption?.budgets ?? defaultBudgets;
}

/** Milliseconds; Infinity for Never, undefined if it cannot be read or there is no pool. */
export function quietTimeMs(pool: NodePool | undefined): number | undefined {
  if (pool === undefined) return undefined;
  const text = pool.spec?.disruption?.consolidateAfter ?? defaultQuietTime;
  return text === 'Never' ? Number.POSITIVE_INFINITY : parseGoDuration(text);
}

/** Since when no pod came or went; undefined while the node is not initialized. */
export function quietSince({ claim }: Machine): number | undefined {
  const initialized = conditionOf(claim?.status?.conditions, 'Initialized');
  if (initialized?.status !== 'True') return undefined;
  return parseTime(claim?.status?.lastPodEventTime ?? '') ?? parseTime(initialized.lastTransitionTime ?? '');
}

/** The price of the offering the node was launched as, whether it is available today or not. */
function priceOf(type: InstanceTypeSpec, zone: string, capacityType: string): number {
  const has = (requirements: InstanceTypeSpec['requirements'], key: string, value: string): boolean =>
    requirements.some((each) => each.key === key && each.operator === 'In' && each.values?.includes(value) === true);
  const offering = type.offerings.find(
    ({ requirements }) => has(requirements, label.zone, zone) && has(requirements, label.capacityType, capacityType),
  );
  return offering === undefined || Number.isNaN(offering.price) ? 0 : offering.price;
}

/** How many nodes of the pool may be out for the reason, step by step from now on; -1 without a bound. */
export function allowedOverTime(
  fleet: Fleet,
  pool: NodePool,
  reason: string,
  { stepMs, steps }: { stepMs: number; steps: number },
): number[] {
  const budgets = budgetsOf(pool);
  const { total } = fleet.countsOf(pool.metadata.name);
  const timeZone = fleet.snapshot.settings?.budgetTimeZone;
  // Budgets without a schedule never change.
  const isSteady = budgets.every(({ schedule }) => schedule === undefined);
  const allowedAt = (atMs: number): number => {
    const allowed = allowedDisruptions(budgets, reason, total, atMs, timeZone);
    return Number.isFinite(allowed) ? allowed : -1;
  };
  const now = allowedAt(fleet.nowMs);
  return Array.from({ length: steps }, (_, at) => (isSteady ? now : allowedAt(fleet.nowMs + at * stepMs)));
}
