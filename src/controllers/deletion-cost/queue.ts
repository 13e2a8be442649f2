// pod.deletioncost.queue: writes the deletion costs that were asked for, one pod at a time. What a pod should carry is
// replaced when it is asked for again; a pod that changed or went meanwhile is left to the next ranking, so that no write
// of someone else is undone.
import { annotation } from '../../api/index.ts';
import { isKubeError, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { AskedFor } from '../asked-for.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { costOn, textOf } from './cost-text.ts';

/** What the ranking and the queue need to know of a pod. */
export interface CostedPod {
  readonly metadata: { name: string; namespace?: string; uid?: string };
}

interface Wanted {
  readonly key: string;
  readonly uid: string;
  readonly cost: string | undefined;
}

export class DeletionCostQueue {
  private readonly context: ControllerContext;
  private readonly wanted: AskedFor<Wanted>;
  private readonly writes;

  constructor(context: ControllerContext) {
    this.context = context;
    this.writes = context.metrics.counter({
      name: 'karpenter_pod_deletion_cost_pod_annotation_writes_total',
      help: 'Deletion costs written on pods, by what came of it.',
      labels: ['result'],
    });
    this.wanted = new AskedFor<Wanted>('pod.deletioncost.queue', context.settings, (key) => this.write(key));
  }

  get controller(): Controller {
    return this.wanted.controller;
  }

  /** The pods should carry this rank, or none. */
  add(pods: readonly CostedPod[], rank: number | undefined): void {
    for (const { metadata } of pods) {
      const { namespace = '', name, uid = '' } = metadata;
      const key = `${namespace}/${name}`;
      this.wanted.ask(`${key}/${uid}`, { key, uid, cost: textOf(rank) });
    }
  }

  private async write(id: string): Promise<Outcome> {
    const wanted = this.wanted.get(id);
    if (wanted === undefined) return done;
    const result = await this.tryToWrite(wanted);
    this.writes.add({ result });
    if (result === 'error') return { kind: 'retry' };
    this.wanted.drop(id, wanted);
    return done;
  }

  private async tryToWrite({ key, uid, cost }: Wanted) {
    const { cluster, kube, log } = this.context;
    const pod = cluster.pods.store.get(key);
    if (pod === undefined || pod.metadata.uid !== uid) return 'skipped_notfound';
    if (costOn(pod) === cost) return 'skipped_unchanged';
    const { namespace = '', name = '', resourceVersion } = pod.metadata;
    const annotations = { [annotation.podDeletionCost]: cost ?? null };
    const version = resourceVersion === undefined ? {} : { resourceVersion };
    try {
      await kube.patch(
        resources.pods,
        { namespace, name },
        { type: 'merge', body: { metadata: { annotations, ...version } } },
      );
      return 'updated';
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return 'skipped_notfound';
      if (isKubeError(error, 'Conflict')) return 'skipped_conflict';
      log.error('could not write pod deletion cost', error, {
        controller: this.controller.name,
        Pod: { name, namespace },
      });
      return 'error';
    }
  }
}
