import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KerfError, VirtualClock } from '../base/index.ts';
import { prometheusMetrics } from '../telemetry/index.ts';
import { done, loopMetrics, Reconciler } from './index.ts';

test('reconciliations are counted by result under the names dashboards know', async () => {
  const metrics = prometheusMetrics();
  const clock = new VirtualClock({ settle });
  const reconciler = new Reconciler({
    name: 'nodeclaim.lifecycle',
    clock,
    workers: 1,
    observer: loopMetrics(metrics),
    reconcile: async (key) => {
      await clock.sleep(2_000);
      if (key === 'hopeless') throw new KerfError('FlagsInvalid', 'x');
      if (key === 'failing') throw new Error('x');
      return done;
    },
  });
  const stop = new AbortController();
  const running = reconciler.run(stop.signal);
  for (const key of ['fine', 'hopeless', 'failing', 'fine-too']) reconciler.queue.add(key);
  await clock.runFor(6_000);
  const text = await metrics.render();
  const of = 'controller="nodeclaim.lifecycle"';
  const named = `name="nodeclaim.lifecycle",${of}`;
  for (const line of [
    `controller_runtime_reconcile_total{${of},result="success"} 1`,
    `controller_runtime_reconcile_total{${of},result="error"} 2`,
    `controller_runtime_reconcile_errors_total{${of}} 2`,
    `controller_runtime_terminal_reconcile_errors_total{${of}} 1`,
    `controller_runtime_reconcile_time_seconds_sum{${of}} 6`,
    `controller_runtime_max_concurrent_reconciles{${of}} 1`,
    `workqueue_adds_total{${named}} 4`,
    `workqueue_unfinished_work_seconds{${named}} 0`,
    `workqueue_longest_running_processor_seconds{${named}} 0`,
    `workqueue_depth{${named},priority="0"} 1`,
    `workqueue_retries_total{${named}} 1`,
    `workqueue_queue_duration_seconds_sum{${named}} 6`,
    `workqueue_work_duration_seconds_count{${named}} 3`,
  ]) {
    expect(text).toContain(line);
  }
  stop.abort();
  await clock.runFor(2_000);
  await running;
});

test('leadership and requests have their series', async () => {
  const metrics = prometheusMetrics();
  const loop = loopMetrics(metrics);
  loop.leads('karpenter-leader-election', true);
  const text = await metrics.render();
  expect(text).toContain('leader_election_master_status{name="karpenter-leader-election"} 1');
});

test.each([
  ['GET', '/api/v1/nodes/a', 'verb="GET",group="",version="v1",kind="nodes",subresource=""'],
  ['GET', '/api/v1/namespaces', 'verb="LIST",group="",version="v1",kind="namespaces",subresource=""'],
  ['GET', '/api/v1/namespaces/a', 'verb="GET",group="",version="v1",kind="namespaces",subresource=""'],
  [
    'POST',
    '/api/v1/namespaces/a/pods/b/eviction',
    'verb="CREATE",group="",version="v1",kind="pods",subresource="eviction"',
  ],
  [
    'PUT',
    '/apis/coordination.k8s.io/v1/namespaces/a/leases/b',
    'verb="UPDATE",group="coordination.k8s.io",version="v1",kind="leases",subresource=""',
  ],
  [
    'PATCH',
    '/apis/karpenter.sh/v1/nodeclaims/a/status?fieldManager=x',
    'verb="PATCH",group="karpenter.sh",version="v1",kind="nodeclaims",subresource="status"',
  ],
])('a request is counted by what it is about: %s %s', async (method, path, labels) => {
  const metrics = prometheusMetrics();
  loopMetrics(metrics).requested({ method, path, code: '200', tookMs: 40 });
  const text = await metrics.render();
  expect(text).toContain(`client_go_request_total{code="200",method="${method}"} 1`);
  expect(text).toContain(`client_go_request_duration_seconds_sum{${labels}} 0.04`);
});

test.each(['/version', '/api/v1/pods?watch=true', '/api/v1/pods?resourceVersion=1&watch=true'])(
  'a request for %s is counted, its duration is not',
  async (path) => {
    const metrics = prometheusMetrics();
    loopMetrics(metrics).requested({ method: 'GET', path, code: '200', tookMs: 40 });
    const text = await metrics.render();
    expect(text).toContain('client_go_request_total{code="200",method="GET"} 1');
    expect(text).not.toContain('client_go_request_duration_seconds_sum');
  },
);

test('what has not happened to a controller yet reads zero', async () => {
  const metrics = prometheusMetrics();
  loopMetrics(metrics).starts('nodeclaim.lifecycle', 10);
  const text = await metrics.render();
  const of = 'controller="nodeclaim.lifecycle"';
  expect(text).toContain(`controller_runtime_reconcile_errors_total{${of}} 0`);
  expect(text).toContain(`controller_runtime_terminal_reconcile_errors_total{${of}} 0`);
  expect(text).toContain(`controller_runtime_reconcile_total{${of},result="error"} 0`);
  expect(text).toContain(`workqueue_retries_total{name="nodeclaim.lifecycle",${of}} 0`);
  expect(text).toContain(`controller_runtime_max_concurrent_reconciles{${of}} 10`);
});

test('the rounds of a loop without a queue count as reconciliations', async () => {
  const metrics = prometheusMetrics();
  const loop = loopMetrics(metrics);
  loop.ran('disruption', { tookMs: 2_000, failed: false });
  loop.ran('disruption', { tookMs: 1_000, failed: true });
  const text = await metrics.render();
  expect(text).toContain('controller_runtime_reconcile_total{controller="disruption",result="requeue_after"} 1');
  expect(text).toContain('controller_runtime_reconcile_total{controller="disruption",result="error"} 1');
  expect(text).toContain('controller_runtime_reconcile_errors_total{controller="disruption"} 1');
  expect(text).toContain('controller_runtime_reconcile_time_seconds_sum{controller="disruption"} 3');
});

test('time spent has the bounds dashboards for controllers know', async () => {
  const metrics = prometheusMetrics();
  const loop = loopMetrics(metrics);
  loop.ran('a', { tookMs: 1, failed: false });
  loop.requested({ method: 'GET', path: '/api/v1/nodes', code: '200', tookMs: 1 });
  const bounds = (text: string, name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}_bucket\\{.*le="([^"]+)"`, 'gm'))].map(([, bound]) => bound ?? '');
  const text = await metrics.render();
  expect(bounds(text, 'controller_runtime_reconcile_time_seconds').slice(-2)).toEqual(['60', '+Inf']);
  expect(bounds(text, 'client_go_request_duration_seconds').slice(0, 3)).toEqual([
    '0.001',
    '0.0015',
    '0.0022500000000000003',
  ]);
});
