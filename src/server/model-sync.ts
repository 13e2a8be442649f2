// Whether the model knows the whole cluster, reported from the first moment on, leading or not: as metrics, and in the log
// when it takes long. Nothing is planned until then, and people should not have to guess why.
import type { Clock } from '../base/index.ts';
import type { Log, Metrics } from '../ports/index.ts';
import type { Part } from '../runtime/index.ts';
import type { Cluster } from '../state/index.ts';

const everyMs = 1_000;
/** A cluster of any size is listed in less. */
const patienceMs = 30_000;
const remindMs = 10_000;

export interface ModelSyncTools {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** What is still missing, in words. */
  waitingFor(): string;
}

export function modelSync(cluster: Cluster, { clock, log, metrics, waitingFor }: ModelSyncTools): Part {
  const count = metrics.gauge({ name: 'karpenter_cluster_state_node_count', help: 'Nodes known.' });
  const synced = metrics.gauge({
    name: 'karpenter_cluster_state_synced',
    help: '1 once the cluster is completely known.',
  });
  const unsynced = metrics.gauge({
    name: 'karpenter_cluster_state_unsynced_time_seconds',
    help: 'How long the cluster has not been completely known.',
  });
  let sinceMs = clock.elapsed();
  let reportedMs = Number.NEGATIVE_INFINITY;
  const tell = (): void => {
    const nowMs = clock.elapsed();
    if (cluster.synced) sinceMs = nowMs;
    count.set(cluster.machines.size);
    synced.set(cluster.synced ? 1 : 0);
    unsynced.set((nowMs - sinceMs) / 1000);
    if (nowMs - sinceMs <= patienceMs || nowMs - reportedMs < remindMs) return;
    reportedMs = nowMs;
    log.error('cluster is waiting on sync for extended duration', `waiting for ${waitingFor()}`, {
      duration: `${Math.floor((nowMs - sinceMs) / 1000)}s`,
    });
  };
  return {
    name: 'model sync',
    async run(signal) {
      while (!signal.aborted) {
        tell();
        await clock.sleep(everyMs, signal).catch(() => {});
      }
    },
  };
}
