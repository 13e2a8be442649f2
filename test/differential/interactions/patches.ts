// The patch kinds.
import {
  apps,
  configMap,
  container,
  core,
  deployment,
  get,
  interaction,
  jsonPatch,
  merge,
  pod,
  post,
  strategic,
  template,
  versionOf,
} from './calls.ts';

const withContainers = (name: string) =>
  deployment(name, {
    template: template(
      { app: name },
      {
        containers: [
          container({ name: 'one', env: [{ name: 'A', value: '1' }] }),
          container({ name: 'two', image: 'i:2' }),
        ],
      },
    ),
  });
const spec = (containers: unknown) => ({ spec: { template: { spec: { containers } } } });

export const patches = [
  interaction('merge patch sets and removes', (ns) => [
    post(core(ns, 'configmaps'), configMap('m', { a: '1', b: '2' })),
    merge(core(ns, 'configmaps', 'm'), { data: { a: null, c: '3' } }),
  ]),
  interaction('merge patch of a missing object', (ns) => [merge(core(ns, 'configmaps', 'missing'), {})]),
  interaction('merge patch with a version', (ns) => [
    post(core(ns, 'configmaps'), configMap('m')),
    (past) =>
      merge(core(ns, 'configmaps', 'm'), { metadata: { resourceVersion: versionOf(past, 0) }, data: { b: '1' } }),
    (past) =>
      merge(core(ns, 'configmaps', 'm'), { metadata: { resourceVersion: versionOf(past, 0) }, data: { b: '2' } }),
  ]),
  interaction('merge patch cannot rename', (ns) => [
    post(core(ns, 'configmaps'), configMap('m')),
    merge(core(ns, 'configmaps', 'm'), { metadata: { name: 'other' } }),
  ]),
  interaction('merge patch cannot change identity', (ns) => [
    post(core(ns, 'configmaps'), configMap('m')),
    merge(core(ns, 'configmaps', 'm'), { metadata: { creationTimestamp: '2001-01-01T00:00:00Z', generation: 9 } }),
    merge(core(ns, 'configmaps', 'm'), { metadata: { namespace: 'default' } }),
  ]),
  interaction('merge patch that is not an object', (ns) => [
    post(core(ns, 'configmaps'), configMap('m')),
    merge(core(ns, 'configmaps', 'm'), ['x']),
  ]),
  interaction('JSON patch', (ns) => [
    post(core(ns, 'configmaps'), configMap('j', { a: '1', b: '2' })),
    jsonPatch(core(ns, 'configmaps', 'j'), [
      { op: 'test', path: '/data/a', value: '1' },
      { op: 'replace', path: '/data/a', value: '9' },
      { op: 'remove', path: '/data/b' },
      { op: 'add', path: '/metadata/labels', value: { 'a.b/c': 'd' } },
      { op: 'copy', from: '/data/a', path: '/data/z' },
      { op: 'move', from: '/data/z', path: '/data/y' },
    ]),
    jsonPatch(core(ns, 'configmaps', 'j'), [{ op: 'replace', path: '/metadata/labels/a.b~1c', value: 'e' }]),
  ]),
  interaction('JSON patch that does not apply', (ns) => [
    post(core(ns, 'configmaps'), configMap('j')),
    jsonPatch(core(ns, 'configmaps', 'j'), [{ op: 'test', path: '/data/a', value: 'other' }]),
    jsonPatch(core(ns, 'configmaps', 'j'), [{ op: 'remove', path: '/data/none' }]),
    jsonPatch(core(ns, 'configmaps', 'j'), [{ op: 'replace', path: '/none/deeper', value: 1 }]),
  ]),
  interaction('JSON patch that is not a list', (ns) => [
    post(core(ns, 'configmaps'), configMap('j')),
    jsonPatch(core(ns, 'configmaps', 'j'), { op: 'add' }),
  ]),
  interaction('strategic patch merges containers by name', (ns) => [
    post(apps(ns, 'deployments'), withContainers('s')),
    strategic(apps(ns, 'deployments', 's'), spec([{ name: 'two', image: 'i:3' }])),
    strategic(apps(ns, 'deployments', 's'), spec([{ name: 'three', image: 'i:4' }])),
    strategic(apps(ns, 'deployments', 's'), spec([{ name: 'one', env: [{ name: 'B', value: '2' }] }])),
    strategic(apps(ns, 'deployments', 's'), spec([{ name: 'two', $patch: 'delete' }])),
  ]),
  interaction('strategic patch orders and replaces', (ns) => [
    post(apps(ns, 'deployments'), withContainers('s')),
    strategic(apps(ns, 'deployments', 's'), {
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }],
            containers: [{ name: 'one', image: 'i:9' }],
          },
        },
      },
    }),
    strategic(apps(ns, 'deployments', 's'), spec([{ $patch: 'replace' }, { name: 'solo', image: 'i:1' }])),
    strategic(apps(ns, 'deployments', 's'), { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } }),
  ]),
  interaction('strategic patch without the merge key', (ns) => [
    post(apps(ns, 'deployments'), withContainers('s')),
    strategic(apps(ns, 'deployments', 's'), spec([{ image: 'i:1' }])),
  ]),
  interaction('strategic patch of finalizers is a set', (ns) => [
    post(core(ns, 'configmaps'), configMap('fin', {}, { finalizers: ['a.io/x'] })),
    strategic(core(ns, 'configmaps', 'fin'), { metadata: { finalizers: ['a.io/y'] } }),
    strategic(core(ns, 'configmaps', 'fin'), {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['a.io/x', 'a.io/y'] },
    }),
  ]),
  interaction('strategic patch of tolerations replaces them', (ns) => [
    post(core(ns, 'pods'), pod('p', { tolerations: [{ key: 'a', operator: 'Exists' }] })),
    strategic(core(ns, 'pods', 'p'), { spec: { tolerations: [{ key: 'b', operator: 'Exists' }] } }),
  ]),
  interaction('patches in a format that is none', (ns) => [
    post(core(ns, 'configmaps'), configMap('m')),
    { ...merge(core(ns, 'configmaps', 'm'), {}), contentType: 'application/json' },
    { ...merge(core(ns, 'configmaps', 'm'), {}), contentType: 'text/plain' },
  ]),
  interaction('unknown fields in patches', (ns) => [
    post(apps(ns, 'deployments'), deployment('s', { paused: true })),
    strategic(`${apps(ns, 'deployments', 's')}?fieldValidation=Strict`, {
      spec: { replicaz: 3, template: { spec: { x: [1] } } },
    }),
    merge(`${apps(ns, 'deployments', 's')}?fieldValidation=Strict`, { spec: { replicaz: 3 } }),
    merge(apps(ns, 'deployments', 's'), { spec: { replicaz: 3 } }),
  ]),
  interaction('force without apply', (ns) => [
    post(core(ns, 'configmaps'), configMap('m')),
    merge(`${core(ns, 'configmaps', 'm')}?force=true`, {}),
  ]),
  interaction('generation counts changes of the spec', (ns) => [
    post(apps(ns, 'deployments'), deployment('g')),
    merge(apps(ns, 'deployments', 'g'), { metadata: { labels: { x: 'y' } } }),
    merge(apps(ns, 'deployments', 'g'), { spec: { paused: true } }),
    merge(apps(ns, 'deployments', 'g'), { metadata: { annotations: { x: 'y' } } }),
    get(apps(ns, 'deployments', 'g')),
  ]),
];
