// Which claims are marked Consolidatable and Drifted, and when.
import { afterEach, describe, expect, test } from 'vitest';
import { type NodeClaim, type NodePool, nodePoolHash, nodePoolHashVersion } from '../../../api/index.ts';
import type { InstanceTypeSpec } from '../../../core/index.ts';
import type { Cloud, KubeObject, Resource } from '../../../ports/index.ts';
import { nodeClaims, nodePools } from '../../own-resources.ts';
import { type Bench, type MachineParts, openBench } from '../../testing/bench.testing.ts';
import { claimCondition } from '../claim-conditions.ts';
import { claimDisruptionController } from './controller.ts';

const minute = 60_000;
const labels = { 'topology.kubernetes.io/zone': 'test-zone-a', 'karpenter.sh/capacity-type': 'on-demand' };
let bench: Bench;
/** What the provider says now; changed by tests. */
let says: { drift?: string; noTypes?: boolean; asked: number };
afterEach(() => bench.close());

async function opened(spec: Partial<NodePool['spec']> = {}, ...nodeClasses: Resource[]): Promise<NodePool> {
  says = { asked: 0 };
  const cloud = (kwok: Cloud): Cloud =>
    Object.assign(Object.create(kwok) as Cloud, {
      nodeClasses: [...kwok.nodeClasses, ...nodeClasses],
      driftReason: async () => says.drift,
      instanceTypes: async (pool: NodePool): Promise<readonly InstanceTypeSpec[]> => {
        says.asked += 1;
        return says.noTypes ? [] : kwok.instanceTypes(pool);
      },
    });
  bench = await openBench({ controllers: (context) => [claimDisruptionController(context)], cloud });
  await bench.nodeClass();
  return bench.pool('default', { spec });
}

async function machine(pool: NodePool, parts: MachineParts = {}): Promise<void> {
  const annotations = {
    'karpenter.sh/nodepool-hash': nodePoolHash(pool.spec.template),
    'karpenter.sh/nodepool-hash-version': nodePoolHashVersion,
  };
  await bench.machine('default', 'a', {
    ...parts,
    claim: { ...parts.claim, metadata: { labels, annotations } },
    node: { metadata: { labels } },
  });
}

const condition = async (type: string) =>
  claimCondition((await bench.get<NodeClaim>(nodeClaims, 'a')) as NodeClaim, type);
const reason = async () => (await condition('Drifted'))?.reason;

describe('a claim is consolidatable', () => {
  const after = (consolidateAfter: string) => ({ disruption: { consolidateAfter } }) as Partial<NodePool['spec']>;
  const isMarked = async () => (await condition('Consolidatable'))?.status === 'True';

  test('once consolidateAfter has passed since it was initialized', async () => {
    await machine(await opened(after('2m')));
    await bench.run(1.9 * minute);
    expect(await isMarked()).toBe(false);
    await bench.run(0.2 * minute);
    expect(await isMarked()).toBe(true);
  });

  test('not again until consolidateAfter has passed since a pod came or went', async () => {
    await machine(await opened(after('2m')));
    await bench.run(3 * minute);
    expect(await isMarked()).toBe(true);
    await bench.apply(nodeClaims, { metadata: { name: 'a' }, status: { lastPodEventTime: bench.nowPlus(0) } });
    await bench.run(minute);
    expect(await isMarked()).toBe(false);
    await bench.run(1.1 * minute);
    expect(await isMarked()).toBe(true);
  });

  test('never while it is not initialized', async () => {
    await machine(await opened(after('0s')), { conditions: { Launched: 'True', Initialized: 'Unknown' } });
    await bench.run(10 * minute);
    expect(await isMarked()).toBe(false);
  });

  test('never where consolidateAfter is Never, and no more once it is', async () => {
    await machine(await opened(after('0s')));
    await bench.run(minute);
    expect(await isMarked()).toBe(true);
    await bench.apply(nodePools, { metadata: { name: 'default' }, spec: after('Never') });
    await bench.run(minute);
    expect(await isMarked()).toBe(false);
  });

  test('never in a static pool', async () => {
    await machine(await opened({ ...after('0s'), replicas: 1 }));
    await bench.run(10 * minute);
    expect(await isMarked()).toBe(false);
  });
});

describe('a claim has drifted', () => {
  describe('as soon as its class', () => {
    const ec2NodeClasses: Resource = {
      group: 'karpenter.k8s.aws',
      version: 'v1',
      kind: 'EC2NodeClass',
      plural: 'ec2nodeclasses',
      namespaced: false,
    };
    const selects = [{ tags: { a: 'b' } }];
    const spec = {
      role: 'nodes',
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: selects,
      securityGroupSelectorTerms: selects,
    };
    const subnets = (...ids: string[]) => ids.map((id) => ({ id, zone: 'test-zone-a' }));
    const nodeClass = (over: object) =>
      bench.apply<KubeObject>(ec2NodeClasses, {
        metadata: { name: 'ec2' },
        spec,
        status: { subnets: subnets('a') },
        ...over,
      } as never);

    const changed = async (over: object): Promise<string | undefined> => {
      const pool = await opened({}, ec2NodeClasses);
      await nodeClass({});
      const { group, kind } = ec2NodeClasses;
      await machine(pool, { claim: { spec: { nodeClassRef: { group, kind, name: 'ec2' } } } });
      await bench.run(minute);
      says.drift = 'NodeClassDrift';
      await bench.run(minute);
      expect(await reason()).toBeUndefined();
      await nodeClass(over);
      await bench.run(1_000);
      return reason();
    };

    test('asks for something else', async () => {
      expect(await changed({ spec: { ...spec, role: 'others' } })).toBe('NodeClassDrift');
    });

    test('has another hash', async () => {
      expect(await changed({ metadata: { name: 'ec2', annotations: { hash: '2' } } })).toBe('NodeClassDrift');
    });

    test('selects something else', async () => {
      expect(await changed({ status: { subnets: subnets('b') } })).toBe('NodeClassDrift');
    });

    test('but not because that is ready or not', async () => {
      const ready = {
        type: 'Ready',
        status: 'False',
        reason: 'x',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      expect(await changed({ status: { subnets: subnets('a'), conditions: [ready] } })).toBeUndefined();
    });
  });

  test('by its template before its requirements, by those before its provider', async () => {
    const pool = await opened();
    says.drift = 'AMIDrift';
    await machine(pool);
    await bench.run(minute);
    expect(await reason()).toBe('AMIDrift');
    const marking = { message: 'marking drifted', fields: { NodeClaim: { name: 'a' }, reason: 'AMIDrift' } };
    expect(bench.log.lines.filter(({ message }) => message === marking.message)).toMatchObject([marking]);
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }];
    await bench.apply<NodePool>(nodePools, {
      metadata: { name: 'default' },
      spec: { template: { spec: { requirements } } } as never,
    });
    await bench.run(minute);
    expect(await condition('Drifted')).toMatchObject({
      reason: 'RequirementsDrifted',
      message: expect.stringMatching(
        /^RequirementsDrifted: requirement karpenter\.sh\/capacity-type: was \S+, now In spot$/,
      ),
    });
    await bench.apply<NodePool>(nodePools, {
      metadata: {
        name: 'default',
        annotations: {
          'karpenter.sh/nodepool-hash': 'another',
          'karpenter.sh/nodepool-hash-version': nodePoolHashVersion,
        },
      },
    });
    await bench.run(minute);
    expect(await reason()).toBe('NodePoolDrifted');
  });

  test('because its type is gone only when it is an hour old', async () => {
    await machine(await opened());
    says.noTypes = true;
    await bench.run(55 * minute);
    expect(await reason()).toBeUndefined();
    await bench.run(11 * minute);
    expect(await reason()).toBe('InstanceTypeNotFound');
  });

  test('and its type, once found, is not looked up again for half an hour', async () => {
    await machine(await opened());
    await bench.run(66 * minute);
    const asked = says.asked;
    expect(asked).toBeGreaterThan(0);
    says.noTypes = true;
    await bench.run(20 * minute);
    expect(says.asked).toBe(asked);
    expect(await reason()).toBeUndefined();
    await bench.run(20 * minute);
    expect(await reason()).toBe('InstanceTypeNotFound');
  });

  test('no longer when the reason is gone, its pool is, or it was never launched', async () => {
    const pool = await opened();
    says.drift = 'AMIDrift';
    await machine(pool);
    await bench.run(minute);
    expect(await reason()).toBe('AMIDrift');
    delete says.drift;
    await bench.run(6 * minute);
    expect(await reason()).toBeUndefined();
    says.drift = 'AMIDrift';
    await bench.run(6 * minute);
    expect(await reason()).toBe('AMIDrift');
    await bench.remove(nodePools, 'default');
    await bench.run(6 * minute);
    expect(await reason()).toBeUndefined();
  });

  test('is not asked about a claim that was not launched', async () => {
    const pool = await opened();
    says.drift = 'AMIDrift';
    await machine(pool, { conditions: { Launched: 'Unknown' } });
    await bench.run(6 * minute);
    expect(await reason()).toBeUndefined();
  });
});
