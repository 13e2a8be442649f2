// The status a kubelet writes for a pod, as strategic merge patches: conditions merge by type, so what others wrote
// (readiness gates, disruption targets) stays.
import { formatTime } from '../../base/index.ts';
import type { Pod } from '../../ports/index.ts';
import { addressOf } from './hash.ts';

export type PodStatus = NonNullable<Pod['status']>;
type PodCondition = NonNullable<PodStatus['conditions']>[number];
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

export interface Running {
  nowMs: number;
  startTime: string;
  hostIP: string;
  ready: boolean;
}

/** All containers run; those that only prepare have ended. */
export function runningStatus(pod: Pod, { nowMs, startTime, hostIP, ready }: Running): PodStatus {
  const time = formatTime(nowMs);
  const podIP = pod.spec?.hostNetwork === true ? hostIP : addressOf(pod.metadata.uid ?? '', 64);
  const inits = (pod.spec?.initContainers ?? []).map((container) =>
    container.restartPolicy === 'Always'
      ? containerStatus(pod, container, { running: { startedAt: time } }, true)
      : containerStatus(pod, container, ended(0, time, time), true),
  );
  return {
    phase: 'Running',
    startTime,
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [
      condition(pod, 'PodReadyToStartContainers', true, time),
      condition(pod, 'Initialized', true, time),
      ...readiness(pod, ready, time),
    ],
    containerStatuses: (pod.spec?.containers ?? []).map((container) =>
      containerStatus(pod, container, { running: { startedAt: time } }, ready),
    ),
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
  };
}

/** The readiness of a pod that already runs has changed. */
export function readinessStatus(pod: Pod, ready: boolean, nowMs: number): PodStatus {
  return {
    conditions: readiness(pod, ready, formatTime(nowMs)),
    containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => ({ ...status, ready })),
  };
}

/** All containers have ended, for good. */
export function endedStatus(pod: Pod, exitCode: number, nowMs: number): PodStatus {
  const time = formatTime(nowMs);
  return {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions: [
      condition(pod, 'PodReadyToStartContainers', false, time),
      ...['Initialized', 'Ready', 'ContainersReady'].map((type) => ({
        ...condition(pod, type, type === 'Initialized', time),
        reason: exitCode === 0 ? 'PodCompleted' : 'PodFailed',
      })),
    ],
    containerStatuses: (pod.spec?.containers ?? []).map((container, index) => {
      const startedAt = pod.status?.containerStatuses?.[index]?.state?.running?.startedAt ?? time;
      return { ...containerStatus(pod, container, ended(exitCode, startedAt, time), false), started: false };
    }),
  };
}

/** The containers ended and were started again. */
export function restartedStatus(pod: Pod, exitCode: number, nowMs: number): PodStatus {
  const time = formatTime(nowMs);
  return {
    containerStatuses: (pod.status?.containerStatuses ?? []).map((status) => ({
      ...status,
      restartCount: status.restartCount + 1,
      lastState: ended(exitCode, status.state?.running?.startedAt ?? time, time),
      state: { running: { startedAt: time } },
    })),
  };
}

/** It never becomes ready, and it is unknown what it does. */
export function unhealthyStatus(pod: Pod, nowMs: number): PodStatus {
  return { phase: 'Unknown', conditions: readiness(pod, false, formatTime(nowMs)) };
}

/** Readiness gates are True conditions that others write. */
export const gatesOpen = (pod: Pod): boolean =>
  (pod.spec?.readinessGates ?? []).every(({ conditionType }) =>
    pod.status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'),
  );

function readiness(pod: Pod, ready: boolean, time: string): PodCondition[] {
  const isReady = ready && gatesOpen(pod);
  const reason = ready ? 'ReadinessGatesNotReady' : 'ContainersNotReady';
  return [
    { ...condition(pod, 'Ready', isReady, time), reason: isReady ? null : reason },
    { ...condition(pod, 'ContainersReady', ready, time), reason: ready ? null : 'ContainersNotReady' },
  ] as PodCondition[];
}

/** The time of transition stays if nothing changed. */
function condition(pod: Pod, type: string, holds: boolean, time: string): PodCondition {
  const status = holds ? 'True' : 'False';
  const before = pod.status?.conditions?.find((each) => each.type === type);
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? time) : time;
  return { type, status, lastTransitionTime };
}

const ended = (exitCode: number, startedAt: string, finishedAt: string): NonNullable<ContainerStatus['state']> => ({
  terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt },
});

function containerStatus(
  pod: Pod,
  { name, image = '' }: { name: string; image?: string },
  state: NonNullable<ContainerStatus['state']>,
  ready: boolean,
): ContainerStatus {
  return {
    name,
    image,
    imageID: `fake://${image}`,
    containerID: `fake://${pod.metadata.uid}/${name}`,
    ready,
    started: state.running !== undefined,
    restartCount: 0,
    state,
  };
}
