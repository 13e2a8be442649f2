// Placing pods on nodes that exist: first-fit in the given order (initialised first, then by name). Labels and taints are
// judged once per kind of node; what a node refused for good (too small, taken port, full host) it is not asked again.

import type { DeviceState } from '../devices/device-state.ts';
import { toleratesAll } from '../kube/taints.ts';
import type { ExistingNode } from '../nodes/existing-nodes.ts';
import { type HostPort, portsConflict } from '../pods/host-ports.ts';
import { grants } from '../requirements/node-wish.ts';
import type { RequirementTable } from '../requirements/requirement-set.ts';
import type { TopologyRules } from '../topology/topology-rules.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import { withAttachments } from '../volumes/pod-volumes.ts';
import type { Constraint, GroupStep, PodGroup } from '../workload.ts';
import { GrowingBits } from './growing-bits.ts';
import type { NodeColumns } from './node-columns.ts';

const unknown = 0;
const yes = 1;
const no = 2;

const gone = 1;
const closedToMoved = 2;
const allBits = 0xffffffff;

/** Which nodes of a what-if take pods. */
export interface Destinations {
  /** By node: 0 open, 1 gone, 2 closed to pods that move only for this what-if. */
  readonly closed: Uint8Array;
  /** By pod: 1 for those that move only for this what-if. */
  readonly moved: Uint8Array;
}

export function namesOfGone(nodes: readonly ExistingNode[], { closed }: Destinations): Set<string> {
  return new Set(nodes.flatMap(({ name }, index) => (closed[index] === gone ? [name] : [])));
}

export class NodePacking {
  /** By node, in order of arrival; nodes without new pods have no entry. */
  readonly pods: number[][] = [];
  private readonly columns: NodeColumns;
  private readonly nodes: readonly ExistingNode[];
  private readonly table: RequirementTable;
  private readonly topology: TopologyState;
  private readonly destinations: Destinations | undefined;
  private readonly devices: DeviceState | undefined;
  private readonly hosts: Int32Array;
  private readonly free: readonly Float64Array[];
  /** Of nodes that got a pod with host ports; the others have what they had. */
  private readonly ports = new Map<number, readonly HostPort[]>();
  /** Of nodes that got a pod with volumes; the others have what they had. */
  private readonly attached = new Map<number, ReadonlyMap<string, ReadonlySet<string>>>();
  private readonly refused: (GrowingBits | undefined)[] = [];
  /** By kind of node: which pod asked last, and whether its topology accepts the kind. */
  private readonly domainAnswers: Int32Array;
  private asking = 0;

  constructor(
    columns: NodeColumns,
    table: RequirementTable,
    topology: TopologyState,
    destinations?: Destinations,
    devices?: DeviceState,
  ) {
    this.columns = columns;
    this.nodes = columns.nodes;
    this.table = table;
    this.topology = topology;
    this.destinations = destinations;
    this.devices = devices;
    this.hosts = columns.hosts;
    this.free = columns.free.map((amounts) => amounts.slice());
    this.domainAnswers = new Int32Array(columns.kindCount);
  }

  /** Puts the pod on the first node that takes it; the topology must be prepared. */
  place(group: PodGroup, step: GroupStep, pod: number): boolean {
    if (this.nodes.length === 0) return false;
    const refused = this.refusedBy(group, step);
    this.asking += 1;
    const { destinations } = this;
    const closedFrom = destinations !== undefined && destinations.moved[pod] === 1 ? closedToMoved : gone;
    for (let index = 0; index < this.nodes.length; index++) {
      const word = refused.words[index >>> 5] ?? 0;
      if (word === allBits) {
        index |= 31;
        continue;
      }
      if ((word & (1 << (index & 31))) !== 0) continue;
      if (destinations !== undefined) {
        const state = destinations.closed[index] as number;
        if (state === gone) {
          refused.add(index);
          continue;
        }
        if (state === closedFrom) continue;
      }
      if (!this.canEverTake(group, step.constraint, index)) {
        refused.add(index);
        continue;
      }
      if (!this.topologyAccepts(step.constraint, index)) continue;
      if (!this.takeDevices(group, index)) continue;
      this.commit(group, step.constraint, index, pod);
      return true;
    }
    return false;
  }

  private canEverTake(group: PodGroup, constraint: Constraint, index: number): boolean {
    if (this.columns.exhausted[index] === 1) return false;
    const { columns, amounts } = group.need;
    for (let at = 0; at < columns.length; at++) {
      if ((amounts[at] as number) > ((this.free[columns[at] as number] as Float64Array)[index] as number)) return false;
    }
    return (
      this.kindSuits(constraint, index) &&
      (group.attachments.size === 0 || this.canAttach(group, index)) &&
      !portsConflict(constraint.ports, this.portsOf(index)) &&
      this.topology.hostHasRoom(constraint.rules, this.hosts[index] as number)
    );
  }

  private kindSuits(constraint: Constraint, index: number): boolean {
    const node = this.nodes[index] as ExistingNode;
    if (constraint.wish.hostname !== undefined || constraint.volumes.some((wish) => wish.hostname !== undefined)) {
      return this.suits(constraint, node);
    }
    const { kindAnswers, kindCount, kindOf } = this.columns;
    let answers = kindAnswers[constraint.id];
    if (answers === undefined) {
      answers = new Uint8Array(kindCount);
      kindAnswers[constraint.id] = answers;
    }
    const kind = kindOf[index] as number;
    if (answers[kind] === unknown) answers[kind] = this.suits(constraint, node) ? yes : no;
    return answers[kind] === yes;
  }

  private suits(constraint: Constraint, node: ExistingNode): boolean {
    const { set, hostname, taints } = node;
    return (
      toleratesAll(taints, constraint.tolerations) &&
      grants(this.table, set, hostname, constraint.wish, 'strict') &&
      (constraint.volumes.length === 0 ||
        constraint.volumes.some((wish) => grants(this.table, set, hostname, wish, 'strict')))
    );
  }

  private canAttach(group: PodGroup, index: number): boolean {
    const { attachLimits: limits, missingDrivers, hasStorageFor } = this.nodes[index] as ExistingNode;
    if (missingDrivers.size > 0 && [...group.attachments.keys()].some((driver) => missingDrivers.has(driver)))
      return false;
    if (hasStorageFor !== undefined) {
      for (const claims of group.attachments.values())
        for (const claim of claims) if (!hasStorageFor(claim)) return false;
    }
    const attached = this.attachedTo(index);
    for (const [driver, limit] of limits) {
      const there = attached.get(driver);
      let count = there?.size ?? 0;
      for (const claim of group.attachments.get(driver) ?? []) if (!there?.has(claim)) count += 1;
      if (count > limit) return false;
    }
    return true;
  }

  private topologyAccepts({ rules }: Constraint, index: number): boolean {
    const node = this.nodes[index] as ExistingNode;
    return (
      (rules.hostAffinities.length === 0 ||
        this.topology.hostAttracts(rules, this.hosts[index] as number, node.hostname)) &&
      (rules.keys.length === 0 || this.domainAccepts(rules, node, index))
    );
  }

  /** Nodes of a kind are in the same domains: one answer does for all of them while a pod looks for a place. */
  private domainAccepts(rules: TopologyRules, node: ExistingNode, index: number): boolean {
    const kind = this.columns.kindOf[index] as number;
    const known = this.domainAnswers[kind] as number;
    if (known >> 1 === this.asking) return (known & 1) === 1;
    const accepts = this.topology.narrow(rules, node.set, 'strict') !== undefined;
    this.domainAnswers[kind] = (this.asking << 1) | (accepts ? 1 : 0);
    return accepts;
  }

  /** Devices come last: those found are taken at once. */
  private takeDevices({ devices }: PodGroup, index: number): boolean {
    if (devices === undefined || this.devices === undefined) return true;
    const { name, set } = this.nodes[index] as ExistingNode;
    const pending = this.devices.considerNode(devices, name, set);
    if (pending === undefined) return false;
    this.devices.commit(pending);
    return true;
  }

  private commit(group: PodGroup, constraint: Constraint, index: number, pod: number): void {
    const node = this.nodes[index] as ExistingNode;
    const { columns, amounts } = group.need;
    for (let at = 0; at < columns.length; at++) {
      const free = this.free[columns[at] as number] as Float64Array;
      free[index] = (free[index] as number) - (amounts[at] as number);
    }
    if (constraint.ports.length > 0) {
      this.ports.set(index, [...this.portsOf(index), ...constraint.ports]);
    }
    if (group.attachments.size > 0) {
      this.attached.set(index, withAttachments(this.attachedTo(index), group.attachments));
    }
    const pods = this.pods[index];
    if (pods === undefined) this.pods[index] = [pod];
    else pods.push(pod);
    const { set, hostname, taints } = node;
    this.topology.record(constraint.rules, { set, hostname, host: this.hosts[index] as number, taints });
  }

  private portsOf(index: number): readonly HostPort[] {
    return this.ports.get(index) ?? (this.columns.ports[index] as readonly HostPort[]);
  }

  private attachedTo(index: number): ReadonlyMap<string, ReadonlySet<string>> {
    return this.attached.get(index) ?? (this.nodes[index] as ExistingNode).attached;
  }

  private refusedBy(group: PodGroup, step: GroupStep): GrowingBits {
    let refused = this.refused[step.id];
    if (refused === undefined) {
      refused = new GrowingBits();
      // Asked a thousand times with other nodes gone, it pays to know who can never take such a pod.
      if (this.destinations !== undefined) refused.words = this.refusedFromStart(group, step).slice();
      this.refused[step.id] = refused;
    }
    return refused;
  }

  private refusedFromStart(group: PodGroup, step: GroupStep): Uint32Array {
    const { refusedFromStart, free, exhausted } = this.columns;
    let words = refusedFromStart[step.id];
    if (words === undefined) {
      words = new Uint32Array((this.nodes.length + 31) >>> 5);
      const { columns, amounts } = group.need;
      for (let index = 0; index < this.nodes.length; index++) {
        let fits = exhausted[index] === 0;
        for (let at = 0; fits && at < columns.length; at++) {
          fits = (amounts[at] as number) <= ((free[columns[at] as number] as Float64Array)[index] as number);
        }
        if (!fits || !this.kindSuits(step.constraint, index)) {
          words[index >>> 5] = (words[index >>> 5] as number) | (1 << (index & 31));
        }
      }
      refusedFromStart[step.id] = words;
    }
    return words;
  }
}
