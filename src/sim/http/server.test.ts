// The server as a server: malformed requests, large ones, many at once, streams under back-pressure, a busy port.
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealClock } from '../../runtime/index.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { type ApiServer, serveApi } from './server.ts';

let cluster: EmbeddedCluster;
let server: ApiServer;
beforeAll(async () => {
  cluster = await createCluster({ clock: new RealClock() });
  server = await serveApi(cluster.machinery);
});
afterAll(async () => {
  await server.close();
  await cluster.stop();
});

const configMaps = '/api/v1/namespaces/default/configmaps';
const call = (path: string, init?: RequestInit): Promise<Response> => fetch(`${server.url}${path}`, init);
const isAnswer = async (response: Response): Promise<boolean> => {
  const text = await response.text();
  if (response.status === 404 && text === '404 page not found\n') return true;
  const body = JSON.parse(text) as { kind?: string; reason?: string; status?: string; code?: number; message?: string };
  if (response.ok) return true;
  // A 500 of this kind would be a bug of ours.
  if (body.reason === 'InternalError') return false;
  return (
    body.kind === 'Status' &&
    body.status === 'Failure' &&
    body.code === response.status &&
    typeof body.message === 'string'
  );
};

const words = [
  'api',
  'apis',
  'v1',
  'apps',
  'namespaces',
  'default',
  'pods',
  'configmaps',
  'deployments',
  'x',
  'status',
  'scale',
  'eviction',
  'binding',
  '%00',
  '%2F',
  'constructor',
  '__proto__',
  '..%2f',
];
const path = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 7 }).map((parts) => `/${parts.join('/')}`);
const query = fc.dictionary(
  fc.constantFrom(
    'labelSelector',
    'fieldSelector',
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'dryRun',
    'fieldValidation',
    'force',
    'gracePeriodSeconds',
    'timeoutSeconds',
  ),
  fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom('-1', '99999999999999999999', 'a in (', '!!', 'All', 'true', 'constructor=x', '__proto__'),
  ),
  { maxKeys: 3 },
);
const whole = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'f', labels: { a: 'b' } },
  data: { a: 'b' },
});
const body = fc.oneof(
  fc.json(),
  fc.nat(whole.length).map((length) => whole.slice(0, length)),
  fc.string(),
  fc.constantFrom(
    '{"__proto__":{"x":1},"metadata":{"name":"p","__proto__":{}}}',
    '{"metadata":{"constructor":1,"name":{"a":[]}}}',
    '['.repeat(5_000),
  ),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'constructor',
  'text/plain',
  'garbage',
);

test('YAML that nests without end is refused before it is parsed', async () => {
  const startedMs = performance.now();
  const answer = await call(configMaps, {
    method: 'POST',
    headers: { 'content-type': 'application/yaml' },
    body: '['.repeat(500_000),
  });
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining('nested more than 200 levels deep'),
  ]);
  expect(performance.now() - startedMs).toBeLessThan(2_000);
});

test("any request gets an answer in the API's own form, and the server lives", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
      path,
      query,
      body,
      contentType,
      async (method, at, parameters, text, type) => {
        const search = new URLSearchParams(parameters).toString();
        const sends = method !== 'GET';
        const response = await call(`${at}?${search}`, {
          method,
          ...(sends && { body: text, headers: { 'content-type': type } }),
        });
        expect(await isAnswer(response)).toBe(true);
      },
    ),
    { seed: 11, numRuns: 250 },
  );
  expect((await call('/healthz')).status).toBe(200);
  // Nothing a client sends may leak into every object.
  expect(({} as { x?: number }).x).toBeUndefined();
});

test('bytes that are not HTTP are rejected', async () => {
  const reply = await new Promise<string>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('\x16\x03\x01 this is not a request\r\n\r\n'));
    socket.once('data', (data) => resolve(data.toString()));
  });
  expect(reply).toMatch(/^HTTP\/1\.1 400/);
});

test('a body of five megabytes is refused with its limit, and so is a connection cut in the middle survived', async () => {
  const response = await call(configMaps, {
    method: 'POST',
    body: 'x'.repeat(5 * 1024 * 1024),
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({
    reason: 'RequestEntityTooLarge',
    message: 'Request entity too large: limit is 3145728',
  });
  await new Promise<void>((resolve) => {
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(
        'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"metad',
      );
      setTimeout(() => socket.destroy(), 20);
    });
    socket.once('close', () => resolve());
  });
  expect((await call('/readyz')).status).toBe(200);
});

test('a selector of ten thousand labels is read, and a head of two megabytes refused', async () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `k${index}!=v`).join(',');
  const { selectorOf } = await import('../api/verbs/list.ts');
  const pods = cluster.machinery.registry.find('', 'v1', 'pods');
  if (pods === undefined) throw new Error('no pods');
  const { matches } = selectorOf(pods, { labelSelector: many });
  const bare = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', uid: '', resourceVersion: '', creationTimestamp: '' },
  };
  expect(matches?.(bare)).toBe(true);
  expect(matches?.({ ...bare, metadata: { ...bare.metadata, labels: { k9999: 'v' } } })).toBe(false);
  expect((await call(`${configMaps}?labelSelector=${encodeURIComponent(many)}`)).status).toBe(200);
  const tooLong = await call(`${configMaps}?labelSelector=${'k'.repeat(2_000_000)}`);
  expect(tooLong.status).toBe(431);
  expect(await tooLong.json()).toMatchObject({ kind: 'Status', code: 431 });
});

test('a taken port is an error that says what to do', async () => {
  await expect(serveApi(cluster.machinery, { port: server.port })).rejects.toMatchObject({
    code: 'PortInUse',
    message: expect.stringContaining('--port'),
  });
});

test('an address that is none says how to write one', async () => {
  const { machinery } = cluster;
  await expect(serveApi(machinery, { host: '127.0.0.1:6490', port: 0 })).rejects.toThrow(
    'cannot serve the API on 127.0.0.1:6490:0: "127.0.0.1:6490" is not an address; write one like 127.0.0.1',
  );
  await expect(serveApi(machinery, { host: '192.0.2.1', port: 0 })).rejects.toThrow(
    'is not an address of this machine',
  );
});

test('a watch that is not read keeps its place and misses nothing', async () => {
  const quiet = await createCluster({ clock: new RealClock() });
  const api = await serveApi(quiet.machinery);
  const response = await fetch(`${api.url}${configMaps}?watch=true&resourceVersion=1`);
  const data = { filler: 'x'.repeat(20_000) };
  for (let index = 0; index < 300; index += 1) {
    await fetch(`${api.url}${configMaps}`, {
      method: 'POST',
      body: JSON.stringify({ metadata: { name: `c-${index}` }, data }),
      headers: { 'content-type': 'application/json' },
    }).then((answer) => answer.text());
  }
  const seen: string[] = [];
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk as Uint8Array).toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      seen.push((JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name);
    if (seen.length >= 300) break;
  }
  expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => `c-${index}`));
  await api.close();
  await quiet.stop();
});

test('a watcher too far behind gets an error that says so', async () => {
  const small = await createCluster({ clock: new RealClock(), historySize: 5 });
  const api = await serveApi(small.machinery);
  for (let index = 0; index < 30; index += 1) {
    await fetch(`${api.url}${configMaps}`, {
      method: 'POST',
      body: JSON.stringify({ metadata: { name: `c-${index}` } }),
      headers: { 'content-type': 'application/json' },
    }).then((answer) => answer.text());
  }
  const events = await fetch(`${api.url}${configMaps}?watch=true&resourceVersion=2&timeoutSeconds=1`).then((answer) =>
    answer.text(),
  );
  expect(JSON.parse(events.split('\n')[0] ?? '')).toMatchObject({
    type: 'ERROR',
    object: { code: 410, reason: 'Expired' },
  });
  const list = await fetch(`${api.url}${configMaps}?resourceVersion=2&resourceVersionMatch=Exact`);
  expect(list.status).toBe(410);
  await api.close();
  await small.stop();
});

test('memory returns after large requests that were refused', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapMiB = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const before = heapMiB();
  const large = JSON.stringify({ metadata: { name: 'Not A Name' }, data: { a: 'x'.repeat(2_900_000) } });
  for (let index = 0; index < 30; index += 1) {
    const response = await call(configMaps, {
      method: 'POST',
      body: large,
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).toBe(422);
    await response.text();
  }
  expect(heapMiB() - before).toBeLessThan(20);
});

test.each<[string, Record<string, string>, number]>([
  ['a program by address', {}, 200],
  ['a program by name', { host: 'localhost:1234' }, 200],
  ['a browser typed here', { 'sec-fetch-site': 'none' }, 200],
  ['another name', { host: 'evil.example' }, 421],
  ['a foreign page', { origin: 'https://evil.example' }, 403],
  ['a page that hides where it is from', { origin: 'null' }, 403],
  ['a foreign page that sends no origin', { 'sec-fetch-site': 'cross-site' }, 403],
  ['a page on another port of this machine', { 'sec-fetch-site': 'same-site' }, 403],
])('who may ask: %s', async (_, headers, status) => {
  for (const method of ['GET', 'POST']) {
    const answer = await new Promise<string>((resolve) => {
      const body = method === 'POST' ? '{"metadata":{"generateName":"guarded-"}}' : '';
      const head = {
        host: `127.0.0.1:${server.port}`,
        'content-type': 'application/json',
        'content-length': String(body.length),
        connection: 'close',
        ...headers,
      };
      const socket = connect(server.port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('close', () => resolve(text));
      socket.write(
        `${method} ${configMaps} HTTP/1.1\r\n${Object.entries(head)
          .map((each) => each.join(': '))
          .join('\r\n')}\r\n\r\n${body}`,
      );
    });
    expect(answer.split(' ')[1]).toBe(String(status === 200 && method === 'POST' ? 201 : status));
  }
});
