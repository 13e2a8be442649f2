import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { EC2NodeClass } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import type { Draft } from './draft.ts';
import { unusedReservationsStep } from './unused-reservations.ts';

const hourMs = 3_600_000;
const unused = { id: 'cr-1', instanceType: 'm5.large', zone: 'a', count: 3 };
const nodeClass = { metadata: { name: 'a' } } as EC2NodeClass;
const draft = {
  nodeClass,
  status: { subnets: [{ id: 's', zone: 'a' }], capacityReservations: [] },
} as unknown as Draft;

let clock: VirtualClock;
let open: (typeof unused)[];
let looks: number;
let reported: string[];
let look: () => Promise<unknown>;
beforeEach(() => {
  clock = new VirtualClock({ settle });
  open = [unused];
  looks = 0;
  reported = [];
  const step = unusedReservationsStep(
    {
      openUnused: async () => {
        looks += 1;
        return open;
      },
    },
    clock,
    async (_, { reason, message }) => void reported.push(`${reason} ${message}`),
  );
  look = () => step(draft);
});

test('an open reservation that is unused at two looks an hour apart is reported', async () => {
  await look();
  expect(looks).toBe(0);
  await clock.runFor(hourMs);
  await look();
  await look();
  expect({ looks, reported }).toEqual({ looks: 1, reported: [] });
  await clock.runFor(hourMs);
  await look();
  expect(reported).toEqual([
    'OpenReservationUnused Open capacity reservations are paid for and not used: cr-1 (3 m5.large in a); nodes use only what capacityReservationSelectorTerms selects',
  ]);
});

test('one that was used in between is not', async () => {
  await look();
  await clock.runFor(hourMs);
  await look();
  open = [{ ...unused, id: 'cr-2' }];
  await clock.runFor(hourMs);
  await look();
  expect(reported).toEqual([]);
});
