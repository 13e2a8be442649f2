// Finalizers, garbage collection, the end of namespaces, evictions.
import {
  apps,
  bodyOf,
  configMap,
  core,
  del,
  deployment,
  get,
  gone,
  interaction,
  jsonPatch,
  merge,
  pod,
  post,
  uidOf,
  until,
} from './calls.ts';

const owned = (name: string, uid: string, fields: object = {}, extra: object[] = []) =>
  configMap(
    name,
    {},
    { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, ...fields }, ...extra] },
  );
const budgets = (ns: string, name?: string) =>
  `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets${name === undefined ? '' : `/${name}`}`;
const eviction = (ns: string, name: string, options?: object) =>
  post(core(ns, `pods/${name}/eviction`, undefined), {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: ns },
    ...(options && { deleteOptions: options }),
  });
const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
const running = (ns: string, name: string) => [
  post(core(ns, 'pods'), pod(name, { nodeName: 'diff-node', schedulerName: 'none' }, { labels: { app: 'e' } })),
  merge(core(ns, `pods/${name}/status`, undefined), ready),
];

export const deletion = [
  interaction('a finalizer holds an object', (ns) => [
    post(core(ns, 'configmaps'), configMap('f', {}, { finalizers: ['a.io/x'] })),
    del(core(ns, 'configmaps', 'f')),
    get(core(ns, 'configmaps', 'f')),
    del(core(ns, 'configmaps', 'f')),
    merge(core(ns, 'configmaps', 'f'), { metadata: { finalizers: ['a.io/x', 'a.io/new'] } }),
    merge(core(ns, 'configmaps', 'f'), { data: { still: 'editable' } }),
    merge(core(ns, 'configmaps', 'f'), { metadata: { finalizers: [] } }),
    get(core(ns, 'configmaps', 'f')),
  ]),
  interaction('finalizer of a kind with generation', (ns) => [
    post(apps(ns, 'deployments'), deployment('f', { paused: true }, { finalizers: ['a.io/x'] })),
    del(apps(ns, 'deployments', 'f')),
    jsonPatch(apps(ns, 'deployments', 'f'), [{ op: 'remove', path: '/metadata/finalizers' }]),
    gone(apps(ns, 'deployments', 'f')),
  ]),
  interaction('dependents go with their owner', (ns) => [
    post(core(ns, 'configmaps'), configMap('owner')),
    (past) => post(core(ns, 'configmaps'), owned('child', uidOf(past, 0))),
    del(core(ns, 'configmaps', 'owner'), { propagationPolicy: 'Background' }),
    gone(core(ns, 'configmaps', 'child')),
  ]),
  interaction('an owner waits for those who block it', (ns) => [
    post(core(ns, 'configmaps'), configMap('owner')),
    (past) => post(core(ns, 'configmaps'), { ...owned('child', uidOf(past, 0), { blockOwnerDeletion: true }) }),
    (past) => merge(core(ns, 'configmaps', bodyOf(past, 1).metadata.name), { metadata: { finalizers: ['a.io/hold'] } }),
    del(core(ns, 'configmaps', 'owner'), { propagationPolicy: 'Foreground' }),
    until(core(ns, 'configmaps', 'child'), (child) => child.metadata.deletionTimestamp !== undefined),
    get(core(ns, 'configmaps', 'owner')),
    merge(core(ns, 'configmaps', 'child'), { metadata: { finalizers: [] } }),
    gone(core(ns, 'configmaps', 'owner')),
  ]),
  interaction('orphans are set free', (ns) => [
    post(core(ns, 'configmaps'), configMap('owner')),
    (past) => post(core(ns, 'configmaps'), owned('child', uidOf(past, 0))),
    del(core(ns, 'configmaps', 'owner'), { propagationPolicy: 'Orphan' }),
    gone(core(ns, 'configmaps', 'owner')),
    until(core(ns, 'configmaps', 'child'), (child) => child.metadata.ownerReferences === undefined),
  ]),
  interaction('one owner of two is enough', (ns) => [
    post(core(ns, 'configmaps'), configMap('owner')),
    post(core(ns, 'configmaps'), configMap('second')),
    (past) =>
      post(
        core(ns, 'configmaps'),
        owned('child', uidOf(past, 0), {}, [
          { apiVersion: 'v1', kind: 'ConfigMap', name: 'second', uid: uidOf(past, 1) },
        ]),
      ),
    del(core(ns, 'configmaps', 'owner')),
    until(core(ns, 'configmaps', 'child'), (child) => child.metadata.ownerReferences?.length === 1),
  ]),
  interaction('an owner that never was', (ns) => [
    post(core(ns, 'configmaps'), owned('child', 'aaaaaaaa-0000-0000-0000-000000000000')),
    gone(core(ns, 'configmaps', 'child')),
  ]),
  interaction('a namespace takes everything with it', (ns) => [
    post('/api/v1/namespaces', { metadata: { name: `${ns}-x` } }),
    until(core(`${ns}-x`, 'serviceaccounts', 'default'), () => true),
    post(core(`${ns}-x`, 'configmaps'), configMap('a', {}, { finalizers: ['a.io/x'] })),
    post(core(`${ns}-x`, 'pods'), pod('p', { schedulerName: 'none' })),
    del(`/api/v1/namespaces/${ns}-x`),
    post(core(`${ns}-x`, 'configmaps'), configMap('late')),
    gone(core(`${ns}-x`, 'pods', 'p')),
    until(core(`${ns}-x`, 'configmaps', 'a'), (held) => held.metadata.deletionTimestamp !== undefined),
    jsonPatch(core(`${ns}-x`, 'configmaps', 'a'), [{ op: 'remove', path: '/metadata/finalizers' }]),
    gone(`/api/v1/namespaces/${ns}-x`),
  ]),
  interaction('eviction without a budget', (ns) => [
    ...running(ns, 'p'),
    eviction(ns, 'p', { gracePeriodSeconds: 0 }),
    gone(core(ns, 'pods', 'p')),
  ]),
  interaction('eviction of what is not there', (ns) => [eviction(ns, 'missing')]),
  interaction('eviction under another name', (ns) => [
    ...running(ns, 'p'),
    post(core(ns, 'pods/p/eviction', undefined), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'q' },
    }),
  ]),
  interaction('eviction against a budget', (ns) => [
    ...running(ns, 'p'),
    post(budgets(ns), { metadata: { name: 'b' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'e' } } } }),
    // No one computes budgets in the embedded API alone, so both get the same numbers by hand.
    (past) =>
      merge(`${budgets(ns, 'b')}/status`, {
        status: {
          observedGeneration: bodyOf(past, -1).metadata['generation' as never],
          disruptionsAllowed: 0,
          currentHealthy: 1,
          desiredHealthy: 1,
          expectedPods: 1,
        },
      }),
    eviction(ns, 'p'),
    eviction(ns, 'p', { dryRun: ['All'] }),
  ]),
  interaction('eviction with two budgets', (ns) => [
    ...running(ns, 'p'),
    post(budgets(ns), { metadata: { name: 'b1' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'e' } } } }),
    post(budgets(ns), { metadata: { name: 'b2' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'e' } } } }),
    eviction(ns, 'p'),
  ]),
  interaction('eviction of a pod that has not started', (ns) => [
    post(core(ns, 'pods'), pod('p', { schedulerName: 'none' }, { labels: { app: 'e' } })),
    post(budgets(ns), {
      metadata: { name: 'b' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'e' } } },
    }),
    eviction(ns, 'p'),
    gone(core(ns, 'pods', 'p')),
  ]),
];
