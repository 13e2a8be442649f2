import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { recordedLog, recordedMetrics } from '../controllers/testing/records.testing.ts';
import { Cluster } from '../state/index.ts';
import { modelSync } from './model-sync.ts';

test('a model that is not complete counts the time, says so after half a minute, and is quiet once it is', async () => {
  const clock = new VirtualClock({ settle: () => settle() });
  const [cluster, log, metrics] = [new Cluster(clock), recordedLog(), recordedMetrics()];
  const stop = new AbortController();
  const running = modelSync(cluster, { clock, log, metrics, waitingFor: () => 'nodepools' }).run(stop.signal);
  const reported = () =>
    log.lines.filter(({ message }) => message === 'cluster is waiting on sync for extended duration');
  await clock.runFor(30_000);
  expect(metrics.value('karpenter_cluster_state_synced')).toBe(0);
  expect(metrics.value('karpenter_cluster_state_unsynced_time_seconds')).toBe(30);
  expect(reported()).toEqual([]);
  await clock.runFor(15_000);
  expect(reported()).toHaveLength(2);
  expect(reported()[0]).toMatchObject({ error: 'waiting for nodepools', fields: { duration: '31s' } });
  cluster.markPopulated();
  cluster.setNode({ metadata: { name: 'a' } });
  await clock.runFor(60_000);
  expect(reported()).toHaveLength(2);
  expect(metrics.value('karpenter_cluster_state_synced')).toBe(1);
  expect(metrics.value('karpenter_cluster_state_unsynced_time_seconds')).toBe(0);
  expect(metrics.value('karpenter_cluster_state_node_count')).toBe(1);
  stop.abort();
  await running;
});
