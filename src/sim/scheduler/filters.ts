// Which nodes can take a pod, by kube-scheduler's rules in its order: the first rule that says no gives the reason.
import { hostPortsOf, portsConflict, tolerates } from '../../core/index.ts';
import type { Pod } from '../../ports/index.ts';
import type { ClusterView, NodeRoom, PlannerPod } from './cluster-view.ts';
import { matchesNode, namedNodes } from './node-selector.ts';
import { podAffinityFilter } from './pod-affinity.ts';
import { type PodRefused, type Refused, refused } from './reasons.ts';
import { type RoomFilter, spreadFilter } from './spread.ts';
import { type VolumeLookup, volumeFilter } from './volumes.ts';

type Toleration = Parameters<typeof tolerates>[0];

const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** What is worked out once per pod; the result judges one node. */
export function roomFilter(pod: Pod, view: ClusterView, lookup: VolumeLookup): RoomFilter | PodRefused {
  const volumes = volumeFilter(pod, view, lookup);
  if (volumes !== undefined && 'message' in volumes) return volumes;
  const named = namedNodes(pod);
  const tolerations = (pod.spec?.tolerations ?? []) as Toleration[];
  const toleratesCordon = tolerations.some((toleration) => tolerates(toleration, cordon));
  const ports = hostPortsOf(pod as PlannerPod);
  const requests = view.requestsOf(pod);
  const wantedNode = pod.spec?.nodeName ?? '';
  const topology = [spreadFilter(pod, view), podAffinityFilter(pod, view)].filter((filter) => filter !== undefined);
  return (room) => {
    if (named !== undefined && !named.has(room.name)) return refused.namedNodes;
    if (room.node?.spec?.unschedulable === true && !toleratesCordon) return refused.unschedulable;
    if (wantedNode !== '' && wantedNode !== room.name) return refused.nodeName;
    if (hasUntoleratedTaint(room, tolerations)) return refused.taint;
    if (!matchesNode(pod, room)) return refused.nodeAffinity;
    if (ports.length > 0 && portsConflict(ports, takenPorts(room))) return refused.ports;
    const refusal = resourceRefusal(requests, room) ?? volumes?.(room);
    if (refusal !== undefined) return refusal;
    for (const filter of topology) {
      const reason = filter(room);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

function hasUntoleratedTaint({ taints }: NodeRoom, tolerations: readonly Toleration[]): boolean {
  return taints.some(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

const takenPorts = (room: NodeRoom) => [...room.pods.values()].flatMap(({ ports }) => ports);

function resourceRefusal(requests: ReadonlyMap<string, number>, room: NodeRoom): Refused | undefined {
  let short: string[] | undefined;
  let beyondAllocatable = false;
  for (const [name, amount] of requests) {
    if (amount === 0) continue;
    const allocatable = room.allocatable.get(name) ?? 0;
    if (amount <= allocatable - (room.used.get(name) ?? 0)) continue;
    short = [...(short ?? []), name];
    // Even an empty node could not take it.
    if (amount > allocatable) beyondAllocatable = true;
  }
  return short === undefined ? undefined : refused.insufficient(short, beyondAllocatable);
}
