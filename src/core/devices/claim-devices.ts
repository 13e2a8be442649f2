// Devices for nodes under construction: published ones that are not plugged into a node, and those the node will bring,
// type by type. The pod that asks is kept between the question and the answer, because a node is asked about many times
// before it is taken.

import { addBit, type Bitset, bitset, keepCommon, sharesBit } from '../../base/index.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { PodGroup } from '../workload.ts';
import type { DeviceState, Kind, PendingDevices } from './device-state.ts';
import type { PodClaims } from './pod-claims.ts';
import { Seat } from './seat.ts';
import { noDevices, type TypeDevices } from './type-devices.ts';

/** A node under construction, as far as devices are concerned. */
interface Node {
  readonly index: number;
  readonly template: Template;
}

/** The rows of a template whose types bring the same devices. */
interface KindRows {
  readonly devices: TypeDevices;
  readonly rows: Bitset;
}

export class ClaimDevices {
  private readonly state: DeviceState | undefined;
  private readonly seats: (Seat | undefined)[] = [];
  private readonly kindsOf = new Map<Template, readonly KindRows[]>();
  /** What the pod that asks needs; undefined if it needs nothing. */
  private asking: PodClaims | undefined;
  private pending: PendingDevices | undefined;

  constructor(state: DeviceState | undefined) {
    this.state = state;
  }

  ask({ devices }: PodGroup): void {
    this.asking = this.state === undefined ? undefined : devices;
    this.pending = undefined;
  }

  get isAsked(): boolean {
    return this.asking !== undefined;
  }

  /** Some types of the template bring devices. */
  areBrought(template: Template): boolean {
    return this.kinds(template).some(({ devices }) => devices !== noDevices);
  }

  /** What the node is narrowed to by the devices of the pod that asks, and the rows left; undefined if there are none. */
  consider(node: Node, set: RequirementSet, rows: Bitset): { set: RequirementSet; rows: Bitset } | undefined {
    const { asking, state } = this;
    if (asking === undefined || state === undefined) return { set, rows };
    const { template, index } = node;
    const seat = this.seats[index] ?? new Seat();
    const kinds = this.areBrought(template) ? this.kindsAmong(template, seat, rows) : [{ devices: noDevices }];
    this.pending = state.consider(asking, seat, set, kinds);
    if (this.pending === undefined) return undefined;
    const { found, set: narrowed } = this.pending;
    if (found === undefined || found.size === kinds.length) return { set: narrowed, rows };
    const left = bitset(template.rows.count);
    for (const kind of this.kinds(template)) if (found.has(kind.devices)) addAll(left, kind.rows);
    keepCommon(left, rows);
    return { set: narrowed, rows: left };
  }

  /** The pod has been placed on the node last asked about. */
  commit({ index }: Node): void {
    const { pending } = this;
    if (pending === undefined) return;
    this.seats[index] = pending.seat;
    this.state?.commit(pending);
    this.pending = undefined;
  }

  /** Whether the node holds devices; then it wants to know of every type that is ruled out. */
  isSeat({ index }: Node): boolean {
    return this.seats[index] !== undefined;
  }

  /** The node can become these rows only; answers the drivers of the devices it may get. */
  keep({ index, template }: Node, rows: Bitset): ReadonlySet<string> {
    const seat = this.seats[index] as Seat;
    this.state?.keep(seat, this.kindsAmong(template, seat, rows));
    return seat.drivers();
  }

  /** What the types in these rows bring that the node can still become. */
  private kindsAmong(template: Template, seat: Seat, rows: Bitset): Kind[] {
    const kinds: Kind[] = [];
    for (const { devices, rows: own } of this.kinds(template)) {
      if (!seat.isOpenTo(devices) || !sharesBit(own, rows)) continue;
      kinds.push({ devices, isWithin: (set) => shareBit(own, rows, template.rows.matching(set)) });
    }
    return kinds;
  }

  private kinds(template: Template): readonly KindRows[] {
    let kinds = this.kindsOf.get(template);
    if (kinds === undefined) {
      const byDevices = new Map<TypeDevices, Bitset>();
      template.rows.typeOf.forEach((type, row) => {
        const devices = this.state?.brought(template.rows.types[type]?.dynamicResources) ?? noDevices;
        const rows = byDevices.get(devices) ?? bitset(template.rows.count);
        byDevices.set(devices, rows);
        addBit(rows, row);
      });
      kinds = [...byDevices].map(([devices, rows]) => ({ devices, rows }));
      this.kindsOf.set(template, kinds);
    }
    return kinds;
  }
}

/** Whether something is in all three. */
function shareBit(first: Bitset, second: Bitset, third: Bitset): boolean {
  return first.some((word, at) => (word & (second[at] as number) & (third[at] as number)) !== 0);
}

function addAll(bits: Bitset, more: Bitset): void {
  for (let word = 0; word < bits.length; word++) bits[word] = (bits[word] as number) | (more[word] as number);
}
