import { expect, test } from 'vitest';
import { instanceType } from '../testing/builders.testing.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { singleNodeCommand } from './single-node.ts';

// Going costs 0.40, coming 0.36: side by side for ten minutes that is 0.127, which a saving of 0.04 per hour earns in 3.2.
const capacityTypes = ['on-demand'];
const types = [
  instanceType({ name: 'c4', cpu: '4', price: 0.4, capacityTypes }),
  instanceType({ name: 'x4', cpu: '4', price: 0.36, capacityTypes }),
];
const outcome = (consolidationPaybackSeconds?: number) =>
  finish(
    singleNodeCommand(
      roundOf([pool(), ...machine('a', { type: 'c4' }), running('a', { cpu: '3' })], {
        types,
        ...(consolidationPaybackSeconds === undefined ? {} : { settings: { consolidationPaybackSeconds } }),
      }),
    ),
  );

test('without a payback time any saving is worth a replacement', () => {
  expect(outcome().command?.replacements).toHaveLength(1);
});

test('a replacement must earn what it costs within the payback time', () => {
  expect(outcome(4 * 3600).command?.replacements).toHaveLength(1);
  const refused = outcome(3 * 3600);
  expect(refused.command).toBeUndefined();
  expect(refused.refused[0]?.answer.code).toBe('PaybackTooLong');
});

test('a node that goes without replacement earns itself', () => {
  const objects = [pool(), ...['a', 'b'].flatMap((name) => [...machine(name, { type: 'c4' }), running(name)])];
  const round = roundOf(objects, { types, settings: { consolidationPaybackSeconds: 600 } });
  expect(finish(singleNodeCommand(round)).command).toMatchObject({ replacements: [] });
});
