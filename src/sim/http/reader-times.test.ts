// kubectl works some ages out by the clock of its own machine; a cluster an hour ahead of that shows them right.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealClock } from '../../runtime/index.ts';
import { createCluster, type EmbeddedCluster } from '../cluster.ts';
import { type ApiServer, serveApi } from './server.ts';

const hourMs = 3_600_000;
const clock = new RealClock();
let cluster: EmbeddedCluster;
let server: ApiServer;

interface Item {
  metadata: { creationTimestamp: string };
  firstTimestamp?: string;
  lastTimestamp?: string;
  eventTime?: string | null;
  deprecatedLastTimestamp?: string;
  series?: { lastObservedTime: string };
}

async function listed(path: string, command: string): Promise<Item[]> {
  const response = await fetch(`${server.url}${path}`, { headers: { 'kubectl-command': command } });
  return ((await response.json()) as { items: Item[] }).items;
}

async function created(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(201);
}

beforeAll(async () => {
  cluster = await createCluster({ clock });
  server = await serveApi(cluster.machinery, { wallClock: () => clock.now() - hourMs });
  await created('/api/v1/namespaces/default/events', {
    metadata: { name: 'first' },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
    reason: 'Nominated',
    message: 'should schedule on n1',
    type: 'Normal',
    firstTimestamp: '2026-11-16T12:00:00Z',
    lastTimestamp: '2026-11-16T12:30:00Z',
    eventTime: '2026-11-16T12:00:00.500000Z',
    reportingComponent: 'karpenter',
    reportingInstance: 'karpenter',
    action: 'Nominated',
    series: { count: 2, lastObservedTime: '2026-11-16T12:30:00.250000Z' },
  });
  await created('/api/v1/namespaces/default/pods', {
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'app', image: 'shop/web:1' }] },
  });
});
afterAll(async () => {
  await server.close();
  await cluster.stop();
});

test.each(['kubectl describe', 'kubectl events'])(
  '%s sees events as long ago as they are in the cluster',
  async (command) => {
    const [event] = await listed('/api/v1/namespaces/default/events', command);
    expect(event).toMatchObject({
      firstTimestamp: '2026-11-16T11:00:00Z',
      lastTimestamp: '2026-11-16T11:30:00Z',
      eventTime: '2026-11-16T11:00:00.500000Z',
      series: { lastObservedTime: '2026-11-16T11:30:00.250000Z' },
    });
    const [renamed] = await listed('/apis/events.k8s.io/v1/namespaces/default/events', command);
    expect(renamed?.deprecatedLastTimestamp).toBe('2026-11-16T11:30:00Z');
  },
);

test('the pods of a described node have the age they have in the cluster', async () => {
  const [pod] = await listed('/api/v1/pods?fieldSelector=spec.nodeName%3D', 'kubectl describe');
  const ageMs = clock.now() - hourMs - Date.parse(pod?.metadata.creationTimestamp ?? '');
  expect(ageMs).toBeGreaterThanOrEqual(0);
  expect(ageMs).toBeLessThan(60_000);
});

test('every other reader sees the times of the cluster', async () => {
  for (const command of ['kubectl get', '']) {
    const [event] = await listed('/api/v1/namespaces/default/events', command);
    expect(event?.lastTimestamp).toBe('2026-11-16T12:30:00Z');
  }
});
