// Placing pods on new nodes: first those under construction, fewest pods first, then a fresh one from the first template
// that can hold the pod. What a node refused for good is remembered per constraint (labels, taints, ports, host bounds) or
// per kind of pod (room), so that a pod is not offered to thousands of nodes that said no to its like already.

import { type Bitset, isEmptyBitset, keepCommon, membersOf } from '../../base/index.ts';
import { ClaimDevices } from '../devices/claim-devices.ts';
import type { DeviceState } from '../devices/device-state.ts';
import { portsConflict } from '../pods/host-ports.ts';
import type { Offering } from '../pools/instance-types.ts';
import { lowersMinValues, unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { grants, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import { type Attachments, noAttachments, withAttachments } from '../volumes/pod-volumes.ts';
import type { Constraint, GroupStep, Need, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { addNeed, type Claim, rowsWithRoom, rowWithRoom, typesOfRows } from './claim.ts';
import { ClaimOrder } from './claim-order.ts';
import { bitsOf, type GrowingBits } from './growing-bits.ts';
import { PoolLimits } from './pool-limits.ts';
import { type Refusal, weaker } from './refusal.ts';
import { Reservations } from './reservations.ts';
import { TemplateAnswers } from './template-answers.ts';

/** Below this many candidates, they are sorted and tried; above, shelves are walked in the common order. */
const fewCandidates = 48;

/** Nodes in the same state of labels stand on one shelf. */
interface Shelf {
  readonly template: Template;
  readonly set: RequirementSet;
}

const nothingHeld: ReadonlySet<string> = new Set();
const nothing: Bitset = new Uint32Array(0);

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
  /** Volumes of the pod that is being placed. */
  private attachments: Attachments = noAttachments;
  /** What the pod last found acceptable would make of the claim. */
  private nextSet: RequirementSet;
  private nextRow = -1;
  private nextRows: Bitset = nothing;
  private nextHeld: ReadonlySet<string> = nothingHeld;
  /** What `hasRoomIn` is asked about; kept here so that asking allocates nothing. */
  private asked: { claim: Claim; rows: Bitset; need: Need } | undefined;
  private readonly hasRoomIn = (set: RequirementSet): boolean => {
    const { claim, rows, need } = this.asked as { claim: Claim; rows: Bitset; need: Need };
    return rowWithRoom(claim, rows, claim.template.rows.matching(set), need) >= 0;
  };

  constructor(
    world: World,
    topology: TopologyState,
    smallestNeed: Need,
    strictReservations: boolean,
    devices: DeviceState | undefined,
  ) {
    this.devices = new ClaimDevices(devices);
    this.world = world;
    this.table = world.table;
    this.topology = topology;
    this.poolLimits = new PoolLimits([...world.templates, ...world.pausedTemplates.map(({ template }) => template)]);
    this.reservations = new Reservations(world.reservations, strictReservations);
    this.smallestNeed = smallestNeed;
    this.nextSet = world.table.empty;
  }

  /** Adds the pod to a node under construction, if one takes it. */
  placeOnClaim(group: PodGroup, step: GroupStep, pod: number): boolean {
    this.ask(group);
    const byConstraint = bitsOf(this.refusedByConstraint, step.constraint.id);
    const byStep = bitsOf(this.refusedByStep, step.id);
    const few = this.openClaims(byConstraint, byStep);
    if (few !== undefined) {
      for (const index of few) if (this.offer(index, group, step, byConstraint, byStep, pod)) return true;
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
      if (this.offer(index, group, step, byConstraint, byStep, pod)) return true;
    }
  }

  private ask(group: PodGroup): void {
    this.devices.ask(group);
    this.attachments = group.attachments;
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
    this.ask(group);
    for (const template of this.world.templates) {
      const rows = this.poolLimits.rowsWithin(template);
      if (rows === undefined || isEmptyBitset(rows)) continue;
      const claim = this.freshClaim(template, rows);
      const refusal = this.consider(claim, group.need, step.constraint, this.world.settings.relaxMinValues);
      if (refusal === 'deferred') return 'deferred';
      if (refusal !== undefined) continue;
      this.claims.push(claim);
      claim.minValuesRelaxed = lowersMinValues(template.set, this.nextSet);
      this.commit(claim, group, step.constraint, pod);
      this.order.append(claim.index, this.shelfOf(claim));
      this.poolLimits.charge(claim);
      this.closeIfFull(claim);
      return 'placed';
    }
    return 'refused';
  }

  /** Templates that would take the pod on a fresh node, were it not for the limits of their pools. */
  refusedByLimits(group: PodGroup, step: GroupStep): Template[] {
    this.ask(group);
    return this.world.templates.filter((template) => {
      if (this.poolLimits.rowsWithin(template) === template.viable) return false;
      const claim = this.freshClaim(template, template.viable);
      return this.consider(claim, group.need, step.constraint, this.world.settings.relaxMinValues) === undefined;
    });
  }

  /** Why a fresh node that could be any of these rows would have to wait for reserved capacity; undefined if not. */
  deferral(template: Template, set: RequirementSet, rows: Bitset): string | undefined {
    if (!template.hasReserved || !this.world.settings.reservedCapacity) return undefined;
    const hasOther = (): boolean => template.rows.hasOpenOffering(set, rows);
    const verdict = this.reservations.consider(nothingHeld, this.reservedOfferings(template, set, rows), hasOther);
    return verdict.kind === 'deferred' ? verdict.message : undefined;
  }

  private reservedOfferings(template: Template, set: RequirementSet, rows: Bitset): Offering[] {
    const compatible: Offering[] = [];
    for (const row of membersOf(rows)) {
      for (const offering of template.rows.offeringsOf[row] ?? []) {
        if (offering.reserved && this.table.compatible(set, offering.set, 'wellKnown')) compatible.push(offering);
      }
    }
    return compatible;
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

  private offer(
    index: number,
    group: PodGroup,
    step: GroupStep,
    byConstraint: GrowingBits,
    byStep: GrowingBits,
    pod: number,
  ): boolean {
    const claim = this.claims[index] as Claim;
    const refusal = this.consider(claim, group.need, step.constraint, false);
    if (refusal === undefined) {
      this.commit(claim, group, step.constraint, pod);
      this.order.increment(index, this.shelfOf(claim));
      this.closeIfFull(claim);
      return true;
    }
    if (refusal === 'constraint') byConstraint.add(index);
    else if (refusal === 'group') byStep.add(index);
    return false;
  }

  /** Whether the claim can take the pod. If so, the `next…` fields say how it changes. */
  private consider(claim: Claim, need: Need, constraint: Constraint, relaxMinValues: boolean): Refusal | undefined {
    const { template } = claim;
    const { rules, wish } = constraint;
    const host = this.topology.firstNewHost + claim.index;
    if (!this.answers.tolerates(constraint, template)) return 'constraint';
    if (!this.topology.hostHasRoom(rules, host)) return 'constraint';
    if (portsConflict(constraint.ports, claim.ports)) return 'constraint';
    if (!grants(this.table, claim.set, placeholderHostname, wish, 'wellKnown')) {
      return this.table.intersects(claim.set, wish.set) ? 'now' : 'constraint';
    }
    if (rules.hostAffinities.length > 0 && !this.topology.hostAttracts(rules, host, placeholderHostname)) return 'now';
    const base = this.table.meet(claim.set, wish.set);
    const rows = this.attachable(claim, this.answers.rowsFor(claim, constraint));
    if (isEmptyBitset(rows)) return 'group';
    if (constraint.volumes.length === 0) {
      return this.considerDevices(claim, need, constraint, base, rows, relaxMinValues);
    }
    let worst: Refusal = 'constraint';
    let last: Refusal = 'constraint';
    for (const volume of constraint.volumes) {
      if (!grants(this.table, base, placeholderHostname, volume, 'wellKnown')) {
        last = this.table.intersects(base, volume.set) ? 'now' : 'constraint';
        worst = weaker(worst, last);
        continue;
      }
      const set = this.table.meet(base, volume.set);
      const refusal = this.considerDevices(claim, need, constraint, set, rows, relaxMinValues);
      if (refusal === undefined) return undefined;
      last = refusal;
      worst = weaker(worst, refusal);
    }
    // The last alternative decides whether the pod waits for reserved capacity.
    return worst === 'deferred' && last !== 'deferred' ? 'now' : worst;
  }

  /** Of the rows, those whose nodes attach the volumes that are there and the ones the pod brings. */
  attachable(claim: Claim, rows: Bitset, attachments: Attachments = this.attachments): Bitset {
    if (attachments.size === 0 || !claim.template.limitsAttachments) return rows;
    const left = Uint32Array.from(rows);
    for (const [driver, claims] of attachments) {
      const there = claim.attached.get(driver);
      let count = there?.size ?? 0;
      for (const name of claims) if (there?.has(name) !== true) count += 1;
      keepCommon(left, claim.template.rows.attaching(driver, count));
    }
    return left;
  }

  /** Whether a fresh node that could be any of these rows attaches the volumes. */
  canAttach(template: Template, rows: Bitset, attachments: Attachments): boolean {
    return !isEmptyBitset(this.attachable(this.freshClaim(template, rows), rows, attachments));
  }

  /** Devices narrow where the node can be, and where types bring some, which of them it can become. */
  private considerDevices(
    claim: Claim,
    need: Need,
    constraint: Constraint,
    base: RequirementSet,
    rows: Bitset,
    relaxMinValues: boolean,
  ): Refusal | undefined {
    const { devices } = this;
    if (!devices.isAsked) return this.considerSet(claim, need, constraint, base, rows, relaxMinValues);
    const { template } = claim;
    const areBrought = devices.areBrought(template);
    const roomy = areBrought ? rowsWithRoom(claim, rows, template.rows.matching(base), need) : rows;
    if (areBrought && isEmptyBitset(roomy)) return 'group';
    const found = devices.consider(claim, base, roomy);
    if (found === undefined) return 'now';
    const refusal = this.considerSet(claim, need, constraint, found.set, found.rows, relaxMinValues);
    // Other devices may be found another time, and with them other types.
    return areBrought && refusal === 'group' ? 'now' : refusal;
  }

  private considerSet(
    claim: Claim,
    need: Need,
    constraint: Constraint,
    base: RequirementSet,
    rows: Bitset,
    relaxMinValues: boolean,
  ): Refusal | undefined {
    const { rules, fickle } = constraint;
    const { template } = claim;
    let set = base;
    if (rules.keys.length > 0) {
      this.asked = { claim, rows, need };
      const narrowed = this.topology.narrowTo(rules, base, this.lastResort ? this.hasRoomIn : undefined);
      if (narrowed === undefined) return fickle ? 'now' : 'constraint';
      set = narrowed;
    }
    const row = rowWithRoom(claim, rows, template.rows.matching(set), need);
    if (row < 0) {
      // The choice of domain may be what is in the way; without it, a node that is too small stays too small.
      return fickle && set !== base && this.hasRoomIn(base) ? 'now' : 'group';
    }
    const reserves = template.hasReserved && this.world.settings.reservedCapacity;
    if (!set.hasMinValues && !reserves) {
      this.accept(set, row, rows, nothingHeld);
      return undefined;
    }
    return this.considerExactly(claim, need, set, row, rows, relaxMinValues, reserves, fickle);
  }

  /** Flexibility and reservations depend on every type that is left, not only on there being one. */
  private considerExactly(
    claim: Claim,
    need: Need,
    narrowed: RequirementSet,
    row: number,
    rows: Bitset,
    relaxMinValues: boolean,
    reserves: boolean,
    fickle: boolean,
  ): Refusal | undefined {
    const { template } = claim;
    const remaining = rowsWithRoom(claim, rows, template.rows.matching(narrowed), need);
    const types = typesOfRows(template, remaining);
    let set = narrowed;
    for (const [key, reached] of unmetMinValues(narrowed, types)) {
      if (!relaxMinValues) return fickle ? 'now' : 'group';
      const requirement = set.byKey.get(key);
      if (requirement) set = this.table.replace(set, { ...requirement, minValues: reached });
    }
    if (!reserves) {
      this.accept(set, row, rows, nothingHeld);
      return undefined;
    }
    const compatible = this.reservedOfferings(template, set, remaining);
    const hasOther = (): boolean => template.rows.hasOpenOffering(set, remaining);
    const verdict = this.reservations.consider(claim.held, compatible, hasOther);
    if (verdict.kind === 'deferred') return 'deferred';
    if (verdict.kind === 'full') return fickle ? 'now' : 'group';
    this.accept(set, row, rows, verdict.ids);
    return undefined;
  }

  private accept(set: RequirementSet, row: number, rows: Bitset, held: ReadonlySet<string>): void {
    this.nextSet = set;
    this.nextRow = row;
    this.nextRows = rows;
    this.nextHeld = held;
  }

  private commit(claim: Claim, group: PodGroup, constraint: Constraint, pod: number): void {
    const { nextSet: set, nextRow: row, nextHeld: held } = this;
    claim.set = set;
    claim.rows = this.nextRows;
    claim.witness = row;
    addNeed(claim, group.need);
    if (constraint.ports.length > 0) claim.ports = [...claim.ports, ...constraint.ports];
    if (group.attachments.size > 0) claim.attached = withAttachments(claim.attached, group.attachments);
    if (held !== nothingHeld || claim.held !== nothingHeld) {
      this.reservations.exchange(claim.held, held);
      claim.held = held;
    }
    this.devices.commit(claim);
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

  private freshClaim(template: Template, rows: Bitset): Claim {
    return {
      index: this.claims.length,
      template,
      set: template.set,
      rows,
      used: new Float64Array(this.world.resources.names.length),
      usedColumns: [],
      witness: -1,
      ports: [],
      attached: noAttachments,
      held: nothingHeld,
      minValuesRelaxed: false,
      drivers: nothingHeld,
      pods: [],
    };
  }
}
