import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Kube, KubeError } from '../ports/index.ts';
import { nodeClaims } from './own-resources.ts';
import { type Bench, openBench } from './testing/bench.testing.ts';
import { deleteClaim } from './writes.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ controllers: () => [] });
});
afterEach(() => bench.close());

const conflict = new KubeError({ status: 409, reason: 'Conflict', message: 'the object has been modified' });
const kept = { claim: { metadata: { finalizers: ['example.com/keep'] } } };
/** As the API server on a bad day: it refuses, and maybe something happened before. */
const refusing = (before: () => Promise<unknown> = async () => {}): Kube =>
  ({
    get: bench.kube.get.bind(bench.kube),
    delete: async () => {
      await before();
      throw conflict;
    },
  }) as unknown as Kube;
const isGoing = (): boolean => bench.context.cluster.claims.get('a')?.metadata.deletionTimestamp !== undefined;

describe('a claim that is deleted', () => {
  test('counts as going at once', async () => {
    await deleteClaim(bench.context, await bench.machine('default', 'a', kept));
    expect(isGoing()).toBe(true);
  });

  test('does not count as going when the server refuses, and the refusal is reported', async () => {
    const claim = await bench.machine('default', 'a', kept);
    await expect(deleteClaim({ ...bench.context, kube: refusing() }, claim)).rejects.toBe(conflict);
    expect(isGoing()).toBe(false);
  });

  test('is left alone when it is going already, is gone, or another has its name', async () => {
    const claim = await bench.machine('default', 'a', kept);
    const going = () => bench.remove(nodeClaims, 'a');
    await deleteClaim({ ...bench.context, kube: refusing(going) }, claim);
    const gone = () => bench.apply(nodeClaims, { metadata: { name: 'a', finalizers: [] } });
    await deleteClaim({ ...bench.context, kube: refusing(gone) }, claim);
    const another = await bench.machine('default', 'a', kept);
    await deleteClaim({ ...bench.context, kube: refusing() }, claim);
    expect((await bench.get(nodeClaims, 'a'))?.metadata.uid).toBe(another.metadata.uid);
  });
});
