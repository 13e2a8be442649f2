import { expect, test } from 'vitest';
import { examination } from './examine.ts';

const empty = {
  podLog: async () => '',
  list: async () => ({ items: [], resourceVersion: '1' }),
  get: () => Promise.reject(new Error('not there')),
} as never;

test('an examination is what kerf doctor -o json prints, and those who ask at once share one', async () => {
  let opened = 0;
  let closed = 0;
  const ask = examination(
    async () => {
      opened += 1;
      return { kube: empty, nowMs: Date.parse('2026-01-01T00:00:00Z'), close: async () => void (closed += 1) };
    },
    { env: {} },
  );
  const [first, second] = await Promise.all([ask(), ask()]);
  expect(first).toMatchObject({ findings: expect.any(Array), checks: expect.any(Array), input: expect.any(Object) });
  expect(second).toBe(first);
  expect([opened, closed]).toEqual([1, 1]);
});

test('one that failed is not given to the next who asks', async () => {
  let opened = 0;
  const ask = examination(
    async () => {
      opened += 1;
      throw new Error('no cluster');
    },
    { env: {} },
  );
  await expect(ask()).rejects.toThrow('no cluster');
  await expect(ask()).rejects.toThrow('no cluster');
  expect(opened).toBe(2);
});
