// Nodes and pods of ordinary size, for measuring the embedded cluster.

export const simNode = (index: number) => ({
  metadata: {
    name: `node-${String(index).padStart(5, '0')}`,
    // A fake kubelet's, where there are any.
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/os': 'linux',
      'node.kubernetes.io/instance-type': 'm5.large',
      'topology.kubernetes.io/zone': `zone-${index % 3}`,
    },
  },
  spec: { providerID: `kwok://node-${index}` },
  status: { capacity: { cpu: '4', memory: '16Gi', pods: '110' }, conditions: [{ type: 'Ready', status: 'True' }] },
});

export const simDeployment = (index: number, replicas: number) => {
  const { metadata, spec } = simPod(index);
  return {
    metadata: { name: metadata.labels.app, namespace: metadata.namespace },
    spec: {
      replicas,
      selector: { matchLabels: { app: metadata.labels.app } },
      template: { metadata: { labels: { app: metadata.labels.app } }, spec },
    },
  };
};

export const simPod = (index: number, nodes = 0) => ({
  metadata: {
    name: `pod-${String(index).padStart(6, '0')}`,
    namespace: 'default',
    labels: { app: `app-${index % 200}`, 'pod-template-hash': '5d4f8c7b9' },
  },
  spec: {
    ...(nodes > 0 && { nodeName: `node-${String(index % nodes).padStart(5, '0')}` }),
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    containers: [
      {
        name: 'main',
        image: 'example.com/app:1',
        env: [{ name: 'ROLE', value: 'web' }],
        ports: [{ containerPort: 8080 }],
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
      },
    ],
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { app: `app-${index % 200}` } },
      },
    ],
  },
});
