// Which of the types a claim allows are offered to EC2, and in which pools: a pipeline of filters, each of which drops
// types or offerings, then the cheapest sixty. Order matters: reservations are settled before anything else is looked at.
//
// From the first step on, a candidate's offerings are those available now and that the claim allows.
import { awsLabel, capacityType, label } from '../../api/index.ts';
import { type ClaimMatch, type InstanceTypeSpec, isForSale, type OfferingSpec } from '../../core/index.ts';

export interface Candidate {
  type: InstanceTypeSpec;
  offerings: readonly OfferingSpec[];
}

export interface ReservationFacts {
  id: string;
  /** `default` or `capacity-block`. */
  type: string;
  interruptible: boolean;
}

/** EC2 takes more overrides, but answers later; beyond these types the choice hardly gets better. */
const mostTypes = 60;

const exoticResources = ['nvidia.com/gpu', 'amd.com/gpu', 'habana.ai/gaudi', 'aws.amazon.com/neuron'];

type Filter = (candidates: readonly Candidate[], match: ClaimMatch) => readonly Candidate[];

/** Types and offerings to launch from, cheapest first; empty when nothing is available. */
export function launchCandidates(types: readonly InstanceTypeSpec[], match: ClaimMatch): readonly Candidate[] {
  const filters: Filter[] = [
    oneKindOfReservation,
    oneCapacityBlock,
    largestReservations,
    withoutExotic,
    withoutDearSpot,
  ];
  return filters.reduce<readonly Candidate[]>((left, filter) => filter(left, match), available(types, match));
}

export type Truncated = { kind: 'kept'; candidates: Candidate[] } | { kind: 'inflexible'; keys: string[] };

/** The cheapest types, if they are still as many different ones as the claim wants (unless that is only a wish). */
export function cheapest(
  candidates: readonly Candidate[],
  match: ClaimMatch,
  minValuesPolicy: 'Strict' | 'BestEffort',
): Truncated {
  const kept = candidates
    .toSorted((left, right) => lowestPrice(left) - lowestPrice(right) || (left.type.name < right.type.name ? -1 : 1))
    .slice(0, mostTypes);
  const keys = minValuesPolicy === 'Strict' ? match.unmetMinValues(kept.map(({ type }) => type)) : [];
  return keys.length === 0 ? { kind: 'kept', candidates: kept } : { kind: 'inflexible', keys };
}

/** Reserved before spot before on-demand: what is paid for already, then what is cheap. */
export function chosenCapacityType(candidates: readonly Candidate[]): string {
  const types = new Set(candidates.flatMap(({ offerings }) => offerings.map(capacityTypeOf)));
  if (types.has(capacityType.reserved)) return capacityType.reserved;
  return types.has(capacityType.spot) ? capacityType.spot : capacityType.onDemand;
}

export const capacityTypeOf = (offering: OfferingSpec): string => valueOf(offering, label.capacityType) ?? '';

export const zoneOf = (offering: OfferingSpec): string => valueOf(offering, label.zone) ?? '';

export function reservationOf(offering: OfferingSpec): ReservationFacts | undefined {
  const id = valueOf(offering, awsLabel.capacityReservationId);
  if (id === undefined) return undefined;
  return {
    id,
    type: valueOf(offering, awsLabel.capacityReservationType) ?? 'default',
    interruptible: valueOf(offering, awsLabel.capacityReservationInterruptible) === 'true',
  };
}

function valueOf({ requirements }: OfferingSpec, key: string): string | undefined {
  return requirements.find((requirement) => requirement.key === key)?.values?.[0];
}

function available(types: readonly InstanceTypeSpec[], match: ClaimMatch): Candidate[] {
  return types
    .filter((type) => match.allowsType(type) && match.fits(type))
    .map((type) => ({
      type,
      offerings: type.offerings.filter((offering) => isForSale(offering) && match.allowsOffering(offering)),
    }));
}

/** Reservations of different kinds cannot share a fleet: the kind with the cheapest offering stays, earlier ones on ties. */
const oneKindOfReservation: Filter = (candidates) => {
  const kinds = ['default', 'capacity-block', 'interruptible'].map((kind) =>
    keepOfferings(candidates, (offering) => kindOf(offering) === kind),
  );
  const best = kinds
    .filter((kind) => kind.length > 0)
    .reduce<readonly Candidate[] | undefined>(
      (left, right) => (left !== undefined && lowestOf(left) <= lowestOf(right) ? left : right),
      undefined,
    );
  return best ?? candidates;
};

function kindOf(offering: OfferingSpec): string | undefined {
  const reservation = reservationOf(offering);
  if (reservation === undefined) return undefined;
  return reservation.interruptible ? 'interruptible' : reservation.type;
}

/** A launch into capacity blocks can name only one: the cheapest. */
const oneCapacityBlock: Filter = (candidates) => {
  const blocks = keepOfferings(candidates, (offering) => kindOf(offering) === 'capacity-block');
  if (blocks.length === 0) return candidates;
  const price = lowestOf(blocks);
  const [block] = keepOfferings(blocks, (offering) => offering.price === price);
  return block === undefined ? candidates : [{ type: block.type, offerings: block.offerings.slice(0, 1) }];
};

/** With reservations, nothing else; of several in a zone the one with most room. */
const largestReservations: Filter = (candidates) => {
  const reserved = keepOfferings(candidates, (offering) => reservationOf(offering) !== undefined);
  if (reserved.length === 0) return candidates;
  return reserved.map(({ type, offerings }) => {
    const best = new Map<string, OfferingSpec>();
    for (const offering of offerings) {
      const known = best.get(zoneOf(offering));
      if (known === undefined || (offering.reservationCapacity ?? 0) > (known.reservationCapacity ?? 0))
        best.set(zoneOf(offering), offering);
    }
    return { type, offerings: [...best.values()] };
  });
};

/** Metal and accelerators are for those who ask for them, unless nothing else is left. */
const withoutExotic: Filter = (candidates, match) => {
  if (match.hasMinValues) return candidates;
  const ordinary = candidates.filter(({ type }) => !isExotic(type));
  return ordinary.length === 0 ? candidates : ordinary;
};

function isExotic({ name, capacity }: InstanceTypeSpec): boolean {
  return (
    name.slice(name.indexOf('.') + 1).includes('metal') ||
    exoticResources.some((resource) => Number(capacity[resource] ?? 0) > 0)
  );
}

/** Spot that costs more than what cannot be taken back makes no sense. */
const withoutDearSpot: Filter = (candidates, match) => {
  if (match.hasMinValues) return candidates;
  const onDemand = keepOfferings(candidates, (offering) => capacityTypeOf(offering) === capacityType.onDemand);
  if (onDemand.length === 0) return candidates;
  const price = lowestOf(onDemand);
  return keepOfferings(
    candidates,
    (offering) => capacityTypeOf(offering) !== capacityType.spot || offering.price <= price,
  );
};

/** Types that have such offerings, with those only. */
function keepOfferings(candidates: readonly Candidate[], isKept: (offering: OfferingSpec) => boolean): Candidate[] {
  return candidates
    .map(({ type, offerings }) => ({ type, offerings: offerings.filter(isKept) }))
    .filter(({ offerings }) => offerings.length > 0);
}

function lowestPrice({ offerings }: Candidate): number {
  return offerings.reduce((least, { price }) => Math.min(least, price), Number.POSITIVE_INFINITY);
}

function lowestOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((least, candidate) => Math.min(least, lowestPrice(candidate)), Number.POSITIVE_INFINITY);
}
