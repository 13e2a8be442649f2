// The pods that stand for a buffer's room: like pods of its template, but waiting for ever, yielding to everything real,
// and without volumes that no one will create for them.
import { annotation, type CapacityBuffer } from '../../api/index.ts';
import type { Pod, PodTemplate } from '../../ports/index.ts';

type Template = NonNullable<PodTemplate['template']>;
type PodSpec = NonNullable<Pod['spec']>;
type Container = PodSpec['containers'][number];

const leastPriority = -(2 ** 31);

export function virtualPods(buffer: CapacityBuffer, template: Template, replicas: number): Pod[] {
  const { name = '', namespace = '', uid = '', creationTimestamp } = buffer.metadata;
  // All pods share one spec, so that a large buffer costs little and is grouped at a glance.
  const spec = movableSpec(template.spec ?? { containers: [] });
  const annotations = {
    [annotation.bufferFakePod]: 'true',
    [annotation.bufferName]: name,
    [annotation.bufferNamespace]: namespace,
  };
  const labels = template.metadata?.labels;
  return Array.from(
    { length: replicas },
    (_, index): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `capacity-buffer-${name}-${index + 1}`,
        namespace,
        uid: `${uid}-${index + 1}`,
        annotations,
        ...(labels === undefined ? {} : { labels }),
        ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      },
      spec,
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    }),
  );
}

/** The key of the buffer a virtual pod belongs to, `namespace/name`. */
export function bufferOf(pod: Pod): string {
  const { annotations = {} } = pod.metadata;
  return `${annotations[annotation.bufferNamespace]}/${annotations[annotation.bufferName]}`;
}

function movableSpec(spec: PodSpec): PodSpec {
  const { nodeName: _, volumes, initContainers, ...rest } = spec;
  const isClaimed = (volume: NonNullable<PodSpec['volumes']>[number]): boolean =>
    volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined;
  const gone = new Set((volumes ?? []).filter(isClaimed).map((volume) => volume.name));
  const without = (container: Container): Container => {
    const { volumeMounts, volumeDevices, ...others } = container;
    return {
      ...others,
      ...(volumeMounts === undefined ? {} : { volumeMounts: volumeMounts.filter((mount) => !gone.has(mount.name)) }),
      ...(volumeDevices === undefined ? {} : { volumeDevices: volumeDevices.filter((each) => !gone.has(each.name)) }),
    };
  };
  return {
    ...rest,
    priority: leastPriority,
    containers: rest.containers.map(without),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(without) }),
    ...(volumes === undefined ? {} : { volumes: volumes.filter((volume) => !gone.has(volume.name)) }),
  };
}
