// Workloads and the smaller kinds around them.
import {
  apps,
  configMap,
  container,
  core,
  del,
  deployment,
  get,
  interaction,
  merge,
  node,
  post,
  put,
  template,
  versionOf,
} from './calls.ts';

const set = (kind: string, name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, template: template({ app: name }), ...spec },
});
const batch = (ns: string, name?: string) =>
  `/apis/batch/v1/namespaces/${ns}/jobs${name === undefined ? '' : `/${name}`}`;
const job = (name: string, spec: object = {}, pod: object = { restartPolicy: 'Never' }) => ({
  metadata: { name },
  spec: { suspend: true, template: { spec: { containers: [container({})], ...pod } }, ...spec },
});
const budgets = (ns: string, name?: string) =>
  `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets${name === undefined ? '' : `/${name}`}`;
const storage = (plural: string, name?: string) =>
  `/apis/storage.k8s.io/v1/${plural}${name === undefined ? '' : `/${name}`}`;
const rbac = (path: string) => `/apis/rbac.authorization.k8s.io/v1/${path}`;

export const workloads = [
  interaction('a Deployment gets its defaults', (ns) => [
    post(apps(ns, 'deployments'), deployment('d', { paused: true })),
  ]),
  interaction('a Deployment whose selector misses its pods', (ns) => [
    post(apps(ns, 'deployments'), deployment('d', { selector: { matchLabels: { app: 'other' } } })),
    post(apps(ns, 'deployments'), deployment('d', { selector: undefined })),
    post(apps(ns, 'deployments'), deployment('d', { selector: {} })),
  ]),
  interaction("a Deployment's selector is immutable", (ns) => [
    post(apps(ns, 'deployments'), deployment('d', { paused: true })),
    merge(apps(ns, 'deployments', 'd'), {
      spec: { selector: { matchLabels: { app: 'd', more: 'x' } }, template: { metadata: { labels: { more: 'x' } } } },
    }),
  ]),
  interaction('Deployment strategies', (ns) => [
    post(apps(ns, 'deployments'), deployment('d1', { paused: true, strategy: { type: 'Recreate' } })),
    post(apps(ns, 'deployments'), deployment('d2', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } })),
    post(apps(ns, 'deployments'), deployment('d3', { strategy: { type: 'Slowly' } })),
    post(
      apps(ns, 'deployments'),
      deployment('d4', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
    ),
    post(apps(ns, 'deployments'), deployment('d5', { strategy: { rollingUpdate: { maxSurge: 'x' } } })),
  ]),
  interaction('negative replicas', (ns) => [post(apps(ns, 'deployments'), deployment('d', { replicas: -1 }))]),
  interaction("a Deployment's pods must restart", (ns) => [
    post(apps(ns, 'deployments'), deployment('d', { template: template({ app: 'd' }, { restartPolicy: 'Never' }) })),
  ]),
  interaction('a ReplicaSet', (ns) => [post(apps(ns, 'replicasets'), set('ReplicaSet', 'rs', { replicas: 0 }))]),
  interaction('a StatefulSet', (ns) => [
    post(
      apps(ns, 'statefulsets'),
      set('StatefulSet', 'sts', {
        replicas: 0,
        serviceName: 'x',
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      }),
    ),
    merge(apps(ns, 'statefulsets', 'sts'), { spec: { serviceName: 'y' } }),
  ]),
  interaction('a DaemonSet', (ns) => [
    post(
      apps(ns, 'daemonsets'),
      set('DaemonSet', 'ds', { template: template({ app: 'ds' }, { nodeSelector: { never: 'there' } }) }),
    ),
  ]),
  interaction('a Job gets its selector', (ns) => [post(batch(ns), job('j'))]),
  interaction('a Job needs a restart policy, and keeps its template', (ns) => [
    post(batch(ns), job('j', {}, {})),
    post(batch(ns), job('k')),
    merge(batch(ns, 'k'), { spec: { completions: 5 } }),
    merge(batch(ns, 'k'), { spec: { parallelism: 3 } }),
  ]),
  interaction('scale', (ns) => [
    post(apps(ns, 'deployments'), deployment('d', { paused: true })),
    get(apps(ns, 'deployments/d/scale', undefined)),
    merge(apps(ns, 'deployments/d/scale', undefined), { spec: { replicas: 3 } }),
    get(apps(ns, 'deployments', 'd')),
    (past) =>
      put(apps(ns, 'deployments/d/scale', undefined), {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'd', namespace: ns, resourceVersion: versionOf(past, 0) },
        spec: { replicas: 1 },
      }),
    merge(apps(ns, 'deployments/d/scale', undefined), { spec: { replicas: -1 } }),
    get(apps(ns, 'deployments/none/scale', undefined)),
  ]),
  interaction('a Service of each type', (ns) => [
    post(core(ns, 'services'), {
      metadata: { name: 'headless' },
      spec: {
        clusterIP: 'None',
        selector: { a: 'b' },
        ports: [
          { port: 80, name: 'http' },
          { port: 443, name: 'https', targetPort: 'tls' },
        ],
      },
    }),
    post(core(ns, 'services'), {
      metadata: { name: 'external' },
      spec: { type: 'ExternalName', externalName: 'example.com' },
    }),
    post(core(ns, 'services'), {
      metadata: { name: 'fixed' },
      spec: { selector: { a: 'b' }, ports: [{ port: 80 }] },
    }),
  ]),
  interaction('Services that are wrong', (ns) => [
    post(core(ns, 'services'), { metadata: { name: 'x' }, spec: {} }),
    post(core(ns, 'services'), { metadata: { name: '1x' }, spec: { ports: [{ port: 80 }] } }),
    post(core(ns, 'services'), { metadata: { name: 'x' }, spec: { ports: [{ port: 0 }] } }),
    post(core(ns, 'services'), { metadata: { name: 'x' }, spec: { type: 'Magic', ports: [{ port: 80 }] } }),
  ]),
  interaction('a PodDisruptionBudget', (ns) => [
    post(budgets(ns), { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { a: 'b' } } } }),
    post(budgets(ns), { metadata: { name: 'c' }, spec: { minAvailable: 1, maxUnavailable: 1 } }),
    post(budgets(ns), { metadata: { name: 'c' }, spec: { minAvailable: '150%' } }),
    post(budgets(ns), { metadata: { name: 'c' }, spec: { maxUnavailable: 'x' } }),
    post(budgets(ns), { metadata: { name: 'c' }, spec: { maxUnavailable: -1 } }),
    post(budgets(ns), { metadata: { name: 'c' }, spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'Whenever' } }),
  ]),
  interaction('PriorityClasses', (ns) =>
    [
      post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: `pc-${ns}` }, value: 5 }),
      merge(`/apis/scheduling.k8s.io/v1/priorityclasses/pc-${ns}`, { value: 6 }),
      merge(`/apis/scheduling.k8s.io/v1/priorityclasses/pc-${ns}`, { description: 'x' }),
      post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: `pc2-${ns}` }, value: 2000000000 }),
      post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'system-mine' }, value: 1 }),
      get('/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical'),
    ].map((call) => call),
  ),
  interaction('a StorageClass', (ns) => [
    post(storage('storageclasses'), {
      metadata: { name: `sc-${ns}` },
      provisioner: 'ebs.csi.aws.com',
      parameters: { type: 'gp3' },
    }),
    merge(storage('storageclasses', `sc-${ns}`), { parameters: { type: 'gp2' } }),
    merge(storage('storageclasses', `sc-${ns}`), { allowVolumeExpansion: true }),
    post(storage('storageclasses'), { metadata: { name: `sc2-${ns}` }, volumeBindingMode: 'Later', provisioner: 'x' }),
    del(storage('storageclasses', `sc-${ns}`)),
  ]),
  interaction('a PersistentVolumeClaim', (ns) => [
    post(core(ns, 'persistentvolumeclaims'), {
      metadata: { name: 'c' },
      spec: { storageClassName: 'none', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }),
    merge(core(ns, 'persistentvolumeclaims', 'c'), { spec: { storageClassName: 'other' } }),
    post(core(ns, 'persistentvolumeclaims'), {
      metadata: { name: 'd' },
      spec: { resources: { requests: { storage: '1Gi' } } },
    }),
    post(core(ns, 'persistentvolumeclaims'), {
      metadata: { name: 'd' },
      spec: { accessModes: ['Often'], resources: { requests: { storage: '1Gi' } } },
    }),
    post(core(ns, 'persistentvolumeclaims'), { metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }),
  ]),
  interaction('a PersistentVolume', (ns) => [
    post('/api/v1/persistentvolumes', {
      metadata: { name: `pv-${ns}` },
      spec: {
        storageClassName: 'none',
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: { driver: 'ebs.csi.aws.com', volumeHandle: 'vol-1' },
      },
    }),
    post('/api/v1/persistentvolumes', {
      metadata: { name: `pv2-${ns}` },
      spec: { capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'] },
    }),
    post('/api/v1/persistentvolumes', {
      metadata: { name: `pv2-${ns}` },
      spec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'x', volumeHandle: 'v' } },
    }),
  ]),
  interaction('CSINode and VolumeAttachment', (ns) => [
    post(storage('csinodes'), {
      metadata: { name: `csi-${ns}` },
      spec: { drivers: [{ name: 'ebs.csi.aws.com', nodeID: 'n', topologyKeys: ['a'], allocatable: { count: 5 } }] },
    }),
    post(storage('volumeattachments'), {
      metadata: { name: `va-${ns}` },
      spec: { attacher: 'ebs.csi.aws.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
    }),
    del(storage('volumeattachments', `va-${ns}`)),
  ]),
  interaction('a Node', (ns) =>
    [
      post(
        '/api/v1/nodes',
        node(`n1-${ns}`, {
          spec: { providerID: 'kwok://a', taints: [{ key: 'a', effect: 'NoSchedule' }] },
          status: { capacity: { cpu: '4' } },
        }),
      ),
      merge(`/api/v1/nodes/n1-${ns}`, { spec: { providerID: 'kwok://b' } }),
      merge(`/api/v1/nodes/n1-${ns}`, { spec: { unschedulable: true } }),
      merge(`/api/v1/nodes/n1-${ns}`, { status: { capacity: { cpu: '8' } } }),
      merge(`/api/v1/nodes/n1-${ns}/status`, { status: { capacity: { cpu: '8' } } }),
      del(`/api/v1/nodes/n1-${ns}`),
    ].slice(0, 2),
  ),
  interaction('taints that are wrong', (ns) => [
    post('/api/v1/nodes', node(`n2-${ns}`, { spec: { taints: [{ key: 'a', effect: 'Never' }] } })),
    post('/api/v1/nodes', node(`n2-${ns}`, { spec: { taints: [{ key: 'a' }] } })),
    post(
      '/api/v1/nodes',
      node(`n2-${ns}`, {
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: 'a', value: 'x', effect: 'NoSchedule' },
          ],
        },
      }),
    ),
  ]),
  interaction('Events', (ns) => [
    post(core(ns, 'events'), {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: ns },
      reason: 'Testing',
      message: 'hello',
      type: 'Normal',
      count: 1,
    }),
    post(core(ns, 'events'), {
      metadata: { name: 'f' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'other' },
      reason: 'Testing',
      type: 'Normal',
    }),
    get(`${core(ns, 'events')}?fieldSelector=involvedObject.name%3Dp,reason%3DTesting`),
    get(`${core(ns, 'events')}?fieldSelector=involvedObject.kind%3DNode`),
  ]),
  interaction('Lease values are checked', (ns) => [
    post(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, {
      metadata: { name: 'l' },
      spec: { leaseDurationSeconds: 0 },
    }),
    post(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, {
      metadata: { name: 'l' },
      spec: { leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.5Z' },
    }),
    post(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, {
      metadata: { name: 'm' },
      spec: { renewTime: 'yesterday' },
    }),
  ]),
  interaction('roles and bindings', (ns) => [
    post(rbac(`namespaces/${ns}/roles`), {
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    }),
    post(rbac(`namespaces/${ns}/roles`), {
      metadata: { name: 'bad' },
      rules: [{ apiGroups: [''], resources: ['pods'] }],
    }),
    post(rbac(`namespaces/${ns}/rolebindings`), {
      metadata: { name: 'rb' },
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'ana' },
        { kind: 'ServiceAccount', name: 'x', namespace: ns },
      ],
    }),
    merge(rbac(`namespaces/${ns}/rolebindings/rb`), { roleRef: { name: 'other' } }),
    post(rbac('clusterroles'), { metadata: { name: `cr:${ns}` }, rules: [] }),
    del(rbac(`clusterroles/cr:${ns}`)),
  ]),
  interaction('device claims and classes', (ns) => [
    post('/apis/resource.k8s.io/v1/deviceclasses', {
      metadata: { name: `gpu-${ns}` },
      spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] },
    }),
    post(`/apis/resource.k8s.io/v1/namespaces/${ns}/resourceclaims`, {
      metadata: { name: 'claim' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: `gpu-${ns}` } }] } },
    }),
    post(`/apis/resource.k8s.io/v1/namespaces/${ns}/resourceclaimtemplates`, {
      metadata: { name: 'tpl' },
      spec: { spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: `gpu-${ns}`, count: 2 } }] } } },
    }),
    post('/apis/resource.k8s.io/v1/resourceslices', {
      metadata: { name: `slice-${ns}` },
      spec: {
        driver: 'gpu.example.com',
        nodeName: 'n',
        pool: { name: 'n', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'gpu-0', attributes: { model: { string: 'x' } }, capacity: { memory: { value: '40Gi' } } }],
      },
    }),
  ]),
  interaction('a ConfigMap named like a workload is none', (ns) => [
    post(core(ns, 'configmaps'), configMap('d')),
    get(apps(ns, 'deployments', 'd')),
  ]),
];
