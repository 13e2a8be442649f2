// Pods whose controller.kubernetes.io/pod-deletion-cost cannot be read cost what others do; the log says so, once per pod
// and value.
import { annotation } from '../../api/index.ts';
import type { ControllerContext } from '../context.ts';

export class DeletionCosts {
  private reported = new Set<string>();

  tellUnreadable({ cluster, log }: Pick<ControllerContext, 'cluster' | 'log'>): void {
    const unreadable = new Set<string>();
    for (const { metadata } of cluster.pods.store.list()) {
      const text = metadata.annotations?.[annotation.podDeletionCost];
      if (text === undefined || /^[+-]?\d+$/.test(text)) continue;
      const key = `${metadata.uid} ${text}`;
      unreadable.add(key);
      if (this.reported.has(key)) continue;
      const problem = `${annotation.podDeletionCost} must be a whole number such as -10, not ${JSON.stringify(text)}`;
      const { name, namespace } = metadata;
      log.error('ignoring pod deletion cost', problem, { controller: 'disruption', Pod: { name, namespace } });
    }
    this.reported = unreadable;
  }
}
