// The reflector and the real client against a loopback API that breaks in every way we know. Whatever happened on the
// way: the cache ends equal to the server, and no handler ever heard of a state out of order. One run is one list of steps.
import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect } from 'vitest';
import { KubeClient } from '../../src/kube/index.ts';
import { type Pod, resources } from '../../src/ports/index.ts';
import { type Change, Reflector } from '../../src/runtime/index.ts';
import { FakeApi, type Fault } from './fake-api.ts';
import { HurriedClock } from './hurried-clock.ts';

export type Step =
  | { do: 'put' | 'delete'; name: string }
  | { do: 'compact' | 'cut' | 'end' | 'bookmark' }
  | { do: 'pause'; ms: number }
  | { do: 'fault'; fault: Fault; requests: number; next: 'cut' | 'end' | 'go on' };

const names = ['a', 'b', 'c', 'd', 'ä-ü-🦀'];
const faultOf: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom(403, 410, 429, 500, 503).map((code): Fault => ({ kind: 'status', code })),
  fc.constantFrom<Fault>({ kind: 'status', code: 429, retryAfterSeconds: 1 }),
  fc.constantFrom<Fault>({ kind: 'refuse' }, { kind: 'duplicate' }, { kind: 'expire' }),
  fc.integer({ min: 0, max: 1_500 }).map((afterBytes): Fault => ({ kind: 'cut', afterBytes })),
  fc.integer({ min: 1, max: 40 }).map((bytes): Fault => ({ kind: 'pieces', bytes })),
  fc.integer({ min: 0, max: 20 }).map((ms): Fault => ({ kind: 'delay', ms })),
);
export const stepOf: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...names).map((name): Step => ({ do: 'put', name })) },
  { weight: 3, arbitrary: fc.constantFrom(...names).map((name): Step => ({ do: 'delete', name })) },
  { weight: 4, arbitrary: fc.constantFrom<Step>({ do: 'compact' }, { do: 'cut' }, { do: 'end' }, { do: 'bookmark' }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 8 }).map((ms): Step => ({ do: 'pause', ms })) },
  {
    weight: 6,
    arbitrary: fc
      .record({
        fault: faultOf,
        requests: fc.integer({ min: 1, max: 3 }),
        next: fc.constantFrom('cut' as const, 'end' as const, 'go on' as const),
      })
      .map((fields): Step => ({ do: 'fault', ...fields })),
  },
);

/** What happened in all runs together. */
export const totals = { runs: 0, failures: 0, expired: 0, stale: 0, lists: 0, events: 0 };

export async function survive(steps: readonly Step[], streamingLists: boolean): Promise<void> {
  const api = await FakeApi.start();
  for (const name of names) api.put(name);
  api.streamingLists = streamingLists;
  const clock = new HurriedClock(1_000);
  const kube = new KubeClient({
    access: {
      source: 'test',
      server: api.url,
      namespace: 'default',
      tls: { insecure: false },
      credentials: { headers: async () => ({}), certificate: async () => undefined, rejected: () => false },
    },
    clock,
    userAgent: 'kerf/test',
    rateLimit: { qps: 0, burst: 0 },
    callTimeoutMs: 2_000,
  });
  const reflector = new Reflector<Pod>({ kube, clock, resource: resources.pods, pageSize: 2 });
  const reported = new Map<string, Pod>();
  const problems: string[] = [];
  reflector.subscribe((change) => problems.push(...follow(reported, change, api)));
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  try {
    const pending: Fault[] = [];
    api.faults = () => pending.shift();
    for (const step of steps) {
      await take(step, api, pending);
      await pause(1);
    }
    api.faults = () => undefined;
    // One more change, so that a watch that silently lost its place would be found out.
    api.put('last');
    await until(() => describe(reflector.store.values()) === describe(api.objects.values()), api, reflector);
    expect(problems).toEqual([]);
    expect(describe(reported.values())).toBe(describe(reflector.store.values()));
  } finally {
    stop.abort();
    await running;
    await kube.close();
    await api.stop();
    totals.runs++;
    for (const name of ['failures', 'expired', 'stale', 'lists', 'events'] as const) {
      totals[name] += reflector.counters[name];
    }
  }
}

async function take(step: Step, api: FakeApi, pending: Fault[]): Promise<void> {
  switch (step.do) {
    case 'put':
      return api.put(step.name, { spec: { note: `${step.name} with ünïcödé 🦀` } });
    case 'delete':
      return api.delete(step.name);
    case 'compact':
      return api.compact();
    case 'cut':
      return api.cutConnections();
    case 'end':
      return api.endWatches();
    case 'bookmark':
      return api.bookmark();
    case 'pause':
      return pause(step.ms);
    case 'fault':
      for (let request = 0; request < step.requests; request++) pending.push(step.fault);
      if (step.next === 'cut') api.cutConnections();
      if (step.next === 'end') api.endWatches();
  }
}

/** Keeps a copy from changes alone, and says what was wrong with one. */
function follow(reported: Map<string, Pod>, change: Change<Pod>, api: FakeApi): string[] {
  const { name = '', resourceVersion = '' } = change.object.metadata;
  const known = reported.get(name);
  const knownVersion = Number(known?.metadata.resourceVersion ?? 0);
  const problems: string[] = [];
  if (!api.historyOf(name).includes(resourceVersion)) problems.push(`${name}@${resourceVersion} never was`);
  if (change.kind === 'deleted') {
    if (known === undefined) problems.push(`${name} deleted but never added`);
    if (Number(resourceVersion) < knownVersion)
      problems.push(`${name} deleted at ${resourceVersion} < ${knownVersion}`);
    reported.delete(name);
    return problems;
  }
  if (Number(resourceVersion) <= knownVersion) problems.push(`${name} went from ${knownVersion} to ${resourceVersion}`);
  if ((change.kind === 'added') !== (known === undefined)) problems.push(`${name} ${change.kind} out of turn`);
  if (change.kind === 'updated' && change.old !== known) problems.push(`${name} updated from something else`);
  reported.set(name, change.object);
  return problems;
}

const describe = (objects: Iterable<{ metadata: { name?: string; resourceVersion?: string } }>): string =>
  [...objects]
    .map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`)
    .sort()
    .join(' ');

async function until(isDone: () => boolean, api: FakeApi, reflector: Reflector<Pod>): Promise<void> {
  const deadline = Date.now() + 8_000;
  while (!isDone()) {
    if (Date.now() > deadline) {
      const facts = { counters: reflector.counters, last: reflector.lastFailure, requests: api.requests.slice(-5) };
      throw new Error(`the cache never became the server's state: ${JSON.stringify(facts)}`);
    }
    await pause(1);
  }
}
