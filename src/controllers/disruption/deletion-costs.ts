// Pods whose disruption or deletion cost cannot be read cost what others do; the log says so, once per pod and value.
import { annotation } from '../../api/index.ts';
import { deletionCostsBy, int32Of } from '../../core/index.ts';
import type { ControllerContext } from '../context.ts';

export class DeletionCosts {
  private reported = new Set<string>();

  tellUnreadable({ cluster, log, settings }: Pick<ControllerContext, 'cluster' | 'log' | 'settings'>): void {
    const unreadable = new Set<string>();
    // Those that the controller writes itself are not read.
    const read = deletionCostsBy(settings) === 'users' ? [annotation.podDeletionCost] : [];
    for (const { metadata } of cluster.pods.store.list()) {
      const name = [annotation.disruptionCost, ...read].find((each) => metadata.annotations?.[each] !== undefined);
      const text = name === undefined ? undefined : metadata.annotations?.[name];
      if (text === undefined || int32Of(text) !== undefined) continue;
      const key = `${metadata.uid} ${name} ${text}`;
      unreadable.add(key);
      if (this.reported.has(key)) continue;
      const problem = `${name} must be a whole number of 32 bits such as -10, not ${JSON.stringify(text)}`;
      const { name: pod, namespace } = metadata;
      log.error('ignoring pod deletion cost', problem, { controller: 'disruption', Pod: { name: pod, namespace } });
    }
    this.reported = unreadable;
  }
}
