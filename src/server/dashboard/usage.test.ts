import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { type Kube, KubeError } from '../../ports/index.ts';
import { Usage } from './usage.ts';

const clockOf = (): VirtualClock => new VirtualClock({ settle: () => Promise.resolve() });
function metrics(answer: () => object[]) {
  const asked = { count: 0 };
  const kube = {
    async list() {
      asked.count += 1;
      return { items: answer(), resourceVersion: '1' };
    },
  } as unknown as Kube;
  return { kube, asked };
}

test('amounts of any form are thousandths of a cpu and MiB, and asked for once in 15 seconds', async () => {
  const clock = clockOf();
  const { kube, asked } = metrics(() => [
    { metadata: { name: 'a' }, usage: { cpu: '1500m', memory: '2Gi' } },
    { metadata: { name: 'b' }, usage: { cpu: '250000001n', memory: '1048576' } },
    { metadata: { name: 'c' } },
  ]);
  const usage = new Usage(kube, clock);
  expect(await usage.read()).toMatchObject({ served: true, nodes: { a: [1500, 2048], b: [251, 1], c: [0, 0] } });
  await usage.read();
  expect(asked.count).toBe(1);
  clock.step(15_000);
  await usage.read();
  expect(asked.count).toBe(2);
});

test('a cluster that serves none says so, and is left alone for two minutes', async () => {
  const clock = clockOf();
  const { kube, asked } = metrics(() => {
    throw new KubeError({ reason: 'NotFound', status: 404, message: 'not found' });
  });
  const usage = new Usage(kube, clock);
  expect(await usage.read()).toMatchObject({
    served: false,
    message: expect.stringContaining('metrics server'),
    nodes: {},
  });
  clock.step(60_000);
  await usage.read();
  expect(asked.count).toBe(1);
  clock.step(61_000);
  await usage.read();
  expect(asked.count).toBe(2);
});
