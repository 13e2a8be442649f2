import { setImmediate as settle } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AbortSignalLike, type Clock, sleepWith, type Timer, VirtualClock } from '../base/index.ts';
import { type CallOptions, type Kube, KubeError, type Lease, type Resource } from '../ports/index.ts';
import { fencedKube, LeaderElection, leaderIdentity } from './index.ts';

/** One lease, kept as an API server keeps it. */
class LeaseServer {
  lease: Lease | undefined;
  private version = 0;

  get(): Lease {
    if (this.lease === undefined) throw new KubeError({ status: 404, reason: 'NotFound', message: 'no lease' });
    return this.lease;
  }

  create(lease: Lease): Lease {
    if (this.lease) throw new KubeError({ status: 409, reason: 'AlreadyExists', message: 'there is one' });
    return this.store(lease);
  }

  replace(lease: Lease): Lease {
    if (this.get().metadata.resourceVersion !== lease.metadata.resourceVersion) {
      throw new KubeError({ status: 409, reason: 'Conflict', message: 'moved on' });
    }
    return this.store(lease);
  }

  private store(lease: Lease): Lease {
    this.lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.version) } };
    return this.lease;
  }
}

/** A contender with its own connection and its own way of standing still. */
class Contender {
  readonly election: LeaderElection;
  readonly stop = new AbortController();
  outcome: string | undefined;
  terms = 0;
  /** Set by `lead`; aborted at the end of the term. */
  term: AbortSignal | undefined;
  isCutOff = false;
  /** Answers are lost although the server did as asked. */
  losesAnswers = false;
  latencyMs = 5;
  /** The server is busy: a write lands this much later, also one that is no longer waited for. */
  writeLagMs = 0;
  private readonly world: VirtualClock;
  /** How far its wall clock is set away. */
  wallMs = 0;
  private frozenUntilMs = Number.NEGATIVE_INFINITY;

  constructor(name: string, world: VirtualClock, server: LeaseServer) {
    this.world = world;
    this.election = new LeaderElection({
      kube: this.kube(server),
      clock: this.clock(),
      lease: { name: 'karpenter-leader-election', namespace: 'default' },
      identity: name,
      random: () => 0.5,
    });
  }

  start(lead: (term: AbortSignal) => Promise<void> = waitForEnd): Promise<void> {
    return this.election
      .run(this.stop.signal, (term) => {
        this.terms++;
        this.term = term;
        return lead(term);
      })
      .then((outcome) => {
        this.outcome = outcome;
      });
  }

  /** As SIGSTOP: nothing of this contender runs, but time passes. */
  freeze(durationMs: number): void {
    this.frozenUntilMs = this.world.now() + durationMs;
  }

  private clock(): Clock {
    const { world } = this;
    const after = (delayMs: number, task: () => void): Timer => {
      let timer = world.after(delayMs, function run() {
        const frozenMs = frozen();
        if (frozenMs > 0) timer = world.after(frozenMs, run);
        else task();
      });
      return { dispose: () => timer.dispose() };
    };
    const frozen = (): number => this.frozenUntilMs - world.now();
    return {
      now: () => world.now() + this.wallMs,
      elapsed: () => world.elapsed(),
      after,
      sleep: (delayMs: number, signal?: AbortSignalLike) => sleepWith(after, delayMs, signal),
    };
  }

  private kube(server: LeaseServer): Kube {
    const write = (options: CallOptions | undefined, act: () => Lease): Promise<Lease> => {
      if (this.writeLagMs === 0) return call(options, act);
      const landed = this.world.sleep(this.writeLagMs).then(act);
      landed.catch(() => {}); // Where it is no longer waited for.
      return call(options, () => Promise.race([landed, this.world.sleep(1e9, options?.signal).then(() => landed)]));
    };
    const call = async (options: CallOptions | undefined, act: () => Lease | Promise<Lease>): Promise<Lease> => {
      if (this.isCutOff) await this.world.sleep(1e9, options?.signal);
      await this.world.sleep(this.latencyMs, options?.signal);
      const answer = await act();
      if (this.losesAnswers) await this.world.sleep(1e9, options?.signal);
      await this.world.sleep(this.latencyMs, options?.signal);
      while (this.frozenUntilMs > this.world.now()) await this.world.sleep(this.frozenUntilMs - this.world.now());
      return answer;
    };
    return {
      get: (_resource: Resource, _ref: unknown, options?: CallOptions) => call(options, () => server.get()),
      create: (_resource: Resource, lease: Lease, options?: CallOptions) => write(options, () => server.create(lease)),
      replace: (_resource: Resource, lease: Lease, options?: CallOptions) =>
        write(options, () => server.replace(lease)),
    } as unknown as Kube;
  }
}

function waitForEnd(term: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    term.addEventListener('abort', () => resolve(), { once: true });
  });
}

function contest(count: number) {
  const clock = new VirtualClock({ settle });
  const server = new LeaseServer();
  const contenders = Array.from({ length: count }, (_, index) => new Contender(`c${index}`, clock, server));
  const leaders = (): string[] =>
    contenders.flatMap(({ election }, index) => (election.isLeader() ? [`c${index}`] : []));
  return { clock, server, contenders, leaders };
}

test('the first contender writes the lease as client-go does, and renews it every two seconds', async () => {
  const { clock, server, contenders, leaders } = contest(1);
  void contenders[0]?.start();
  await clock.runFor(100);
  expect(leaders()).toEqual(['c0']);
  expect(server.lease?.spec).toEqual({
    holderIdentity: 'c0',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.005000Z',
    renewTime: '2026-01-01T00:00:00.005000Z',
    leaseTransitions: 0,
  });
  await clock.runFor(2_000);
  expect(server.lease?.spec).toMatchObject({
    acquireTime: '2026-01-01T00:00:00.005000Z',
    renewTime: expect.stringMatching(/^2026-01-01T00:00:02\.0/),
    leaseTransitions: 0,
  });
  await clock.runFor(3_600_000);
  expect(contenders[0]?.terms).toBe(1);
});

test('the others wait while the lease is renewed', async () => {
  const { clock, contenders, leaders } = contest(3);
  for (const contender of contenders) void contender.start();
  await clock.runFor(600_000);
  expect(leaders().length).toBe(1);
  expect(contenders.map(({ terms }) => terms).sort()).toEqual([0, 0, 1]);
});

test('a stopped leader gives the lease up after its work has ended, and the next one leads within one retry', async () => {
  const { clock, server, contenders, leaders } = contest(2);
  const [first, second] = contenders as [Contender, Contender];
  let workEndedMs = 0;
  const running = first.start(async (term) => {
    await waitForEnd(term);
    await clock.sleep(5_000);
    workEndedMs = clock.now();
  });
  await clock.runFor(100);
  void second.start();
  await clock.runFor(10_000);
  first.stop.abort();
  await clock.runFor(4_900);
  expect(leaders()).toEqual(['c0']);
  await clock.runFor(2_600);
  await running;
  expect(first.outcome).toBe('stopped');
  expect(leaders()).toEqual(['c1']);
  expect(server.lease?.spec).toMatchObject({ holderIdentity: 'c1', leaseTransitions: 1 });
  expect(Date.parse(server.lease?.spec?.acquireTime ?? '')).toBeGreaterThanOrEqual(workEndedMs);
});

test('a released lease has no holder and lasts one second', async () => {
  const { clock, server, contenders } = contest(1);
  const running = contenders[0]?.start();
  await clock.runFor(100);
  contenders[0]?.stop.abort();
  await clock.runFor(100);
  await running;
  expect(server.lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
});

test('a lease that is taken or renewed while its contender is stopped is given up all the same', async () => {
  for (const stopAtMs of [0, 8, 12, 14, 17, 2_000, 2_007, 2_012]) {
    const clock = new VirtualClock({ settle });
    const server = new LeaseServer();
    const contender = new Contender('a', clock, server);
    const done = contender.start();
    await clock.runFor(stopAtMs);
    contender.stop.abort();
    await clock.runFor(1_000);
    await done;
    expect({ stopAtMs, holder: server.lease?.spec?.holderIdentity ?? '' }).toEqual({ stopAtMs, holder: '' });
  }
});

test('so it is when the server carries the write out later than it answers a question', async () => {
  for (let stopAtMs = 0; stopAtMs <= 4_500; stopAtMs += stopAtMs < 500 ? 20 : 100) {
    const clock = new VirtualClock({ settle });
    const server = new LeaseServer();
    const contender = new Contender('a', clock, server);
    contender.writeLagMs = 300;
    const done = contender.start();
    await clock.runFor(stopAtMs);
    contender.stop.abort();
    await clock.runFor(2_000);
    await done;
    await clock.runFor(2_000);
    expect({ stopAtMs, holder: server.lease?.spec?.holderIdentity ?? '' }).toEqual({ stopAtMs, holder: '' });
    expect(contender.outcome).toBe('stopped');
  }
});

test('a leader that cannot renew stops ten seconds after its last renewal, before another one may start', async () => {
  const { clock, contenders, leaders } = contest(2);
  const [first, second] = contenders as [Contender, Contender];
  void first.start();
  await clock.runFor(100);
  void second.start();
  await clock.runFor(20_000);
  first.isCutOff = true;
  const cutMs = clock.now();
  await clock.runUntilTrue(() => !first.election.isLeader(), 60_000);
  expect(clock.now() - cutMs).toBeLessThanOrEqual(10_000);
  expect(first.term?.aborted).toBe(true);
  await clock.runUntilTrue(() => leaders().length > 0, 60_000);
  expect(leaders()).toEqual(['c1']);
  expect(clock.now() - cutMs).toBeGreaterThan(11_000);
  expect(clock.now() - cutMs).toBeLessThan(20_000);
  expect(first.outcome).toBe('lost');
});

test('one slow request is given up in time for a second try', async () => {
  const { clock, contenders, leaders } = contest(1);
  void contenders[0]?.start();
  await clock.runFor(10_000);
  if (contenders[0]) contenders[0].isCutOff = true;
  await clock.runFor(4_000);
  if (contenders[0]) contenders[0].isCutOff = false;
  await clock.runFor(30_000);
  expect(leaders()).toEqual(['c0']);
  expect(contenders[0]?.terms).toBe(1);
});

test('a frozen leader knows at once, when it wakes up, that it no longer leads', async () => {
  const { clock, contenders, leaders } = contest(2);
  const [first, second] = contenders as [Contender, Contender];
  void first.start();
  await clock.runFor(100);
  void second.start();
  await clock.runFor(10_000);
  first.freeze(60_000);
  await clock.runFor(30_000);
  expect(first.term?.aborted).toBe(false);
  expect(first.election.isLeader()).toBe(false);
  expect(leaders()).toEqual(['c1']);
  await clock.runFor(31_000);
  expect(first.term?.aborted).toBe(true);
  expect(first.outcome).toBe('lost');
});

test("a contender's clock that is set forward does not end another's term, and one set back keeps no term alive", async () => {
  const { clock, contenders, leaders } = contest(2);
  const [first, second] = contenders as [Contender, Contender];
  first.latencyMs = 1_000;
  void first.start();
  await clock.runFor(5_000);
  void second.start();
  await clock.runFor(10_000);
  second.wallMs = 3_600_000;
  await clock.runFor(30_000);
  expect(leaders()).toEqual(['c0']);
  first.wallMs = -3_600_000;
  first.isCutOff = true;
  await clock.runFor(10_100);
  expect(first.election.isLeader()).toBe(false);
});

test('a leader whose machine was suspended believes its wall clock', async () => {
  const { clock, contenders } = contest(1);
  void contenders[0]?.start();
  await clock.runFor(5_000);
  if (contenders[0]) contenders[0].wallMs = 60_000;
  expect(contenders[0]?.election.isLeader()).toBe(false);
});

test("a leader that finds someone else's name in the lease stops at once", async () => {
  const { clock, server, contenders, leaders } = contest(1);
  void contenders[0]?.start();
  await clock.runFor(5_000);
  server.replace({ ...server.get(), spec: { ...server.get().spec, holderIdentity: 'intruder' } });
  await clock.runFor(2_100);
  expect(leaders()).toEqual([]);
});

test('a deleted lease is made again by its holder, and binds those who saw it held', async () => {
  const { clock, server, contenders, leaders } = contest(2);
  const [first, second] = contenders as [Contender, Contender];
  void first.start();
  await clock.runFor(100);
  void second.start();
  await clock.runFor(10_000);
  first.freeze(5_000);
  server.lease = undefined;
  await clock.runFor(4_000);
  expect(leaders()).toEqual(['c0']);
  await clock.runFor(5_000);
  expect(leaders()).toEqual(['c0']);
  expect(server.get().spec?.holderIdentity).toBe('c0');
});

test('work that does not end when its term does cannot keep a loser from saying so', async () => {
  const { clock, contenders } = contest(1);
  void contenders[0]?.start(() => new Promise(() => {}));
  await clock.runFor(5_000);
  if (contenders[0]) contenders[0].isCutOff = true;
  await clock.runFor(20_000);
  expect(contenders[0]?.outcome).toBe('lost');
});

test('work that fails gives the lease up and reports the failure', async () => {
  const { clock, server, contenders } = contest(1);
  const running = contenders[0]?.start(async () => {
    await clock.sleep(1_000);
    throw new Error('broken work');
  });
  const failure = running?.catch(String);
  await clock.runFor(5_000);
  expect(await failure).toBe('Error: broken work');
  expect(server.lease?.spec?.holderIdentity).toBe('');
});

test('whatever is cut off, frozen, slow, restarted or set to another time: never two leaders, and one soon after things are well', async () => {
  const fault = fc.record({
    contender: fc.nat(2),
    kind: fc.constantFrom('cut', 'freeze', 'slow', 'deaf', 'stop', 'ahead', 'behind' as const),
    afterMs: fc.integer({ min: 0, max: 9_000 }),
    durationMs: fc.integer({ min: 100, max: 40_000 }),
  });
  let takeovers = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { minLength: 2, maxLength: 10 }), async (faults) => {
      const { clock, server, contenders, leaders } = contest(3);
      const over = new AbortController();
      /** A process that lost or was stopped comes back, as a pod does. */
      const live = async (index: number): Promise<void> => {
        while (!over.signal.aborted) {
          const contender = new Contender(`c${index}-${clock.now()}`, clock, server);
          contenders[index] = contender;
          await contender.start();
          takeovers += contender.terms;
          await clock.sleep(500);
        }
      };
      for (let index = 0; index < 3; index++) void live(index);
      let most = 0;
      const look = (): void => {
        most = Math.max(most, leaders().length);
        if (!over.signal.aborted) clock.after(50, look);
      };
      look();
      for (const { contender, kind, afterMs, durationMs } of faults) {
        await clock.runFor(afterMs);
        const target = contenders[contender] as Contender;
        const forAWhile = (set: (on: boolean) => void): void => {
          set(true);
          clock.after(durationMs, () => set(false));
        };
        if (kind === 'cut') forAWhile((on) => (target.isCutOff = on));
        if (kind === 'deaf') forAWhile((on) => (target.losesAnswers = on));
        if (kind === 'slow') forAWhile((on) => (target.latencyMs = on ? durationMs / 4 : 5));
        if (kind === 'ahead') forAWhile((on) => (target.wallMs = on ? durationMs * 1_000 : 0));
        if (kind === 'behind') forAWhile((on) => (target.wallMs = on ? -durationMs * 1_000 : 0));
        if (kind === 'freeze') target.freeze(durationMs);
        if (kind === 'stop') target.stop.abort();
      }
      await clock.runFor(41_000);
      expect(await clock.runUntilTrue(() => leaders().length === 1, 60_000)).toBe(true);
      expect(most).toBeLessThanOrEqual(1);
      over.abort();
      for (const { stop } of contenders) stop.abort();
      await clock.runFor(60_000);
    }),
    { seed: 42, numRuns: 100 },
  );
  expect(takeovers).toBeGreaterThan(100);
});

test('an identity is the host name, an underscore and a uuid of its own', () => {
  expect(leaderIdentity()).toMatch(/^.+_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(leaderIdentity()).not.toBe(leaderIdentity());
});

test('a fenced client refuses writes after the term and ends those under way, but lets reads pass', async () => {
  const asked: string[] = [];
  const pending = (what: string) => (options?: CallOptions) => {
    asked.push(what);
    return new Promise((_, reject) => {
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
    });
  };
  const kube = {
    get: async () => asked.push('get'),
    patch: (_resource: unknown, _ref: unknown, _patch: unknown, options?: CallOptions) => pending('patch')(options),
    evict: (_ref: unknown, options?: CallOptions) => pending('evict')(options),
  } as unknown as Kube;
  let leads = true;
  const end = new AbortController();
  const fenced = fencedKube(kube, { isLeader: () => leads, signal: end.signal });
  const resource: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
  const ref = { name: 'a', namespace: 'b' };
  const own = new AbortController();
  const byTerm = fenced.evict(ref).catch((error: Error) => error.message);
  const byCaller = fenced.evict(ref, { signal: own.signal }).catch((error: Error) => error.message);
  own.abort(new Error('caller'));
  expect(await byCaller).toBe('caller');
  leads = false;
  end.abort(new Error('term'));
  expect(await byTerm).toBe('term');
  await expect(fenced.patch(resource, ref, { type: 'merge', body: {} })).rejects.toMatchObject({ reason: 'NotLeader' });
  await fenced.get(resource, ref);
  expect(asked).toEqual(['evict', 'evict', 'get']);
});
