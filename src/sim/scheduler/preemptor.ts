// Pushes less important pods aside for a pod that fits nowhere, as kube-scheduler does: the victims get an event that says why and
// deleted, the pod is nominated for their node, and the room is kept for it until it is bound or gives up.
import type { Clock } from '../../base/index.ts';
import { formatTime } from '../../base/index.ts';
import { isKubeError, type Kube, type Pod, type PodDisruptionBudget, resources } from '../../ports/index.ts';
import type { Tell } from '../events.ts';
import type { ClusterView, PlacedPod } from './cluster-view.ts';
import type { PreemptionResult, Refused } from './reasons.ts';
import { chooseVictims, priorityOf } from './victims.ts';
import type { VolumeLookup } from './volumes.ts';

export interface PreemptorOptions {
  kube: Kube;
  clock: Clock;
  view: ClusterView;
  lookup: VolumeLookup;
  budgets: () => Iterable<PodDisruptionBudget>;
  tell: Tell;
  schedulerName: string;
  onFailure?: ((error: unknown) => void) | undefined;
}

interface Nomination {
  pod: Pod;
  nodeName: string;
}

const reason = 'PreemptionByScheduler';

export class Preemptor {
  private readonly options: PreemptorOptions;
  private readonly nominations = new Map<string, Nomination>();

  constructor(options: PreemptorOptions) {
    this.options = options;
  }

  /** Where the pod may go once its victims are gone. */
  nominatedNode(key: string): string | undefined {
    return this.nominations.get(key)?.nodeName;
  }

  /** What nodes were kept for this pod, or for less important ones, is free while `look` looks. */
  lookPast<T>(key: string, pod: Pod, look: () => T): T {
    const { view } = this.options;
    const lifted: [string, Nomination][] = [];
    for (const [other, nomination] of this.nominations) {
      if (other !== key && priorityOf(nomination.pod) >= priorityOf(pod)) continue;
      if (view.lift(other)) lifted.push([other, nomination]);
    }
    const found = look();
    for (const [other, nomination] of lifted) view.place(other, nomination.pod, nomination.nodeName);
    return found;
  }

  /** Makes room for the pod if that is possible. */
  preempt(key: string, pod: Pod, refusals: ReadonlyMap<string, Refused>): PreemptionResult {
    const { view, lookup, budgets } = this.options;
    if (pod.spec?.preemptionPolicy === 'Never') {
      return { kind: 'notEligible', message: 'not eligible due to preemptionPolicy=Never.' };
    }
    if (this.waitsForVictims(key, pod)) {
      return { kind: 'notEligible', message: 'not eligible due to a terminating pod on the nominated node.' };
    }
    const found =
      view.lowestPriority < priorityOf(pod)
        ? this.lookPast(key, pod, () => chooseVictims(pod, refusals, view, lookup, [...budgets()]))
        : new Map<string, Refused>();
    this.forget(key);
    if (!('room' in found)) return { kind: 'helpless', stillRefused: found };
    this.nominations.set(key, { pod, nodeName: found.room.name });
    view.place(key, pod, found.room.name);
    for (const victim of found.victims) void this.remove(victim, pod, found.room.name);
    return { kind: 'madeRoom', nodeName: found.room.name, victims: found.victims.length };
  }

  /** The pod is bound, gone, or no longer waits for anybody to leave. */
  forget(key: string): void {
    if (this.nominations.delete(key)) this.options.view.lift(key);
  }

  private waitsForVictims(key: string, pod: Pod): boolean {
    const room = this.options.view.rooms.get(this.nominatedNode(key) ?? '');
    if (room === undefined) return false;
    return [...room.pods.values()].some(
      (placed) =>
        placed.pod.metadata.deletionTimestamp !== undefined &&
        priorityOf(placed.pod) < priorityOf(pod) &&
        placed.pod.status?.conditions?.some((condition) => condition.reason === reason),
    );
  }

  private async remove({ pod: victim }: PlacedPod, preemptor: Pod, nodeName: string): Promise<void> {
    const { kube, clock, tell, schedulerName, onFailure } = this.options;
    if (victim.metadata.deletionTimestamp !== undefined) return;
    const { name = '', namespace = '', uid = '' } = victim.metadata;
    const condition = {
      type: 'DisruptionTarget',
      status: 'True',
      reason,
      message: `${schedulerName}: preempting to accommodate a higher priority pod`,
      lastTransitionTime: formatTime(clock.now()),
    };
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    try {
      await kube.patch(resources.pods, { name, namespace }, { type: 'strategic', body }, { subresource: 'status' });
      await kube.delete(resources.pods, { name, namespace }, { preconditions: { uid } });
      const message = `Preempted by pod ${preemptor.metadata.uid} on node ${nodeName}`;
      tell(resources.pods, victim, { type: 'Normal', reason: 'Preempted', message });
    } catch (error) {
      if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) onFailure?.(error);
    }
  }
}
