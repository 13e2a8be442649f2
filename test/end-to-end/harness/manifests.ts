// What scenarios write, with the little that differs between them as parameters. Everything of a room carries the room's
// label and taint, so that the pods of one scenario never meet the nodes of another.
import type { Manifest } from './api.ts';

export const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

export const inValues = (key: string, ...values: string[]) => ({ key, operator: 'In', values });
export const ofType = (...names: string[]) => inValues('node.kubernetes.io/instance-type', ...names);

export interface PoolParts {
  spec?: object;
  /** Of `spec.template.spec`. */
  template?: object;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  requirements?: object[];
  /** Beside the room's own. */
  taints?: object[];
}

/** Consolidates nothing unless asked to: a scenario's nodes stay while it looks at them. */
export function poolManifest(room: string, name: string, parts: PoolParts = {}): Manifest {
  const { spec, template, labels, annotations, requirements = [], taints = [] } = parts;
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name },
    spec: {
      disruption: { consolidateAfter: 'Never' },
      ...spec,
      template: {
        metadata: { labels: { room, ...labels }, ...(annotations === undefined ? {} : { annotations }) },
        spec: {
          nodeClassRef,
          requirements,
          taints: [{ key: 'room', value: room, effect: 'NoSchedule' }, ...taints],
          ...template,
        },
      },
    },
  };
}

export interface PodParts {
  cpu?: string;
  memory?: string;
  /** Any other resources. */
  requests?: Record<string, string>;
  /** Of the pod; `nodeSelector` and `tolerations` are added to the room's own. */
  spec?: { nodeSelector?: Record<string, string>; tolerations?: object[]; [field: string]: unknown };
  /** Of the pod's only container. */
  container?: object;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export function podTemplate(room: string, app: string, parts: PodParts = {}) {
  const { cpu = '100m', memory, requests, spec = {}, container, labels, annotations } = parts;
  const resources = { requests: { cpu, ...(memory === undefined ? {} : { memory }), ...requests } };
  const { nodeSelector, tolerations = [], ...rest } = spec;
  return {
    metadata: { labels: { app, ...labels }, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'example.com/main', resources, ...container }],
      nodeSelector: { room, ...nodeSelector },
      tolerations: [{ key: 'room', value: room }, ...tolerations],
      ...rest,
    },
  };
}

export function podManifest(room: string, name: string, parts: PodParts = {}): Manifest {
  const { metadata, spec } = podTemplate(room, name, parts);
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace: room }, spec };
}

/** A Deployment, StatefulSet or DaemonSet. */
export function workloadManifest(
  kind: 'Deployment' | 'StatefulSet' | 'DaemonSet',
  room: string,
  name: string,
  parts: PodParts & { replicas?: number; workload?: object } = {},
): Manifest {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, namespace: room },
    spec: {
      ...(kind === 'DaemonSet' ? {} : { replicas: parts.replicas ?? 1 }),
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      selector: { matchLabels: { app: name } },
      template: podTemplate(room, name, parts),
      ...parts.workload,
    },
  };
}

export function budgetManifest(room: string, app: string, spec: object): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: room },
    spec: { selector: { matchLabels: { app } }, ...spec },
  };
}
