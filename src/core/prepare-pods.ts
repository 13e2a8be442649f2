// The pods a plan is about: those that wait and those that have to move, in queue order, each with what it asks for. Pods
// that no plan can place are set aside with a reason.

import { attempt, type Sliced } from '../base/index.ts';
import { podClaims } from './devices/pod-claims.ts';
import type { ClusterObjects } from './kube/cluster-objects.ts';
import { namespacedKey, type Pod } from './kube/objects.ts';
import { toleratesAll } from './kube/taints.ts';
import { podsByNode } from './nodes/existing-nodes.ts';
import type { Machine } from './nodes/machines.ts';
import type { Reason } from './plan.ts';
import {
  isBufferPod,
  isProvisionable,
  isTerminating,
  type MovableTest,
  mayExpectUnknownNode,
  type NominationTest,
} from './pods/pod-classes.ts';
import { PodValidator } from './pods/pod-validation.ts';
import { type VariantContext, wishedRequirements } from './pods/pod-variants.ts';
import type { RequestsOfPods } from './resources/pod-requests.ts';
import type { ProviderFacts } from './snapshot.ts';
import { attachmentsOf, noAttachments } from './volumes/pod-volumes.ts';
import { anywhere, volumeAlternatives } from './volumes/volume-alternatives.ts';
import {
  PodKinds,
  PodShapes,
  type PreparedPod,
  podsAtOnce,
  type QueuedPod,
  queuedPod,
  queueOrder,
} from './workload.ts';

export interface RejectedPod {
  readonly key: string;
  readonly reason: Reason;
}

interface PodContext {
  readonly objects: ClusterObjects;
  readonly machines: readonly Machine[];
  readonly provider: ProviderFacts | undefined;
  readonly requests: RequestsOfPods;
  readonly variants: VariantContext;
  readonly nowMs: number;
}

interface PodChoice {
  readonly isMovable: MovableTest;
  /** Every movable pod is prepared, not only those whose machine leaves. */
  readonly moving: boolean;
  readonly ignoreDevices: boolean;
}

interface PreparedPods {
  readonly prepared: readonly PreparedPod[];
  readonly rejected: readonly RejectedPod[];
  /** Those that the plan places anew, wherever they are now. */
  readonly planned: ReadonlySet<Pod>;
}

/** The waiting pods and the movable pods of leaving machines, in queue order; unusable ones set aside with a reason. */
export function* preparePods(context: PodContext, choice: PodChoice): Sliced<PreparedPods> {
  const { objects, machines, provider, requests: requestsOfPods, variants } = context;
  const { isMovable, moving, ignoreDevices } = choice;
  const { table, rules } = variants;
  const volumeSupport = {
    unsupportedProvisioners: new Set(provider?.unsupportedProvisioners),
    unsupportedTopologyKeys: new Set(provider?.unsupportedTopologyKeys),
  };
  const validator = new PodValidator({ objects, rules, volumeSupport }, (pod) => wishedRequirements(variants, pod).set);
  const leaving = new Set(machines.filter((machine) => machine.leaving).map((machine) => machine.node?.metadata.name));
  const rejected: RejectedPod[] = [];
  const planned = new Set<Pod>();
  const candidates: QueuedPod[] = [];
  const kinds = new PodKinds();
  const nominationStands = nominationTest(context);
  for (const [at, pod] of objects.pods.entries()) {
    if (at % podsAtOnce === 0) yield;
    const waits = isProvisionable(pod, nominationStands);
    const leaves = Boolean(pod.spec?.nodeName) && leaving.has(pod.spec?.nodeName);
    if (!waits && !(pod.spec?.nodeName && (leaves || moving) && isMovable(pod))) continue;
    if (waits && !isBufferPod(pod)) {
      const reason = validator.invalidity(pod);
      if (reason !== undefined) {
        rejected.push({ key: namespacedKey(pod.metadata), reason });
        continue;
      }
    }
    const requests = attempt(() => requestsOfPods.of(pod));
    if (requests.problem !== undefined) {
      const suggestion = 'write quantities such as 500m or 2Gi in its resources';
      if (waits) {
        const reason: Reason = { code: 'PodInvalid', message: requests.problem, suggestion };
        rejected.push({ key: namespacedKey(pod.metadata), reason });
      }
      continue;
    }
    if (waits || leaves) planned.add(pod);
    candidates.push(queuedPod(pod, kinds.kindOf(pod), requests.value));
  }

  const shapes = new PodShapes(variants);
  const volumeContext = { objects, table, rules };
  const prepared: PreparedPod[] = [];
  for (const { key, pod, kind, hasVolumes, requests } of yield* queueOrder(candidates)) {
    if (prepared.length % podsAtOnce === 0) yield;
    const volumes = hasVolumes ? volumeAlternatives(volumeContext, pod) : anywhere;
    if (volumes.kind === 'unreadable') {
      rejected.push({
        key,
        reason: {
          code: 'PodInvalid',
          message: volumes.message,
          suggestion: 'create the missing volume object, or remove the volume from the pod',
        },
      });
      continue;
    }
    const shape = shapes.shapeOf(kind, pod);
    prepared.push({
      key,
      pod,
      kind,
      requests,
      shape,
      devices: shape.needsDevices && !ignoreDevices ? podClaims(objects.resourceClaims, pod) : undefined,
      volumes: volumes.wishes,
      attachments: hasVolumes ? attachmentsOf(objects, pod) : noAttachments,
    });
  }
  rejected.sort((left, right) => (left.key < right.key ? -1 : 1));
  return { prepared, rejected, planned };
}

function nominationTest({ objects: { pods }, machines, requests, nowMs }: PodContext): NominationTest {
  let podsOn: ReadonlyMap<string, readonly Pod[]> | undefined;
  return (name, pod) => {
    podsOn ??= podsByNode(pods);
    const there = podsOn.get(name) ?? [];
    const machine = machines.find(({ node }) => node?.metadata.name === name);
    if (machine === undefined) return mayExpectUnknownNode(pod, nowMs);
    if (there.some(isTerminating)) return true;
    return hasRoomFor(machine, there, pod, requests);
  };
}

function hasRoomFor(machine: Machine, there: readonly Pod[], pod: Pod, requests: RequestsOfPods): boolean {
  const free = requests.amounts(machine.allocatable);
  for (const each of there)
    for (const [name, amount] of requests.of(each)) free.set(name, (free.get(name) ?? 0) - amount);
  for (const [name, amount] of requests.of(pod)) if (amount > (free.get(name) ?? 0)) return false;
  return !machine.leaving && toleratesAll(machine.taints, pod.spec?.tolerations ?? []);
}
