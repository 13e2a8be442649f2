import { expect, test } from 'vitest';
import type { DeviceFacts } from '../api/index.ts';
import { compileUntrustedSelector } from './device-selectors.ts';

const device: DeviceFacts = {
  driver: 'gpu.example.com',
  attributes: { model: { string: `${'a'.repeat(60)}!` }, cores: { int: 8 } },
  capacity: { memory: { value: '40Gi' } },
  shared: false,
};
const model = 'device.attributes["gpu.example.com"].model';
const run = (expression: string) => {
  const compiled = compileUntrustedSelector(expression);
  return typeof compiled === 'function' ? compiled(device) : compiled;
};
const list = (length: number) => `[${Array.from({ length }, (_, index) => index % 10).join(',')}]`;

test('honest selectors answer as ever', () => {
  expect(run(`device.driver == "gpu.example.com" && ${model}.startsWith("a")`)).toBe(true);
  expect(run(`${model}.matches("^a+!$")`)).toBe(true);
  expect(run('["a100", "gpu.example.com"].exists(name, name == device.driver)')).toBe(true);
  expect(run('device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) > 0')).toBe(false);
});

test.each<[string, string]>([
  ['backtracks without end', `${model}.matches("^(a|aa)+$")`],
  [
    'looks at every combination',
    `${list(200)}.all(a, ${list(200)}.all(b, ${list(200)}.all(c, ${list(200)}.all(d, a + b + c + d >= 0))))`,
  ],
  ['doubles a string', `["aaaa"]${'.map(x, x + x)'.repeat(40)}.all(x, x.matches("b"))`],
])('one that %s is given up, and not run again', (_, expression) => {
  const startedMs = performance.now();
  expect(run(expression)).toMatchObject({ error: expect.stringMatching(/takes too long|failed/) });
  // Far from a second, on a busy machine.
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  const againMs = performance.now();
  for (let index = 0; index < 100; index += 1) run(expression);
  expect(performance.now() - againMs).toBeLessThan(1_000);
});

test('one that is longer than Kubernetes takes is not read', () => {
  expect(run(`"${'a'.repeat(20_000)}" == "a"`)).toMatchObject({
    error: expect.stringContaining('longer than the 10240'),
  });
});
