import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import type { Cloud, Node, Pod } from '../../ports/index.ts';
import { Cluster } from '../../state/index.ts';
import { prometheusMetrics } from '../../telemetry/index.ts';
import type { ControllerContext } from '../context.ts';
import { nodeMetricsController } from './node-metrics.ts';
import { podMetricsController } from './pod-metrics.ts';

function setting() {
  const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 1, 1), settle: () => Promise.resolve() });
  const cluster = new Cluster(clock);
  const metrics = prometheusMetrics();
  const cloud = { facts: { nodeClasses: [], wellKnownLabels: ['karpenter.kwok.sh/instance-cpu'] } } as unknown as Cloud;
  const context = { clock, cluster, metrics, cloud, settings: { cpuRequests: 1000 } } as unknown as ControllerContext;
  return { clock, cluster, metrics, context };
}

const signal = new AbortController().signal;
const node = (labels: Record<string, string> = {}): Node => ({
  metadata: { name: 'n1', creationTimestamp: '2026-01-01T00:00:00Z', labels },
  spec: { providerID: 'kwok://n1' },
  status: { phase: 'Running', capacity: { cpu: '4', memory: '8Gi' }, allocatable: { cpu: '3900m', memory: '7Gi' } },
});
const pod = (name: string, over: Partial<Pod['metadata']> = {}, nodeName = 'n1'): Pod => ({
  metadata: { name, namespace: 'shop', uid: name, creationTimestamp: '2026-01-01T00:59:50Z', ...over },
  spec: { nodeName, containers: [{ name: 'c', resources: { requests: { cpu: '500m' }, limits: { cpu: '1' } } }] },
  status: { phase: 'Running' },
});
const daemon = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] };
const line = (text: string, name: string): string[] => text.split('\n').filter((each) => each.startsWith(`${name}{`));

test('a node’s gauges carry its well-known labels by their last part, in snake case', async () => {
  const { cluster, context, metrics } = setting();
  cluster.setNode(
    node({
      'topology.kubernetes.io/zone': 'a',
      'karpenter.sh/capacity-type': 'spot',
      'karpenter.kwok.sh/instance-cpu': '4',
    }),
  );
  await nodeMetricsController(context).reconcile('all', signal);
  const [cpu] = line(await metrics.render(), 'karpenter_nodes_allocatable').filter((each) =>
    each.includes('resource_type="cpu"'),
  );
  expect(cpu).toMatch(/node_name="n1".*zone="a".*capacity_type="spot".*instance_cpu="4".* 3\.9$/);
});

test('daemons are distinguished from other pods, and overhead is capacity less allocatable', async () => {
  const { cluster, context, metrics } = setting();
  cluster.setNode(node());
  cluster.setPod(pod('web'));
  cluster.setPod(pod('agent', daemon));
  await nodeMetricsController(context).reconcile('all', signal);
  const text = await metrics.render();
  const value = (name: string, resource: string): string | undefined =>
    line(text, name)
      .find((each) => each.includes(`resource_type="${resource}"`))
      ?.split(' ')
      .at(-1);
  expect(value('karpenter_nodes_total_pod_requests', 'cpu')).toBe('0.5');
  expect(value('karpenter_nodes_total_daemon_requests', 'cpu')).toBe('0.5');
  expect(value('karpenter_nodes_total_pod_requests', 'pods')).toBe('1');
  expect(value('karpenter_nodes_total_pod_limits', 'cpu')).toBe('1');
  expect(value('karpenter_nodes_total_pod_limits', 'pods')).toBe('1');
  expect(value('karpenter_nodes_total_daemon_limits', 'cpu')).toBe('1');
  expect(value('karpenter_nodes_total_daemon_limits', 'pods')).toBe('1');
  expect(value('karpenter_nodes_system_overhead', 'memory')).toBe(String(2 ** 30));
  expect(Number(value('karpenter_cluster_utilization_percent', 'cpu'))).toBeCloseTo((100 * 1) / 3.9);
  expect(line(text, 'karpenter_nodes_current_lifetime_seconds')[0]).toMatch(/ 3600$/);
});

test('the series of a node that is gone are gone', async () => {
  const { cluster, context, metrics } = setting();
  const controller = nodeMetricsController(context);
  cluster.setNode(node());
  await controller.reconcile('all', signal);
  cluster.removeNode(node());
  await controller.reconcile('all', signal);
  expect(await metrics.render()).not.toContain('node_name="n1"');
});

test('a pod’s state follows it, and its binding is measured once', async () => {
  const { cluster, context, metrics } = setting();
  const controller = podMetricsController(context);
  const waiting = { ...pod('web', {}, ''), status: { phase: 'Pending' } };
  cluster.setPod(waiting);
  expect(await controller.reconcile('shop/web', signal)).toMatchObject({ kind: 'again' });
  expect(line(await metrics.render(), 'karpenter_pods_unbound_time_seconds')).toEqual([
    'karpenter_pods_unbound_time_seconds{name="web",namespace="shop",dynamic_resources="false"} 10',
  ]);
  cluster.setPod(pod('web'));
  await controller.reconcile('shop/web', signal);
  await controller.reconcile('shop/web', signal);
  const text = await metrics.render();
  expect(line(text, 'karpenter_pods_state')[0]).toMatch(/node="n1",scheduled="true".*phase="Running"/);
  expect(text).toContain('karpenter_pods_bound_duration_seconds_count{dynamic_resources="false"} 1');
  cluster.removePod(pod('web'));
  await controller.reconcile('shop/web', signal);
  expect(await metrics.render()).not.toContain('name="web"');
});

test('where a pod is, is reported by the labels of its node; without a node they are empty', async () => {
  const { cluster, context, metrics } = setting();
  const controller = podMetricsController(context);
  const state = async (): Promise<string> => {
    await controller.reconcile('shop/web', signal);
    return line(await metrics.render(), 'karpenter_pods_state').join('\n');
  };
  cluster.setPod({ ...pod('web', {}, ''), status: { phase: 'Pending' } });
  const nowhere = 'node="",scheduled="false",nodepool="",zone="",arch="",capacity_type="",instance_type=""';
  expect(await state()).toBe(
    `karpenter_pods_state{name="web",namespace="shop",owner="",${nowhere},phase="Pending",ready="false",managed="false"} 1`,
  );
  cluster.setNode(
    node({
      'karpenter.sh/nodepool': 'general',
      'topology.kubernetes.io/zone': 'a',
      'kubernetes.io/arch': 'arm64',
      'karpenter.sh/capacity-type': 'spot',
      'node.kubernetes.io/instance-type': 'm1',
    }),
  );
  cluster.setPod({
    ...pod('web'),
    status: { phase: 'Running', conditions: [became('Ready', '2026-01-01T00:59:59Z')] },
  });
  const somewhere =
    'node="n1",scheduled="true",nodepool="general",zone="a",arch="arm64",capacity_type="spot",instance_type="m1"';
  expect(await state()).toBe(
    `karpenter_pods_state{name="web",namespace="shop",owner="",${somewhere},phase="Running",ready="true",managed="true"} 1`,
  );
});

test('resources are reported by their own names, with underscores for dashes', async () => {
  const { cluster, context, metrics } = setting();
  const capacity = { 'ephemeral-storage': '1', 'nvidia.com/gpu': '2' };
  cluster.setNode({ ...node(), status: { capacity, allocatable: capacity } });
  await nodeMetricsController(context).reconcile('all', signal);
  const reported = line(await metrics.render(), 'karpenter_nodes_allocatable').map(
    (each) => /resource_type="([^"]+)"/.exec(each)?.[1],
  );
  expect(reported).toEqual(['ephemeral_storage', 'nvidia.com/gpu']);
});

const became = (type: string, time: string) => ({ type, status: 'True', lastTransitionTime: time });

test('waiting for everybody else is reported from the first plan that had a place on', async () => {
  const { clock, cluster, context, metrics } = setting();
  const controller = podMetricsController(context);
  const { decisions } = cluster.pods;
  const valueOf = async (name: string): Promise<string | undefined> =>
    (await metrics.render())
      .split('\n')
      .find((each) => each.startsWith(`karpenter_pods_${name}{`) || each.startsWith(`karpenter_pods_${name} `))
      ?.split(' ')
      .at(-1);
  cluster.setPod({ ...pod('web', {}, ''), status: { phase: 'Pending' } });
  decisions.see('shop/web', clock.now() - 3_000);
  await controller.reconcile('shop/web', signal);
  expect(await valueOf('provisioning_scheduling_undecided_time_seconds')).toBe('3');
  expect(await valueOf('provisioning_unbound_time_seconds')).toBeUndefined();

  decisions.place('shop/web', clock.now() - 2_000, true);
  await controller.reconcile('shop/web', signal);
  expect(await valueOf('provisioning_scheduling_undecided_time_seconds')).toBeUndefined();
  expect(await valueOf('provisioning_unbound_time_seconds')).toBe('2');
  expect(await valueOf('provisioning_unstarted_time_seconds')).toBe('2');

  const bound = [became('PodScheduled', '2026-01-01T01:00:01Z')];
  cluster.setPod({ ...pod('web'), status: { phase: 'Pending', conditions: bound } });
  await controller.reconcile('shop/web', signal);
  expect(await valueOf('provisioning_bound_duration_seconds_sum')).toBe('3');
  expect(await valueOf('bound_duration_seconds_sum')).toBe('11');
  expect(await valueOf('provisioning_unbound_time_seconds')).toBeUndefined();

  const conditions = [...bound, became('Ready', '2026-01-01T01:00:04Z')];
  cluster.setPod({ ...pod('web'), status: { phase: 'Running', conditions } });
  expect(await controller.reconcile('shop/web', signal)).toEqual({ kind: 'done' });
  expect(await valueOf('provisioning_startup_duration_seconds_sum')).toBe('6');
  expect(await valueOf('startup_duration_seconds_sum')).toBe('14');
  expect(await valueOf('provisioning_unstarted_time_seconds')).toBeUndefined();
});

test('pods that ask for devices are counted apart while they wait and when they are bound', async () => {
  const { cluster, context, metrics } = setting();
  const controller = podMetricsController(context);
  const asking = (of: ReturnType<typeof pod>) => ({ ...of, spec: { ...of.spec, resourceClaims: [{ name: 'gpu' }] } });
  cluster.setPod({ ...asking(pod('web', {}, '')), status: { phase: 'Pending' } } as Pod);
  await controller.reconcile('shop/web', signal);
  expect(line(await metrics.render(), 'karpenter_pods_unbound_time_seconds')[0]).toContain('dynamic_resources="true"');
  cluster.setPod(asking(pod('web')) as Pod);
  await controller.reconcile('shop/web', signal);
  const text = await metrics.render();
  expect(line(text, 'karpenter_pods_unbound_time_seconds')).toEqual([]);
  expect(text).toContain('karpenter_pods_bound_duration_seconds_count{dynamic_resources="true"} 1');
});

test('a place in a pool whose nodes are not known to register starts no such time', async () => {
  const { clock, cluster, context, metrics } = setting();
  cluster.setPod({ ...pod('web', {}, ''), status: { phase: 'Pending' } });
  cluster.pods.decisions.place('shop/web', clock.now(), false);
  await podMetricsController(context).reconcile('shop/web', signal);
  expect(line(await metrics.render(), 'karpenter_pods_provisioning_unbound_time_seconds')).toEqual([]);
});

test('a pod that ran and ended is no longer waiting for anything', async () => {
  const { cluster, context, metrics } = setting();
  const controller = podMetricsController(context);
  cluster.setPod({ ...pod('job', {}, ''), status: { phase: 'Pending' } });
  await controller.reconcile('shop/job', signal);
  cluster.setPod({ ...pod('job'), status: { phase: 'Succeeded' } });
  expect(await controller.reconcile('shop/job', signal)).toEqual({ kind: 'done' });
  expect(line(await metrics.render(), 'karpenter_pods_unstarted_time_seconds')).toEqual([]);
});
