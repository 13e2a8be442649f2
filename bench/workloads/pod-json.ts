// The JSON of a pod as a real API server sends it for an ordinary Deployment with one container and a sidecar: about
// 6 kB, a third of it managedFields.

/** Pods of one Deployment, where a benchmark does not say otherwise. */
export const usualPodsPerWorkload = 50;

/** Pod number `index`; every pod has a start of its own, so that times cannot be shared. */
export function podJson(index: number, version: number, podsPerWorkload = usualPodsPerWorkload): string {
  const workload = Math.floor(index / podsPerWorkload);
  const app = `app-${workload}`;
  const hash = (7_919 * (workload + 1)).toString(36);
  const id = ((index * 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  const uid = `${id}-5c1a-4d0e-9b3f-${id}0000`;
  const node = `ip-10-0-${(index >> 8) & 255}-${index & 63}.ec2.internal`;
  const created = firstCreated + (index % 1_000_000) * 13_000;
  const time = at(created);
  const access = `kube-api-access-${id.slice(0, 5)}`;
  return JSON.stringify({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: `${app}-${hash}-${id.slice(3)}`,
      generateName: `${app}-${hash}-`,
      namespace: `team-${Math.floor(index / 5_000)}`,
      uid,
      resourceVersion: String(version),
      creationTimestamp: time,
      labels: {
        'app.kubernetes.io/name': app,
        'app.kubernetes.io/version': '1.4.2',
        'app.kubernetes.io/managed-by': 'Helm',
        'pod-template-hash': hash,
      },
      annotations: {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9090',
        'checksum/config': `${hash}${'0'.repeat(56)}`,
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-${hash}`,
          uid: `${hash.padStart(8, '0')}-5c1a-4d0e-9b3f-000000000000`,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(time, uid),
    },
    spec: spec(app, node, access),
    status: status(index, created, app, id),
  });
}

const firstCreated = Date.parse('2026-01-01T00:00:00Z');

function at(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

function managedFields(time: string, uid: string): unknown {
  const container = {
    '.': {},
    'f:env': { '.': {}, 'k:{"name":"LOG_LEVEL"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
    'f:image': {},
    'f:imagePullPolicy': {},
    'f:livenessProbe': { '.': {}, 'f:failureThreshold': {}, 'f:httpGet': { '.': {}, 'f:path': {}, 'f:port': {} } },
    'f:name': {},
    'f:ports': {
      '.': {},
      'k:{"containerPort":8080,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
    },
    'f:resources': {
      '.': {},
      'f:limits': { '.': {}, 'f:memory': {} },
      'f:requests': { '.': {}, 'f:cpu': {}, 'f:memory': {} },
    },
    'f:terminationMessagePath': {},
    'f:terminationMessagePolicy': {},
  };
  const condition = { '.': {}, 'f:lastProbeTime': {}, 'f:lastTransitionTime': {}, 'f:status': {}, 'f:type': {} };
  return [
    {
      manager: 'kube-controller-manager',
      operation: 'Update',
      apiVersion: 'v1',
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:metadata': {
          'f:generateName': {},
          'f:labels': { '.': {}, 'f:app.kubernetes.io/name': {} },
          'f:ownerReferences': { '.': {}, [`k:{"uid":"${uid}"}`]: {} },
        },
        'f:spec': {
          'f:containers': { 'k:{"name":"main"}': container, 'k:{"name":"proxy"}': container },
          'f:dnsPolicy': {},
          'f:restartPolicy': {},
          'f:schedulerName': {},
          'f:securityContext': {},
          'f:terminationGracePeriodSeconds': {},
        },
      },
    },
    {
      manager: 'kubelet',
      operation: 'Update',
      apiVersion: 'v1',
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: {
        'f:status': {
          'f:conditions': {
            'k:{"type":"ContainersReady"}': condition,
            'k:{"type":"Initialized"}': condition,
            'k:{"type":"Ready"}': condition,
          },
          'f:containerStatuses': {},
          'f:hostIP': {},
          'f:phase': {},
          'f:podIP': {},
          'f:startTime': {},
        },
      },
      subresource: 'status',
    },
  ];
}

function spec(app: string, nodeName: string, access: string): unknown {
  const mount = { name: access, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  const container = (name: string, cpu: string, memory: string): unknown => ({
    name,
    image: `registry.example.com/${app}/${name}:1.4.2`,
    ports: [{ containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ],
    resources: { limits: { memory }, requests: { cpu, memory } },
    volumeMounts: [mount],
    livenessProbe: {
      httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
  });
  return {
    volumes: [
      {
        name: access,
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ],
    containers: [container('main', '250m', '512Mi'), container('proxy', '50m', '64Mi')],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: app,
    serviceAccount: app,
    nodeName,
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: ['not-ready', 'unreachable'].map((key) => ({
      key: `node.kubernetes.io/${key}`,
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 300,
    })),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: { 'app.kubernetes.io/name': app } },
      },
    ],
    priority: 0,
    enableServiceLinks: true,
    preemptionPolicy: 'PreemptLowerPriority',
  };
}

function status(index: number, created: number, app: string, id: string): unknown {
  const time = at(created);
  const types = ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  const podIP = `10.1.${(index >> 8) & 255}.${index & 255}`;
  return {
    phase: 'Running',
    conditions: types.map((type, step) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: at(created + step * 1_000),
    })),
    hostIP: '10.0.0.1',
    hostIPs: [{ ip: '10.0.0.1' }],
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: time,
    containerStatuses: ['main', 'proxy'].map((name) => ({
      name,
      allocatedResources: { cpu: '250m', memory: '512Mi' },
      resources: { requests: { cpu: '250m', memory: '512Mi' } },
      state: { running: { startedAt: time } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: `registry.example.com/${app}/${name}:1.4.2`,
      imageID: `registry.example.com/${app}/${name}@sha256:${id.repeat(8)}`,
      containerID: `containerd://${id.repeat(8)}`,
      started: true,
    })),
    qosClass: 'Burstable',
  };
}
