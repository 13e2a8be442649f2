// What the tools of the field ask for beside objects: events by their newer name, rights, usage, logs.
import { CoreV1Api, EventsV1Api, KubeConfig, Metrics } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealClock } from '../../runtime/index.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { type ApiServer, serveApi } from './server.ts';

let cluster: EmbeddedCluster;
let server: ApiServer;
const config = new KubeConfig();

async function call(method: string, path: string, body?: object, type = 'application/json'): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': type } }),
  });
  const text = await response.text();
  return text.startsWith('{') ? JSON.parse(text) : text;
}

const started = { running: { startedAt: '2026-11-16T12:00:00Z' } };
const podNamed = (name: string, nodeName?: string): object => ({
  metadata: { name },
  spec: {
    ...(nodeName && { nodeName }),
    containers: [{ name: 'app', image: 'shop/web:1', resources: { requests: { cpu: '500m', memory: '1Gi' } } }],
  },
});

beforeAll(async () => {
  cluster = await createCluster({ clock: new RealClock() });
  server = await serveApi(cluster.machinery);
  config.loadFromClusterAndUser({ name: 'c', server: server.url, skipTLSVerify: true }, { name: 'u' });
  await call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  for (const name of ['web', 'early']) await call('POST', '/api/v1/namespaces/default/pods', podNamed(name, 'n1'));
  await call('POST', '/api/v1/namespaces/default/pods', podNamed('waits'));
  const status = { phase: 'Running', containerStatuses: [{ name: 'app', state: started }] };
  await call('PATCH', '/api/v1/namespaces/default/pods/web/status', { status }, 'application/merge-patch+json');
  await call('POST', '/api/v1/namespaces/default/events', {
    metadata: { name: 'old' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
    reason: 'Nominated',
    message: 'should schedule on n1',
    type: 'Normal',
    count: 3,
  });
});
afterAll(async () => {
  await server.close();
  await cluster.stop();
});

test('what manifests of real workloads bring along is taken, gets its defaults and is listed', async () => {
  const inDefault = (group: string, plural: string) => `/apis/${group}/namespaces/default/${plural}`;
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const autoscaler = { metadata: { name: 'web' }, spec: { scaleTargetRef: target, maxReplicas: 5 } };
  expect(await call('POST', inDefault('autoscaling/v2', 'horizontalpodautoscalers'), autoscaler)).toMatchObject({
    spec: { minReplicas: 1, metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }] },
  });
  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] };
  const cronJob = {
    metadata: { name: 'nightly' },
    spec: { schedule: '0 2 * * *', jobTemplate: { spec: { template: { spec: podSpec } } } },
  };
  expect(await call('POST', inDefault('batch/v1', 'cronjobs'), cronJob)).toMatchObject({
    spec: { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
  });
  const quota = { metadata: { name: 'team' }, spec: { hard: { 'requests.cpu': '100', pods: '50' } } };
  expect(await call('POST', '/api/v1/namespaces/default/resourcequotas', quota)).toMatchObject({
    kind: 'ResourceQuota',
  });
  const rows = async (path: string): Promise<unknown> => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = (await (await fetch(`${server.url}${path}`, { headers: { accept } })).json()) as {
      rows: { cells: unknown[] }[];
    };
    return table.rows.map(({ cells }) => cells.slice(0, 6));
  };
  expect(await rows(inDefault('autoscaling/v2', 'horizontalpodautoscalers'))).toEqual([
    ['web', 'Deployment/web', 'cpu: <unknown>/80%', '1', 5, 0],
  ]);
  expect(await rows(inDefault('batch/v1', 'cronjobs'))).toEqual([
    ['nightly', '0 2 * * *', '<none>', 'False', 0, '<none>'],
  ]);
});

test('an autoscaler without a target or a bound, and a CronJob without a schedule, are refused with the field', async () => {
  const path = (group: string, plural: string) => `/apis/${group}/namespaces/default/${plural}`;
  expect(
    await call('POST', path('autoscaling/v2', 'horizontalpodautoscalers'), {
      metadata: { name: 'bad' },
      spec: { scaleTargetRef: { kind: '', name: 'web' }, maxReplicas: 0 },
    }),
  ).toMatchObject({
    code: 422,
    message: expect.stringMatching(/spec\.maxReplicas: Required.*scaleTargetRef\.kind: Required/),
  });
  expect(
    await call('POST', path('batch/v1', 'cronjobs'), {
      metadata: { name: 'bad' },
      spec: {
        schedule: '',
        jobTemplate: { spec: { template: { spec: { containers: [{ name: 'c', image: 'x' }] } } } },
      },
    }),
  ).toMatchObject({ code: 422, message: expect.stringContaining('spec.schedule: Required value') });
});

const events = '/apis/events.k8s.io/v1/namespaces/default/events';

test('an event is one object under two names', async () => {
  const renamed = {
    regarding: { name: 'web' },
    note: 'should schedule on n1',
    deprecatedCount: 3,
    eventTime: expect.any(String),
  };
  expect(await call('GET', `${events}/old`)).toMatchObject({ apiVersion: 'events.k8s.io/v1', ...renamed });
  const written = { regarding: { kind: 'Pod', namespace: 'default', name: 'waits' }, note: 'hello', reason: 'Said' };
  await call('POST', events, { metadata: { name: 'new' }, eventTime: '2026-11-16T12:00:00.000000Z', ...written });
  expect(await call('GET', '/api/v1/namespaces/default/events/new')).toMatchObject({
    apiVersion: 'v1',
    involvedObject: { name: 'waits' },
    message: 'hello',
  });
  await call('PATCH', `${events}/new`, { note: 'hello again' }, 'application/merge-patch+json');
  await call(
    'PATCH',
    `${events}/new`,
    [{ op: 'replace', path: '/regarding/name', value: 'web' }],
    'application/json-patch+json',
  );
  expect(await call('GET', '/api/v1/namespaces/default/events/new')).toMatchObject({
    message: 'hello again',
    involvedObject: { name: 'web' },
  });
  const found = (await call('GET', `${events}?fieldSelector=regarding.name%3Dweb,reason%3DSaid`)) as {
    items: { note: string }[];
    apiVersion: string;
  };
  expect([found.apiVersion, found.items.map(({ note }) => note)]).toEqual(['events.k8s.io/v1', ['hello again']]);
});

test('a watch by the newer name shows the newer fields', async () => {
  const path = `${events}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`;
  const lines = (await (await fetch(server.url + path)).text()).trim().split('\n');
  const seen = lines.map((line) => JSON.parse(line) as { object: { apiVersion: string; note?: string } });
  expect(seen.length).toBeGreaterThanOrEqual(2);
  expect(new Set(seen.map(({ object }) => object.apiVersion))).toEqual(new Set(['events.k8s.io/v1']));
  expect(seen.some(({ object }) => object.note === 'should schedule on n1')).toBe(true);
});

test('the JavaScript client reads events, usage and logs through its own types', async () => {
  const listed = await config.makeApiClient(EventsV1Api).listNamespacedEvent({ namespace: 'default' });
  expect(listed.items.map(({ note }) => note)).toContain('should schedule on n1');
  const usage = await new Metrics(config).getNodeMetrics();
  expect(usage.items.map(({ metadata }) => metadata.name)).toEqual(['n1']);
  const log = await config.makeApiClient(CoreV1Api).readNamespacedPodLog({ name: 'web', namespace: 'default' });
  expect(log).toContain('This cluster is simulated');
});

test('everyone may do everything, and reviews say so', async () => {
  const reviews = '/apis/authorization.k8s.io/v1';
  const spec = { resourceAttributes: { verb: 'delete', resource: 'nodes' } };
  expect(await call('POST', `${reviews}/selfsubjectaccessreviews`, { spec })).toMatchObject({
    kind: 'SelfSubjectAccessReview',
    spec,
    status: { allowed: true },
  });
  expect(await call('POST', `${reviews}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } })).toMatchObject({
    status: { incomplete: false, resourceRules: [{ verbs: ['*'] }] },
  });
  expect(await call('GET', `${reviews}/selfsubjectrulesreviews`)).toMatchObject({ code: 405 });
});

test('usage is a part of what pods request, and of a node that of its pods and its own', async () => {
  const metrics = '/apis/metrics.k8s.io/v1beta1';
  const pods = (await call('GET', `${metrics}/namespaces/default/pods`)) as {
    items: { metadata: { name: string }; containers: { usage: { cpu: string; memory: string } }[] }[];
  };
  expect(pods.items.map(({ metadata }) => metadata.name)).toEqual(['web']);
  const cpu = Number.parseInt(pods.items[0]?.containers[0]?.usage.cpu ?? '', 10) / 1e6;
  expect(cpu).toBeGreaterThan(0);
  expect(cpu).toBeLessThan(500);
  const node = (await call('GET', `${metrics}/nodes/n1`)) as { usage: { cpu: string } };
  expect(Number.parseInt(node.usage.cpu, 10) / 1e6).toBeGreaterThan(cpu);
  expect(await call('GET', `${metrics}/nodes/gone`)).toMatchObject({ code: 404 });
  expect(await call('DELETE', `${metrics}/nodes/n1`)).toMatchObject({ code: 405 });
});

test('a log says what the simulation did, and refuses as a kubelet would', async () => {
  const log = '/api/v1/namespaces/default/pods';
  expect(await call('GET', `${log}/web/log`)).toContain('container app (shop/web:1) counts as started on n1\n');
  expect(await call('GET', `${log}/web/log?tailLines=1&timestamps=true`)).toMatch(
    /^2026-11-16T12:00:00Z container app/,
  );
  expect(await call('GET', `${log}/web/log?container=other`)).toMatchObject({
    message: 'container other is not valid for pod web',
  });
  expect(await call('GET', `${log}/web/log?previous=true`)).toMatchObject({ code: 400 });
  expect(await call('GET', `${log}/early/log`)).toMatchObject({
    message: 'container "app" in pod "early" is waiting to start: ContainerCreating',
  });
  expect(await call('GET', `${log}/waits/log`)).toBe('');
  expect(await call('GET', `${log}/missing/log`)).toMatchObject({ code: 404 });
});

test('a log that is followed ends when its reader leaves', async () => {
  const leave = new AbortController();
  const response = await fetch(`${server.url}/api/v1/namespaces/default/pods/web/log?follow=true`, {
    signal: leave.signal,
  });
  const { value } = (await response.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value)).toContain('simulated');
  leave.abort();
});

test.each(['v1', 'v1beta1'])('tables and metadata of %s, as k9s asks for them', async (version) => {
  const apiVersion = `meta.k8s.io/${version}`;
  const ask = async (as: string, path: string): Promise<unknown> => {
    const accept = `application/json;as=${as};v=${version};g=meta.k8s.io, application/json`;
    return (await fetch(`${server.url}${path}`, { headers: { accept } })).json();
  };
  const aboutNamespace = { object: { kind: 'PartialObjectMetadata', apiVersion } };
  expect(await ask('Table', '/api/v1/namespaces')).toMatchObject({ kind: 'Table', apiVersion });
  expect(await ask('Table', '/api/v1/namespaces/default')).toMatchObject({
    kind: 'Table',
    apiVersion,
    rows: [aboutNamespace],
  });
  expect(await ask('PartialObjectMetadataList', '/api/v1/namespaces')).toMatchObject({
    kind: 'PartialObjectMetadataList',
    apiVersion,
  });
});
