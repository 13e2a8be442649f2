// Terminate first: a node whose replacement has no place but its own goes before it. That is so for the last slot of a full
// capacity reservation, and for static pools at their limit of nodes. Behind gates, because for a while there is less.

import { capacityType, label } from '../../api/names.ts';
import { conditionIsTrue, type NodePool } from '../kube/objects.ts';
import { labelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { RequirementTable } from '../requirements/requirement-set.ts';
import type { OfferingSpec, RequirementSpec } from '../snapshot.ts';
import type { TerminateFirstReason } from './command.ts';
import type { Fleet, Member } from './fleet.ts';
import type { Refusal } from './method.ts';

export const atNodeLimit: Refusal['answer'] = {
  code: 'NodeLimit',
  message: 'static NodePool is at its node limit and cannot stage a replacement',
};
const reservationsFull: Refusal['answer'] = {
  code: 'ReservationsFull',
  message: "static NodePool's capacity reservations are full and cannot stage a replacement",
};

export type Gate = 'TerminateFirstDrift' | 'TerminateFirstRepair';

export function isGateOn({ snapshot }: Fleet, gate: Gate): boolean {
  return snapshot.settings?.featureGates?.[gate] === true;
}

/** The reservation whose slot the node would free. */
export function slotOf({ snapshot }: Fleet, { capacityType: kind, machine }: Member): string | undefined {
  const id = machine.labels[snapshot.provider?.reservationIDLabel ?? ''];
  return kind === capacityType.reserved && id !== undefined && id !== '' ? id : undefined;
}

/** Why a node of a static pool cannot be replaced first: it may go before that, or stays. */
export type Stuck =
  | { readonly kind: 'terminate'; readonly reason: TerminateFirstReason }
  | { readonly kind: 'blocked'; readonly answer: Refusal['answer'] };

/** Undefined where a replacement can come first. `room`: how many more nodes the pool may have for a while. */
export function stuckOf(fleet: Fleet, member: Member, pool: NodePool, gate: Gate, room: number): Stuck | undefined {
  const isOn = isGateOn(fleet, gate);
  const full = isOn ? fullReservations(fleet, pool) : undefined;
  const slot = slotOf(fleet, member);
  if (full !== undefined && (slot === undefined || !full.has(slot)))
    return { kind: 'blocked', answer: reservationsFull };
  if (full === undefined && room >= 1) return undefined;
  // Static pools that are not ready or on their way out get no new nodes: what goes would not come back.
  const refills = conditionIsTrue(pool.status?.conditions, 'Ready') && pool.metadata.deletionTimestamp === undefined;
  if (!isOn || !refills) return { kind: 'blocked', answer: full === undefined ? atNodeLimit : reservationsFull };
  return { kind: 'terminate', reason: full === undefined ? 'static-at-limit' : 'no-reserved-capacity' };
}

/**
 * Reservations a pool's nodes could be launched from, if there are only such and all are full; undefined if there is
 * anything else, available or not.
 */
function fullReservations(fleet: Fleet, pool: NodePool): ReadonlySet<string> | undefined {
  const { snapshot } = fleet;
  const facts = snapshot.provider;
  if (facts?.reservationIDLabel === undefined) return undefined;
  const rules = labelRules(facts);
  const table = new RequirementTable(rules.wellKnown);
  const setOf = (specs: readonly RequirementSpec[]) =>
    table.setOf(specs.map((spec) => normalizedRequirement(rules, spec)));
  const labels = Object.entries(pool.spec?.template?.metadata?.labels ?? {});
  const wanted = setOf([
    ...(pool.spec?.template?.spec?.requirements ?? []),
    ...labels.map(([key, value]): RequirementSpec => ({ key, operator: 'In', values: [value] })),
  ]);
  const fits = (specs: readonly RequirementSpec[]): boolean =>
    table.computeCompatible(wanted, setOf(specs), 'wellKnown');
  const types = snapshot.instanceTypes?.find(({ nodePool }) => nodePool === pool.metadata.name)?.items ?? [];
  const offered = new Set<string>();
  for (const { offerings } of types.filter(({ requirements }) => fits(requirements))) {
    for (const offering of offerings.filter(({ requirements }) => fits(requirements))) {
      if (valueOf(offering, label.capacityType) !== capacityType.reserved) return undefined;
      if (offering.available && (offering.reservationCapacity ?? 0) > 0) return undefined;
      const id = valueOf(offering, facts.reservationIDLabel);
      if (offering.available && id !== undefined) offered.add(id);
    }
  }
  return offered;
}

function valueOf({ requirements }: OfferingSpec, key: string): string | undefined {
  return requirements.find((each) => each.key === key && each.operator === 'In')?.values?.[0];
}
