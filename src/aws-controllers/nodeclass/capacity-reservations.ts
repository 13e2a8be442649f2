// CapacityReservationsReady: the reservations the class selects; a class may do without any.
import { conditionType } from '../../api/index.ts';
import type { CapacityReservations } from '../../aws/index.ts';
import { type Clock, parseTime } from '../../base/index.ts';
import { minuteMs, type Step } from './draft.ts';

export function capacityReservationsStep(reservations: Pick<CapacityReservations, 'list'>, clock: Clock): Step {
  return async (draft) => {
    const found = await reservations.list(draft.nodeClass);
    draft.update({ capacityReservations: found.length === 0 ? undefined : found });
    draft.set({ type: conditionType.capacityReservationsReady, status: 'True' });
    // The end of a reservation takes it off the list; no one tells us when it comes. Times in a status are cut to whole
    // seconds: it has certainly come a second later.
    const ends = found.flatMap(({ endTime }) => (endTime === undefined ? [] : (parseTime(endTime) ?? [])));
    return Math.min(minuteMs, ...ends.map((end) => Math.max(0, end + 1_000 - clock.now())));
  };
}
