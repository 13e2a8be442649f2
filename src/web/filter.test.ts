import { expect, test } from 'vitest';
import type { NodeRow } from '../view/wire.ts';
import { filterOf } from './filter.ts';

const row = {
  name: 'default-5p6f6',
  pool: 'default',
  type: 'c6a.2xlarge',
  zone: 'us-east-1a',
  capacityType: 'spot',
  state: 'ready',
  verdict: 'keep',
  code: 'PodBudgetExhausted',
  pricePerHour: 0.21,
} as NodeRow;

test.each([
  ['', true],
  ['5p6', true],
  ['pool=default', true],
  ['pool=gpu', false],
  ['code=Pod*', true],
  ['code=Pod', false],
  ['class=held verdict=keep', true],
  ['$>0.2', true],
  ['$<0.2', false],
  ['c6a us-east-1a', true],
  ['c6a us-east-1b', false],
  ['type=c6a.*', true],
  ['type=(', false],
])('%s', (text, fits) => {
  expect(filterOf(text)(row)).toBe(fits);
});
