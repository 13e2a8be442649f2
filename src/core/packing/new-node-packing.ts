// Placing pods on new nodes: first those under construction, fewest pods first, then a fresh one from the first template
// that can hold the pod. What a node refused for good is remembered per constraint (labels, taints, ports, host bounds) or
// per kind of pod (room), so that a pod is not offered to thousands of nodes that said no to its like already.

import { isEmptyBitset } from '../../base/index.ts';
import type { DeviceState } from '../devices/device-state.ts';
import { NewNodeDevices } from '../devices/new-node-devices.ts';
import { lowersMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { grants, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import { withAttachments } from '../volumes/pod-volumes.ts';
import type { Constraint, GroupStep, Need, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { bitsOf, type GrowingBits } from './growing-bits.ts';
import { addNeed, freshNode, type NewNode, rowsWithRoom, rowWithRoom } from './new-node.ts';
import { type Fit, type FitRequest, NewNodeFit } from './new-node-fit.ts';
import { NewNodeOrder } from './new-node-order.ts';
import { PoolLimits } from './pool-limits.ts';
import { noneHeld, Reservations } from './reservations.ts';
import { TemplateAnswers } from './template-answers.ts';

/** Below this many candidates, they are sorted and tried; above, shelves are walked in the common order. */
const fewCandidates = 48;

/** Nodes in the same state of labels stand on one shelf. */
interface Shelf {
  readonly template: Template;
  readonly set: RequirementSet;
}

export interface NewNodePackingOptions {
  readonly topology: TopologyState;
  /** What no pod asks less of; a node without room for it is full. */
  readonly smallestNeed: Need;
  readonly strictReservations: boolean;
  /** Undefined where devices are ignored. */
  readonly devices: DeviceState | undefined;
  /** Limits of pools are left to be judged when all nodes are known. */
  readonly countsLimitsAfterwards: boolean;
}

export type NewNodeVerdict = 'placed' | 'refused' | 'deferred';

export class NewNodePacking {
  readonly newNodes: NewNode[] = [];
  /** A pod that no one takes as it should be may go to any domain its rules accept. */
  lastResort = false;
  private readonly world: World;
  private readonly table: RequirementTable;
  private readonly topology: TopologyState;
  private readonly order = new NewNodeOrder();
  private readonly shelves: Shelf[] = [];
  private readonly shelfNumbers: Map<RequirementSet, number>[] = [];
  readonly poolLimits: PoolLimits;
  private readonly reservations: Reservations;
  private readonly smallestNeed: Need;
  private readonly refusedByConstraint: (GrowingBits | undefined)[] = [];
  private readonly refusedByStep: (GrowingBits | undefined)[] = [];
  private readonly answers = new TemplateAnswers();
  private readonly devices: NewNodeDevices;
  /** Whether a node takes a pod. */
  readonly fit: NewNodeFit;

  constructor(world: World, options: NewNodePackingOptions) {
    const { topology, smallestNeed, strictReservations, devices } = options;
    this.devices = new NewNodeDevices(devices);
    this.world = world;
    this.table = world.table;
    this.topology = topology;
    const templates = [...world.templates, ...world.pausedTemplates.map(({ template }) => template)];
    this.poolLimits = new PoolLimits(templates, { countsAfterwards: options.countsLimitsAfterwards });
    this.reservations = new Reservations(world.reservations, strictReservations);
    this.smallestNeed = smallestNeed;
    const { answers, reservations } = this;
    this.fit = new NewNodeFit(world, { topology, answers, reservations, devices: this.devices });
  }

  /** Adds the pod to a node under construction, if one takes it. */
  placeOnOpenNode(group: PodGroup, step: GroupStep, pod: number): boolean {
    const request = { group, step, relaxMinValues: false, lastResort: this.lastResort };
    const byConstraint = bitsOf(this.refusedByConstraint, step.constraint.id);
    const byStep = bitsOf(this.refusedByStep, step.id);
    const few = this.openNodes(byConstraint, byStep);
    if (few !== undefined) {
      for (const index of few) if (this.offer(index, request, pod)) return true;
      return false;
    }
    // The nodes of all acceptable shelves, merged by the common order.
    const heads = this.acceptableShelves(step.constraint).map((shelf) => this.order.first(shelf));
    for (;;) {
      let best = -1;
      for (let at = 0; at < heads.length; at++) {
        const head = heads[at] as number;
        if (head >= 0 && (best < 0 || this.order.compare(head, heads[best] as number) < 0)) best = at;
      }
      if (best < 0) return false;
      const index = heads[best] as number;
      heads[best] = this.order.after(index);
      if (byConstraint.has(index) || byStep.has(index)) continue;
      if (this.offer(index, request, pod)) return true;
    }
  }

  /** Shelves whose labels and taints suit the pod, and whose domains its topology rules leave open just now. */
  private acceptableShelves(constraint: Constraint): number[] {
    const { rules, wish } = constraint;
    const acceptable: number[] = [];
    for (let shelf = 0; shelf < this.shelves.length; shelf++) {
      if (this.order.isEmpty(shelf)) continue;
      const { template, set } = this.shelves[shelf] as Shelf;
      if (!this.answers.tolerates(constraint, template)) continue;
      if (!grants(this.table, set, placeholderHostname, wish, 'wellKnown')) continue;
      if (rules.keys.length > 0 && !this.topology.isOpen(rules, set)) continue;
      acceptable.push(shelf);
    }
    return acceptable;
  }

  private shelfOf(newNode: NewNode): number {
    const { template, set } = newNode;
    let bySet = this.shelfNumbers[template.index];
    if (bySet === undefined) {
      bySet = new Map();
      this.shelfNumbers[template.index] = bySet;
    }
    let shelf = bySet.get(set);
    if (shelf === undefined) {
      shelf = this.shelves.length;
      this.shelves.push({ template, set });
      bySet.set(set, shelf);
    }
    return shelf;
  }

  /** Starts a node for the pod, from the first template that can hold it. */
  placeOnFreshNode(group: PodGroup, step: GroupStep, pod: number): NewNodeVerdict {
    const request = this.freshRequest(group, step);
    for (const template of this.world.templates) {
      const rows = this.poolLimits.rowsWithin(template);
      if (rows === undefined || isEmptyBitset(rows)) continue;
      const newNode = freshNode(this.world, template, rows, this.newNodes.length);
      const answer = this.fit.of(newNode, request);
      if (answer.kind === 'refused') {
        if (answer.why === 'deferred') return 'deferred';
        continue;
      }
      this.newNodes.push(newNode);
      newNode.minValuesRelaxed = lowersMinValues(template.set, answer.set);
      this.commit(newNode, answer, request, pod);
      this.order.append(newNode.index, this.shelfOf(newNode));
      this.poolLimits.charge(newNode);
      this.closeIfFull(newNode);
      return 'placed';
    }
    return 'refused';
  }

  /** Templates that would take the pod on a fresh node, were it not for the limits of their pools. */
  refusedByLimits(group: PodGroup, step: GroupStep): Template[] {
    const request = this.freshRequest(group, step);
    return this.world.templates.filter((template) => {
      if (this.poolLimits.rowsWithin(template) === template.viable) return false;
      return (
        this.fit.of(freshNode(this.world, template, template.viable, this.newNodes.length), request).kind === 'fits'
      );
    });
  }

  /** New nodes that have not refused this kind of pod, in order; undefined when they are many. */
  private openNodes(byConstraint: GrowingBits, byStep: GrowingBits): number[] | undefined {
    const open: number[] = [];
    const total = this.newNodes.length;
    for (let word = 0; word << 5 < total; word++) {
      const refused = (byConstraint.words[word] ?? 0) | (byStep.words[word] ?? 0);
      let rest = ~refused;
      while (rest !== 0) {
        const index = (word << 5) + 31 - Math.clz32(rest & -rest);
        if (index >= total) break;
        if (!this.order.isClosed(index)) open.push(index);
        if (open.length > fewCandidates) return undefined;
        rest &= rest - 1;
      }
    }
    return open.sort((left, right) => this.order.compare(left, right));
  }

  private offer(index: number, request: FitRequest, pod: number): boolean {
    const newNode = this.newNodes[index] as NewNode;
    const answer = this.fit.of(newNode, request);
    if (answer.kind === 'fits') {
      this.commit(newNode, answer, request, pod);
      this.order.increment(index, this.shelfOf(newNode));
      this.closeIfFull(newNode);
      return true;
    }
    const { step } = request;
    if (answer.why === 'constraint') bitsOf(this.refusedByConstraint, step.constraint.id).add(index);
    else if (answer.why === 'group') bitsOf(this.refusedByStep, step.id).add(index);
    return false;
  }

  private commit(newNode: NewNode, fit: Fit, { group, step }: FitRequest, pod: number): void {
    const { constraint } = step;
    const { set, held } = fit;
    newNode.set = set;
    newNode.rows = fit.rows;
    newNode.witness = fit.witness;
    addNeed(newNode, group.need);
    if (constraint.ports.length > 0) newNode.ports = [...newNode.ports, ...constraint.ports];
    if (group.attachments.size > 0) newNode.attached = withAttachments(newNode.attached, group.attachments);
    if (held !== noneHeld || newNode.held !== noneHeld) {
      this.reservations.exchange(newNode.held, held);
      newNode.held = held;
    }
    if (fit.devices !== undefined) this.devices.commit(newNode, fit.devices);
    if (this.devices.isSeat(newNode)) {
      const left = rowsWithRoom(newNode, newNode.rows, newNode.template.rows.matching(set), undefined);
      newNode.drivers = this.devices.keep(newNode, left);
    }
    newNode.pods.push(pod);
    this.topology.record(constraint.rules, {
      set,
      hostname: placeholderHostname,
      host: this.topology.firstNewHost + newNode.index,
      taints: newNode.template.taints,
    });
  }

  /** Once not even the smallest pod fits, the node leaves the order for good. */
  private closeIfFull(newNode: NewNode): void {
    if (rowWithRoom(newNode, newNode.rows, newNode.template.rows.matching(newNode.set), this.smallestNeed) < 0) {
      this.order.close(newNode.index);
    }
  }

  private freshRequest(group: PodGroup, step: GroupStep): FitRequest {
    const { relaxMinValues } = this.world.settings;
    return { group, step, relaxMinValues, lastResort: this.lastResort };
  }
}
