import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { HurriedClock } from '../../test/kube/hurried-clock.ts';
import { KubeError, type Pod, type Resource, resources } from '../ports/index.ts';
import type { ClusterAccess } from './access.ts';
import { KubeClient, type KubeClientOptions } from './client.ts';
import { type Credentials, StoredCredentials } from './credentials.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: unknown;
}

type Answer = (seen: Seen, response: ServerResponse, count: number) => void;

const json = (response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
};

async function serve(answer: Answer, options: Partial<KubeClientOptions> & { access?: ClusterAccess } = {}) {
  const seen: Seen[] = [];
  const { server, port } = await listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = text === '' ? undefined : JSON.parse(text);
      const one = { method: request.method, url: request.url, headers: request.headers, body };
      seen.push(one);
      answer(one, response, seen.length);
    });
  });
  const kube = client({ server: `http://127.0.0.1:${port}` }, options);
  return { kube, seen, server };
}

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { server, port: (server.address() as AddressInfo).port };
}

function client(access: Partial<ClusterAccess>, options: Partial<KubeClientOptions> = {}): KubeClient {
  const kube = new KubeClient({
    access: {
      source: 'test',
      server: '',
      namespace: 'default',
      tls: { insecure: false },
      credentials: new StoredCredentials({ kind: 'token', token: 'abc' }),
      ...access,
    },
    clock: new HurriedClock(200),
    userAgent: 'kerf/1.2.3',
    rateLimit: { qps: 0, burst: 0 },
    // Eighteen seconds by this clock: a busy machine is slow, and what is about deadlines sets its own.
    totalTimeoutMs: 3_600_000,
    ...options,
  });
  closers.push(() => kube.close());
  return kube;
}

const { pods, nodes } = resources;
const claims: Resource = {
  group: 'karpenter.sh',
  version: 'v1',
  plural: 'nodeclaims',
  kind: 'NodeClaim',
  namespaced: false,
};
const web = { name: 'web', namespace: 'team-a' };
const pod = (fields: object = {}): Pod => ({ metadata: { ...web, ...fields } });
/** As a server answers. */
const served = (fields: object = {}): Pod => ({ kind: 'Pod', ...pod(fields) });

test('calls carry credentials, our user agent and the wish for JSON', async () => {
  const { kube, seen } = await serve((_, response) => json(response, 200, served()));
  await kube.get(pods, web);
  expect(seen[0]?.headers).toMatchObject({
    authorization: 'Bearer abc',
    'user-agent': 'kerf/1.2.3',
    accept: 'application/json',
  });
});

test('each verb has its method, path, query and body', async () => {
  const { kube, seen } = await serve(({ url = '' }, response) => {
    if (url.includes('nodeclaims')) json(response, 200, { kind: 'NodeClaim', metadata: { name: 'c1' } });
    else if (url.includes('/nodes/')) json(response, 200, { kind: 'Node', metadata: { name: 'a/b' } });
    else json(response, 200, { kind: 'Pod', metadata: web });
  });
  await kube.get(nodes, { name: 'a/b' });
  await kube.create(pods, pod(), { dryRun: true, fieldManager: 'kerf' });
  await kube.replace(pods, pod({ resourceVersion: '7' }), { subresource: 'status' });
  await kube.patch(claims, { name: 'c1' }, { type: 'merge', body: { a: 1 } }, { subresource: 'status' });
  await kube.patch(pods, web, { type: 'strategic', body: {} });
  await kube.patch(pods, web, { type: 'json', body: [{ op: 'test' }] });
  await kube.patch(pods, web, { type: 'apply', body: {}, force: true }, { fieldManager: 'kerf' });
  await kube.delete(pods, web, { gracePeriodSeconds: 0, preconditions: { uid: 'u' }, propagationPolicy: 'Background' });
  await kube.evict(web, { gracePeriodSeconds: 5 });
  await kube.bind(web, 'node-1');
  const place = '/api/v1/namespaces/team-a/pods';
  expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /api/v1/nodes/a%2Fb',
    `POST ${place}?dryRun=All&fieldManager=kerf`,
    `PUT ${place}/web/status`,
    'PATCH /apis/karpenter.sh/v1/nodeclaims/c1/status',
    `PATCH ${place}/web`,
    `PATCH ${place}/web`,
    `PATCH ${place}/web?fieldManager=kerf&force=true`,
    `DELETE ${place}/web`,
    `POST ${place}/web/eviction`,
    `POST ${place}/web/binding`,
  ]);
  expect(seen.slice(3, 7).map(({ headers }) => headers['content-type'])).toEqual([
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
    'application/json-patch+json',
    'application/apply-patch+yaml',
  ]);
  expect(seen[1]?.body).toMatchObject({ apiVersion: 'v1', kind: 'Pod' });
  expect(seen[7]?.body).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    propagationPolicy: 'Background',
    preconditions: { uid: 'u' },
  });
  expect(seen[8]?.body).toMatchObject({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: web,
    deleteOptions: { gracePeriodSeconds: 5 },
  });
  expect(seen[9]?.body).toMatchObject({ kind: 'Binding', target: { kind: 'Node', name: 'node-1' } });
});

test('objects come with apiVersion and kind and without managedFields, also inside lists', async () => {
  const { kube, seen } = await serve((_, response) =>
    json(response, 200, {
      kind: 'PodList',
      metadata: { resourceVersion: '42', continue: 'more', remainingItemCount: 3 },
      items: [{ metadata: { managedFields: [{}], name: 'web' }, spec: {} }],
    }),
  );
  const list = await kube.list(pods, { namespace: 'team-a', limit: 1, labelSelector: 'a=b,c in (d)', continue: 'x y' });
  expect(list).toEqual({
    items: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: {} }],
    resourceVersion: '42',
    continue: 'more',
    remainingItemCount: 3,
  });
  expect(seen[0]?.url).toBe('/api/v1/namespaces/team-a/pods?limit=1&labelSelector=a%3Db%2Cc%20in%20(d)&continue=x%20y');
});

/** Up to its end, or what ends it. */
async function* watched(kube: KubeClient): AsyncGenerator<unknown> {
  try {
    yield* kube.watch(pods, { sendInitialEvents: true });
  } catch (thrown) {
    if (!(thrown instanceof KubeError) || thrown.reason !== 'Transport') throw thrown;
  }
}

test.each([
  '{}',
  '[]',
  '{"status":"ok"}',
  '',
  '<html>ok</html>',
  '{"kind":"NodeList","metadata":{"resourceVersion":"1"}}',
])('a 200 with the body %j is not an answer, to whatever was asked', async (body) => {
  const { kube } = await serve((_, response) => response.writeHead(200).end(body));
  await expect(kube.list(pods)).rejects.toMatchObject({ reason: 'Transport', retryable: true });
  await expect(kube.get(pods, web)).rejects.toMatchObject({ reason: 'Transport' });
  await expect(kube.create(pods, pod())).rejects.toMatchObject({ reason: 'Transport' });
  await expect(kube.patch(pods, web, { type: 'merge', body: {} })).rejects.toMatchObject({ reason: 'Transport' });
  const events: unknown[] = [];
  for await (const event of watched(kube)) events.push(event);
  expect(events).toEqual([]);
});

test('a call without a namespace where one is needed, or with one where none is, is refused before it is sent', async () => {
  const { kube, seen } = await serve((_, response) => json(response, 200, {}));
  await expect(kube.get(pods, { name: 'web' })).rejects.toMatchObject({ reason: 'BadRequest' });
  await expect(kube.get(nodes, web)).rejects.toMatchObject({ reason: 'BadRequest' });
  await expect(kube.get(nodes, { name: '' })).rejects.toMatchObject({ reason: 'BadRequest' });
  expect(seen).toEqual([]);
});

test("a failure is a KubeError with the server's reason, message, causes and what was called", async () => {
  const { kube } = await serve((_, response) =>
    json(response, 422, {
      kind: 'Status',
      code: 422,
      reason: 'Invalid',
      message: 'Pod "web" is invalid',
      details: { causes: [{ field: 'spec.x', reason: 'FieldValueInvalid', message: 'no' }] },
    }),
  );
  await expect(kube.create(pods, pod())).rejects.toMatchObject({
    name: 'KubeError',
    code: 'KubeInvalid',
    status: 422,
    message: 'Pod "web" is invalid',
    subject: 'create pods/team-a/web',
    causes: [{ field: 'spec.x' }],
    retryable: false,
  });
});

test('an answer that is not a Status, as proxies give, is understood by its code', async () => {
  const { kube } = await serve((_, response) => {
    response.writeHead(502);
    response.end('<html>Bad Gateway</html>');
  });
  await expect(kube.get(pods, web)).rejects.toMatchObject({
    status: 502,
    retryable: true,
    message: 'the server answered 502: <html>Bad Gateway</html>',
  });
});

test('that an object is gone is said by the API server itself, not by what is before it', async () => {
  const { kube } = await serve((_, response) => {
    response.writeHead(404);
    response.end('404 page not found\n');
  });
  const calls = [
    kube.get(claims, { name: 'a' }),
    kube.delete(claims, { name: 'a' }),
    kube.patch(claims, { name: 'a' }, { type: 'merge', body: {} }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ reason: 'Transport', retryable: true });
  // A kind that is not served is answered so.
  await expect(kube.list(claims)).rejects.toMatchObject({ reason: 'NotFound', status: 404 });
});

test('an object that was not asked for is not taken for the one that was', async () => {
  const { kube } = await serve((_, response) =>
    json(response, 200, { kind: 'NodeClaim', apiVersion: 'karpenter.sh/v1', metadata: { name: 'other' } }),
  );
  await expect(kube.get(claims, { name: 'a' })).rejects.toMatchObject({ reason: 'Transport' });
});

test('429 and 503 with Retry-After are waited for and repeated, a few times', async () => {
  const busy = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'busy' };
  const { kube, seen } = await serve((_, response, count) =>
    count < 3 ? json(response, count === 1 ? 429 : 503, busy, { 'retry-after': '2' }) : json(response, 200, served()),
  );
  await kube.create(pods, pod());
  expect(seen.length).toBe(3);
  const never = await serve((_, response) => json(response, 429, busy, { 'retry-after': '1' }));
  await expect(never.kube.get(pods, web)).rejects.toMatchObject({ reason: 'TooManyRequests', retryAfterSeconds: 1 });
  expect(never.seen.length).toBe(6);
  const long = await serve((_, response) => json(response, 503, busy, { 'retry-after': '3600' }));
  await expect(long.kube.get(pods, web)).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(long.seen.length).toBe(1);
});

test('a failure without Retry-After is not repeated', async () => {
  const { kube, seen } = await serve((_, response) => json(response, 500, {}));
  await expect(kube.get(pods, web)).rejects.toMatchObject({ status: 500, retryable: true });
  expect(seen.length).toBe(1);
});

test('an eviction refused by a disruption budget is answered at once', async () => {
  const { kube, seen } = await serve((_, response) =>
    json(
      response,
      429,
      { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'no' },
      { 'retry-after': '10' },
    ),
  );
  await expect(kube.evict(web)).rejects.toMatchObject({ reason: 'TooManyRequests', retryAfterSeconds: 10 });
  expect(seen.length).toBe(1);
});

test('401 asks for new credentials once', async () => {
  let token = 'old';
  let rejections = 0;
  const credentials: Credentials = {
    headers: async () => ({ authorization: `Bearer ${token}` }),
    certificate: async () => undefined,
    rejected: () => {
      rejections++;
      token = 'new';
      return true;
    },
  };
  const { port } = await listen((request, response) =>
    request.headers.authorization === 'Bearer new' ? json(response, 200, served()) : json(response, 401, {}),
  );
  await client({ server: `http://127.0.0.1:${port}`, credentials }).get(pods, web);
  expect(rejections).toBe(1);
});

test('credentials that are not accepted are named, with what to do', async () => {
  const { kube } = await serve((_, response) => json(response, 401, { kind: 'Status', message: 'Unauthorized' }));
  await expect(kube.get(pods, web)).rejects.toMatchObject({ reason: 'Unauthorized', status: 401 });
  await expect(kube.get(pods, web)).rejects.toThrow(
    /^cannot get pods\/team-a\/web at .*: it does not accept the credentials of test; if they have expired, renew them$/,
  );
});

test('a read on a connection that just closed is tried once more; a write is not', async () => {
  const { kube, seen } = await serve((_, response, count) =>
    count % 2 === 1 ? response.socket?.destroy() : json(response, 200, served()),
  );
  await kube.get(pods, web);
  expect(seen.length).toBe(2);
  await expect(kube.create(pods, pod())).rejects.toMatchObject({ reason: 'Transport', retryable: true, status: 0 });
  expect(seen.length).toBe(3);
});

test('an unreachable server is a Transport error that names the call and the server', async () => {
  const { server, port } = await listen(() => {});
  await new Promise((resolve) => server.close(resolve));
  closers.pop();
  const kube = client({ server: `http://127.0.0.1:${port}` });
  await expect(kube.get(pods, web)).rejects.toThrow(`cannot get pods/team-a/web at http://127.0.0.1:${port}: `);
});

test('a server that never answers is given up', async () => {
  const { kube } = await serve(() => {}, { callTimeoutMs: 50 });
  await expect(kube.create(pods, pod())).rejects.toMatchObject({ reason: 'Transport' });
});

describe('a call ends within its total deadline', () => {
  // The clock of these tests runs two hundred times as fast.
  const totalTimeoutMs = 20_000;
  const late = {
    reason: 'Transport',
    retryable: true,
    message: expect.stringContaining('no whole answer within 20 s'),
  };

  test('while the body stalls, and while it drips', async () => {
    const { kube } = await serve(
      ({ url = '' }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"kind":');
        if (url.endsWith('drips')) setInterval(() => response.write(' '), 10).unref();
      },
      { totalTimeoutMs },
    );
    await expect(kube.get(pods, web)).rejects.toMatchObject(late);
    await expect(kube.list(nodes)).rejects.toMatchObject(late);
    await expect(kube.get(pods, { ...web, name: 'drips' })).rejects.toMatchObject(late);
  });

  test('while it waits at the rate limiter, and it is not sent afterwards', async () => {
    const { kube, seen } = await serve((_, response) => json(response, 200, served()), {
      totalTimeoutMs,
      rateLimit: { qps: 0.02, burst: 1 },
    });
    await kube.get(pods, web);
    await expect(kube.create(pods, pod())).rejects.toMatchObject(late);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(seen).toHaveLength(1);
  });

  test('while the server asks to come back again and again', async () => {
    const busy = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'busy' };
    const { kube } = await serve((_, response) => json(response, 429, busy, { 'retry-after': '15' }), {
      totalTimeoutMs,
    });
    await expect(kube.get(pods, web)).rejects.toMatchObject(late);
  });

  test('and a watch has begun by then, or is given up; what it says later takes as long as it takes', async () => {
    const { kube } = await serve(
      ({ url = '' }, response) => {
        if (url.includes('nodes')) return;
        response.writeHead(200);
        response.flushHeaders();
        setTimeout(() => response.end('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n'), 300);
      },
      { totalTimeoutMs },
    );
    await expect(kube.watch(nodes).next()).rejects.toMatchObject(late);
    expect((await kube.watch(pods).next()).value).toMatchObject({ type: 'ADDED' });
  });
});

test("the server's time is heard with every answer", async () => {
  const heard: number[] = [];
  const date = 'Wed, 18 Nov 2026 00:00:07 GMT';
  const answer: Answer = (_, response, count) => json(response, count === 1 ? 200 : 404, served(), { date });
  const { kube } = await serve(answer, { onServerTime: (serverMs) => heard.push(serverMs) });
  await kube.get(pods, web);
  await kube.get(pods, web).catch(() => undefined);
  expect(heard).toEqual([Date.parse(date), Date.parse(date)]);
});

test('a write that waited at the rate limiter while the term ended is not sent; reads are', async () => {
  let leads = true;
  const options = { rateLimit: { qps: 1, burst: 1 }, mayWrite: () => leads };
  const { kube, seen } = await serve((_, response) => json(response, 200, served()), options);
  await kube.create(pods, pod());
  const waiting = kube.create(pods, pod());
  leads = false;
  await expect(waiting).rejects.toMatchObject({ reason: 'NotLeader' });
  await kube.get(pods, web);
  expect(seen.map(({ method }) => method)).toEqual(['POST', 'GET']);
});

test("an aborted call rejects with the signal's reason", async () => {
  const { kube } = await serve(() => {});
  const controller = new AbortController();
  const reason = new Error('shutting down');
  setTimeout(() => controller.abort(reason), 20);
  await expect(kube.get(pods, web, { signal: controller.signal })).rejects.toBe(reason);
  await expect(kube.get(pods, web, { signal: controller.signal })).rejects.toBe(reason);
});

test('a watch asks for bookmarks, yields events and bookmarks, and ends when the server ends it', async () => {
  const { kube, seen } = await serve((_, response) => {
    const lines = [
      { type: 'ADDED', object: { metadata: { name: 'a', managedFields: [] } } },
      {
        type: 'BOOKMARK',
        object: { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } },
      },
      { type: 'DELETED', object: { metadata: { name: 'a' } } },
    ];
    response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });
  const events = [];
  for await (const event of kube.watch(pods, { sendInitialEvents: true, timeoutSeconds: 300 })) events.push(event);
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };
  expect(events).toEqual([
    { type: 'ADDED', object },
    { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true },
    { type: 'DELETED', object },
  ]);
  expect(seen[0]?.url).toBe(
    '/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&timeoutSeconds=300&resourceVersionMatch=NotOlderThan',
  );
});

test.each([
  [
    'an ERROR event',
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone","message":"too old"}}\n',
    'Expired',
  ],
  ['an event about nothing', '{"type":"ADDED","object":{}}\n', 'Transport'],
  ['an event about another kind', '{"type":"ADDED","object":{"kind":"Node","metadata":{"name":"a"}}}\n', 'Transport'],
  ['an end mark without a version', '{"type":"BOOKMARK","object":{"metadata":{}}}\n', 'Transport'],
  ['an unknown event', '{"type":"SURPRISE","object":{"metadata":{}}}\n', 'Transport'],
  ['a cut in the middle of an event', '{"type":"ADDED","object":{"meta', 'Transport'],
])('a watch with %s throws %3$s', async (_what, text, reason) => {
  const { kube } = await serve((_, response) => response.end(text));
  const watching = (async () => {
    for await (const event of kube.watch(pods)) expect(event).toBeUndefined();
  })();
  await expect(watching).rejects.toMatchObject({ reason });
});

test('a watch that is left or aborted closes its connection', async () => {
  const { kube, server } = await serve((_, response) => {
    response.write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n');
  });
  const open = (): Promise<number> =>
    new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
  for await (const event of kube.watch(pods)) {
    expect(event.type).toBe('ADDED');
    break;
  }
  await expect.poll(open).toBe(0);
  const controller = new AbortController();
  const reason = new Error('enough');
  const watching = (async () => {
    for await (const event of kube.watch(pods, { signal: controller.signal })) {
      expect(event.type).toBe('ADDED');
      setTimeout(() => controller.abort(reason), 5);
    }
  })();
  await expect(watching).rejects.toBe(reason);
  await expect.poll(open).toBe(0);
});

test('discovery tells whether a resource is served, and which version the server has', async () => {
  const { kube, seen } = await serve((one, response) => {
    if (one.url === '/version') json(response, 200, { gitVersion: 'v1.36.3' });
    else if (one.url === '/apis/karpenter.sh/v1')
      json(response, 200, { kind: 'APIResourceList', resources: [{ name: 'nodeclaims' }] });
    else json(response, 404, {});
  });
  expect(await kube.serves(claims)).toBe(true);
  expect(await kube.serves({ ...claims, plural: 'nodepools' })).toBe(false);
  expect(await kube.serves({ ...claims, group: 'gone.example.com' })).toBe(false);
  expect(await kube.serverVersion()).toBe('v1.36.3');
  expect(seen[0]?.url).toBe('/apis/karpenter.sh/v1');
});

test('every request is reported, including repeats and those without an answer', async () => {
  const facts: string[] = [];
  const { kube } = await serve(
    (_, response, count) => {
      if (count === 1) json(response, 429, {}, { 'retry-after': '1' });
      else if (count === 2) response.socket?.destroy();
      else json(response, 200, served());
    },
    { onRequest: ({ method, code }) => facts.push(`${method} ${code}`) },
  );
  await expect(kube.create(pods, pod())).rejects.toMatchObject({ reason: 'Transport' });
  await kube.get(pods, web);
  expect(facts).toEqual(['POST 429', 'POST <error>', 'GET 200']);
});

test('the rate limit holds calls back', async () => {
  const { kube } = await serve((_, response) => json(response, 200, served()), { rateLimit: { qps: 0.2, burst: 1 } });
  const startedMs = Date.now();
  await kube.get(pods, web);
  await kube.get(pods, web);
  expect(Date.now() - startedMs).toBeGreaterThan(20);
});

test('KubeErrors know whether trying again can help', () => {
  const error = (reason: string, status: number): boolean => new KubeError({ reason, status, message: '' }).retryable;
  expect([error('Transport', 0), error('TooManyRequests', 429), error('Whatever', 503)]).toEqual([true, true, true]);
  expect([error('NotFound', 404), error('Conflict', 409), error('Invalid', 422)]).toEqual([false, false, false]);
});
