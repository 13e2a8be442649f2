// A small company as a cluster sees it: what it runs and what each part asks for. Used by `kerf up --demo`.
import { label } from '../../../api/names.ts';
import type { KubeObject, Resource } from '../../../ports/index.ts';
import { resources } from '../../../ports/index.ts';

export interface Piece {
  resource: Resource;
  object: KubeObject;
}

interface Service {
  namespace: string;
  name: string;
  cpu: string;
  memory: string;
  replicas: number;
  /** More of the pod's spec. */
  spec?: object;
}

const piece = <T extends KubeObject>(resource: Resource<T>, object: T): Piece => ({ resource, object });

const spreadOver = (key: string, app: string, whenUnsatisfiable: string) => ({
  topologyKey: key,
  maxSkew: 1,
  whenUnsatisfiable,
  labelSelector: { matchLabels: { app } },
});

/** With fewer zones than these, no zone gets a second pod: the first nodes must not take everything. */
const evenOverZones = (app: string) => ({ ...spreadOver(label.zone, app, 'DoNotSchedule'), minDomains: 3 });

const template = ({ name, cpu, memory, spec }: Service) => ({
  metadata: { labels: { app: name } },
  spec: {
    containers: [
      {
        name: 'main',
        image: `registry.example.com/${name}:1.0`,
        resources: { requests: { cpu, memory }, limits: { memory } },
      },
    ],
    ...spec,
  },
});

const deployment = (service: Service): Piece =>
  piece(resources.deployments, {
    metadata: { name: service.name, namespace: service.namespace },
    spec: {
      replicas: service.replicas,
      selector: { matchLabels: { app: service.name } },
      template: template(service),
    },
  });

const daemon = (service: Service): Piece =>
  piece(resources.daemonSets, {
    metadata: { name: service.name, namespace: service.namespace },
    spec: { selector: { matchLabels: { app: service.name } }, template: template(service) },
  });

const budget = (namespace: string, app: string, spec: object): Piece =>
  piece(resources.podDisruptionBudgets, {
    metadata: { name: app, namespace },
    spec: { selector: { matchLabels: { app } }, ...spec },
  });

const onDaemonPriority = {
  priorityClassName: 'system-node-critical',
  tolerations: [{ operator: 'Exists' }],
};

export function company(): Piece[] {
  return [
    ...['shop', 'data', 'batch', 'ml'].map((name) => piece(resources.namespaces, { metadata: { name } })),
    daemon({
      namespace: 'kube-system',
      name: 'aws-node',
      cpu: '50m',
      memory: '64Mi',
      replicas: 0,
      spec: onDaemonPriority,
    }),
    daemon({
      namespace: 'kube-system',
      name: 'kube-proxy',
      cpu: '100m',
      memory: '64Mi',
      replicas: 0,
      spec: onDaemonPriority,
    }),
    // The web tier: the same number in every zone, whatever it takes.
    deployment({
      namespace: 'shop',
      name: 'web',
      cpu: '500m',
      memory: '512Mi',
      replicas: 6,
      spec: {
        topologySpreadConstraints: [evenOverZones('web'), spreadOver(label.hostname, 'web', 'ScheduleAnyway')],
      },
    }),
    budget('shop', 'web', { minAvailable: '80%' }),
    deployment({
      namespace: 'shop',
      name: 'checkout',
      cpu: '1',
      memory: '1Gi',
      replicas: 3,
      spec: { topologySpreadConstraints: [evenOverZones('checkout')] },
    }),
    budget('shop', 'checkout', { maxUnavailable: 1 }),
    // Workers can be interrupted: spot only.
    deployment({
      namespace: 'batch',
      name: 'worker',
      cpu: '2',
      memory: '4Gi',
      replicas: 2,
      spec: { nodeSelector: { [label.capacityType]: 'spot' } },
    }),
    // The database: a volume each, never two on one node, never on spot, one at a time.
    piece(resources.statefulSets, {
      metadata: { name: 'postgres', namespace: 'data' },
      spec: {
        replicas: 3,
        serviceName: 'postgres',
        selector: { matchLabels: { app: 'postgres' } },
        template: template({
          namespace: 'data',
          name: 'postgres',
          cpu: '2',
          memory: '8Gi',
          replicas: 3,
          spec: {
            nodeSelector: { [label.capacityType]: 'on-demand' },
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  { topologyKey: label.hostname, labelSelector: { matchLabels: { app: 'postgres' } } },
                ],
              },
            },
            topologySpreadConstraints: [spreadOver(label.zone, 'postgres', 'DoNotSchedule')],
          },
        }),
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: {
              accessModes: ['ReadWriteOnce'],
              storageClassName: 'gp3',
              resources: { requests: { storage: '100Gi' } },
            },
          },
        ],
      },
    }),
    budget('data', 'postgres', { maxUnavailable: 1 }),
  ];
}
