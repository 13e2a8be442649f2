import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type NodePool, nodePoolHash } from '../../api/index.ts';
import { resources } from '../../ports/index.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { type Bench, type DeepPartial, openBench } from '../testing/bench.testing.ts';
import { Provisioner } from './provisioner.ts';

let bench: Bench;
let provisioner: Provisioner;
beforeEach(async () => {
  bench = await openBench({
    controllers: (context) => {
      provisioner = new Provisioner(context);
      return [];
    },
  });
});
afterEach(() => bench.close());

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;
const pool = (name: string, spec: DeepPartial<NodePool['spec']> = {}) =>
  bench.pool(name, { spec, status: { conditions: [ready] } });
const requirements = (...values: string[]) => ({
  template: { spec: { requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values }] } },
});
/** A pod that kube-scheduler found no node for. */
async function waiting(name: string, cpu: string): Promise<void> {
  await bench.kube.create(resources.pods, {
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu } } }] },
  });
  await bench.kube.patch(
    resources.pods,
    { name, namespace: 'default' },
    {
      type: 'merge',
      body: { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } },
    },
    { subresource: 'status' },
  );
  await bench.run(10);
}

describe('a limit on the number of nodes', () => {
  test('is kept within one pass, however many nodes the pods would need', async () => {
    await pool('default', { limits: { nodes: '2' }, ...requirements('c-2x-amd64-linux') } as never);
    for (const name of ['a', 'b', 'c', 'd']) await waiting(name, '1');
    await provisioner.pass();
    expect(await bench.list(nodeClaims)).toHaveLength(2);
    await provisioner.pass();
    expect(await bench.list(nodeClaims)).toHaveLength(2);
    const reported = bench.events.filter(({ reason }) => reason === 'FailedScheduling').map(({ message }) => message);
    expect(new Set(reported)).toEqual(
      new Set(['Failed to schedule pod, node limits have been exhausted for nodepool (NodePool=default)']),
    );
  });
});

describe('of a burst where nothing was launched lately', () => {
  async function fortyPods(): Promise<void> {
    await pool('default', requirements('c-2x-amd64-linux') as never);
    for (let at = 0; at < 40; at++) await waiting(`p${at}`, '1500m');
  }

  test('the rest follows as soon as the first is launched, though others are still being written', async () => {
    await fortyPods();
    const { kube, ledger, clock } = bench.context;
    let written = 0;
    const create: typeof kube.create = async (...args) => {
      const object = await kube.create(...args);
      if (++written === 1) {
        const offering = { instanceType: 'c-2x-amd64-linux', zone: 'test-zone-a', capacityType: 'spot' };
        ledger.pace.succeeded('default', offering, clock.elapsed());
      }
      return object;
    };
    const watched = new Proxy(kube, { get: (own, key) => (key === 'create' ? create : Reflect.get(own, key)) });
    const startedMs = clock.elapsed();
    await new Provisioner({ ...bench.context, kube: watched }).pass();
    expect(await bench.list(nodeClaims)).toHaveLength(40);
    expect(clock.elapsed() - startedMs).toBeLessThan(1_000);
  });

  test('the rest waits five seconds for an answer', async () => {
    await fortyPods();
    const passed = provisioner.pass();
    await bench.run(4_000);
    expect(await bench.list(nodeClaims)).toHaveLength(32);
    await bench.run(2_000);
    await passed;
    expect(await bench.list(nodeClaims)).toHaveLength(40);
  });
});

describe('a pool whose requirements leave no instance type', () => {
  test('is reported, and the others are used', async () => {
    await pool('nothing', { weight: 90, ...requirements('no-such-type') } as never);
    await pool('something');
    await waiting('a', '1');
    await provisioner.pass();
    expect((await bench.list(nodeClaims)).map(({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'])).toEqual([
      'something',
    ]);
    expect(bench.events.filter(({ reason }) => reason === 'NoCompatibleInstanceTypes')).toMatchObject([
      {
        type: 'Warning',
        subject: { kind: 'NodePool', name: 'nothing' },
        message: 'NodePool requirements filtered out all compatible available instance types',
        dedupeMs: 60_000,
      },
    ]);
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({ message: 'skipping, nodepool requirements filtered out all instance types' }),
    );
  });

  test('because of minValues says so', async () => {
    await pool('strict', {
      template: {
        spec: { requirements: [{ key: 'topology.kubernetes.io/zone', operator: 'Exists', minValues: 9 }] },
      },
    } as never);
    await waiting('a', '1');
    await provisioner.pass();
    expect(bench.events.filter(({ reason }) => reason === 'NoCompatibleInstanceTypes')).toMatchObject([
      {
        message:
          'NodePool requirements filtered out all compatible available instance types due to minValues incompatibility',
      },
    ]);
  });
});

describe('while a plan is worked out', () => {
  /** A provisioner during whose planning something happens. */
  const meanwhile = (happens: () => Promise<unknown>): Provisioner =>
    new Provisioner({
      ...bench.context,
      plan: async (...args) => {
        const plan = await bench.context.plan(...args);
        await happens();
        await bench.run(10);
        return plan;
      },
    });

  test('a pool may change: the claim is of the template that was planned for, hash included, and so drifts', async () => {
    const labelled = (team: string) => pool('default', { template: { metadata: { labels: { team } } } });
    await labelled('old');
    const planned = await bench.get(nodePools, 'default');
    if (planned === undefined) throw new Error('no NodePool');
    await waiting('a', '1');
    await meanwhile(() => labelled('new')).pass();
    const [claim] = await bench.list(nodeClaims);
    expect(claim?.metadata.labels?.['team']).toBe('old');
    expect(claim?.metadata.annotations?.['karpenter.sh/nodepool-hash']).toBe(nodePoolHash(planned.spec.template));
  });

  test('a pool may be deleted, or made anew under its name: nothing is launched for it', async () => {
    for (const happens of [async () => {}, () => pool('default')]) {
      await pool('default');
      await waiting('a', '1');
      await meanwhile(async () => {
        await bench.remove(nodePools, 'default');
        await happens();
      }).pass();
      expect(await bench.list(nodeClaims)).toEqual([]);
      await bench.remove(resources.pods, 'a', 'default');
    }
  });
});

describe('a pod is notified', () => {
  const reported = (reason: string) => bench.events.filter((event) => event.reason === reason);

  test('the claim that was made for it; five a second, after ten at once', async () => {
    await pool('default');
    await waiting('a', '1');
    const { created } = await provisioner.pass();
    expect(reported('Nominated')).toMatchObject([
      {
        type: 'Normal',
        subject: { kind: 'Pod', name: 'a', namespace: 'default' },
        message: `Pod should schedule on: nodeclaim/${created[0]?.metadata.name}`,
        rateLimit: { perSecond: 5, burst: 10 },
      },
    ]);
  });

  test('the node that has room for it, which disruption then leaves alone for twenty seconds', async () => {
    await pool('default');
    await bench.machine('default', 'there', { capacity: { cpu: '4', memory: '8Gi', pods: '10' } });
    await waiting('a', '1');
    const { created } = await provisioner.pass();
    expect(created).toEqual([]);
    expect(reported('Nominated')).toMatchObject([{ message: 'Pod should schedule on: nodeclaim/there, node/there' }]);
    const { cluster } = bench.context;
    const machine = cluster.machines.ofNode('there');
    await bench.run(19_000);
    expect(machine && cluster.isNominated(machine)).toBe(true);
    await bench.run(1_000);
    expect(machine && cluster.isNominated(machine)).toBe(false);
  });

  test('why there is no place for it, once in five minutes', async () => {
    await pool('default', requirements('c-1x-amd64-linux') as never);
    await waiting('large', '4');
    await provisioner.pass();
    expect(reported('FailedScheduling')).toMatchObject([
      {
        type: 'Warning',
        subject: { kind: 'Pod', name: 'large' },
        message: expect.stringMatching(/^Failed to schedule pod, .*no instance type has enough resources/),
        dedupeMs: 300_000,
      },
    ]);
    expect(bench.log.lines).toContainEqual(expect.objectContaining({ message: 'could not schedule pod' }));
  });
});

describe('the log says', () => {
  test('how many pods wait, for how many nodes', async () => {
    await pool('default');
    await waiting('a', '1');
    await waiting('b', '1');
    await provisioner.pass();
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({
        message: 'found provisionable pod(s)',
        fields: { controller: 'provisioner', Pods: 'default/a, default/b', duration: '0s' },
      }),
    );
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({
        message: 'computed new nodeclaim(s) to fit pod(s)',
        fields: { controller: 'provisioner', nodeclaims: 1, pods: 2 },
      }),
    );
    expect(bench.log.lines.map(({ message }) => message).slice(-3)).toEqual([
      'found provisionable pod(s)',
      'computed new nodeclaim(s) to fit pod(s)',
      'created nodeclaim',
    ]);
  });

  test('that there is no pool at all, or none that is ready', async () => {
    await waiting('a', '1');
    await bench.pool('unready');
    await provisioner.pass();
    expect(bench.log.lines).toContainEqual(expect.objectContaining({ message: 'no dynamic nodepools found' }));
    expect(bench.log.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'ignoring nodepool, not ready',
        fields: { controller: 'provisioner', NodePool: { name: 'unready' } },
      }),
    );
  });
});
