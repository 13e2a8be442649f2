// The simulated provider on the embedded cluster, in virtual time.
import { setImmediate as settle } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cloudContract } from '../../../test/contract/cloud.ts';
import type { KWOKNodeClass, KwokFaults, NodeClaim, NodePool } from '../../api/index.ts';
import { customResourceDefinition, kinds } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import { type Instance, KubeError, type KubeObject, type Node, resources } from '../../ports/index.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { SimKube } from '../sim-kube.ts';
import { genericCatalogue } from './catalogue/generic.ts';
import { kwokProviderFacts } from './catalogue/provider-facts.ts';
import { KwokCloud, kwokNodeClasses } from './kwok-cloud.ts';

const silent = { debug: () => {}, info: () => {}, error: () => {}, with: () => silent };
const catalogue = genericCatalogue();
const crds = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };

let clock: VirtualClock;
let cluster: EmbeddedCluster;
let kube: SimKube;
let cloud: KwokCloud;

async function start(spec: KWOKNodeClass['spec'] = { nodeRegistrationDelay: '5s' }): Promise<void> {
  clock = new VirtualClock({ settle });
  cluster = await createCluster({ clock });
  kube = new SimKube(cluster.machinery);
  for (const kind of kinds) {
    const crd = customResourceDefinition(kind) as unknown as KubeObject;
    await kube.create({ ...crds, kind: 'CustomResourceDefinition', namespaced: false }, crd);
  }
  await kube.create(kwokNodeClasses, { metadata: { name: 'default' }, spec });
  cloud = newCloud();
}

const newCloud = (): KwokCloud =>
  new KwokCloud({ kube, clock, log: silent, catalogue, facts: kwokProviderFacts(), random: () => 0.25 });

const types = {
  key: 'node.kubernetes.io/instance-type',
  operator: 'In',
  values: ['c-2x-amd64-linux', 's-4x-amd64-linux'],
};
const zoneKey = 'topology.kubernetes.io/zone';

function claim(name: string, ...requirements: object[]): NodeClaim {
  return {
    metadata: { name, labels: { 'karpenter.sh/nodepool': 'default' } },
    spec: {
      nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
      requirements: [types, ...requirements],
    },
  } as NodeClaim;
}

cloudContract('the simulated provider', async () => {
  await start();
  return {
    cloud,
    pool: {} as NodePool,
    claim,
    impossibleClaim: (name) => claim(name, { key: zoneKey, operator: 'In', values: ['mars'] }),
    settle: () => clock.runFor(10_000),
    tearDown: () => cluster.stop(),
  };
});

const nodes = async (): Promise<Node[]> => (await kube.list(resources.nodes)).items;
const nodeOf = ({ providerID }: Instance): Promise<Node> =>
  kube.get(resources.nodes, { name: providerID.replace('kwok://', '') });

describe('launching', () => {
  beforeEach(() => start());
  afterEach(() => cluster.stop());

  test('takes the cheapest offering of all', async () => {
    const { labels } = await cloud.create(claim('a'));
    expect(labels).toMatchObject({
      'node.kubernetes.io/instance-type': 'c-2x-amd64-linux',
      'karpenter.sh/capacity-type': 'spot',
      'eks-node-viewer/instance-price': expect.stringMatching(/^0\.\d{6}$/) as string,
    });
  });

  test('breaks ties between equal prices by lot', async () => {
    const { labels } = await cloud.create(claim('a'));
    expect(labels[zoneKey]).toBe('test-zone-b');
  });

  test('nothing is brought after the end, neither what was on its way nor what is asked for then', async () => {
    const tries: string[] = [];
    const create = kube.create.bind(kube);
    kube.create = (resource, object) => {
      if (resource !== resources.nodes) return create(resource, object);
      tries.push(object.metadata.name ?? '');
      return Promise.reject(new Error('refused to write: this process no longer leads'));
    };
    await cloud.create(claim('a'));
    await clock.runFor(6_000);
    expect(tries.length).toBeGreaterThan(0);
    cloud.dispose();
    tries.length = 0;
    await cloud.create(claim('b'));
    await clock.runFor(600_000);
    expect(tries).toEqual([]);
  });

  test('the Node comes after the registration delay, as users of KWOK know it', async () => {
    const instance = await cloud.create(claim('a'));
    await clock.runFor(4_900);
    expect(await nodes()).toEqual([]);
    await clock.runFor(200);
    const node = await nodeOf(instance);
    expect(node.metadata.name).toMatch(/^kwok-a-/);
    expect(node.metadata.labels).toMatchObject({
      'kubernetes.io/hostname': 'a',
      'kwok.x-k8s.io/node': 'fake',
      'kwok-partition': 'a',
      'karpenter.sh/nodepool': 'default',
      'karpenter.kwok.sh/instance-cpu': '2',
      'kubernetes.io/arch': 'amd64',
    });
    expect(node.metadata.annotations).toMatchObject({ 'kwok.x-k8s.io/node': 'fake' });
    expect(node.spec?.providerID).toBe(instance.providerID);
    expect(node.spec?.taints).toContainEqual({ key: 'karpenter.sh/unregistered', effect: 'NoExecute' });
    expect(node.status?.capacity).toMatchObject({ cpu: '2', memory: '4Gi', pods: '32' });
    expect(node.status?.allocatable).toMatchObject({ cpu: '1900m', memory: '4086Mi' });
  });

  test('a machine deleted while its Node is being written goes with the next call, and leaves no Node', async () => {
    const create = kube.create.bind(kube);
    kube.create = async (resource, object, options) => {
      await clock.sleep(1_000);
      return create(resource, object, options);
    };
    const instance = await cloud.create(claim('a'));
    const launched = { ...claim('a'), status: { providerID: instance.providerID } };
    await clock.runFor(5_500);
    await cloud.delete(launched);
    await clock.runFor(5_000);
    expect(await nodes()).toHaveLength(1);
    await cloud.delete(launched);
    expect(await nodes()).toEqual([]);
    await expect(cloud.delete(launched)).rejects.toMatchObject({ kind: 'notFound' });
  });

  test('a Node that the API server refuses never joins, even when it would be let in later', async () => {
    const create = kube.create.bind(kube);
    kube.create = () => Promise.reject(new KubeError({ status: 422, reason: 'Invalid', message: 'denied' }));
    const instance = await cloud.create(claim('a'));
    await clock.runFor(10_000);
    kube.create = create;
    await clock.runFor(120_000);
    expect(await nodes()).toEqual([]);
    await cloud.delete({ ...claim('a'), status: { providerID: instance.providerID } });
    expect(await cloud.list()).toEqual([]);
  });

  test.each([
    { status: 0, reason: 'Transport', message: 'away' },
    { status: 409, reason: 'Conflict', message: 'another client writes' },
    { status: 403, reason: 'Forbidden', message: 'no rights yet' },
  ])('a Node that cannot be written for a while ($reason) comes when it can', async (cause) => {
    const create = kube.create.bind(kube);
    kube.create = () => Promise.reject(new KubeError(cause));
    const instance = await cloud.create(claim('a'));
    await clock.runFor(10_000);
    kube.create = create;
    await clock.runFor(30_000);
    expect((await nodeOf(instance)).spec?.providerID).toBe(instance.providerID);
  });

  test('a node class without a spec is one without a delay', async () => {
    await kube.delete(kwokNodeClasses, { name: 'default' });
    await kube.create(kwokNodeClasses, { metadata: { name: 'default' } });
    const instance = await cloud.create(claim('a'));
    await clock.runFor(0);
    expect((await nodes()).map(({ spec }) => spec?.providerID)).toEqual([instance.providerID]);
  });

  test('a missing node class counts as missing capacity', async () => {
    await kube.delete(kwokNodeClasses, { name: 'default' });
    await expect(cloud.create(claim('a'))).rejects.toMatchObject({ kind: 'insufficientCapacity' });
  });

  test('a node class that is not ready is said to be', async () => {
    const conditions = [
      {
        type: 'Ready',
        status: 'False',
        reason: 'Broken',
        message: 'broken',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ];
    await kube.patch(
      kwokNodeClasses,
      { name: 'default' },
      { type: 'merge', body: { status: { conditions } } },
      { subresource: 'status' },
    );
    await expect(cloud.create(claim('a'))).rejects.toMatchObject({ kind: 'nodeClassNotReady' });
  });

  test('without an instance type requirement there is nothing to choose from', async () => {
    const open = claim('a');
    open.spec.requirements = [];
    await expect(cloud.create(open)).rejects.toThrow('instance type requirement not found');
  });

  test('an instance type that is unknown is a mistake in the claim, not a lack of capacity', async () => {
    const strange = claim('a');
    strange.spec.requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['nonesuch'] }];
    const failure = cloud.create(strange);
    await expect(failure).rejects.toThrow('instance type not found (instance-type=nonesuch)');
    await expect(failure).rejects.not.toHaveProperty('kind');
  });

  test('a new process brings the Nodes that the old one did not live to write', async () => {
    const instance = await cloud.create(claim('a'));
    cloud.dispose();
    await clock.runFor(10_000);
    expect(await nodes()).toEqual([]);
    const launchedClaim = {
      ...claim('a'),
      metadata: { name: 'a', labels: instance.labels },
      status: { providerID: instance.providerID },
    } as NodeClaim;
    cloud = newCloud();
    // Listed as stored: one without a spec is passed over.
    await cloud.recover([{ metadata: { name: 'bad-nothing' } } as NodeClaim, launchedClaim]);
    await clock.runFor(100);
    expect((await nodeOf(instance)).metadata.labels).toMatchObject({ [zoneKey]: instance.labels[zoneKey] });
  });

  test('a Node that someone deletes is a machine that is gone', async () => {
    const instance = await cloud.create(claim('a'));
    await clock.runFor(6_000);
    await kube.delete(resources.nodes, { name: (await nodeOf(instance)).metadata.name ?? '' });
    await expect(cloud.get(instance.providerID)).rejects.toMatchObject({ kind: 'notFound' });
  });
});

describe('faults', () => {
  afterEach(() => cluster.stop());
  const startWith = (faults: KwokFaults): Promise<void> => start({ faults });
  const readyOf = (node: Node): string | undefined =>
    node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;

  test('offerings without capacity are passed over, for as long as asked', async () => {
    await startWith({
      insufficientCapacity: [
        { capacityTypes: ['spot'], for: '10m' },
        { zones: ['test-zone-a', 'test-zone-b', 'test-zone-c'] },
      ],
    });
    const first = await cloud.create(claim('a'));
    expect(first.labels).toMatchObject({ 'karpenter.sh/capacity-type': 'on-demand', [zoneKey]: 'test-zone-d' });
    await clock.runFor(601_000);
    const second = await cloud.create(claim('b'));
    expect(second.labels).toMatchObject({ 'karpenter.sh/capacity-type': 'spot', [zoneKey]: 'test-zone-d' });
  });

  test('no capacity at all is an error the caller can tell', async () => {
    await startWith({ insufficientCapacity: [{}] });
    await expect(cloud.create(claim('a'))).rejects.toMatchObject({ kind: 'insufficientCapacity' });
  });

  test('launches can take long', async () => {
    await startWith({ launch: { delay: '30s', jitter: '8s' } });
    let done = false;
    const launch = cloud.create(claim('a')).then(() => {
      done = true;
    });
    await clock.runFor(31_000);
    expect(done).toBe(false);
    await clock.runFor(2_000);
    await launch;
    expect(done).toBe(true);
  });

  test('a machine may never join, and can still be deleted', async () => {
    await startWith({ registration: { zones: ['test-zone-b'] } });
    const instance = await cloud.create(claim('a'));
    await clock.runFor(3_600_000);
    expect(await nodes()).toEqual([]);
    expect((await cloud.get(instance.providerID)).providerID).toBe(instance.providerID);
    await cloud.delete({ ...claim('a'), status: { providerID: instance.providerID } });
    await expect(cloud.get(instance.providerID)).rejects.toMatchObject({ kind: 'notFound' });
  });

  test('nodes fall ill and recover when they should', async () => {
    await startWith({ notReady: [{ after: '1m', for: '5m', status: 'False' }] });
    const instance = await cloud.create(claim('a'));
    await clock.runFor(59_000);
    expect(readyOf(await nodeOf(instance))).toBeUndefined();
    await clock.runFor(2_000);
    expect(readyOf(await nodeOf(instance))).toBe('False');
    await clock.runFor(300_000);
    expect(readyOf(await nodeOf(instance))).toBe('True');
  });

  test('a share of the machines is the same share in every run with a seed', async () => {
    const joined: number[] = [];
    for (let run = 0; run < 2; run++) {
      await startWith({ seed: 7, registration: { percent: 50 } });
      for (let i = 0; i < 40; i++) await cloud.create(claim(`c${i}`));
      await clock.runFor(1_000);
      joined.push((await nodes()).length);
    }
    expect(joined[0]).toBe(joined[1]);
    expect(joined[0]).toBeGreaterThan(8);
    expect(joined[0]).toBeLessThan(32);
  });

  test('a spot machine is taken back after its notice; its claim is given up first', async () => {
    await startWith({ interruption: [{ after: '10m' }] });
    const claims = { group: 'karpenter.sh', version: 'v1', plural: 'nodeclaims', kind: 'NodeClaim', namespaced: false };
    const created = await kube.create(claims, {
      ...claim('a'),
      metadata: { name: 'a', finalizers: ['karpenter.sh/termination'] },
    });
    const instance = await cloud.create(created);
    await clock.runFor(601_000);
    expect((await kube.get(claims, { name: 'a' })).metadata.deletionTimestamp).toBeDefined();
    expect((await cloud.get(instance.providerID)).providerID).toBe(instance.providerID);
    await clock.runFor(120_000);
    await expect(cloud.get(instance.providerID)).rejects.toMatchObject({ kind: 'notFound' });
  });

  test('machines vanish without a word, and their nodes are left behind', async () => {
    await startWith({ vanish: [{ after: '1m' }] });
    const instance = await cloud.create(claim('a'));
    await clock.runFor(61_000);
    await expect(cloud.get(instance.providerID)).rejects.toMatchObject({ kind: 'notFound' });
    expect(await cloud.list()).toEqual([]);
    expect((await nodes()).map(({ metadata }) => metadata.annotations?.['kwok.x-k8s.io/node'])).toEqual(['gone']);
  });

  test('a fault that begins now hits the machines that are there, counted from now, and only those it is meant for', async () => {
    await startWith({});
    const machines = [await cloud.create(claim('a')), await cloud.create(claim('b'))];
    await clock.runFor(3_600_000);
    const [first, second] = (await nodes()).map(
      ({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type'],
    );
    await cloud.strike({ vanish: [{ after: '1m', instanceTypes: ['none-such'] }] });
    await clock.runFor(61_000);
    expect(await cloud.list()).toHaveLength(machines.length);
    await cloud.strike({ vanish: [{ after: '1m', instanceTypes: [first ?? '', second ?? ''] }] });
    await clock.runFor(59_000);
    expect(await cloud.list()).toHaveLength(machines.length);
    await clock.runFor(2_000);
    expect(await cloud.list()).toEqual([]);
  });

  test('calls are refused for as long as asked, and only those named', async () => {
    await startWith({ throttling: { calls: ['Create'], for: '1m' } });
    await expect(cloud.create(claim('a'))).rejects.toMatchObject({ code: 'CloudThrottled', retryable: true });
    expect(await cloud.list()).toEqual([]);
    await clock.runFor(61_000);
    expect((await cloud.create(claim('a'))).providerID).toMatch(/^kwok:/);
  });
});
