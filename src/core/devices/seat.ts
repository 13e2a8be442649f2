// A node that devices are planned for. One under construction can still become several instance types, and holds devices
// for each of them: those it brings with it, which are no one else's business, and published ones, which no one else can
// have as long as one of its types might need them. Published devices that all its types agree on are certain.

import type { Device } from './device-pools.ts';
import { AnyOf, type DeviceUse, type Taken, Tally } from './tally.ts';
import type { TypeDevices } from './type-devices.ts';

/** What the node gets if it becomes a type that brings certain devices; what is certain left out. */
interface Hold {
  readonly taken: readonly Taken[];
  /** Of the devices it brings. */
  readonly own: Tally;
  readonly published: Tally;
}

export class Seat {
  /** Undefined for nodes under construction. */
  readonly nodeName: string | undefined;
  private holds = new Map<TypeDevices, Hold>();
  private readonly certain: Taken[] = [];
  private readonly exhausted = new Map<TypeDevices, Set<string>>();

  constructor(nodeName?: string) {
    this.nodeName = nodeName;
  }

  /** Takes the devices found; only types they were found for are left. Answers which published ones became certain. */
  hold(found: ReadonlyMap<TypeDevices, readonly Taken[]>): readonly Taken[] {
    const lists = new Map<TypeDevices, Taken[]>();
    for (const [kind, taken] of found) lists.set(kind, [...(this.holds.get(kind)?.taken ?? []), ...taken]);
    return this.settle(lists);
  }

  /** Lets go of what was held for other types than these. Answers which published devices became certain. */
  keep(kinds: ReadonlySet<TypeDevices>): readonly Taken[] {
    if (this.holds.size < 2 || [...this.holds.keys()].every((kind) => kinds.has(kind))) return [];
    const left = [...this.holds].filter(([kind]) => kinds.has(kind));
    return this.settle(new Map(left.map(([kind, { taken }]) => [kind, [...taken]])));
  }

  /** Whether it can still become such a type. */
  isOpenTo(kind: TypeDevices): boolean {
    return this.holds.size === 0 || this.holds.has(kind);
  }

  /** The devices that such a type brings are not enough for claims that ask for this; others never become free. */
  exhaust(kind: TypeDevices, like: string): void {
    const known = this.exhausted.get(kind);
    if (known === undefined) this.exhausted.set(kind, new Set([like]));
    else known.add(like);
  }

  isExhausted(kind: TypeDevices, like: string): boolean {
    return this.exhausted.get(kind)?.has(like) ?? false;
  }

  /** What it holds already if it becomes such a type. */
  usesOf(kind: TypeDevices): DeviceUse[] {
    const hold = this.holds.get(kind);
    return hold === undefined ? [] : [hold.own, hold.published];
  }

  /** What others cannot count on; undefined if all there is is certain. */
  get reserved(): DeviceUse | undefined {
    const holds = [...this.holds.values()];
    return holds.some(({ taken }) => taken.some(({ device }) => !isOwn(device)))
      ? new AnyOf(holds.map(({ published }) => published))
      : undefined;
  }

  /** Every device the claim may get here. */
  devicesOf(claim: string): Device[] {
    return this.all().flatMap((taken) => (taken.claim === claim ? [taken.device] : []));
  }

  drivers(): Set<string> {
    return new Set(this.all().map(({ device }) => device.driver));
  }

  private all(): Taken[] {
    return [...this.certain, ...[...this.holds.values()].flatMap(({ taken }) => taken)];
  }

  private settle(lists: Map<TypeDevices, Taken[]>): readonly Taken[] {
    const [first = [], ...others] = lists.values();
    const certain = first.filter((taken) => {
      if (isOwn(taken.device)) return false;
      const places = others.map((list) => list.findIndex((other) => isSame(other, taken)));
      if (places.includes(-1)) return false;
      others.forEach((list, at) => {
        list.splice(places[at] as number, 1);
      });
      return true;
    });
    this.certain.push(...certain);
    const left = first.filter((taken) => !certain.includes(taken));
    this.holds = new Map([...lists].map(([kind, list]) => [kind, holdOf(list === first ? left : list)]));
    return certain;
  }
}

function holdOf(taken: readonly Taken[]): Hold {
  const hold = { taken, own: new Tally(), published: new Tally() };
  for (const entry of taken) (isOwn(entry.device) ? hold.own : hold.published).take(entry);
  return hold;
}

function isOwn({ reach }: Device): boolean {
  return reach.kind === 'own';
}

function isSame(left: Taken, right: Taken): boolean {
  if (left.claim !== right.claim || left.device !== right.device) return false;
  if (left.consumed === undefined || right.consumed === undefined) return left.consumed === right.consumed;
  return [...left.consumed].every(([name, amount]) => right.consumed?.get(name) === amount);
}
