// Open capacity reservations that are paid for and not used: launches take only reservations that a class selects. Looked
// for once an hour; one that has been unused twice is named in an event. Changes nothing.
import type { CapacityReservations } from '../../aws/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Step } from './draft.ts';
import type { TellNotFound } from './not-found.ts';

const lookEveryMs = 3_600_000;
const mostNamed = 5;

export function unusedReservationsStep(
  reservations: Pick<CapacityReservations, 'openUnused'>,
  clock: Clock,
  tell: TellNotFound,
): Step {
  /** By class: when it was looked at last, and what was unused then. */
  const looks = new Map<string, { atMs: number; unused: ReadonlySet<string> }>();
  return async ({ nodeClass, status }) => {
    const name = nodeClass.metadata.name ?? '';
    const nowMs = clock.elapsed();
    const last = looks.get(name);
    if (last === undefined) looks.set(name, { atMs: nowMs, unused: new Set() });
    if (last === undefined || nowMs - last.atMs < lookEveryMs) return undefined;
    const zones = new Set((status.subnets ?? []).map(({ zone }) => zone));
    const selected = new Set((status.capacityReservations ?? []).map(({ id }) => id));
    // What cannot be looked up now is looked up in an hour.
    const open = await reservations.openUnused(zones, selected).catch(() => []);
    looks.set(name, { atMs: nowMs, unused: new Set(open.map(({ id }) => id)) });
    const twice = open.filter(({ id }) => last.unused.has(id));
    if (twice.length > 0) await tell(nodeClass, { reason: 'OpenReservationUnused', message: textOf(twice) }, noHint);
    return undefined;
  };
}

const noHint = (): Promise<undefined> => Promise.resolve(undefined);

function textOf(unused: Awaited<ReturnType<CapacityReservations['openUnused']>>): string {
  const named = unused
    .slice(0, mostNamed)
    .map(({ id, count, instanceType, zone }) => `${id} (${count} ${instanceType} in ${zone})`)
    .join(', ');
  const more = unused.length > mostNamed ? ` and ${unused.length - mostNamed} more` : '';
  return `Open capacity reservations are paid for and not used: ${named}${more}; nodes use only what capacityReservationSelectorTerms selects`;
}
