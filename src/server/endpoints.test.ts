import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type Endpoints, serveEndpoints } from './endpoints.ts';

let endpoints: Endpoints | undefined;
afterEach(async () => endpoints?.close());

async function serve(notReady?: string, enableProfiling = false): Promise<Endpoints> {
  endpoints = await serveEndpoints({
    enableProfiling,
    metricsPort: 0,
    healthPort: 0,
    notReady: () => notReady,
    metrics: { contentType: 'text/plain; version=0.0.4', render: () => Promise.resolve('karpenter_build_info 1\n') },
  });
  return endpoints;
}

const get = (port: number, path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);

/** With headers that `fetch` does not let a program set. */
const statusOf = (port: number, path: string, headers: Record<string, string>): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });

test('/healthz answers as soon as the process lives, /readyz only once it is ready', async () => {
  const { healthPort } = await serve('waiting for caches: pods');
  expect((await get(healthPort, '/healthz')).status).toBe(200);
  const ready = await get(healthPort, '/readyz');
  expect(ready.status).toBe(500);
  expect(await ready.text()).toBe('waiting for caches: pods');
});

test('/healthz fails once something hangs that only a restart ends', async () => {
  const problems: string[] = [];
  endpoints = await serveEndpoints({
    metricsPort: 0,
    healthPort: 0,
    unhealthy: () => problems[0],
    notReady: () => undefined,
    metrics: { contentType: 'text/plain', render: () => Promise.resolve('') },
  });
  expect((await get(endpoints.healthPort, '/healthz')).status).toBe(200);
  problems.push('nodeclaim.lifecycle of a has not ended for 1260 s');
  const sick = await get(endpoints.healthPort, '/healthz');
  expect([sick.status, await sick.text()]).toEqual([500, problems[0]]);
});

test('/readyz answers 200 when nothing is missing', async () => {
  const { healthPort } = await serve();
  expect((await get(healthPort, '/readyz')).status).toBe(200);
});

test('/metrics serves the text format and other paths are not found', async () => {
  const { metricsPort } = await serve();
  const response = await get(metricsPort, '/metrics');
  expect(response.headers.get('content-type')).toContain('0.0.4');
  expect(await response.text()).toContain('karpenter_build_info');
  expect((await get(metricsPort, '/')).status).toBe(404);
});

test.each([
  ['another origin', { origin: 'https://elsewhere.example' }],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
])('requests of %s are turned away from every port, profiles included', async (_, headers) => {
  const { metricsPort, healthPort } = await serve(undefined, true);
  const paths: [number, string][] = [
    [metricsPort, '/metrics'],
    [metricsPort, '/debug/pprof/profile?seconds=0.1'],
    [healthPort, '/readyz'],
  ];
  for (const [port, path] of paths) {
    expect(await statusOf(port, path, headers), path).toBe(403);
  }
});

test('a scraper that knows the process by another name is answered', async () => {
  const { metricsPort } = await serve();
  expect(await statusOf(metricsPort, '/metrics', { host: 'kerf.kerf-system.svc:8080' })).toBe(200);
});

test('a busy port is an error that names the flag, and nothing keeps listening', async () => {
  const { metricsPort } = await serve();
  const second = serveEndpoints({
    metricsPort,
    healthPort: 0,
    notReady: () => undefined,
    metrics: { contentType: '', render: () => Promise.resolve('') },
  });
  await expect(second).rejects.toThrow(/in use; choose another with --metrics-port/);
});

test('profiles are served on the metrics port when asked for, and only then', async () => {
  const plain = await serve();
  expect((await get(plain.metricsPort, '/debug/pprof/heap')).status).toBe(404);
  await plain.close();
  const { metricsPort } = await serve(undefined, true);
  expect(await (await get(metricsPort, '/debug/pprof/')).text()).toContain('/debug/pprof/profile');
  expect(await (await get(metricsPort, '/debug/pprof/cmdline')).text()).toContain(process.argv[0] ?? '');
  expect(await (await get(metricsPort, '/debug/pprof/heap')).json()).toHaveProperty('head');
  expect(await (await get(metricsPort, '/debug/pprof/profile?seconds=0.1')).json()).toHaveProperty('nodes');
  expect((await get(metricsPort, '/debug/pprof/goroutine')).status).toBe(200);
  const unknown = await get(metricsPort, '/debug/pprof/threadcreate');
  expect(unknown.status).toBe(404);
  expect(await unknown.text()).toContain('this runtime has no threadcreate profile');
  expect((await get(metricsPort, '/metrics')).status).toBe(200);
});

test('two CPU profiles asked for at once: one is served, the other is refused, and the process lives', async () => {
  const { metricsPort } = await serve(undefined, true);
  const ask = () => get(metricsPort, '/debug/pprof/profile?seconds=0.3');
  const both = await Promise.all([ask(), ask(), ask()]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  expect((await ask()).status).toBe(200);
}, 60_000);
