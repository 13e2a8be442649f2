// Which nodes are bought for which pods: the rules of scheduling, seen where kube-scheduler put the pods in the end.
import { describe, expect, test } from 'vitest';
import type { Node, Pod } from '../../src/ports/index.ts';
import { all, conditionOf } from './harness/api.ts';
import { inValues, ofType } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();
// Pools of rooms that look at messages weigh most: an event holds only the beginning of what every pool answers.
const zone = 'topology.kubernetes.io/zone';
const hostname = 'kubernetes.io/hostname';

const labelsOf = (nodes: Node[], key: string): string[] =>
  nodes.map(({ metadata }) => metadata.labels?.[key] ?? '').sort();
/** How many pods each value of a node label has, in ascending order. */
async function spreadOver(room: Room, pods: Pod[], key: string): Promise<number[]> {
  const nodes = new Map((await room.nodes()).map((node) => [node.metadata.name, node]));
  const counts = new Map<string, number>();
  for (const { spec } of pods) {
    const value = nodes.get(spec?.nodeName)?.metadata.labels?.[key] ?? 'nowhere';
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts.values()].sort((one, other) => one - other);
}
const nodesOf = (pods: Pod[]): Set<string | undefined> => new Set(pods.map(({ spec }) => spec?.nodeName));
const spread = (app: string, topologyKey: string, over: object = {}) => ({
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app } }, ...over },
  ],
});
const term = (app: string, topologyKey: string) => ({ topologyKey, labelSelector: { matchLabels: { app } } });
const required = (kind: 'podAffinity' | 'podAntiAffinity', app: string, topologyKey: string) => ({
  affinity: { [kind]: { requiredDuringSchedulingIgnoredDuringExecution: [term(app, topologyKey)] } },
});

describe.concurrent('topology', () => {
  test('zonal spread puts a pod into each zone before a second into any', async () => {
    const room = await world.room('spread-zone');
    await room.pool();
    await room.deployment('web', { replicas: 6, spec: spread('web', zone) });
    expect(await spreadOver(room, await room.runs('web', 6), zone)).toEqual([1, 1, 2, 2]);
  });

  test('zonal spread counts only the zones the pool has', async () => {
    const room = await world.room('spread-two');
    await room.pool({ requirements: [inValues(zone, 'test-zone-a', 'test-zone-b')] });
    await room.deployment('web', { replicas: 4, spec: spread('web', zone) });
    expect(await spreadOver(room, await room.runs('web', 4), zone)).toEqual([2, 2]);
  });

  test('hostname spread buys a node per pod', async () => {
    const room = await world.room('spread-host');
    await room.pool();
    await room.deployment('web', { replicas: 3, spec: spread('web', hostname) });
    await room.runs('web', 3);
    // kube-scheduler may put two pods on the first node before it knows the others; each had a node planned.
    expect(await room.claims()).toHaveLength(3);
  });

  test('capacity-type spread halves between spot and on-demand', async () => {
    const room = await world.room('spread-type');
    await room.pool();
    await room.deployment('web', { replicas: 4, spec: spread('web', 'karpenter.sh/capacity-type') });
    expect(await spreadOver(room, await room.runs('web', 4), 'karpenter.sh/capacity-type')).toEqual([2, 2]);
  });

  test('a spread over more domains than there are stops at one each', async () => {
    const room = await world.room('spread-min');
    await room.pool({ requirements: [inValues(zone, 'test-zone-a', 'test-zone-b')], spec: { weight: 100 } });
    await room.deployment('web', { replicas: 3, spec: spread('web', zone, { minDomains: 3 }) });
    await room.until('two run', async () => expect(await room.ready('web')).toHaveLength(2));
    await room.until('the third is notified', async () => {
      const pending = (await room.pods('web')).find(({ spec }) => spec?.nodeName === undefined);
      const messages = (await room.events('FailedScheduling', pending?.metadata.name)).map(({ message }) => message);
      expect(messages.join('\n')).toMatch(
        /unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io\/zone/,
      );
    });
    expect(await room.ready('web')).toHaveLength(2);
  });

  test('anti-affinity by hostname keeps pods on nodes of their own', async () => {
    const room = await world.room('anti-host');
    await room.pool();
    await room.deployment('web', { replicas: 3, spec: required('podAntiAffinity', 'web', hostname) });
    expect(nodesOf(await room.runs('web', 3)).size).toBe(3);
  });

  test('anti-affinity by zone ends with one pod in each zone and tells the one too many', async () => {
    const room = await world.room('anti-zone');
    await room.pool({ spec: { weight: 100 } });
    await room.deployment('web', { replicas: 5, spec: required('podAntiAffinity', 'web', zone) });
    const running = await room.until('four run', async () => {
      const ready = await room.ready('web');
      expect(ready).toHaveLength(4);
      return ready;
    });
    expect(await spreadOver(room, running, zone)).toEqual([1, 1, 1, 1]);
    await room.until('the fifth is notified', async () => {
      const messages = (await room.events('FailedScheduling')).map(({ message }) => message).join('\n');
      expect(messages).toMatch(
        /unsatisfiable topology constraint for pod anti-affinity, key=topology.kubernetes.io\/zone/,
      );
    });
  });

  test('affinity puts pods beside the one they want, also in a chain', async () => {
    const room = await world.room('affinity-chain');
    await room.pool();
    await room.deployment('db', { replicas: 1, cpu: '2' });
    await room.deployment('api', { replicas: 2, cpu: '1', spec: required('podAffinity', 'db', hostname) });
    await room.deployment('ui', { replicas: 2, cpu: '1', spec: required('podAffinity', 'api', hostname) });
    const pods = [...(await room.runs('db', 1)), ...(await room.runs('api', 2)), ...(await room.runs('ui', 2))];
    expect(nodesOf(pods).size).toBe(1);
  });

  test('self-affinity by zone keeps all in one zone', async () => {
    const room = await world.room('affinity-zone');
    await room.pool({ requirements: [ofType('c-2x-amd64-linux')] });
    await room.deployment('web', { replicas: 4, cpu: '1', spec: required('podAffinity', 'web', zone) });
    const pods = await room.runs('web', 4);
    expect(await spreadOver(room, pods, zone)).toEqual([4]);
    expect(nodesOf(pods).size).toBe(4);
  });

  test('a preference that cannot be met is given up', async () => {
    const room = await world.room('preference');
    await room.pool({ requirements: [inValues(zone, 'test-zone-a')] });
    const preference = { matchExpressions: [inValues(zone, 'test-zone-d')] };
    await room.deployment('web', {
      replicas: 2,
      spec: {
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, preference }] } },
      },
    });
    await room.runs('web', 2);
    expect(labelsOf(await room.nodes(), zone)).toEqual(['test-zone-a']);
  });

  test('a preference that can be met is met', async () => {
    const room = await world.room('preferred');
    await room.pool();
    const preference = { matchExpressions: [inValues(zone, 'test-zone-c')] };
    await room.deployment('web', {
      replicas: 2,
      spec: {
        affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, preference }] } },
      },
    });
    await room.runs('web', 2);
    expect(labelsOf(await room.nodes(), zone)).toEqual(['test-zone-c']);
  });

  test('the second term of a required affinity is tried when the first cannot be', async () => {
    const room = await world.room('or-terms');
    await room.pool();
    await room.pod('one', {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchExpressions: [inValues(zone, 'test-zone-z')] },
                { matchExpressions: [inValues(zone, 'test-zone-d')] },
              ],
            },
          },
        },
      },
    });
    await room.runs('one', 1);
    expect(labelsOf(await room.nodes(), zone)).toEqual(['test-zone-d']);
  });
});

describe.concurrent('packing', () => {
  test('pods with the same host port get nodes of their own', async () => {
    const room = await world.room('host-ports');
    await room.pool();
    await room.deployment('web', { replicas: 3, container: { ports: [{ containerPort: 80, hostPort: 8080 }] } });
    expect(nodesOf(await room.runs('web', 3)).size).toBe(3);
  });

  test('node selectors on type, arch, os and size are followed', async () => {
    const room = await world.room('selectors');
    await room.pool();
    await room.pod('arm', { spec: { nodeSelector: { 'kubernetes.io/arch': 'arm64', 'kubernetes.io/os': 'linux' } } });
    await room.pod('typed', { spec: { nodeSelector: { 'node.kubernetes.io/instance-type': 'm-8x-amd64-linux' } } });
    await room.pod('od', { spec: { nodeSelector: { 'karpenter.sh/capacity-type': 'on-demand' } } });
    await room.pod('family', { spec: { nodeSelector: { 'karpenter.kwok.sh/instance-family': 's' } } });
    const nodeOf = async (app: string) => {
      const [pod] = await room.runs(app, 1);
      return (await world.api.get(all.nodes, pod?.spec?.nodeName ?? '')).metadata.labels ?? {};
    };
    expect((await nodeOf('arm'))['kubernetes.io/arch']).toBe('arm64');
    expect((await nodeOf('typed'))['node.kubernetes.io/instance-type']).toBe('m-8x-amd64-linux');
    expect((await nodeOf('od'))['karpenter.sh/capacity-type']).toBe('on-demand');
    expect((await nodeOf('family'))['node.kubernetes.io/instance-type']).toMatch(/^s-/);
  });

  test('a pool whose taint is not tolerated is not used', async () => {
    const room = await world.room('taints');
    await room.pool({ suffix: 'closed', spec: { weight: 100 }, taints: [{ key: 'closed', effect: 'NoSchedule' }] });
    await room.pool({ suffix: 'open' });
    await room.pod('one');
    await room.runs('one', 1);
    expect(labelsOf(await room.nodes(), 'karpenter.sh/nodepool')).toEqual(['taints-open']);
  });

  test('the heavier pool is used first; of equals the later name', async () => {
    const room = await world.room('weights');
    await room.pool({ suffix: 'a', spec: { weight: 50 } });
    await room.pool({ suffix: 'b', spec: { weight: 10 } });
    await room.pod('one');
    await room.runs('one', 1);
    expect(labelsOf(await room.nodes(), 'karpenter.sh/nodepool')).toEqual(['weights-a']);
    const equals = await world.room('equals');
    await equals.pool({ suffix: 'a' });
    await equals.pool({ suffix: 'b' });
    await equals.pod('one');
    await equals.runs('one', 1);
    expect(labelsOf(await equals.nodes(), 'karpenter.sh/nodepool')).toEqual(['equals-b']);
  });

  test('the next pool takes what the limit of the first leaves', async () => {
    const room = await world.room('limit-cpu');
    await room.pool({
      suffix: 'first',
      requirements: [ofType('c-2x-amd64-linux')],
      spec: { weight: 50, limits: { cpu: '4' } },
    });
    await room.pool({ suffix: 'second', requirements: [ofType('c-2x-amd64-linux')] });
    await room.deployment('web', { replicas: 4, cpu: '1' });
    await room.runs('web', 4);
    const pools = labelsOf(await room.nodes(), 'karpenter.sh/nodepool');
    expect(pools.filter((name) => name === 'limit-cpu-first')).toHaveLength(2);
    expect(pools).toHaveLength(4);
  });

  test('a limit stops the pool and the pods left over are notified', async () => {
    const room = await world.room('limit-stop');
    await room.pool({ requirements: [ofType('c-2x-amd64-linux')], spec: { weight: 100, limits: { cpu: '4' } } });
    await room.deployment('web', { replicas: 4, cpu: '1' });
    await room.until('two run', async () => expect(await room.ready('web')).toHaveLength(2));
    await room.until('the others are notified', async () => {
      const messages = (await room.events('FailedScheduling')).map(({ message }) => message).join('\n');
      expect(messages).toContain('all available instance types exceed limits for nodepool (NodePool=limit-stop)');
    });
    expect(await room.claims()).toHaveLength(2);
    await world.api.patch(all.nodePools, room.name, { spec: { limits: { cpu: '8' } } });
    await room.runs('web', 4);
  });

  test('a limit on nodes is kept whatever comes', async () => {
    const room = await world.room('limit-nodes');
    await room.pool({ requirements: [ofType('c-2x-amd64-linux')], spec: { weight: 100, limits: { nodes: '2' } } });
    await room.deployment('web', { replicas: 4, cpu: '1' });
    await room.until('two run', async () => expect(await room.ready('web')).toHaveLength(2));
    await room.until('the others are notified', async () => {
      const messages = (await room.events('FailedScheduling')).map(({ message }) => message).join('\n');
      expect(messages).toContain('node limits have been exhausted for nodepool (NodePool=limit-nodes)');
    });
    expect((await room.claims()).length).toBe(2);
  });

  test('minValues keeps the claim flexible, and one too strict is reported', async () => {
    const room = await world.room('min-values');
    const types = { key: 'node.kubernetes.io/instance-type', operator: 'Exists', minValues: 10 };
    await room.pool({ requirements: [types] });
    await room.pod('one', { cpu: '500m' });
    await room.runs('one', 1);
    const [claim] = await room.claims();
    const requirement = claim?.spec.requirements.find(({ key }) => key === types.key);
    expect(requirement?.minValues).toBe(10);
    expect(requirement?.values?.length).toBeGreaterThanOrEqual(10);
    const strict = await world.room('min-strict');
    await strict.pool({
      spec: { weight: 100 },
      requirements: [{ ...ofType('c-4x-amd64-linux', 'm-4x-amd64-linux'), minValues: 2 }],
    });
    // Fits only the larger of the two.
    await strict.pod('one', { cpu: '1', memory: '20Gi' });
    await strict.until('the pod is notified', async () => {
      const messages = (await strict.events('FailedScheduling')).map(({ message }) => message).join('\n');
      expect(messages).toContain(
        'minValues requirement is not met for label(s) (label(s)=[node.kubernetes.io/instance-type])',
      );
    });
  });

  test('pods that come later go to the node that is there', async () => {
    const room = await world.room('existing');
    await room.pool({ requirements: [ofType('c-16x-amd64-linux')] });
    await room.deployment('one', { cpu: '2' });
    await room.runs('one', 1);
    await room.deployment('two', { replicas: 3, cpu: '2' });
    await room.runs('two', 3);
    expect(await room.claims()).toHaveLength(1);
  });

  test('a node of someone else is used before one is bought', async () => {
    const room = await world.room('unmanaged');
    await room.pool();
    await world.api.apply({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: 'unmanaged-node',
        labels: { room: room.name, [hostname]: 'unmanaged-node' },
        annotations: { 'kwok.x-k8s.io/node': 'fake' },
      },
    });
    const capacity = { cpu: '8', memory: '16Gi', pods: '20' };
    await world.api.patch(
      all.nodes,
      'unmanaged-node',
      { status: { capacity, allocatable: capacity } },
      { subresource: 'status' },
    );
    await room.until('the node is ready', async () => {
      const node = await world.api.get(all.nodes, 'unmanaged-node');
      expect(conditionOf(node, 'Ready')?.status).toBe('True');
      expect(node.spec?.taints).toBeUndefined();
    });
    await room.deployment('web', { replicas: 3, cpu: '1' });
    await room.runs('web', 3);
    expect(await room.claims()).toEqual([]);
  });

  test('the overhead of a RuntimeClass, init containers and sidecars count', async () => {
    const room = await world.room('overhead');
    await room.pool();
    await world.api.apply({
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'heavy' },
      handler: 'heavy',
      overhead: { podFixed: { cpu: '2' } },
    });
    const init = (name: string, cpu: string, over: object = {}) => ({
      name,
      image: 'example.com/init',
      resources: { requests: { cpu } },
      ...over,
    });
    await room.pod('one', {
      cpu: '1',
      spec: {
        runtimeClassName: 'heavy',
        overhead: { cpu: '2' },
        initContainers: [init('sidecar', '1', { restartPolicy: 'Always' }), init('setup', '4')],
      },
    });
    await room.runs('one', 1);
    const [claim] = await room.claims();
    expect(claim?.spec.resources?.requests?.['cpu']).toBe('7');
  });

  test('a pool with requirements nothing meets says so, and others are used', async () => {
    const room = await world.room('no-types');
    await room.pool({ suffix: 'none', spec: { weight: 90 }, requirements: [ofType('no-such-type')] });
    await room.pool({ suffix: 'some' });
    await room.pod('one');
    await room.runs('one', 1);
    expect(labelsOf(await room.nodes(), 'karpenter.sh/nodepool')).toEqual(['no-types-some']);
    await room.until('the pool is notified', async () => {
      const [event] = await room.events('NoCompatibleInstanceTypes', 'no-types-none');
      expect(event).toMatchObject({
        type: 'Warning',
        message: 'NodePool requirements filtered out all compatible available instance types',
      });
    });
  });
});
