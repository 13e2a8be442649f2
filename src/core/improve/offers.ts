// What can be bought for opened pods: for each set of labels that some of them need or had, the rows with those labels at
// their cheapest price, less those that another row beats in everything.

import { type Bitset, hasBit, type Sliced } from '../../base/index.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { unmetMinValues } from '../pools/min-values.ts';
import type { Template } from '../pools/templates.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import { type Kind, kindsThatFit, type Offer } from './pile.ts';

/** An offer with the labels its node is asked for. */
export interface LabelledOffer extends Offer {
  readonly set: RequirementSet;
}

export interface OfferInputs {
  readonly template: Template;
  readonly set: RequirementSet;
  /** Rows that limits leave. */
  readonly rows: Bitset;
  /** The columns of the pile. */
  readonly columns: readonly number[];
  readonly kinds: readonly Kind[];
  /** The kinds these labels suit. */
  readonly suited: readonly number[];
  readonly nodeCostPerHour: number;
}

/** A row before it is known which pods fit it. */
type Bare = Omit<LabelledOffer, 'kinds'>;

export function* offersFor(inputs: OfferInputs): Sliced<LabelledOffer[]> {
  const { template, set, rows, columns, kinds, suited, nodeCostPerHour } = inputs;
  const matching = template.rows.matching(set);
  const priced = template.rows.cheapest(set);
  const wanted = totalNeed(kinds, suited, columns.length);
  const candidates: Bare[] = [];
  for (let row = 0; row < template.rows.count; row++) {
    const own = priced[row];
    if (own === undefined || !hasBit(matching, row) || !hasBit(rows, row) || !hasBit(template.viable, row)) continue;
    // Room for more than all pods together is worth nothing: of the rows that hold everything only the cheapest is left.
    const room = Float64Array.from(columns, (column, at) =>
      Math.min(template.room[column]?.[row] ?? 0, wanted[at] as number),
    );
    candidates.push({ row, set, price: own.price + nodeCostPerHour, room });
    yield;
  }
  const flexible = set.hasMinValues ? yield* withFlexibility(template, set, candidates) : candidates;
  const offers: LabelledOffer[] = [];
  for (const bare of yield* withoutBeaten(flexible)) {
    const fitting = kindsThatFit(kinds, bare.room, suited);
    if (fitting.length > 0) offers.push({ ...bare, kinds: fitting });
    yield;
  }
  return offers;
}

function totalNeed(kinds: readonly Kind[], suited: readonly number[], columns: number): Float64Array {
  const total = new Float64Array(columns);
  for (const at of suited) {
    const { need, count } = kinds[at] as Kind;
    for (let column = 0; column < columns; column++)
      total[column] = (total[column] as number) + (need[column] as number) * count;
  }
  return total;
}

/** Filled to the brim, the node could still become enough different types. */
function* withFlexibility(template: Template, set: RequirementSet, candidates: readonly Bare[]): Sliced<Bare[]> {
  const kept: Bare[] = [];
  for (const offer of candidates) {
    const types = new Set<InstanceType>();
    for (const other of candidates) {
      if (hasAsMuch(other, offer))
        types.add(template.rows.types[template.rows.typeOf[other.row] as number] as InstanceType);
    }
    if (unmetMinValues(set, types).size === 0) kept.push(offer);
    yield;
  }
  return kept;
}

/** Leaves out rows that another one beats: as much of everything for no more money. */
function* withoutBeaten(candidates: readonly Bare[]): Sliced<Bare[]> {
  const sorted = [...candidates].sort((left, right) => left.price - right.price || left.row - right.row);
  const kept: Bare[] = [];
  for (const offer of sorted) {
    if (!kept.some((cheaper) => hasAsMuch(cheaper, offer))) kept.push(offer);
    yield;
  }
  return kept;
}

function hasAsMuch({ room: more }: Bare, { room }: Bare): boolean {
  for (let at = 0; at < room.length; at++) if ((more[at] as number) < (room[at] as number)) return false;
  return true;
}
