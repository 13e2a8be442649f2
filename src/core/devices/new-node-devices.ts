// Devices for nodes under construction: published ones that are not plugged into a node, and those the node will bring,
// type by type.

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

/** What a node under construction becomes with the devices of a pod. */
export interface DeviceFit {
  readonly set: RequirementSet;
  readonly rows: Bitset;
  readonly pending: PendingDevices;
}

export class NewNodeDevices {
  private readonly state: DeviceState | undefined;
  private readonly seats: (Seat | undefined)[] = [];
  private readonly kindsOf = new Map<Template, readonly KindRows[]>();

  constructor(state: DeviceState | undefined) {
    this.state = state;
  }

  /** What the pods of the group need; undefined if that is nothing. */
  wantedBy({ devices }: PodGroup): PodClaims | undefined {
    return this.state === undefined ? undefined : devices;
  }

  /** Some types of the template bring devices. */
  areBrought(template: Template): boolean {
    return this.kinds(template).some(({ devices }) => devices !== noDevices);
  }

  /** Devices for the pod on this node, and what they narrow it to; undefined if there are none. */
  consider(node: Node, wanted: PodClaims, set: RequirementSet, rows: Bitset): DeviceFit | undefined {
    const { template, index } = node;
    const seat = this.seats[index] ?? new Seat();
    const kinds = this.areBrought(template) ? this.kindsAmong(template, seat, rows) : [{ devices: noDevices }];
    const pending = this.state?.consider(wanted, seat, set, kinds);
    if (pending === undefined) return undefined;
    const { found, set: narrowed } = pending;
    if (found === undefined || found.size === kinds.length) return { set: narrowed, rows, pending };
    const left = bitset(template.rows.count);
    for (const kind of this.kinds(template)) if (found.has(kind.devices)) addAll(left, kind.rows);
    keepCommon(left, rows);
    return { set: narrowed, rows: left, pending };
  }

  /** The pod has been placed on the node. */
  commit({ index }: Node, { pending }: DeviceFit): void {
    this.seats[index] = pending.seat;
    this.state?.commit(pending);
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
