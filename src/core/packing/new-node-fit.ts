// Whether a pod can be added to a node under construction, and what the node becomes with it. The questions are asked from
// the cheapest to the dearest: taints, host ports, requirements, topology of the host, then for every alternative of its
// volumes devices, domains and instance types. Nothing is changed here; who takes the answer does that.

import { type Bitset, isEmptyBitset, keepCommon } from '../../base/index.ts';
import type { DeviceFit, NewNodeDevices } from '../devices/new-node-devices.ts';
import { portsConflict } from '../pods/host-ports.ts';
import { unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import { grants, type NodeWish, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { TopologyState } from '../topology/topology-state.ts';
import type { Attachments } from '../volumes/pod-volumes.ts';
import type { GroupStep, Need, PodGroup } from '../workload.ts';
import type { World } from '../world.ts';
import { type NewNode, rowsWithRoom, rowWithRoom, typesOfRows } from './new-node.ts';
import { type Refusal, weaker } from './refusal.ts';
import { noneHeld, type Reservations, type ReservationVerdict, reservedOfferings } from './reservations.ts';
import type { TemplateAnswers } from './template-answers.ts';

/** A pod that looks for a place. */
export interface FitRequest {
  readonly group: PodGroup;
  /** What is left of its wishes. */
  readonly step: GroupStep;
  /** Fewer distinct values than minValues asks for will do. */
  readonly relaxMinValues: boolean;
  /** Nothing takes it as it should be: any domain its rules accept will do. */
  readonly lastResort: boolean;
}

/** What the node becomes with the pod. */
export interface Fit {
  readonly kind: 'fits';
  readonly set: RequirementSet;
  readonly rows: Bitset;
  /** A row with room for everything. */
  readonly witness: number;
  /** Reservations it could be launched from. */
  readonly held: ReadonlySet<string>;
  /** Undefined where the pod asks for none. */
  readonly devices?: DeviceFit;
}

export interface NoFit {
  readonly kind: 'refused';
  readonly why: Refusal;
}

const refused: Readonly<Record<Refusal, NoFit>> = {
  constraint: { kind: 'refused', why: 'constraint' },
  group: { kind: 'refused', why: 'group' },
  now: { kind: 'refused', why: 'now' },
  deferred: { kind: 'refused', why: 'deferred' },
};

export class NewNodeFit {
  private readonly table: RequirementTable;
  private readonly topology: TopologyState;
  private readonly answers: TemplateAnswers;
  private readonly devices: NewNodeDevices;
  private readonly reservations: Reservations;
  private readonly usesReserved: boolean;

  constructor(
    { table, settings }: World,
    parts: { topology: TopologyState; answers: TemplateAnswers; devices: NewNodeDevices; reservations: Reservations },
  ) {
    this.table = table;
    this.usesReserved = settings.reservedCapacity;
    this.topology = parts.topology;
    this.answers = parts.answers;
    this.devices = parts.devices;
    this.reservations = parts.reservations;
  }

  of(newNode: NewNode, request: FitRequest): Fit | NoFit {
    const { group } = request;
    const { constraint } = request.step;
    const { rules, wish } = constraint;
    // Taints.
    if (!this.answers.tolerates(constraint, newNode.template)) return refused.constraint;
    // Host ports; daemons' ports rule out rows only.
    if (portsConflict(constraint.ports, newNode.ports)) return refused.constraint;
    // Requirements.
    if (!this.grants(newNode.set, wish)) return this.ungranted(newNode.set, wish);
    // Topology: the host first, because it is known; domains follow with the labels.
    const host = this.topology.firstNewHost + newNode.index;
    if (!this.topology.hostHasRoom(rules, host)) return refused.constraint;
    if (rules.hostAffinities.length > 0 && !this.topology.hostAttracts(rules, host, placeholderHostname))
      return refused.now;
    // Types: ports and volumes first, because labels do not matter to them.
    const rows = attachableRows(newNode, this.answers.rowsFor(newNode, constraint), group.attachments);
    if (isEmptyBitset(rows)) return refused.group;
    return this.withVolumes(newNode, request, this.table.meet(newNode.set, wish.set), rows);
  }

  /** Where its volumes can be reached: the first alternative that leads anywhere. */
  private withVolumes(newNode: NewNode, request: FitRequest, base: RequirementSet, rows: Bitset): Fit | NoFit {
    const { volumes } = request.step.constraint;
    if (volumes.length === 0) return this.withDevices(newNode, request, base, rows);
    let worst: Refusal = 'constraint';
    let last: Refusal = 'constraint';
    for (const volume of volumes) {
      const answer = this.grants(base, volume)
        ? this.withDevices(newNode, request, this.table.meet(base, volume.set), rows)
        : this.ungranted(base, volume);
      if (answer.kind === 'fits') return answer;
      last = answer.why;
      worst = weaker(worst, last);
    }
    // The last alternative decides whether the pod waits for reserved capacity.
    return worst === 'deferred' && last !== 'deferred' ? refused.now : refused[worst];
  }

  /** Devices narrow where the node can be, and where types bring some, which of them it can become. */
  private withDevices(newNode: NewNode, request: FitRequest, base: RequirementSet, rows: Bitset): Fit | NoFit {
    const wanted = this.devices.wantedBy(request.group);
    if (wanted === undefined) return this.withDomains(newNode, request, base, rows);
    const { template } = newNode;
    const areBrought = this.devices.areBrought(template);
    const roomy = areBrought ? rowsWithRoom(newNode, rows, template.rows.matching(base), request.group.need) : rows;
    if (areBrought && isEmptyBitset(roomy)) return refused.group;
    const devices = this.devices.consider(newNode, wanted, base, roomy);
    if (devices === undefined) return refused.now;
    const answer = this.withDomains(newNode, request, devices.set, devices.rows);
    if (answer.kind === 'fits') return { ...answer, devices };
    // Other devices may be found another time, and with them other types.
    return areBrought && answer === refused.group ? refused.now : answer;
  }

  /** The domains that spread and affinity leave open. */
  private withDomains(newNode: NewNode, request: FitRequest, base: RequirementSet, rows: Bitset): Fit | NoFit {
    const { rules, fickle } = request.step.constraint;
    if (rules.keys.length === 0) return this.withTypes(newNode, request, base, rows);
    const { need } = request.group;
    const isObtainable = request.lastResort
      ? (set: RequirementSet): boolean => hasRoom(newNode, need, set, rows)
      : undefined;
    const set = this.topology.narrowTo(rules, base, isObtainable);
    if (set === undefined) return fickle ? refused.now : refused.constraint;
    const answer = this.withTypes(newNode, request, set, rows);
    // The choice of domain may be what is in the way; without it, a node that is too small stays too small.
    const isByDomain = answer === refused.group && fickle && set !== base && hasRoom(newNode, need, base, rows);
    return isByDomain ? refused.now : answer;
  }

  /** A type with room; where flexibility or reservations are asked for, every type that is left counts. */
  private withTypes(newNode: NewNode, request: FitRequest, set: RequirementSet, rows: Bitset): Fit | NoFit {
    const { template } = newNode;
    const witness = rowWithRoom(newNode, rows, template.rows.matching(set), request.group.need);
    if (witness < 0) return refused.group;
    const reserves = template.hasReserved && this.usesReserved;
    if (!set.hasMinValues && !reserves) return { kind: 'fits', set, rows, witness, held: noneHeld };
    const left = rowsWithRoom(newNode, rows, template.rows.matching(set), request.group.need);
    const flexible = this.flexible(template, set, left, request.relaxMinValues);
    if (flexible === undefined) return request.step.constraint.fickle ? refused.now : refused.group;
    if (!reserves) return { kind: 'fits', set: flexible, rows, witness, held: noneHeld };
    const verdict = this.reservation(newNode.held, template, flexible, left);
    if (verdict.kind === 'deferred') return refused.deferred;
    if (verdict.kind === 'full') return request.step.constraint.fickle ? refused.now : refused.group;
    return { kind: 'fits', set: flexible, rows, witness, held: verdict.ids };
  }

  /** The set with minValues lowered to what these rows offer; undefined if that is not allowed. */
  private flexible(template: Template, set: RequirementSet, rows: Bitset, relax: boolean): RequirementSet | undefined {
    let result = set;
    for (const [key, reached] of unmetMinValues(set, typesOfRows(template, rows))) {
      if (!relax) return undefined;
      const requirement = result.byKey.get(key);
      if (requirement) result = this.table.replace(result, { ...requirement, minValues: reached });
    }
    return result;
  }

  private reservation(
    held: ReadonlySet<string>,
    template: Template,
    set: RequirementSet,
    rows: Bitset,
  ): ReservationVerdict {
    const hasOther = (): boolean => template.rows.hasOpenOffering(set, rows);
    return this.reservations.consider(held, reservedOfferings(this.table, template, set, rows), hasOther);
  }

  /** Why a fresh node that could be any of these rows would have to wait for reserved capacity; undefined if not. */
  deferral(template: Template, set: RequirementSet, rows: Bitset): string | undefined {
    if (!template.hasReserved || !this.usesReserved) return undefined;
    const verdict = this.reservation(noneHeld, template, set, rows);
    return verdict.kind === 'deferred' ? verdict.message : undefined;
  }

  private grants(labels: RequirementSet, wish: NodeWish): boolean {
    return grants(this.table, labels, placeholderHostname, wish, 'wellKnown');
  }

  /** Labels that contradict the wish do so for good; labels that are only missing may come. */
  private ungranted(labels: RequirementSet, wish: NodeWish): NoFit {
    return this.table.intersects(labels, wish.set) ? refused.now : refused.constraint;
  }
}

function hasRoom(newNode: NewNode, need: Need, set: RequirementSet, rows: Bitset): boolean {
  return rowWithRoom(newNode, rows, newNode.template.rows.matching(set), need) >= 0;
}

/** Of the rows, those whose nodes attach the volumes that are there and the ones the pod brings. */
export function attachableRows(
  { template, attached }: Pick<NewNode, 'template' | 'attached'>,
  rows: Bitset,
  attachments: Attachments,
): Bitset {
  if (attachments.size === 0 || !template.limitsAttachments) return rows;
  const left = Uint32Array.from(rows);
  for (const [driver, names] of attachments) {
    const there = attached.get(driver);
    let count = there?.size ?? 0;
    for (const name of names) if (there?.has(name) !== true) count += 1;
    keepCommon(left, template.rows.attaching(driver, count));
  }
  return left;
}
