// The API of the dashboard over HTTP: who is let in, what is answered, what is refused.
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeControllers } from '../../cli/up/controllers.ts';
import { installDefaults, installDefinitions } from '../../cli/up/default-objects.ts';
import { ShadowLedger } from '../../controllers/shadow/shadow-ledger.ts';
import { RealClock } from '../../runtime/index.ts';
import { createCluster, genericCatalogue, KwokCloud, kwokProviderFacts, SimKube } from '../../sim/index.ts';
import { silentLog } from '../../telemetry/index.ts';
import { parseSettings } from '../settings/parse.ts';
import { type DashboardServer, serveDashboard } from './dashboard-server.ts';
import { Token } from './token.ts';
import { WhatIfs } from './what-if.ts';

const clock = new RealClock();
const stop = new AbortController();
const token = new Token();
let open: DashboardServer;
let guarded: DashboardServer;
let shadowed: DashboardServer;
let ending: () => Promise<unknown>;

beforeAll(async () => {
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  await installDefinitions(kube);
  await installDefaults(kube, { catalogue: 'generic', faults: undefined });
  const cloud = new KwokCloud({
    kube,
    clock,
    log: silentLog,
    random: Math.random,
    catalogue: genericCatalogue(),
    facts: kwokProviderFacts(),
  });
  const { assembly, decisions, live, run } = makeControllers({
    kube,
    clock,
    cloud,
    log: silentLog,
    random: Math.random,
    act: false,
    settings: parseSettings({}, {}).settings,
    catalogue: 'generic',
  });
  const running = run(stop.signal);
  const { context } = assembly;
  const whatIfs = new WhatIfs({ context, live, real: clock });
  const info = { mode: 'controller', cluster: 'test', build: '1', notVisible: () => [] } as const;
  const parts = { context, live, decisions, info, real: clock, port: 0, whatIfs };
  open = await serveDashboard(parts);
  guarded = await serveDashboard({ ...parts, token });
  const { report } = new ShadowLedger('2026-01-01T00:00:00Z');
  shadowed = await serveDashboard({ ...parts, info: { ...info, mode: 'shadow' }, shadow: () => report });
  ending = async () => {
    stop.abort();
    await running;
    await open.close();
    await guarded.close();
    await shadowed.close();
    await cluster.stop();
  };
});
afterAll(() => ending());

interface Answer {
  status: number;
  body: string;
  headers: Record<string, string | string[] | undefined>;
}

function call(
  server: DashboardServer,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test.each<[string, string, Record<string, string>, string, string, number]>([
  ['a rebound name', '/kerf/v1/info', { host: 'evil.example' }, 'GET', '', 421],
  ['another page', '/kerf/v1/info', { origin: 'http://evil.example' }, 'GET', '', 403],
  ['another site', '/', { 'sec-fetch-site': 'cross-site' }, 'GET', '', 403],
  ['a form', '/kerf/v1/what-if', { 'content-type': 'text/plain' }, 'POST', '{}', 415],
  ['no JSON', '/kerf/v1/what-if', { 'content-type': 'application/json' }, 'POST', '{', 400],
  ['too much', '/kerf/v1/what-if', { 'content-type': 'application/json' }, 'POST', `"${'x'.repeat(300_000)}"`, 413],
  ['a player that is not there', '/kerf/v1/player', { 'content-type': 'application/json' }, 'POST', '{"speed":2}', 404],
  ['another method', '/kerf/v1/info', {}, 'PUT', '', 415],
  ['nothing', '/kerf/v1/nothing', {}, 'GET', '', 404],
  ['a node that is not there', '/kerf/v1/nodes/x', {}, 'GET', '', 404],
  ['a decision that is not there', '/kerf/v1/decisions/d-1', {}, 'GET', '', 404],
  ['a snapshot that was not kept', '/kerf/v1/decisions/d-1/snapshot', {}, 'GET', '', 410],
  ['a path out of the page', '/..%2f..%2fpackage.json', {}, 'GET', '', 404],
  ['a broken address', '/kerf/v1/pods/%E0%A4%A/x', {}, 'GET', '', 400],
  ['too many keys', `/kerf/v1/cells?nodes=${'1,'.repeat(1_100)}1`, {}, 'GET', '', 400],
])('%s is refused', async (_, path, headers, method, body, status) => {
  const answer = await call(open, path, headers, method, body);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toMatchObject({ code: expect.any(String), message: expect.any(String) });
});

test.each(['info', 'nodes', 'cells', 'pods', 'pools', 'waiting', 'cost', 'decisions', 'series'])(
  '%s is answered',
  async (path) => {
    const answer = await call(open, `/kerf/v1/${path}`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ apiVersion: 'kerf/v1', kind: expect.any(String) });
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  },
);

test('twenty viewers, and then no more', async () => {
  const streams = Array.from({ length: 20 }, () =>
    request({ host: '127.0.0.1', port: open.port, path: '/kerf/v1/stream?since=0' }),
  );
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.on('response', resolve).end())));
  expect((await call(open, '/kerf/v1/stream?since=0')).status).toBe(503);
  for (const stream of streams) stream.destroy();
});

test('the token of a link works once, and becomes a cookie that no script reads', async () => {
  expect((await call(guarded, '/kerf/v1/info')).status).toBe(401);
  expect((await call(guarded, '/?token=wrong')).status).toBe(401);
  const first = await call(guarded, `/?token=${token.once}`);
  expect([first.status, first.headers['location']]).toEqual([303, '/']);
  const cookie = String(first.headers['set-cookie']);
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
  expect((await call(guarded, `/?token=${token.once}`)).status).toBe(401);
  expect((await call(guarded, '/kerf/v1/info', { cookie: cookie.split(';')[0] ?? '' })).status).toBe(200);
});

test('a shadow shows what it would have done; others say that they are none', async () => {
  expect((await call(open, '/kerf/v1/shadow')).status).toBe(404);
  const { status, body } = await call(shadowed, '/kerf/v1/shadow');
  expect([status, (JSON.parse(body) as { kind: string }).kind]).toEqual([200, 'ShadowReport']);
  const { mode } = JSON.parse((await call(shadowed, '/kerf/v1/info')).body) as { mode: string };
  expect(mode).toBe('shadow');
});
