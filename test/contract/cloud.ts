// The contract of the Cloud port (src/ports/cloud.ts) as tests, to be run by every adapter.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeClaim, NodePool } from '../../src/api/index.ts';
import type { Cloud, Instance } from '../../src/ports/index.ts';

export interface CloudUnderTest {
  cloud: Cloud;
  pool: NodePool;
  /** A claim that some instance type satisfies; each with a name of its own. */
  claim(name: string): NodeClaim;
  /** A claim no offering satisfies. */
  impossibleClaim(name: string): NodeClaim;
  /** Waits until machines that were asked for are there, and those asked to go are gone. */
  settle(): Promise<void>;
  tearDown?(): Promise<void>;
}

export function cloudContract(name: string, setUp: () => Promise<CloudUnderTest>): void {
  describe(`contract of the Cloud port: ${name}`, () => {
    let under: CloudUnderTest;
    let cloud: Cloud;
    beforeAll(async () => {
      under = await setUp();
      ({ cloud } = under);
    });
    afterAll(async () => under.tearDown?.());

    const launched = async (name: string): Promise<{ claim: NodeClaim; instance: Instance }> => {
      const claim = under.claim(name);
      const instance = await cloud.create(claim);
      const { providerID, imageID } = instance;
      const status = { ...claim.status, providerID, ...(imageID === undefined ? {} : { imageID }) };
      return { claim: { ...claim, status }, instance };
    };

    test('create answers with everything known about the machine', async () => {
      const { instance } = await launched('known');
      expect(instance.providerID).not.toBe('');
      expect(instance.labels['node.kubernetes.io/instance-type']).toBeTruthy();
      expect(instance.labels['topology.kubernetes.io/zone']).toBeTruthy();
      expect(instance.labels['karpenter.sh/capacity-type']).toBeTruthy();
      expect(Object.keys(instance.capacity)).toEqual(expect.arrayContaining(['cpu', 'memory', 'pods']));
      expect(Object.keys(instance.allocatable)).toEqual(expect.arrayContaining(['cpu', 'memory', 'pods']));
    });

    test('a machine can be found by its provider id and in the list, at once and later', async () => {
      const { instance } = await launched('found');
      const isListed = async (): Promise<boolean> =>
        (await cloud.list()).some(({ providerID }) => providerID === instance.providerID);
      expect((await cloud.get(instance.providerID)).labels).toMatchObject(instance.labels);
      expect(await isListed()).toBe(true);
      await under.settle();
      expect((await cloud.get(instance.providerID)).labels).toMatchObject(instance.labels);
      expect(await isListed()).toBe(true);
    });

    test('a claim nothing satisfies is refused for want of capacity', async () => {
      await expect(cloud.create(under.impossibleClaim('impossible'))).rejects.toMatchObject({
        kind: 'insufficientCapacity',
      });
    });

    test('deleting may be repeated, and says when the machine is gone', async () => {
      const { claim, instance } = await launched('deleted');
      await under.settle();
      await cloud.delete(claim);
      await under.settle();
      await expect(cloud.delete(claim)).rejects.toMatchObject({ kind: 'notFound' });
      await expect(cloud.get(instance.providerID)).rejects.toMatchObject({ kind: 'notFound' });
    });

    test('a machine can be deleted before it has joined', async () => {
      const { claim, instance } = await launched('early');
      await cloud.delete(claim);
      await under.settle();
      await expect(cloud.get(instance.providerID)).rejects.toMatchObject({ kind: 'notFound' });
    });

    test('an unknown provider id is not found', async () => {
      await expect(cloud.get('nowhere://nothing')).rejects.toMatchObject({ kind: 'notFound' });
    });

    test('the same instance types come back as long as nothing changed', async () => {
      const types = await cloud.instanceTypes(under.pool);
      expect(types.length).toBeGreaterThan(0);
      expect(await cloud.instanceTypes(under.pool)).toBe(types);
    });

    test('a machine just launched has not drifted', async () => {
      const { claim, instance } = await launched('fresh');
      const withLabels = { ...claim, metadata: { ...claim.metadata, labels: instance.labels } };
      expect(await cloud.driftReason(withLabels)).toBeUndefined();
    });
  });
}
