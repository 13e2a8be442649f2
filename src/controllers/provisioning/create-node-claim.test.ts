import { setImmediate as settle } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { NodeClaim, NodePool } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import type { PlannedNode } from '../../core/index.ts';
import { type Kube, KubeError } from '../../ports/index.ts';
import { Cluster, LaunchLedger } from '../../state/index.ts';
import { recordedLog, recordedMetrics } from '../testing/records.testing.ts';
import { createNodeClaim, holdLimits, type Wanted } from './create-node-claim.ts';
import { provisioningMetrics } from './metrics.ts';

const type = (cpu: string) => ({ name: `${cpu}x`, requirements: [], capacity: { cpu, memory: '8Gi' }, offerings: [] });
const offered = [type('2'), type('4')];
const poolWith = (limits: Record<string, string>) =>
  ({ metadata: { name: 'default' }, spec: { limits } }) as unknown as NodePool;

/** A claim of the pool; launched ones have their machine's size. */
const claim = (name: string, over: { cpu?: string; types?: string[]; deleting?: boolean } = {}) =>
  ({
    metadata: {
      name,
      uid: name,
      labels: { 'karpenter.sh/nodepool': 'default' },
      ...(over.deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: over.types ?? ['2x', '4x'] }],
    },
    status: over.cpu === undefined ? {} : { providerID: `fake:///${name}`, capacity: { cpu: over.cpu } },
  }) as unknown as NodeClaim;

function context(...claims: NodeClaim[]) {
  const cluster = new Cluster(new VirtualClock({ settle: async () => {} }));
  for (const each of claims) cluster.setClaim(each);
  return { cluster, ledger: new LaunchLedger() };
}
const wanted = (limits: Record<string, string>, over: Partial<Wanted> = {}): Wanted => ({
  pool: poolWith(limits),
  chosen: [type('4')],
  offered,
  ...over,
});

describe('room for a new claim', () => {
  test('is there up to the limit, and not beyond', () => {
    const world = context(claim('a', { cpu: '4' }));
    expect(() => holdLimits(world, wanted({ cpu: '8' }))).not.toThrow();
    expect(() => holdLimits(context(claim('a', { cpu: '4' })), wanted({ cpu: '7' }))).toThrow(
      'resource usage exceeds limit (limit=7, resource-name=cpu, usage=8)',
    );
  });

  test('is taken at once, so that two who ask together do not both get the last of it', () => {
    const world = context();
    const giveBack = holdLimits(world, wanted({ nodes: '1' }));
    expect(() => holdLimits(world, wanted({ nodes: '1' }))).toThrow('resource-name=nodes');
    giveBack();
    expect(() => holdLimits(world, wanted({ nodes: '1' }))).not.toThrow();
  });

  test('counts claims that are not launched yet as the largest they may become, whoever made them', () => {
    expect(() => holdLimits(context(claim('a')), wanted({ cpu: '7' }))).toThrow('usage=8');
    expect(() => holdLimits(context(claim('a', { types: ['2x'] })), wanted({ cpu: '7' }))).not.toThrow();
    const known = context(claim('a'));
    known.ledger.add('a', 'default', [], [type('2')]);
    expect(() => holdLimits(known, wanted({ cpu: '6' }))).not.toThrow();
  });

  test('does not count what leaves, what is replaced, or what was counted while it was launched', () => {
    expect(() => holdLimits(context(claim('a', { cpu: '4', deleting: true })), wanted({ cpu: '4' }))).not.toThrow();
    const replaced = new Set(['a']);
    expect(() => holdLimits(context(claim('a', { cpu: '4' })), wanted({ cpu: '4' }, { replaced }))).not.toThrow();
    const launched = context(claim('a', { cpu: '4' }));
    launched.ledger.add('a', 'default', [], [type('4')]);
    expect(() => holdLimits(launched, wanted({ cpu: '8' }))).not.toThrow();
  });
});

describe('a claim written in its room', () => {
  const limits = { nodes: '1' };
  function writing(answer: () => Promise<NodeClaim>) {
    const clock = new VirtualClock({ settle: () => settle() });
    const cluster = new Cluster(clock);
    const kube = { create: answer } as unknown as Kube;
    const world = { clock, cluster, ledger: new LaunchLedger(), kube, log: recordedLog() };
    const isFull = (): boolean => {
      try {
        holdLimits(world, wanted(limits))();
        return false;
      } catch {
        return true;
      }
    };
    const planned = { nodePool: 'default', annotations: {}, instanceTypes: ['4x'] } as unknown as PlannedNode;
    const { created } = provisioningMetrics(recordedMetrics());
    const author = { controller: 'test', reason: 'provisioned', created };
    const asked = { claim: claim('a'), planned, pods: ['shop/web'] };
    return { clock, isFull, written: createNodeClaim(world, wanted(limits), asked, author) };
  }

  test('is spoken for without a gap from before it is written until it is known', async () => {
    const { isFull, written } = writing(async () => claim('a'));
    expect(isFull()).toBe(true);
    void written.then(() => expect(isFull()).toBe(true));
    await written;
    expect(isFull()).toBe(true);
  });

  test('gives its room back at once when it was refused', async () => {
    const { isFull, written } = writing(async () => {
      throw new KubeError({ status: 409, reason: 'Conflict', message: 'no' });
    });
    await expect(written).rejects.toThrow('no');
    expect(isFull()).toBe(false);
  });

  test('keeps its room for a while without an answer: it may be there all the same', async () => {
    const { clock, isFull, written } = writing(async () => {
      throw new KubeError({ status: 0, reason: 'Transport', message: 'the answer was lost' });
    });
    await expect(written).rejects.toThrow('lost');
    await clock.runFor(9_000);
    expect(isFull()).toBe(true);
    await clock.runFor(2_000);
    expect(isFull()).toBe(false);
  });
});
