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
      if (key === 'hopeless') throw new KerfError('Wrong', 'x');
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
    `workqueue_depth{${named}} 1`,
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
  loop.requested({ method: 'GET', host: 'api:443', code: '200', tookMs: 40 });
  const text = await metrics.render();
  expect(text).toContain('leader_election_master_status{name="karpenter-leader-election"} 1');
  expect(text).toContain('client_go_request_total{code="200",host="api:443",method="GET"} 1');
  expect(text).toContain('client_go_request_duration_seconds_sum{host="api:443",method="GET"} 0.04');
});
