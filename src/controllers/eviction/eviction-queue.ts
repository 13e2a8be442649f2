// eviction-queue: asks the API server to evict pods, again and again until it agrees, with growing waits per pod.
//
// 1. A pod is known by name and UID: one made again under the same name is not evicted on its predecessor's account.
// 2. Before every try the pod is looked at again: if it is going already, or protected meanwhile, it is dropped; whoever
//    wants it gone asks anew.
// 3. A pod that was evicted is not asked for again while the watch has yet to tell that it ends: that would be counted,
//    and reported to users, as another eviction.
// 4. Nothing is remembered across restarts: a drain asks for its pods every second.

import { conditionType } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { isKubeError, type KubeError, type Pod } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import { isEvictable } from '../../state/index.ts';
import { AskedFor } from '../asked-for.ts';
import { again, type Controller, type ControllerContext } from '../context.ts';
import { aboutNode, aboutPod } from '../event-subjects.ts';

/** After so long an evicted pod is looked at again: the watch has long reported that it ends, unless something is wrong. */
const watchLagMs = 10_000;

interface Wanted {
  namespace: string;
  name: string;
  uid: string;
}

export class EvictionQueue {
  private readonly context: ControllerContext;
  private readonly wanted: AskedFor<Wanted>;
  private readonly requests;
  private readonly drained;

  constructor(context: ControllerContext) {
    this.context = context;
    this.requests = context.metrics.counter({
      name: 'karpenter_pods_eviction_requests_total',
      help: 'Evictions asked of the API server, by the status it answered with.',
      labels: ['code'],
    });
    this.drained = context.metrics.counter({
      name: 'karpenter_pods_drained_total',
      help: 'Pods evicted from nodes that go, by why the node goes.',
      labels: ['reason'],
    });
    this.wanted = new AskedFor<Wanted>('eviction-queue', context.settings, (key) => this.evict(key));
  }

  get controller(): Controller {
    return this.wanted.controller;
  }

  /** Pods that are being evicted already stay where they are in their waits. */
  add(pods: readonly Pod[]): void {
    for (const { metadata } of pods) {
      const { namespace = '', name = '', uid = '' } = metadata;
      const key = `${namespace}/${name}/${uid}`;
      if (this.wanted.get(key) === undefined) this.wanted.ask(key, { namespace, name, uid });
    }
  }

  private async evict(key: string): Promise<Outcome> {
    const { cluster, kube, recorder, time } = this.context;
    const wanted = this.wanted.get(key);
    if (wanted === undefined) return done;
    const { namespace, name, uid } = wanted;
    const pod = cluster.pods.store.get(`${namespace}/${name}`);
    if (pod?.metadata.uid !== uid || !isEvictable(pod, time.cautiousNow())) return this.drop(key);
    const reason = this.reasonFor(pod);
    try {
      await kube.evict({ namespace, name }, { preconditions: { uid } });
    } catch (error) {
      if (!isKubeError(error)) throw error;
      this.requests.add({ code: String(error.status) });
      return this.refused(key, pod, error);
    }
    this.requests.add({ code: '200' });
    recorder.publish({
      subject: aboutPod(pod),
      type: 'Normal',
      reason: 'Evicted',
      message: `Evicted pod: ${reason}`,
    });
    this.drained.add({ reason });
    return again(watchLagMs);
  }

  private refused(key: string, pod: Pod, error: KubeError): Outcome {
    // Gone, or another pod by now.
    if (error.status === 404 || error.status === 409) return this.drop(key);
    if (saysBudgetIsSpent(error)) return this.blocked(pod, 'evicting pod violates a PDB');
    if (/more than one PodDisruptionBudget/.test(error.message))
      return this.blocked(pod, 'eviction does not support multiple PDBs');
    throw error;
  }

  private blocked(pod: Pod, why: string): Outcome {
    const { cluster, recorder } = this.context;
    const node = cluster.nodes.get(pod.spec?.nodeName ?? '');
    const { namespace, name } = pod.metadata;
    if (node !== undefined) {
      recorder.publish({
        subject: aboutNode(node),
        type: 'Warning',
        reason: 'FailedDraining',
        message: `Failed to drain node, ${why} (Pod=${namespace}/${name})`,
      });
    }
    return { kind: 'retry' };
  }

  private drop(key: string): Outcome {
    this.wanted.drop(key);
    return done;
  }

  /** Why its node goes; empty when the node or its claim is unknown. */
  private reasonFor(pod: Pod): string {
    const claim = this.context.cluster.machines.ofNode(pod.spec?.nodeName ?? '')?.claim;
    if (claim === undefined) return '';
    return conditionOf(claim.status?.conditions, conditionType.disruptionReason)?.reason ?? 'Forceful Termination';
  }
}

/** A busy API server answers 429 too, but does not speak of budgets. */
function saysBudgetIsSpent(error: KubeError): boolean {
  if (error.status !== 429) return false;
  return error.causes.some(({ reason }) => reason === 'DisruptionBudget') || /disruption budget/i.test(error.message);
}
