// What can be bought for opened pods: for each pool and each set of labels that some of them need or had, the rows with those
// labels at their cheapest price, less those that another row beats in everything.
//
// Reserved capacity is not on offer: it is nearly free, limited, and held by the nodes that were packed for it. A row that
// could be launched from a reservation would be, so such rows are left out, and bought nodes do without them.

import { type Bitset, hasBit, membersOf, type Sliced } from '../../base/index.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { Offer } from './pile.ts';

/** An offer with the pool and the labels its node is asked from. */
export interface LabelledOffer extends Offer {
  readonly template: Template;
  readonly set: RequirementSet;
  /** Every row its node may become. */
  readonly rows: Bitset;
}

/** A row before it is known which pods fit it. */
export type BareOffer = Omit<LabelledOffer, 'kinds'>;

export interface OfferInputs {
  readonly template: Template;
  readonly set: RequirementSet;
  /** Rows that limits leave. */
  readonly rows: Bitset;
  /** The room of a row in the columns of the pile, no more than all suited pods need together. */
  readonly roomOf: (row: number) => Float64Array;
}

export function* offersFor({ template, set, rows, roomOf }: OfferInputs): Sliced<BareOffer[]> {
  const matching = template.rows.matching(set);
  const priced = template.rows.cheapest(set);
  const candidates: BareOffer[] = [];
  for (let row = 0; row < template.rows.count; row++) {
    const own = priced[row];
    if (own === undefined || !hasBit(matching, row) || !hasBit(rows, row) || !hasBit(template.viable, row)) continue;
    candidates.push({ row, template, set, rows, price: own.price + template.nodeCostPerHour, room: roomOf(row) });
    yield;
  }
  // Of equal prices the first by name: the place of a row depends on who wrote the list of types.
  const nameOf = ({ row }: BareOffer): string => template.rows.types[template.rows.typeOf[row] as number]?.name ?? '';
  const byName = (left: BareOffer, right: BareOffer): number =>
    nameOf(left) === nameOf(right) ? left.row - right.row : nameOf(left) < nameOf(right) ? -1 : 1;
  candidates.sort((left, right) => left.price - right.price || byName(left, right));
  const kept: BareOffer[] = [];
  for (const offer of candidates) {
    if (!kept.some((cheaper) => hasAsMuch(cheaper, offer)) && isFlexible(set, candidates, offer)) kept.push(offer);
    yield;
  }
  return kept;
}

/** The rows of types that no reservation with capacity would be used for: a node is asked for by its type, whatever its row. */
export function rowsWithoutReserved(
  table: RequirementTable,
  { rows: own }: Template,
  set: RequirementSet,
  rows: Bitset,
): Bitset {
  const isReserved = new Uint8Array(own.types.length);
  own.offeringsOf.forEach((offerings, row) => {
    const isUsed = offerings.some(
      (offering) =>
        offering.reserved && offering.reservationCapacity > 0 && table.compatible(set, offering.set, 'wellKnown'),
    );
    if (isUsed) isReserved[own.typeOf[row] as number] = 1;
  });
  const kept = new Uint32Array(rows.length);
  for (const row of membersOf(rows)) {
    if (isReserved[own.typeOf[row] as number] === 0) kept[row >>> 5] = (kept[row >>> 5] as number) | (1 << (row & 31));
  }
  return kept;
}

/** After so many types it is asked whether they are enough, and again each time there are twice as many. */
const firstAsked = 8;

/** Filled to the brim, the node could still become enough different types. */
function isFlexible(set: RequirementSet, candidates: readonly BareOffer[], offer: BareOffer): boolean {
  if (!set.hasMinValues) return true;
  const types = new Set<InstanceType>();
  let next = firstAsked;
  for (const other of candidates) {
    if (!hasAsMuch(other, offer)) continue;
    const { rows } = other.template;
    types.add(rows.types[rows.typeOf[other.row] as number] as InstanceType);
    if (types.size < next) continue;
    if (unmetMinValues(set, types).size === 0) return true;
    next = types.size * 2;
  }
  return unmetMinValues(set, types).size === 0;
}

function hasAsMuch({ room: more }: BareOffer, { room }: BareOffer): boolean {
  for (let at = 0; at < room.length; at++) if ((more[at] as number) < (room[at] as number)) return false;
  return true;
}
