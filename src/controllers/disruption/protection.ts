// How karpenter.sh/do-not-disrupt on a pod was understood, reported to the pod: until when it protects, that it does so no longer,
// or that it cannot be read. "true" needs no telling.
import { annotation } from '../../api/index.ts';
import { formatTime, goDurationProblem, parseGoDuration } from '../../base/index.ts';
import type { Pod, RecordedEvent } from '../../ports/index.ts';
import { doNotDisruptEndsMs, isActive } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { aboutPod } from '../event-subjects.ts';

/** About every pod on a node of ours, each as often as the recorder lets the same be said again. */
export function tellProtections({ clock, cluster, recorder }: ControllerContext): void {
  for (const pod of cluster.pods.store.list()) {
    const value = pod.metadata.annotations?.[annotation.doNotDisrupt];
    if (value === undefined || value === 'true' || !isActive(pod)) continue;
    if (cluster.machines.ofNode(pod.spec?.nodeName ?? '')?.claim === undefined) continue;
    const reported = protectionOf(pod, value, clock.now());
    if (reported === undefined) continue;
    const subject = aboutPod(pod);
    recorder.publish({ subject, ...reported, dedupeValues: [subject.uid ?? '', reported.message] });
  }
}

function protectionOf(
  pod: Pod,
  value: string,
  nowMs: number,
): Pick<RecordedEvent, 'type' | 'reason' | 'message'> | undefined {
  const endsMs = doNotDisruptEndsMs(pod);
  if (endsMs === Number.POSITIVE_INFINITY) return undefined;
  if (endsMs === Number.NEGATIVE_INFINITY) {
    return {
      type: 'Warning',
      reason: 'InvalidDoNotDisruptAnnotation',
      message: `Invalid ${annotation.doNotDisrupt} annotation: ${problemOf(value)}, ignoring annotation`,
    };
  }
  return nowMs < endsMs
    ? {
        type: 'Normal',
        reason: 'DoNotDisruptUntil',
        message: `The ${annotation.doNotDisrupt} grace period will elapse at ${formatTime(endsMs)}`,
      }
    : {
        type: 'Normal',
        reason: 'DoNotDisruptGracePeriodElapsed',
        message: `The ${annotation.doNotDisrupt} grace period has elapsed, pod is now disruptable`,
      };
}

function problemOf(value: string): string {
  const quoted = JSON.stringify(value);
  return parseGoDuration(value) === undefined
    ? `failed to parse ${quoted} as a duration: ${goDurationProblem(value)}`
    : `duration ${quoted} must be positive`;
}
