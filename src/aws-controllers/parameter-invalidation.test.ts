import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  al2023Parameters,
  minuteMs,
  type NodeClassBench,
  openNodeClasses,
} from './nodeclass/nodeclass-bench.testing.ts';

let bench: NodeClassBench;
beforeEach(async () => {
  bench = await openNodeClasses();
});
afterEach(() => bench.close());

const [latest = '', standard = ''] = Object.entries(al2023Parameters)[0] ?? [];
const idsOf = async () => (await bench.status()).amis?.map(({ id }) => id);
const publish = (name: string) => {
  bench.world.parameters[name] = 'ami-new';
  bench.world.images.push({ ImageId: 'ami-new', Architecture: 'x86_64', CreationDate: '2026-02-01T00:00:00.000Z' });
};

test('what latest stood for is asked for again once that image is deprecated', async () => {
  await bench.classOf();
  publish(latest);
  await bench.run(40 * minuteMs);
  // Nothing is wrong with the old one: it may be a day until the new one is noticed.
  expect(await idsOf()).toContain(standard);
  const old = bench.world.images.find(({ ImageId }) => ImageId === standard);
  if (old !== undefined) old.DeprecationTime = new Date(bench.clock.now()).toISOString();
  await bench.run(40 * minuteMs);
  expect(await idsOf()).toContain('ami-new');
  expect(await idsOf()).not.toContain(standard);
});

test('a pinned version stays, deprecated or not', async () => {
  const pinned = latest.replace('recommended', 'amazon-eks-node-al2023-x86_64-standard-1.34-v20260101');
  bench.world.parameters = { [pinned]: standard };
  await bench.classOf({ amiSelectorTerms: [{ alias: 'al2023@v20260101' }] });
  publish(pinned);
  const old = bench.world.images.find(({ ImageId }) => ImageId === standard);
  if (old !== undefined) old.DeprecationTime = new Date(bench.clock.now()).toISOString();
  await bench.run(70 * minuteMs);
  expect(await idsOf()).toEqual([standard]);
});
