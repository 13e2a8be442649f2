// The instance types of one pool as columns, and the expensive question answered once per distinct requirement set: which
// rows have matching labels and an available, compatible offering. Labels are decided key by key (each distinct
// requirement once), offerings per distinct offering set, and the rest is AND and OR over bits.

import { addBit, type Bitset, bitset, fullBitset, keepCommon, membersOf } from '../../base/index.ts';
import { acceptsAbsence, intersects, type Requirement } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { type InstanceType, isLaunchable, type Offering } from './instance-types.ts';

export interface PricedRow {
  readonly price: number;
  readonly offering: Offering;
}

export class TemplateRows {
  readonly types: readonly InstanceType[];
  /** Row → index of its type. */
  readonly typeOf: Int32Array;
  readonly offeringsOf: readonly (readonly Offering[])[];
  readonly count: number;
  private readonly table: RequirementTable;
  private readonly byKey = new Map<string, Map<Requirement, Bitset>>();
  private readonly lacking = new Map<string, Bitset>();
  private readonly byOffering = new Map<RequirementSet, Bitset>();
  private readonly byRequirement = new Map<Requirement, Bitset>();
  private readonly bySet = new Map<RequirementSet, Bitset>();
  private readonly byAttachments = new Map<string, Bitset>();
  private readonly cheapestBySet = new Map<RequirementSet, readonly (PricedRow | undefined)[]>();
  private readonly byPriceBySet = new Map<RequirementSet, Int32Array>();

  constructor(table: RequirementTable, types: readonly InstanceType[]) {
    this.table = table;
    this.types = types;
    const typeOf: number[] = [];
    const offeringsOf: (readonly Offering[])[] = [];
    types.forEach((type, index) => {
      for (const row of type.rows) {
        typeOf.push(index);
        offeringsOf.push(row.offerings);
      }
    });
    this.typeOf = Int32Array.from(typeOf);
    this.offeringsOf = offeringsOf;
    this.count = typeOf.length;
    offeringsOf.forEach((offerings, row) => {
      for (const offering of offerings) {
        let rows = this.byOffering.get(offering.set);
        if (rows === undefined) {
          rows = bitset(this.count);
          this.byOffering.set(offering.set, rows);
        }
        addBit(rows, row);
      }
    });
  }

  /** Rows whose labels agree with the set and that have an available offering compatible with it. Do not modify. */
  matching(set: RequirementSet): Bitset {
    let rows = this.bySet.get(set);
    if (rows === undefined) {
      rows = this.withOffering(set);
      keepCommon(rows, this.withLabels(set));
      this.bySet.set(set, rows);
    }
    return rows;
  }

  withLabels(set: RequirementSet): Bitset {
    const rows = fullBitset(this.count);
    for (const requirement of set.requirements) keepCommon(rows, this.agreeingWith(requirement));
    return rows;
  }

  withOffering(set: RequirementSet): Bitset {
    const rows = bitset(this.count);
    for (const [offering, having] of this.byOffering) {
      if (!this.table.compatible(set, offering, 'wellKnown')) continue;
      for (let word = 0; word < rows.length; word++) rows[word] = (rows[word] as number) | (having[word] as number);
    }
    return rows;
  }

  /** Per row the cheapest compatible offering; of equal prices the first by zone, then capacity type. */
  cheapest(set: RequirementSet): readonly (PricedRow | undefined)[] {
    let prices = this.cheapestBySet.get(set);
    if (prices === undefined) {
      prices = this.offeringsOf.map((offerings) => {
        let best: Offering | undefined;
        for (const offering of offerings) {
          if (
            isLaunchable(offering) &&
            this.table.compatible(set, offering.set, 'wellKnown') &&
            (best === undefined || isBetter(offering, best))
          ) {
            best = offering;
          }
        }
        return best === undefined ? undefined : { price: best.price, offering: best };
      });
      this.cheapestBySet.set(set, prices);
    }
    return prices;
  }

  /** Rows by price, then by name; those without a compatible offering last. Do not modify. */
  byPrice(set: RequirementSet): Int32Array {
    let order = this.byPriceBySet.get(set);
    if (order === undefined) {
      const cheapest = this.cheapest(set);
      const nameOf = (row: number): string => (this.types[this.typeOf[row] as number] as InstanceType).name;
      const priceOf = (row: number): number => cheapest[row]?.price ?? Number.MAX_VALUE;
      const rows = Array.from({ length: this.count }, (_, row) => row);
      rows.sort((left, right) => priceOf(left) - priceOf(right) || (nameOf(left) < nameOf(right) ? -1 : 1));
      order = Int32Array.from(rows);
      this.byPriceBySet.set(set, order);
    }
    return order;
  }

  /** Rows that have an offering beside reserved ones compatible with the set. */
  hasOpenOffering(set: RequirementSet, rows: Bitset): boolean {
    for (const row of membersOf(rows)) {
      for (const offering of this.offeringsOf[row] ?? [])
        if (!offering.reserved && this.table.compatible(set, offering.set, 'wellKnown')) return true;
    }
    return false;
  }

  /** Rows whose nodes attach that many volumes of the driver. Do not modify. */
  attaching(driver: string, count: number): Bitset {
    const key = `${count} ${driver}`;
    let rows = this.byAttachments.get(key);
    if (rows === undefined) {
      rows = bitset(this.count);
      for (let row = 0; row < this.count; row++) {
        const limit = this.types[this.typeOf[row] as number]?.attachLimits?.[driver];
        if (limit === undefined || count <= limit) addBit(rows, row);
      }
      this.byAttachments.set(key, rows);
    }
    return rows;
  }

  private agreeingWith(requirement: Requirement): Bitset {
    let rows = this.byRequirement.get(requirement);
    if (rows === undefined) {
      const { key } = requirement;
      this.indexKey(key);
      rows = Uint32Array.from(this.lacking.get(key) as Bitset);
      for (const [own, having] of this.byKey.get(key) as Map<Requirement, Bitset>) {
        if (!intersects(own, requirement) && !(acceptsAbsence(own) && acceptsAbsence(requirement))) continue;
        for (let word = 0; word < rows.length; word++) rows[word] = (rows[word] as number) | (having[word] as number);
      }
      this.byRequirement.set(requirement, rows);
    }
    return rows;
  }

  private indexKey(key: string): void {
    if (this.byKey.has(key)) return;
    const having = new Map<Requirement, Bitset>();
    const lacking = bitset(this.count);
    this.typeOf.forEach((type, row) => {
      const own = (this.types[type] as InstanceType).set.byKey.get(key);
      if (own === undefined) {
        addBit(lacking, row);
        return;
      }
      let rows = having.get(own);
      if (rows === undefined) {
        rows = bitset(this.count);
        having.set(own, rows);
      }
      addBit(rows, row);
    });
    this.byKey.set(key, having);
    this.lacking.set(key, lacking);
  }
}

function isBetter(offering: Offering, than: Offering): boolean {
  if (offering.price !== than.price) return offering.price < than.price;
  if (offering.zone !== than.zone) return offering.zone < than.zone;
  return offering.capacityType < than.capacityType;
}
