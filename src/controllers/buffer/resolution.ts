// Finds the pod a CapacityBuffer keeps room for: a PodTemplate, or the template of a workload.
import { type CapacityBuffer, conditionReason } from '../../api/index.ts';
import { messageOf } from '../../base/index.ts';
import {
  isKubeError,
  type Kube,
  type KubeObject,
  type PodTemplate,
  type Resource,
  resources,
} from '../../ports/index.ts';

type Template = NonNullable<PodTemplate['template']>;

export type Resolution =
  | {
      kind: 'resolved';
      template: Template;
      generation: number | undefined;
      /** Of the workload; undefined for a pod template. */
      workloadReplicas: number | undefined;
    }
  /** `mayPass` if trying again soon may help. */
  | { kind: 'failed'; reason: string; message: string; mayPass: boolean };

interface Workload extends KubeObject {
  spec?: { replicas?: number; template?: Template };
}

export const workloads: Readonly<Record<string, Resource<Workload>>> = {
  Deployment: resources.deployments,
  StatefulSet: resources.statefulSets,
  ReplicaSet: resources.replicaSets,
};

export async function resolve(kube: Kube, buffer: CapacityBuffer): Promise<Resolution> {
  const { podTemplateRef, scalableRef } = buffer.spec;
  const { namespace = '' } = buffer.metadata;
  if (podTemplateRef !== undefined) {
    return found(conditionReason.podTemplateNotFound, async () => {
      const { template, metadata } = await kube.get(resources.podTemplates, { name: podTemplateRef.name, namespace });
      return { template: template ?? {}, generation: metadata.generation, workloadReplicas: undefined };
    });
  }
  if (scalableRef === undefined) return failed('Neither podTemplateRef nor scalableRef is set');
  const { apiGroup = '', kind, name } = scalableRef;
  const resource = apiGroup === '' || apiGroup === 'apps' ? workloads[kind] : undefined;
  if (resource === undefined) {
    const given = apiGroup === '' ? kind : `${kind}.${apiGroup}`;
    return failed(
      `scalableRef names a ${given}, which is not supported; name a Deployment, StatefulSet or ReplicaSet of group apps`,
    );
  }
  return found(conditionReason.scalableRefNotFound, async () => {
    const { spec, metadata } = await kube.get(resource, { name, namespace });
    return { template: spec?.template ?? {}, generation: metadata.generation, workloadReplicas: spec?.replicas ?? 1 };
  });
}

const failed = (message: string): Resolution => ({
  kind: 'failed',
  reason: conditionReason.resolutionFailed,
  message,
  mayPass: true,
});

async function found(
  missing: string,
  read: () => Promise<Omit<Extract<Resolution, { kind: 'resolved' }>, 'kind'>>,
): Promise<Resolution> {
  try {
    return { kind: 'resolved', ...(await read()) };
  } catch (error) {
    const message = messageOf(error);
    return isKubeError(error, 'NotFound')
      ? { kind: 'failed', reason: missing, message, mayPass: false }
      : failed(message);
  }
}
