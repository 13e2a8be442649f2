import { expect, test } from 'vitest';
import { faultsIn } from './faults-flag.ts';

test('faults are taken as they are written', () => {
  const faults = { vanish: [{ after: '10m', percent: 5 }], launch: { delay: '30s' } };
  expect(faultsIn(JSON.stringify(faults))).toEqual(faults);
});

test.each([
  ['many', 'write a JSON object'],
  ['[]', 'write a JSON object'],
  ['{"lunch":{"delay":"30s"}}', 'unknown field spec.faults.lunch.'],
  [
    '{"launch":{"dely":"30s","delay":"soon"}}',
    'unknown field spec.faults.launch.dely; spec.faults.launch.delay: Invalid',
  ],
  ['{"vanish":1}', 'spec.faults.vanish: Invalid value'],
])('%s is refused: %s', (text, message) => {
  expect(() => faultsIn(text)).toThrow(message);
});
