import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeClaims } from '../own-resources.ts';
import { nodeClassRef } from '../testing/bench.testing.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { expirationController } from './expiration.ts';

const minute = 60_000;
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle({ controllers: (context, metrics) => [expirationController(context, metrics)] });
});
afterEach(() => bench.close());

const expiring = (expireAfter: string) => ({ spec: { expireAfter }, metadata: { finalizers: ['example.com/keep'] } });
const isDeleted = async (): Promise<boolean> => (await bench.claim()).metadata.deletionTimestamp !== undefined;
const expired = (): number | undefined =>
  bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'expired', nodepool: 'default' });

describe('a claim', () => {
  test('is deleted exactly when its lifetime is over, and counted', async () => {
    const { metadata } = await bench.makeClaim('a', expiring('10m'));
    const dueMs = Date.parse(metadata.creationTimestamp ?? '') + 10 * minute;
    await bench.clock.runUntil(dueMs - 1);
    expect(await isDeleted()).toBe(false);
    await bench.clock.runUntil(dueMs);
    expect(await isDeleted()).toBe(true);
    expect(expired()).toBe(1);
  });

  test('is deleted whatever protects it', async () => {
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    await bench.makeClaim('a', { ...expiring('10m'), metadata: { annotations, finalizers: ['example.com/keep'] } });
    await bench.run(10 * minute);
    expect(await isDeleted()).toBe(true);
  });

  test('is deleted once, however often it changes afterwards', async () => {
    await bench.makeClaim('a', expiring('1m'));
    let deletions = 0;
    const remove = bench.kube.delete.bind(bench.kube);
    bench.kube.delete = (resource, ref, options) => {
      deletions += 1;
      return remove(resource, ref, options);
    };
    await bench.run(minute);
    for (let touch = 0; touch < 3; touch += 1) {
      await bench.apply(nodeClaims, { metadata: { name: 'a', labels: { touch: String(touch) } } });
      await bench.run(minute);
    }
    expect(deletions).toBe(1);
    expect(expired()).toBe(1);
  });

  test.each(['Never', '24h'])('that expires after %s is left alone for most of a day', async (expireAfter) => {
    await bench.makeClaim('a', expiring(expireAfter));
    await bench.run(23 * 60 * minute);
    expect(await isDeleted()).toBe(false);
  });

  test('of a node class that is not ours is left alone', async () => {
    const spec = { expireAfter: '1m', nodeClassRef: { ...nodeClassRef, kind: 'OtherNodeClass' } };
    await bench.makeClaim('a', { spec });
    await bench.run(10 * minute);
    expect(await isDeleted()).toBe(false);
  });
});
