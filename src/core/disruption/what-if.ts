// What would be if these nodes were gone: their movable pods, the waiting pods and those of leaving nodes are placed by the
// same planner on the nodes that remain and on new ones. The fleet is compiled once and asked many times; each answer
// starts from the compiled counts and leaves nothing behind.

import { atOnce, type Sliced } from '../../base/index.ts';
import { improveInSlices } from '../improve/improve.ts';
import { namespacedKey, type Pod } from '../kube/objects.ts';
import { type FinishedNode, NewNodeFinisher } from '../packing/finish.ts';
import type { NewNode } from '../packing/new-node.ts';
import { type Packed, solveInSlices } from '../packing/solve.ts';
import type { ExistingPlacement, PlannedNode } from '../plan.ts';
import { isBufferPod } from '../pods/pod-classes.ts';
import { explain } from '../reasons/explain.ts';
import { type PlannedPod, podsAtOnce } from '../workload.ts';
import type { World } from '../world.ts';
import { type Fleet, isStatic, type Member, quietSince, quietTimeMs } from './fleet.ts';

export interface MoveError {
  readonly pod: string;
  readonly message: string;
}

export interface Simulation {
  /** New nodes the pods need. */
  readonly newNodes: readonly NewNode[];
  /** Pods that must move and have no place; waiting pods are not counted, they had none before. */
  readonly failed: readonly number[];
  /** Every one of them would have a place on a node that is on its way. */
  readonly onlyWaits: boolean;
  /** In words, as many as asked for; empty if every pod has a place. */
  errors(most?: number): MoveError[];
  /** The new nodes as the planner would ask for them; pods of one that cannot be asked for count as failed. */
  finish(newNodes?: readonly NewNode[]): { nodes: PlannedNode[]; errors: MoveError[] };
  /** No pod that waits, or leaves anyway, is on a new node. */
  readonly isForMovedPods: boolean;
  /** New nodes for the same pods where others cost less; the same ones where they do not. */
  buyAnew(): Sliced<readonly NewNode[]>;
  /** Existing nodes with the pods that were placed there. */
  placements(): ExistingPlacement[];
}

export interface WhatIfOptions {
  /** Leave nodes alone that pods came to or went from just now. */
  readonly sparesRestless: boolean;
  /** A reservation with one slot more, which the nodes that go leave; pods that could have it take nothing dearer. */
  readonly freedSlot?: string;
}

const open = 0;
const gone = 1;
const closedToMoved = 2;

const errorsShown = 5;

export class WhatIf {
  readonly fleet: Fleet;
  readonly finisher: NewNodeFinisher;
  /** How often the planner was asked; for benchmarks and bounds. */
  simulations = 0;
  private readonly basePods: number[] = [];
  private readonly podsOf = new Map<string, number[]>();
  private readonly unplaceable = new Map<string, MoveError[]>();
  /** Nodes someone deletes whose claims do not leave yet: they take nothing more. */
  private readonly ending: Uint8Array;
  /** These, and nodes that pods came to or went from just now. */
  private readonly restless: Uint8Array;
  /** By position: 1 while a what-if moves the pod. */
  private readonly moved: Uint8Array;
  private readonly memberAt: (Member | undefined)[] = [];
  private readonly fromLeaving = new Set<number>();
  private hasBufferPods = false;

  /** Yields after some pods and after every machine. */
  static *inSlices(fleet: Fleet): Sliced<WhatIf> {
    const whatIf = new WhatIf(fleet);
    yield* whatIf.sortPods();
    yield* whatIf.markDestinations();
    return whatIf;
  }

  private constructor(fleet: Fleet) {
    this.fleet = fleet;
    const { world } = fleet.movable;
    this.finisher = new NewNodeFinisher(world);
    this.moved = new Uint8Array(world.workload.pods.length);
    this.ending = new Uint8Array(world.nodes.length).fill(open);
    this.restless = new Uint8Array(world.nodes.length).fill(open);
  }

  private *sortPods(): Sliced<void> {
    const { world, machines, podsOn, isMovable } = this.fleet.movable;
    const leaving = new Set(machines.filter((each) => each.leaving).map((each) => each.node?.metadata.name));
    for (const [position, { pod }] of world.workload.pods.entries()) {
      if (position % podsAtOnce === 0) yield;
      const node = pod.spec?.nodeName;
      if (!node || leaving.has(node)) {
        this.basePods.push(position);
        if (node) this.fromLeaving.add(position);
        else this.hasBufferPods ||= isBufferPod(pod);
        continue;
      }
      const list = this.podsOf.get(node);
      if (list === undefined) this.podsOf.set(node, [position]);
      else list.push(position);
    }
    if (world.rejected.length === 0) return;
    const messages = new Map(world.rejected.map(({ key, reason }) => [key, reason.message]));
    for (const [node, pods] of podsOn) {
      const errors = pods.filter(isMovable).flatMap((pod) => rejection(pod, messages));
      if (errors.length > 0) this.unplaceable.set(node, errors);
      yield;
    }
  }

  private *markDestinations(): Sliced<void> {
    for (const member of this.fleet.members) {
      yield;
      if (member.index < 0) continue;
      this.memberAt[member.index] = member;
      const isEnding = member.machine.node?.metadata.deletionTimestamp !== undefined;
      if (isEnding) this.ending[member.index] = closedToMoved;
      if (isEnding || isRestless(member, this.fleet.nowMs)) this.restless[member.index] = closedToMoved;
    }
  }

  /** How many pods would have to move. */
  podCount(member: Member): number {
    return this.podsOf.get(member.name)?.length ?? 0;
  }

  /** Positions of the pods that would have to move, in the order of the queue. */
  podsToMove(member: Member): readonly number[] {
    return this.podsOf.get(member.name) ?? [];
  }

  /** Whether pods that move for consolidation may go to the node with this number. */
  takesMovedPods(index: number): boolean {
    return this.restless[index] === open && !this.isUnready(index);
  }

  /** What its movable pods ask for together, by resource column. */
  loadOf(member: Member): Float64Array {
    const { workload, resources } = this.fleet.movable.world;
    const load = new Float64Array(resources.names.length);
    for (const position of this.podsOf.get(member.name) ?? []) {
      const { need } = (workload.pods[position] as PlannedPod).group;
      need.columns.forEach((column, at) => {
        load[column] = (load[column] as number) + (need.amounts[at] as number);
      });
    }
    return load;
  }

  /** Names of nodes that virtual pods of capacity buffers would be on. */
  *nodesWithBufferPods(): Sliced<Set<string>> {
    if (!this.hasBufferPods) return new Set();
    const { world } = this.fleet.movable;
    const packed = yield* this.pack([], false);
    const names = new Set<string>();
    packed.nodes.pods.forEach((pods, index) => {
      if (pods.some((pod) => isBufferPod((world.workload.pods[pod] as PlannedPod).pod))) {
        names.add(this.memberAt[index]?.name ?? '');
      }
    });
    return names;
  }

  simulate(members: readonly Member[], options: WhatIfOptions): Simulation {
    return atOnce(this.simulateInSlices(members, options));
  }

  /** Yields after every pod; one simulation must end before the next begins. */
  *simulateInSlices(members: readonly Member[], { sparesRestless, freedSlot }: WhatIfOptions): Sliced<Simulation> {
    this.simulations += 1;
    const { world } = this.fleet.movable;
    const packed = yield* this.packFairly(members, sparesRestless, freedSlot);
    const { workload } = world;
    const isWaiting = (pod: number): boolean => !(workload.pods[pod] as PlannedPod).pod.spec?.nodeName;
    const failed = packed.failed.filter(({ pod }) => !isWaiting(pod));
    const early: MoveError[] = members.flatMap((member) => this.unplaceable.get(member.name) ?? []);
    const rejected = early.length;
    packed.nodes.pods.forEach((pods, index) => {
      if (!this.isUnready(index)) return;
      const member = this.memberAt[index] as Member;
      for (const pod of pods) {
        if (!this.isMoved(pod)) continue;
        const message = `would schedule against uninitialized ${referenceOf(member)}`;
        early.push({ pod: (workload.pods[pod] as PlannedPod).key, message });
      }
    });
    const newNodes = packed.packing.newNodes;
    return {
      newNodes,
      failed: failed.map(({ pod }) => pod).concat(early.map(() => -1)),
      onlyWaits: failed.length === 0 && rejected === 0 && early.length > 0,
      errors: (most = errorsShown) => [...early, ...this.explained(packed, failed)].slice(0, most),
      finish: (given = newNodes) => this.finished(given),
      isForMovedPods: newNodes.every(({ pods }) => pods.every((pod) => this.isMoved(pod))),
      buyAnew: () =>
        improveInSlices(world, {
          newNodes,
          limits: packed.packing.poolLimits,
          steps: packed.steps,
          forAnySaving: true,
        }),
      placements: () => this.placements(packed),
    };
  }

  private placements(packed: Packed): ExistingPlacement[] {
    const { pods } = this.fleet.movable.world.workload;
    const placements: ExistingPlacement[] = [];
    packed.nodes.pods.forEach((placed, index) => {
      const keys = placed.map((pod) => (pods[pod] as PlannedPod).key);
      placements.push({ name: (this.memberAt[index] as Member).name, pods: keys });
    });
    return placements;
  }

  /**
   * A node that is not ready yet was made for other pods: waiting ones, or those of nodes that leave already. Where pods
   * that move would take it, they are tried elsewhere, and that holds if the others fill it then. So one replacement
   * after the other can be on its way.
   */
  private *packFairly(members: readonly Member[], sparesRestless: boolean, freedSlot?: string): Sliced<Packed> {
    const packed = yield* this.pack(members, sparesRestless, [], freedSlot);
    const contested: number[] = [];
    packed.nodes.pods.forEach((pods, index) => {
      if (this.isUnready(index) && pods.some((pod) => this.isMoved(pod))) contested.push(index);
    });
    if (contested.length === 0) return packed;
    const again = yield* this.pack(members, sparesRestless, contested, freedSlot);
    const filled = new Set<number>();
    again.nodes.pods.forEach((_pods, index) => filled.add(index));
    return contested.every((index) => filled.has(index)) ? again : packed;
  }

  private isUnready(index: number): boolean {
    const { machine } = this.memberAt[index] as Member;
    return !machine.initialized && machine.claim !== undefined;
  }

  /** Neither waiting nor on a node that leaves anyway. */
  private isMoved(pod: number): boolean {
    const { nodeName } = (this.fleet.movable.world.workload.pods[pod] as PlannedPod).pod.spec ?? {};
    return Boolean(nodeName) && !this.fromLeaving.has(pod);
  }

  private *pack(
    members: readonly Member[],
    sparesRestless: boolean,
    spared: readonly number[] = [],
    freedSlot?: string,
  ): Sliced<Packed> {
    const { world } = this.fleet.movable;
    const closed = (sparesRestless ? this.restless : this.ending).slice();
    for (const index of spared) closed[index] = closedToMoved;
    const positions = members.flatMap((member) => this.podsOf.get(member.name) ?? []);
    const movedPods: Pod[] = [];
    for (const position of positions) {
      this.moved[position] = 1;
      movedPods.push((world.workload.pods[position] as PlannedPod).pod);
    }
    for (const member of members) if (member.index >= 0) closed[member.index] = gone;
    const pods = merged(this.basePods, Int32Array.from(positions).sort());
    const starting = world.workload.topology.without(
      members.map((member) => member.name),
      movedPods,
    );
    const destinations = { closed, moved: this.moved };
    try {
      const strictReservations = freedSlot !== undefined;
      const solved = strictReservations ? withSlot(world, freedSlot) : world;
      return yield* solveInSlices(solved, { strictReservations, whatIf: { pods, destinations, starting } });
    } finally {
      for (const position of positions) this.moved[position] = 0;
    }
  }

  private explained(packed: Packed, failed: Packed['failed']): MoveError[] {
    const { world } = this.fleet.movable;
    const context = { world, topology: packed.topology, packing: packed.packing };
    return failed.slice(0, errorsShown).map(({ pod, failure }) => {
      const { group, key } = world.workload.pods[pod] as PlannedPod;
      const message = explain(context, group, failure)
        .map((reason) => reason.message)
        .join('; ');
      return { pod: key, message };
    });
  }

  private finished(newNodes: readonly NewNode[]): { nodes: PlannedNode[]; errors: MoveError[] } {
    const nodes: PlannedNode[] = [];
    const errors: MoveError[] = [];
    for (const newNode of newNodes) {
      const finished: FinishedNode = this.finisher.finish(newNode);
      if (finished.kind === 'node') nodes.push(finished.node);
      else {
        const message = `minValues requirement is not met for label(s) (label(s)=[${finished.keys.join(' ')}])`;
        for (const pod of finished.pods) {
          const { key, pod: object } = this.fleet.movable.world.workload.pods[pod] as PlannedPod;
          if (object.spec?.nodeName) errors.push({ pod: key, message });
        }
      }
    }
    return { nodes, errors };
  }
}

/** Why the nodes stay whose pods have no other place, or have one only once nodes on their way have come. */
export function noPlace(simulation: Simulation) {
  const code = simulation.onlyWaits ? ('DestinationNotReady' as const) : ('PodsDoNotFit' as const);
  return { code, message: failureText(simulation) };
}

/** `Not all pods would schedule, ns/n => why …`, with the rest counted. */
export function failureText(simulation: Simulation): string {
  const shown = simulation.errors(errorsShown).map(({ pod, message }) => `${pod} => ${message}`);
  const others = simulation.failed.length - shown.length;
  return `Not all pods would schedule, ${shown.join(' ')}${others > 0 ? ` and ${others} other(s)` : ''}`;
}

/** Pods came or went within the pool's quiet time. */
function isRestless({ machine, pool }: Member, nowMs: number): boolean {
  const quietMs = quietTimeMs(pool);
  if (machine.claim === undefined || !machine.initialized || isStatic(pool)) return false;
  if (quietMs === undefined || quietMs <= 0 || quietMs === Number.POSITIVE_INFINITY) return false;
  const since = quietSince(machine);
  return since !== undefined && nowMs - since < quietMs;
}

/** The same world with one instance more to have from the reservation. */
function withSlot(world: World, id: string): World {
  const reservations = new Map(world.reservations).set(id, (world.reservations.get(id) ?? 0) + 1);
  return { ...world, reservations };
}

function referenceOf({ machine }: Member): string {
  const parts = [`nodeclaim/${machine.claim?.metadata.name}`];
  if (machine.node !== undefined) parts.push(`node/${machine.node.metadata.name}`);
  return parts.join(', ');
}

function rejection(pod: Pod, messages: ReadonlyMap<string, string>): MoveError[] {
  const key = namespacedKey(pod.metadata);
  const message = messages.get(key);
  return message === undefined ? [] : [{ pod: key, message }];
}

/** Two ascending lists as one. */
function merged(left: readonly number[], right: Int32Array): number[] {
  const result: number[] = [];
  let at = 0;
  for (const value of right) {
    while (at < left.length && (left[at] as number) < value) result.push(left[at++] as number);
    result.push(value);
  }
  while (at < left.length) result.push(left[at++] as number);
  return result;
}
