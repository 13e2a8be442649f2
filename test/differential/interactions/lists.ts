// Lists: pages, versions, selectors; and watches on top of them.
import { bodyOf, configMap, core, del, get, interaction, merge, pod, post, versionOf, watch } from './calls.ts';

const three = (ns: string) =>
  ['a', 'b', 'c'].map((name, index) =>
    post(
      core(ns, 'configmaps'),
      configMap(`cm-${name}`, { n: String(index) }, { labels: { app: name, tier: index === 0 ? 'web' : 'db' } }),
    ),
  );
const only = 'fieldSelector=metadata.name%21%3Dkube-root-ca.crt';
const select = (ns: string, selector: string) =>
  get(`${core(ns, 'configmaps')}?${only}&labelSelector=${encodeURIComponent(selector)}`);
const events = (ns: string, query: string, count: number) =>
  watch(`${core(ns, 'configmaps')}?watch=true&${query}`, count);

export const lists = [
  interaction('a list', (ns) => [...three(ns), get(`${core(ns, 'configmaps')}?${only}`)]),
  interaction('an empty list', (ns) => [get(core(ns, 'secrets'))]),
  interaction('a list of a namespace that does not exist', () => [get(core('nowhere', 'secrets'))]),
  interaction('label selectors', (ns) => [
    ...three(ns),
    select(ns, 'app=a'),
    select(ns, 'app==b'),
    select(ns, 'app!=a'),
    select(ns, 'app in (a, c)'),
    select(ns, 'app notin (a),tier=db'),
    select(ns, 'app'),
    select(ns, '!app'),
    select(ns, 'none=x'),
  ]),
  interaction('label selectors that cannot be read', (ns) => [
    select(ns, 'app=a=b'),
    select(ns, 'app in a'),
    select(ns, '=x'),
    select(ns, 'app=bad value'),
  ]),
  interaction('field selectors', (ns) => [
    ...three(ns),
    get(`${core(ns, 'configmaps')}?fieldSelector=metadata.name%3Dcm-b`),
    get(`${core(ns, 'configmaps')}?fieldSelector=metadata.namespace%3D${ns},metadata.name%3Dcm-a`),
    get(`/api/v1/configmaps?fieldSelector=metadata.namespace%3D${ns},metadata.name%3Dcm-a`),
  ]),
  interaction('field selectors that are not supported', (ns) => [
    get(`${core(ns, 'configmaps')}?fieldSelector=data.a%3Db`),
    get(`${core(ns, 'pods')}?fieldSelector=spec.foo%3Db`),
    get(`/api/v1/nodes?fieldSelector=spec.providerID%3Db`),
    get(`${core(ns, 'configmaps')}?fieldSelector=nonsense`),
  ]),
  interaction('pods by node and phase', (ns) => [
    post(core(ns, 'pods'), pod('here', { nodeName: 'n-1' })),
    post(core(ns, 'pods'), pod('nowhere', { schedulerName: 'none' })),
    get(`${core(ns, 'pods')}?fieldSelector=spec.nodeName%3Dn-1`),
    get(`${core(ns, 'pods')}?fieldSelector=spec.nodeName%3D`),
    get(`${core(ns, 'pods')}?fieldSelector=status.phase%3DPending,spec.schedulerName%3Dnone`),
    get(`${core(ns, 'pods')}?fieldSelector=status.phase%21%3DPending`),
  ]),
  interaction('pages', (ns) => [
    ...three(ns),
    get(`${core(ns, 'configmaps')}?limit=2`),
    (past) => get(`${core(ns, 'configmaps')}?limit=2&continue=${bodyOf(past, -1).metadata.continue}`),
  ]),
  interaction('pages are consistent while things change', (ns) => [
    ...three(ns),
    get(`${core(ns, 'configmaps')}?limit=1`),
    del(core(ns, 'configmaps', 'cm-b')),
    post(core(ns, 'configmaps'), configMap('cm-bb')),
    (past) => get(`${core(ns, 'configmaps')}?limit=5&continue=${bodyOf(past, 3).metadata.continue}`),
  ]),
  interaction('pages with a selector have no count', (ns) => [
    ...three(ns),
    get(`${core(ns, 'configmaps')}?limit=1&labelSelector=tier%3Ddb`),
  ]),
  interaction('a continue token that is none', (ns) => [get(`${core(ns, 'configmaps')}?limit=1&continue=nonsense`)]),
  interaction('continue together with a version', (ns) => [
    ...three(ns),
    get(`${core(ns, 'configmaps')}?limit=1`),
    (past) => get(`${core(ns, 'configmaps')}?limit=1&resourceVersion=5&continue=${bodyOf(past, -1).metadata.continue}`),
  ]),
  interaction('a list at an exact version', (ns) => [
    ...three(ns),
    del(core(ns, 'configmaps', 'cm-a')),
    (past) => get(`${core(ns, 'configmaps')}?${only}&resourceVersionMatch=Exact&resourceVersion=${versionOf(past, 2)}`),
    get(`${core(ns, 'configmaps')}?${only}`),
  ]),
  interaction('a list not older than', (ns) => [
    ...three(ns),
    (past) =>
      get(`${core(ns, 'configmaps')}?${only}&resourceVersionMatch=NotOlderThan&resourceVersion=${versionOf(past, 0)}`),
    get(`${core(ns, 'configmaps')}?${only}&resourceVersion=0&resourceVersionMatch=NotOlderThan`),
  ]),
  interaction('versions that make no sense', (ns) => [
    get(`${core(ns, 'configmaps')}?resourceVersionMatch=Exact`),
    get(`${core(ns, 'configmaps')}?resourceVersionMatch=Exact&resourceVersion=0`),
    get(`${core(ns, 'configmaps')}?resourceVersionMatch=Sometimes&resourceVersion=5`),
    get(`${core(ns, 'configmaps')}?limit=x`),
  ]),
  interaction('watch from a version', (ns) => [
    post(core(ns, 'configmaps'), configMap('w')),
    merge(core(ns, 'configmaps', 'w'), { data: { a: '2' } }),
    del(core(ns, 'configmaps', 'w')),
    (past) => events(ns, `resourceVersion=${versionOf(past, 0)}`, 2),
  ]),
  interaction('watch without a version begins with what is there', (ns) => [...three(ns), events(ns, only, 3)]),
  interaction('watch sees things enter and leave a selector', (ns) => [
    post(core(ns, 'configmaps'), configMap('w')),
    merge(core(ns, 'configmaps', 'w'), { metadata: { labels: { on: 'yes' } } }),
    merge(core(ns, 'configmaps', 'w'), { data: { b: '2' } }),
    merge(core(ns, 'configmaps', 'w'), { metadata: { labels: { on: null } } }),
    del(core(ns, 'configmaps', 'w')),
    (past) => events(ns, `labelSelector=on%3Dyes&resourceVersion=${versionOf(past, 0)}`, 3),
  ]),
  interaction('watch of one name', (ns) => [
    ...three(ns),
    events(ns, 'fieldSelector=metadata.name%3Dcm-b', 1),
    watch(`${core(ns, 'configmaps', 'cm-c')}?watch=true`, 1),
  ]),
  interaction('watch as a streamed list', (ns) => [
    ...three(ns),
    events(ns, `${only}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, 4),
  ]),
  interaction('watch as a streamed list, wrongly asked for', (ns) => [
    get(`${core(ns, 'configmaps')}?watch=true&sendInitialEvents=true`),
    get(`${core(ns, 'configmaps')}?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1`),
  ]),
  interaction('watch of a version from the future', (ns) => [
    events(ns, 'resourceVersion=999999999&timeoutSeconds=1', 1),
  ]),
  interaction('watch of what is not a version', (ns) => [
    get(`${core(ns, 'configmaps')}?watch=true&resourceVersion=abc`),
  ]),
  interaction('the old watch path', (ns) => [
    ...three(ns),
    watch(`/api/v1/watch/namespaces/${ns}/configmaps?fieldSelector=metadata.name%3Dcm-a`, 1),
  ]),
];
