import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { annotation, conditionType } from '../api/index.ts';
import type { Node } from '../ports/index.ts';
import { InputWatch } from './input-watch.ts';
import { openBench } from './testing/bench.testing.ts';

let bench: Awaited<ReturnType<typeof openBench>>;
let watch: InputWatch;
beforeEach(async () => {
  bench = await openBench({ controllers: () => [] });
  await bench.nodeClass();
  await bench.pool('default');
  await bench.machine('default', 'n');
  watch = new InputWatch(bench.context);
  await watch.look();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await bench.close();
});

/** Whether the next look counts as a change, after something that is not news by itself. */
async function isNoticed(happens: () => Promise<unknown>): Promise<boolean> {
  const { cluster } = bench.context;
  await happens();
  const before = cluster.changedAt();
  await watch.look();
  return cluster.changedAt() > before;
}

test('a look that sees the same counts as no change, however much time has passed', async () => {
  expect(await isNoticed(() => bench.run(30 * 60_000))).toBe(false);
});

test('a new version of a Node that says the same is not a change, a label is, once', async () => {
  const { cluster } = bench.context;
  let version = 1_000_000;
  const write = (labels: Record<string, string>) => async () => {
    const { metadata, ...rest } = cluster.nodes.get('n') as Node;
    version += 1;
    const now = { ...metadata, labels: { ...metadata.labels, ...labels }, resourceVersion: String(version) };
    cluster.setNode({ ...rest, metadata: now });
  };
  expect(await isNoticed(write({}))).toBe(false);
  expect(await isNoticed(write({ team: 'shop' }))).toBe(true);
  expect(await isNoticed(async () => {})).toBe(false);
});

test('a condition of a claim, and what the provider asks for a type, are changes', async () => {
  const { cluster, cloud, clock } = bench.context;
  const [claim] = cluster.claims.list();
  if (claim === undefined) throw new Error('the machine has no claim');
  const condition = {
    type: conditionType.consolidatable,
    status: 'True' as const,
    reason: 'Quiet',
    message: '',
    lastTransitionTime: new Date(clock.now()).toISOString(),
  };
  const next = {
    ...claim,
    metadata: { ...claim.metadata, resourceVersion: `${Number(claim.metadata.resourceVersion) + 1}` },
    status: { ...claim.status, conditions: [...(claim.status?.conditions ?? []), condition] },
  };
  expect(await isNoticed(async () => cluster.setClaim(next as typeof claim))).toBe(true);
  const types = cloud.instanceTypes.bind(cloud);
  vi.spyOn(cloud, 'instanceTypes').mockImplementation(async (...given) =>
    (await types(...given)).map((type) => ({
      ...type,
      offerings: type.offerings.map((offering) => ({ ...offering, price: offering.price * 2 })),
    })),
  );
  expect(await isNoticed(async () => {})).toBe(true);
  expect(await isNoticed(async () => {})).toBe(false);
});

test('the end of a protection that a pod asked for is a change, once', async () => {
  const { cluster, clock } = bench.context;
  cluster.setPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'default',
      resourceVersion: '1000000',
      annotations: { [annotation.doNotDisrupt]: '20m' },
    },
    spec: { nodeName: 'n', containers: [] },
    status: { phase: 'Running', startTime: new Date(clock.now()).toISOString() },
  });
  await watch.look();
  expect(await isNoticed(() => bench.run(15 * 60_000))).toBe(false);
  expect(await isNoticed(() => bench.run(6 * 60_000))).toBe(true);
  expect(await isNoticed(() => bench.run(6 * 60_000))).toBe(false);
});
