// What fillings of each offer can be worth at most, as exactly as can be worked out: from a table where one is small enough
// (nodes that hold few or middling numbers of pods), else from a search that is cut off, whose bound is close where nodes
// hold many pods.

import type { Sliced } from '../../base/index.ts';
import { FillingSearch } from '../improve/best-filling.ts';
import { fits, type Kind, type Offer } from '../improve/pile.ts';
import { RoomTable, shapeFor, type TableShape } from './room-table.ts';

/** Rooms of a table, for memory; and looks at all of them, one for each kind of pods, for time: at once, and in all. */
const mostRooms = 6_000_000;
const mostLooks = 250_000_000;
const allLooks = 4_000_000_000;
/** Steps of looking for fillings where there is no table: in all, and for one, which is less when little is left. */
const allSteps = 2_000_000;
const mostSteps = 20_000;
const partOfRest = 0.01;
/** Tables for offers that admit the same pods: one for the largest, one for those that make it too large, and so on. */
const mostTables = 3;
/** Offers whose room sells for so much of its price, or more, may matter. */
const nearlyWorth = 0.97;

interface Contents {
  readonly kinds: readonly number[];
  readonly counts: readonly number[];
}

/** Offers that admit the same pods, as far as those fit. */
interface Group {
  readonly id: string;
  readonly offers: Offer[];
  readonly kinds: Set<number>;
}

export class ExactFillings {
  private readonly search: FillingSearch;
  private readonly left: Float64Array;
  private readonly tables: RoomTable[] = [];
  private readonly tableOf = new Map<Offer, RoomTable>();
  private worth: Float64Array;
  private looks = 0;

  /** `worth`: about what will be asked about, which decides where a table is worth it. */
  constructor(kinds: readonly Kind[], columns: number, offers: readonly Offer[], worth: Float64Array) {
    this.search = new FillingSearch(kinds, columns);
    this.left = Float64Array.from(kinds, ({ count }) => count);
    this.worth = worth;
    const contending = offers.filter((offer) => this.most(offer, 0) > nearlyWorth * offer.price);
    for (const group of groupsOf(kinds, contending)) this.makeTables(kinds, group);
  }

  private makeTables(kinds: readonly Kind[], group: Group): void {
    const own = [...group.kinds].sort((left, right) => left - right);
    const most = Math.min(mostRooms, mostLooks / own.length);
    let waiting = group.offers.flatMap((offer) => {
      const shape = shapeFor(kinds, own, [offer], most);
      return shape === undefined ? [] : [{ offer, rooms: shape.rooms }];
    });
    waiting.sort((left, right) => right.rooms - left.rooms || left.offer.row - right.offer.row);
    for (let tables = 0; tables < mostTables && waiting.length > 0; tables++) {
      const together: Offer[] = [];
      waiting = waiting.filter(({ offer }) => {
        const isIn = shapeFor(kinds, own, [...together, offer], most) !== undefined;
        if (isIn) together.push(offer);
        return !isIn;
      });
      const table = new RoomTable(shapeFor(kinds, own, together, most) as TableShape, kinds);
      this.tables.push(table);
      for (const offer of together) this.tableOf.set(offer, table);
    }
  }

  /** Whether as much work as is reasonable is done. */
  get isTired(): boolean {
    return this.looks >= allLooks;
  }

  /** From now on these worths count. */
  *value(worth: Float64Array): Sliced<void> {
    this.worth = worth;
    for (const { shape } of this.tables) this.looks += shape.rooms * shape.kinds.length;
    for (const table of this.tables) yield* table.fill(worth);
  }

  /** No filling is worth more than this, or than `above` if that is more. */
  most(offer: Offer, above: number): number {
    return this.look(offer, above).most;
  }

  /** The same, and fillings that are worth more than `above`: several good ones where there is a table. */
  look(offer: Offer, above: number): { readonly most: number; readonly better: Iterable<Contents> } {
    const table = this.tableOf.get(offer);
    if (table !== undefined) {
      const most = Math.max(above, table.most(offer));
      return { most, better: most > above ? table.fillings(offer, above) : [] };
    }
    const steps = Math.min(mostSteps, Math.max(1, (allSteps - this.search.steps) * partOfRest));
    const found = this.search.find(offer, this.left, this.worth, above, steps);
    if (found === undefined) return { most: above, better: [] };
    return { most: Math.max(above, found.atMost), better: found.worth > above ? [found] : [] };
  }
}

/** Tables grow with every resource, so nodes that have none of one have a table of their own. */
function groupsOf(kinds: readonly Kind[], offers: readonly Offer[]): Group[] {
  const groups: Group[] = [];
  for (const offer of offers) {
    const id = Array.from(offer.room, (amount) => (amount > 0 ? 1 : 0)).join('');
    const known = groups.find((group) => group.id === id && admitsAlike(kinds, group, offer));
    if (known === undefined) groups.push({ id, offers: [offer], kinds: new Set(offer.kinds) });
    else {
      known.offers.push(offer);
      for (const kind of offer.kinds) known.kinds.add(kind);
    }
  }
  return groups;
}

/** Whatever pod of the group fits is admitted, and the other way round. */
function admitsAlike(kinds: readonly Kind[], group: Group, offer: Offer): boolean {
  const admitted = new Set(offer.kinds);
  const refuses = (kind: number, own: ReadonlySet<number>, { room }: Offer): boolean =>
    !own.has(kind) && fits((kinds[kind] as Kind).need, room);
  for (const kind of group.kinds) if (refuses(kind, admitted, offer)) return false;
  for (const kind of admitted) {
    if (group.kinds.has(kind)) continue;
    if (group.offers.some((other) => fits((kinds[kind] as Kind).need, other.room))) return false;
  }
  return true;
}
