// Placing pods on new nodes: first those under construction, fewest pods first, then a fresh one from the first template
// that can hold the pod. What a node refused for good is remembered per constraint (labels, taints, ports, host bounds) or
// per kind of pod (room), so that a pod is not offered to thousands of nodes that said no to its like already.

import { isEmptyBitset } from '../../base/index.ts';
import { ClaimDevices } from '../devices/claim-devices.ts';
import type { DeviceState } from '../devices/device-state.ts';
import { lowersMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { grants, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import { withAttachments } from '../volumes/pod-volumes.ts';
import type { Constraint, GroupStep, Need, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { addNeed, type Claim, freshClaim, rowsWithRoom, rowWithRoom } from './claim.ts';
import { ClaimFit, type Fit, type FitRequest } from './claim-fit.ts';
import { ClaimOrder } from './claim-order.ts';
import { bitsOf, type GrowingBits } from './growing-bits.ts';
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

export interface ClaimPackingOptions {
  readonly topology: TopologyState;
  /** What no pod asks less of; a node without room for it is full. */
  readonly smallestNeed: Need;
  readonly strictReservations: boolean;
  /** Undefined where devices are ignored. */
  readonly devices: DeviceState | undefined;
  /** Limits of pools are left to be judged when all nodes are known. */
  readonly countsLimitsAfterwards: boolean;
}

export type NewClaimVerdict = 'placed' | 'refused' | 'deferred';

export class ClaimPacking {
  readonly claims: Claim[] = [];
  /** A pod that no one takes as it should be may go to any domain its rules accept. */
  lastResort = false;
  private readonly world: World;
  private readonly table: RequirementTable;
  private readonly topology: TopologyState;
  private readonly order = new ClaimOrder();
  private readonly shelves: Shelf[] = [];
  private readonly shelfNumbers: Map<RequirementSet, number>[] = [];
  readonly poolLimits: PoolLimits;
  private readonly reservations: Reservations;
  private readonly smallestNeed: Need;
  private readonly refusedByConstraint: (GrowingBits | undefined)[] = [];
  private readonly refusedByStep: (GrowingBits | undefined)[] = [];
  private readonly answers = new TemplateAnswers();
  private readonly devices: ClaimDevices;
  /** Whether a node takes a pod. */
  readonly fit: ClaimFit;

  constructor(world: World, options: ClaimPackingOptions) {
    const { topology, smallestNeed, strictReservations, devices } = options;
    this.devices = new ClaimDevices(devices);
    this.world = world;
    this.table = world.table;
    this.topology = topology;
    const templates = [...world.templates, ...world.pausedTemplates.map(({ template }) => template)];
    this.poolLimits = new PoolLimits(templates, { countsAfterwards: options.countsLimitsAfterwards });
    this.reservations = new Reservations(world.reservations, strictReservations);
    this.smallestNeed = smallestNeed;
    const { answers, reservations } = this;
    this.fit = new ClaimFit(world, { topology, answers, reservations, devices: this.devices });
  }

  /** Adds the pod to a node under construction, if one takes it. */
  placeOnClaim(group: PodGroup, step: GroupStep, pod: number): boolean {
    const request = { group, step, relaxMinValues: false, lastResort: this.lastResort };
    const byConstraint = bitsOf(this.refusedByConstraint, step.constraint.id);
    const byStep = bitsOf(this.refusedByStep, step.id);
    const few = this.openClaims(byConstraint, byStep);
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

  private shelfOf(claim: Claim): number {
    const { template, set } = claim;
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
  placeOnNewClaim(group: PodGroup, step: GroupStep, pod: number): NewClaimVerdict {
    const request = this.freshRequest(group, step);
    for (const template of this.world.templates) {
      const rows = this.poolLimits.rowsWithin(template);
      if (rows === undefined || isEmptyBitset(rows)) continue;
      const claim = freshClaim(this.world, template, rows, this.claims.length);
      const answer = this.fit.of(claim, request);
      if (answer.kind === 'refused') {
        if (answer.why === 'deferred') return 'deferred';
        continue;
      }
      this.claims.push(claim);
      claim.minValuesRelaxed = lowersMinValues(template.set, answer.set);
      this.commit(claim, answer, request, pod);
      this.order.append(claim.index, this.shelfOf(claim));
      this.poolLimits.charge(claim);
      this.closeIfFull(claim);
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
        this.fit.of(freshClaim(this.world, template, template.viable, this.claims.length), request).kind === 'fits'
      );
    });
  }

  /** Claims that have not refused this kind of pod, in order; undefined when they are many. */
  private openClaims(byConstraint: GrowingBits, byStep: GrowingBits): number[] | undefined {
    const open: number[] = [];
    const total = this.claims.length;
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
    const claim = this.claims[index] as Claim;
    const answer = this.fit.of(claim, request);
    if (answer.kind === 'fits') {
      this.commit(claim, answer, request, pod);
      this.order.increment(index, this.shelfOf(claim));
      this.closeIfFull(claim);
      return true;
    }
    const { step } = request;
    if (answer.why === 'constraint') bitsOf(this.refusedByConstraint, step.constraint.id).add(index);
    else if (answer.why === 'group') bitsOf(this.refusedByStep, step.id).add(index);
    return false;
  }

  private commit(claim: Claim, fit: Fit, { group, step }: FitRequest, pod: number): void {
    const { constraint } = step;
    const { set, held } = fit;
    claim.set = set;
    claim.rows = fit.rows;
    claim.witness = fit.witness;
    addNeed(claim, group.need);
    if (constraint.ports.length > 0) claim.ports = [...claim.ports, ...constraint.ports];
    if (group.attachments.size > 0) claim.attached = withAttachments(claim.attached, group.attachments);
    if (held !== noneHeld || claim.held !== noneHeld) {
      this.reservations.exchange(claim.held, held);
      claim.held = held;
    }
    if (fit.devices !== undefined) this.devices.commit(claim, fit.devices);
    if (this.devices.isSeat(claim)) {
      const left = rowsWithRoom(claim, claim.rows, claim.template.rows.matching(set), undefined);
      claim.drivers = this.devices.keep(claim, left);
    }
    claim.pods.push(pod);
    this.topology.record(constraint.rules, {
      set,
      hostname: placeholderHostname,
      host: this.topology.firstNewHost + claim.index,
      taints: claim.template.taints,
    });
  }

  /** Once not even the smallest pod fits, the node leaves the order for good. */
  private closeIfFull(claim: Claim): void {
    if (rowWithRoom(claim, claim.rows, claim.template.rows.matching(claim.set), this.smallestNeed) < 0) {
      this.order.close(claim.index);
    }
  }

  private freshRequest(group: PodGroup, step: GroupStep): FitRequest {
    const { relaxMinValues } = this.world.settings;
    return { group, step, relaxMinValues, lastResort: this.lastResort };
  }
}
