// Creating, reading, replacing: names, identity, conflicts, dry runs.
import {
  apply,
  apps,
  bodyOf,
  configMap,
  core,
  del,
  deployment,
  get,
  interaction,
  merge,
  post,
  put,
  uidOf,
  versionOf,
} from './calls.ts';

export const objects = [
  interaction('create and read a ConfigMap', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    get(core(ns, 'configmaps', 'a')),
  ]),
  interaction('create without apiVersion and kind', (ns) => [
    post(core(ns, 'configmaps'), { metadata: { name: 'bare' }, data: { x: 'y' } }),
  ]),
  interaction('create twice', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    post(core(ns, 'configmaps'), configMap('a')),
  ]),
  interaction('read what is not there', (ns) => [get(core(ns, 'configmaps', 'missing'))]),
  interaction("read a custom group's missing object", (ns) => [get(apps(ns, 'deployments', 'missing'))]),
  interaction('delete what is not there', (ns) => [del(core(ns, 'configmaps', 'missing'))]),
  interaction('generateName', (ns) => [post(core(ns, 'configmaps'), { metadata: { generateName: 'gen-' } })]),
  interaction('no name at all', (ns) => [post(core(ns, 'configmaps'), { metadata: {} })]),
  interaction('a bad name', (ns) => [post(core(ns, 'configmaps'), configMap('Bad_Name'))]),
  interaction('a name that is too long', (ns) => [post(core(ns, 'configmaps'), configMap('x'.repeat(254)))]),
  interaction('bad label keys and values', (ns) => [
    post(core(ns, 'configmaps'), configMap('a', {}, { labels: { 'bad key': 'v' } })),
    post(core(ns, 'configmaps'), configMap('a', {}, { labels: { ok: 'bad value!' } })),
    post(core(ns, 'configmaps'), configMap('a', {}, { labels: { 'a/b/c': 'x' } })),
    post(core(ns, 'configmaps'), configMap('a', {}, { labels: { ok: 'v'.repeat(64) } })),
  ]),
  interaction('bad annotation keys', (ns) => [
    post(core(ns, 'configmaps'), configMap('a', {}, { annotations: { '/x': 'v' } })),
  ]),
  interaction('bad ConfigMap keys', (ns) => [
    post(core(ns, 'configmaps'), configMap('a', { 'bad key': 'v' })),
    post(core(ns, 'configmaps'), configMap('a', { '..': 'v' })),
  ]),
  interaction('a body of another kind', (ns) => [
    post(core(ns, 'configmaps'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
  ]),
  interaction('a body of another version', (ns) => [
    post(core(ns, 'configmaps'), { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } }),
  ]),
  interaction('the wrong namespace in the body', (ns) => [
    post(core(ns, 'configmaps'), configMap('a', {}, { namespace: 'default' })),
  ]),
  interaction('a namespace that does not exist', () => [post(core('nowhere', 'configmaps'), configMap('a'))]),
  interaction('resourceVersion on create', (ns) => [
    post(core(ns, 'configmaps'), configMap('a', {}, { resourceVersion: '5' })),
  ]),
  interaction("uid and timestamps on create are the server's", (ns) => [
    post(
      core(ns, 'configmaps'),
      configMap('a', {}, { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 }),
    ),
  ]),
  interaction('replace', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    put(core(ns, 'configmaps', 'a'), configMap('a', { b: '2' })),
  ]),
  interaction('replace what is not there', (ns) => [put(core(ns, 'configmaps', 'nope'), configMap('nope'))]),
  interaction('replace under another name', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    put(core(ns, 'configmaps', 'a'), configMap('b')),
  ]),
  interaction('replace with an old version', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    merge(core(ns, 'configmaps', 'a'), { data: { b: '2' } }),
    (past) => put(core(ns, 'configmaps', 'a'), configMap('a', {}, { resourceVersion: versionOf(past, 0) })),
    (past) => put(core(ns, 'configmaps', 'a'), configMap('a', {}, { resourceVersion: versionOf(past, 1) })),
  ]),
  interaction('replace with another uid', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    put(core(ns, 'configmaps', 'a'), configMap('a', {}, { uid: 'aaaaaaaa-0000-0000-0000-000000000000' })),
  ]),
  interaction('a change that changes nothing keeps the version', (ns) => [
    post(core(ns, 'configmaps'), configMap('a')),
    merge(core(ns, 'configmaps', 'a'), { data: { a: '1' } }),
    (past) => ({
      ...get(core(ns, 'configmaps', 'a')),
      path: `${core(ns, 'configmaps')}?resourceVersionMatch=Exact&resourceVersion=${versionOf(past, 0)}`,
    }),
    (past) => get(versionOf(past, 0) === versionOf(past, 1) ? '/same' : '/different'),
  ]),
  interaction('a Lease is created by PUT, and needs a version to be replaced', (ns) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases/l`;
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { holderIdentity: 'me' },
    };
    return [
      put(path, lease),
      put(path, lease),
      (past) =>
        put(path, {
          ...lease,
          metadata: { name: 'l', resourceVersion: versionOf(past, 0) },
          spec: { holderIdentity: 'you' },
        }),
    ];
  }),
  interaction('dry runs store nothing', (ns) => [
    post(`${core(ns, 'configmaps')}?dryRun=All`, configMap('dry')),
    get(core(ns, 'configmaps', 'dry')),
    post(core(ns, 'configmaps'), configMap('dry')),
    merge(`${core(ns, 'configmaps', 'dry')}?dryRun=All`, { data: { b: '2' } }),
    get(core(ns, 'configmaps', 'dry')),
    del(`${core(ns, 'configmaps', 'dry')}?dryRun=All`),
    get(core(ns, 'configmaps', 'dry')),
  ]),
  interaction('dry run of a value that is none', (ns) => [
    post(`${core(ns, 'configmaps')}?dryRun=Some`, configMap('dry')),
  ]),
  interaction('unknown fields: dropped, warned about, refused', (ns) => [
    post(`${core(ns, 'configmaps')}?fieldValidation=Ignore`, { ...configMap('u1'), foo: 1 }),
    post(core(ns, 'configmaps'), { ...configMap('u2'), foo: 1 }),
    post(`${core(ns, 'configmaps')}?fieldValidation=Strict`, { ...configMap('u3'), foo: 1 }),
    post(`${apps(ns, 'deployments')}?fieldValidation=Strict`, deployment('u4', { replica: 3 })),
  ]),
  interaction('fields of the wrong type', (ns) => [
    post(apps(ns, 'deployments'), deployment('w', { replicas: 'three' })),
    post(apps(ns, 'deployments'), deployment('w', { replicas: 1.5 })),
    post(core(ns, 'configmaps'), configMap('w', { a: 1 })),
    post(core(ns, 'configmaps'), configMap('w', 'text')),
    post(core(ns, 'configmaps'), configMap('w', {}, { labels: ['a'] })),
    post(apps(ns, 'deployments'), deployment('w', { paused: 'yes' })),
    post(apps(ns, 'deployments'), deployment('w', { template: 'x' })),
  ]),
  interaction('immutable ConfigMap', (ns) => [
    post(core(ns, 'configmaps'), { ...configMap('im'), immutable: true }),
    merge(core(ns, 'configmaps', 'im'), { data: { b: '2' } }),
    merge(core(ns, 'configmaps', 'im'), { immutable: false }),
  ]),
  interaction('Secret with stringData', (ns) => [
    post(core(ns, 'secrets'), { metadata: { name: 's' }, stringData: { user: 'ana' } }),
    get(core(ns, 'secrets', 's')),
    merge(core(ns, 'secrets', 's'), { type: 'other' }),
  ]),
  interaction('ServiceAccount', (ns) => [
    post(core(ns, 'serviceaccounts'), { metadata: { name: 'robot' } }),
    del(core(ns, 'serviceaccounts', 'robot')),
  ]),
  interaction('Namespace: labels, phase, finalizer', (ns) => [
    post('/api/v1/namespaces', { metadata: { name: `${ns}-n` } }),
    merge(`/api/v1/namespaces/${ns}-n`, { metadata: { labels: { team: 'a' } } }),
    post('/api/v1/namespaces', { metadata: { name: 'Bad.Name' } }),
  ]),
  interaction('the default namespaces cannot be deleted', () => [
    del('/api/v1/namespaces/default'),
    del('/api/v1/namespaces/kube-system'),
  ]),
  interaction('ownerReferences are checked', (ns) => [
    post(
      core(ns, 'configmaps'),
      configMap('o', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }] }),
    ),
    post(
      core(ns, 'configmaps'),
      configMap(
        'o',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1', controller: true },
            { apiVersion: 'v1', kind: 'Pod', name: 'q', uid: 'u2', controller: true },
          ],
        },
      ),
    ),
  ]),
  interaction('finalizer names are checked', (ns) => [
    post(core(ns, 'configmaps'), configMap('f', {}, { finalizers: ['bad name!'] })),
  ]),
  interaction('server-side apply creates, owns and removes', (ns) => [
    apply(core(ns, 'configmaps', 'ssa'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ssa' },
      data: { a: '1', b: '2' },
    }),
    apply(core(ns, 'configmaps', 'ssa'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ssa' },
      data: { a: '1' },
    }),
    apply(
      core(ns, 'configmaps', 'ssa'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ssa' }, data: { a: '9' } },
      'fieldManager=other',
    ),
    apply(
      core(ns, 'configmaps', 'ssa'),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ssa' }, data: { a: '9' } },
      'fieldManager=other&force=true',
    ),
    apply(core(ns, 'configmaps', 'ssa'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'ssa' },
      data: { a: '1' },
    }),
  ]),
  interaction('server-side apply needs a manager', (ns) => [
    apply(core(ns, 'configmaps', 'ssa'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ssa' } }, 'x=1'),
    apply(core(ns, 'configmaps', 'ssa'), { metadata: { name: 'ssa' } }),
  ]),
  interaction('server-side apply merges keyed lists', (ns) => {
    const base = (containers: object[]) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers } },
      },
    });
    const sidecar = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'ssa' },
      spec: { template: { spec: { containers: [{ name: 'two', image: 'i:2' }] } } },
    };
    return [
      apply(apps(ns, 'deployments', 'ssa'), base([{ name: 'one', image: 'i:1' }])),
      apply(apps(ns, 'deployments', 'ssa'), sidecar, 'fieldManager=injector'),
      apply(apps(ns, 'deployments', 'ssa'), base([{ name: 'one', image: 'i:3' }])),
    ];
  }),
  interaction('delete answers: Status for most, the object for some', (ns) => [
    post(core(ns, 'configmaps'), configMap('d')),
    del(core(ns, 'configmaps', 'd')),
    post(core(ns, 'services'), { metadata: { name: 'svc' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
    del(core(ns, 'services', 'svc')),
    post(apps(ns, 'deployments'), deployment('d')),
    del(apps(ns, 'deployments', 'd')),
  ]),
  interaction('delete with preconditions', (ns) => [
    post(core(ns, 'configmaps'), configMap('pre')),
    del(core(ns, 'configmaps', 'pre'), { preconditions: { uid: 'aaaaaaaa-0000-0000-0000-000000000000' } }),
    del(core(ns, 'configmaps', 'pre'), { preconditions: { resourceVersion: '1' } }),
    (past) =>
      del(core(ns, 'configmaps', 'pre'), {
        preconditions: { uid: uidOf(past, 0), resourceVersion: versionOf(past, 0) },
      }),
    get(core(ns, 'configmaps', 'pre')),
  ]),
  interaction('delete options that make no sense', (ns) => [
    post(core(ns, 'configmaps'), configMap('opt')),
    del(core(ns, 'configmaps', 'opt'), { propagationPolicy: 'Sideways' }),
    del(core(ns, 'configmaps', 'opt'), { propagationPolicy: 'Orphan', orphanDependents: true }),
    del(`${core(ns, 'configmaps', 'opt')}?gracePeriodSeconds=x`),
  ]),
  interaction('delete a collection by label', (ns) => [
    post(core(ns, 'configmaps'), configMap('c1', {}, { labels: { set: 'x' } })),
    post(core(ns, 'configmaps'), configMap('c2', {}, { labels: { set: 'x' } })),
    post(core(ns, 'configmaps'), configMap('c3')),
    del(`${core(ns, 'configmaps')}?labelSelector=set%3Dx`),
    get(`${core(ns, 'configmaps')}?labelSelector=set`),
    (past) => get(core(ns, 'configmaps', bodyOf(past, 2).metadata.name)),
  ]),
];
