// Tables, discovery, and requests that are wrong as requests.

import type { Call } from '../exchange.ts';
import {
  apps,
  configMap,
  container,
  core,
  deployment,
  get,
  interaction,
  merge,
  node,
  pod,
  post,
  put,
} from './calls.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
const raw = (call: Call, fields: Partial<Call>): Call => ({ ...call, ...fields });
const podStatus = (ns: string, name: string, status: object) =>
  merge(core(ns, `pods/${name}/status`, undefined), { status });
const state = (fields: object) => ({ name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, ...fields });

export const protocol = [
  interaction('table of pods', (ns) => [
    post(core(ns, 'pods'), pod('p', { schedulerName: 'none' })),
    get(core(ns, 'pods'), table),
    get(core(ns, 'pods', 'p'), table),
    get(`${core(ns, 'pods')}?includeObject=None`, table),
    get(`${core(ns, 'pods')}?includeObject=Object`, table),
  ]),
  interaction('table of pods in many states', (ns) => [
    post(
      core(ns, 'pods'),
      pod('p', {
        schedulerName: 'none',
        initContainers: [{ name: 'i', image: 'i' }],
        readinessGates: [{ conditionType: 'x.io/y' }],
      }),
    ),
    podStatus(ns, 'p', {
      initContainerStatuses: [state({ name: 'i', state: { waiting: { reason: 'PodInitializing' } } })],
    }),
    get(core(ns, 'pods'), table),
    podStatus(ns, 'p', {
      initContainerStatuses: [state({ name: 'i', state: { terminated: { exitCode: 1, reason: 'Error' } } })],
    }),
    get(core(ns, 'pods'), table),
    podStatus(ns, 'p', {
      phase: 'Running',
      initContainerStatuses: [state({ name: 'i', state: { terminated: { exitCode: 0 } } })],
      containerStatuses: [state({ state: { waiting: { reason: 'CrashLoopBackOff' } }, restartCount: 3 })],
    }),
    get(core(ns, 'pods'), table),
    podStatus(ns, 'p', {
      phase: 'Running',
      podIPs: [{ ip: '10.0.0.1' }],
      podIP: '10.0.0.1',
      containerStatuses: [state({ ready: true, state: { running: {} } })],
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'x.io/y', status: 'True' },
      ],
    }),
    get(core(ns, 'pods'), table),
    podStatus(ns, 'p', { phase: 'Failed', reason: 'Evicted' }),
    get(core(ns, 'pods'), table),
    podStatus(ns, 'p', { phase: 'Succeeded' }),
    get(core(ns, 'pods'), table),
  ]),
  interaction('table of nodes', (ns) =>
    [
      post('/api/v1/nodes', node(`t-${ns}`, { spec: { unschedulable: true } })),
      merge(`/api/v1/nodes/t-${ns}`, {
        metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'node-role.kubernetes.io/edge': '' } },
      }),
      merge(`/api/v1/nodes/t-${ns}/status`, {
        status: {
          addresses: [{ type: 'InternalIP', address: '10.0.0.7' }],
          nodeInfo: {
            machineID: '',
            systemUUID: '',
            bootID: '',
            kernelVersion: '6.1',
            osImage: 'Linux',
            containerRuntimeVersion: 'containerd://2',
            kubeletVersion: 'v1.37.1',
            kubeProxyVersion: '',
            operatingSystem: 'linux',
            architecture: 'amd64',
          },
        },
      }),
      get(`/api/v1/nodes?fieldSelector=metadata.name%3Dt-${ns}`, table),
    ].slice(0, 4),
  ),
  interaction('table of deployments', (ns) => [
    post(apps(ns, 'deployments'), deployment('d', { paused: true })),
    get(apps(ns, 'deployments'), table),
  ]),
  interaction('tables of the other kinds, empty', (ns) => [
    ...[
      'configmaps',
      'secrets',
      'serviceaccounts',
      'services',
      'events',
      'persistentvolumeclaims',
      'limitranges',
      'podtemplates',
    ].map((plural) => get(`${core(ns, plural)}?labelSelector=none`, table)),
    ...['replicasets', 'statefulsets', 'daemonsets', 'controllerrevisions'].map((plural) =>
      get(apps(ns, plural), table),
    ),
    get(`/apis/batch/v1/namespaces/${ns}/jobs`, table),
    get(`/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`, table),
    get(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, table),
    ...['namespaces', 'nodes', 'persistentvolumes'].map((plural) => get(`/api/v1/${plural}?labelSelector=none`, table)),
    ...['storageclasses', 'csinodes', 'csidrivers', 'volumeattachments'].map((plural) =>
      get(`/apis/storage.k8s.io/v1/${plural}?labelSelector=none`, table),
    ),
    get('/apis/scheduling.k8s.io/v1/priorityclasses?labelSelector=none', table),
    ...['roles', 'rolebindings'].map((plural) =>
      get(`/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/${plural}`, table),
    ),
    ...['clusterroles', 'clusterrolebindings'].map((plural) =>
      get(`/apis/rbac.authorization.k8s.io/v1/${plural}?labelSelector=none`, table),
    ),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?labelSelector=none', table),
    ...['resourceclaims', 'resourceclaimtemplates'].map((plural) =>
      get(`/apis/resource.k8s.io/v1/namespaces/${ns}/${plural}`, table),
    ),
    ...['deviceclasses', 'resourceslices'].map((plural) =>
      get(`/apis/resource.k8s.io/v1/${plural}?labelSelector=none`, table),
    ),
  ]),
  interaction('tables of things that are there', (ns) =>
    [
      post(core(ns, 'configmaps'), configMap('a')),
      get(core(ns, 'configmaps', 'a'), table),
      post(core(ns, 'secrets'), { metadata: { name: 's' }, stringData: { a: 'b' } }),
      get(core(ns, 'secrets', 's'), table),
      post(core(ns, 'services'), {
        metadata: { name: 'svc' },
        spec: { clusterIP: 'None', selector: { a: 'b' }, ports: [{ port: 80 }] },
      }),
      get(core(ns, 'services', 'svc'), table),
      post(core(ns, 'persistentvolumeclaims'), {
        metadata: { name: 'c' },
        spec: { storageClassName: 'none', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }),
      get(core(ns, 'persistentvolumeclaims', 'c'), table),
      post(core(ns, 'events'), {
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', name: 'p', namespace: ns },
        reason: 'R',
        message: 'm ',
        type: 'Normal',
        source: { component: 'kubelet', host: 'n' },
      }),
      get(core(ns, 'events', 'e'), table),
      post(`/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`, {
        metadata: { name: 'b' },
        spec: { maxUnavailable: '50%', selector: { matchLabels: { none: 'x' } } },
      }),
      get(`/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets/b`, table),
      get('/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical', table),
      get('/api/v1/namespaces/kube-system', table),
      post(`/apis/batch/v1/namespaces/${ns}/jobs`, {
        metadata: { name: 'j' },
        spec: {
          suspend: true,
          completions: 4,
          template: { spec: { restartPolicy: 'Never', containers: [container({})] } },
        },
      }),
    ].slice(0, 14),
  ),
  interaction('a watch as a table', (ns) => [
    post(core(ns, 'configmaps'), configMap('w1', {}, { labels: { t: 'x' } })),
    post(core(ns, 'configmaps'), configMap('w2', {}, { labels: { t: 'x' } })),
    raw(get(`${core(ns, 'configmaps')}?watch=true&labelSelector=t`, table), { events: 2 }),
  ]),
  interaction('only the metadata', (ns) => [
    post(core(ns, 'configmaps'), configMap('m', {}, { labels: { t: 'x' } })),
    get(core(ns, 'configmaps', 'm'), partial),
    get(`${core(ns, 'configmaps')}?labelSelector=t`, partialList),
  ]),
  interaction('a form no one offers', (ns) => [
    get(core(ns, 'configmaps'), 'text/csv'),
    get(core(ns, 'configmaps'), 'application/json;as=Poem;v=v1;g=meta.k8s.io'),
  ]),
  interaction('a body that is not JSON', (ns) => [
    raw(post(core(ns, 'configmaps'), {}), { text: '{"metadata": {' }),
    raw(post(core(ns, 'configmaps'), {}), { text: 'hello' }),
    raw(post(core(ns, 'configmaps'), {}), { text: '[]' }),
    raw(post(core(ns, 'configmaps'), {}), { text: '' }),
  ]),
  interaction('a body in a format that is none', (ns) => [
    raw(post(core(ns, 'configmaps'), configMap('x')), { contentType: 'text/plain' }),
  ]),
  interaction('a body in YAML', (ns) => [
    raw(post(core(ns, 'configmaps'), {}), {
      text: 'metadata:\n  name: yaml\ndata:\n  a: "1"\n',
      contentType: 'application/yaml',
    }),
  ]),
  interaction('a body that is too large', (ns) => [
    post(core(ns, 'configmaps'), configMap('big', { a: 'x'.repeat(4 * 1024 * 1024) })),
  ]),
  interaction('a ConfigMap that is too large', (ns) => [
    post(core(ns, 'configmaps'), configMap('big', { a: 'x'.repeat(1024 * 1024 + 1) })),
  ]),
  interaction('annotations that are too large', (ns) => [
    post(core(ns, 'configmaps'), configMap('big', {}, { annotations: { a: 'x'.repeat(257 * 1024) } })),
  ]),
  interaction('methods that are not allowed', (ns) => [
    { method: 'PUT', path: core(ns, 'configmaps'), body: {} },
    { method: 'POST', path: core(ns, 'configmaps', 'x'), body: {} },
    { method: 'POST', path: '/api/v1/configmaps', body: configMap('x') },
    { method: 'DELETE', path: '/api/v1/configmaps' },
    put(core(ns, 'pods/x/eviction', undefined), {}),
  ]),
  interaction('paths that are none', (ns) => [
    get('/nonsense'),
    get('/api/v2'),
    get(`/api/v1/namespaces/${ns}/configmaps/a/b/c`),
    get(`${core(ns, 'configmaps', 'a')}/status`),
    get('/apis/apps/v9/deployments'),
  ]),
  interaction('cluster resources under a namespace', (ns) => [get(core(ns, 'nodes'))]),
  interaction('the versions of the API', () => [
    get('/api/v1').path === '' ? get('/') : get('/apis/policy/v1'),
    get('/apis/coordination.k8s.io'),
  ]),
  interaction('health', () => [get('/healthz'), get('/readyz'), get('/livez')]),
];
