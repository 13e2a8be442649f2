import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { type CachePart, type LeaderElection, Manager, type ManagerOptions, type Part } from './index.ts';

function bench(options: (tools: Tools) => Partial<ManagerOptions> = () => ({})) {
  const clock = new VirtualClock({ settle });
  const log: string[] = [];
  /** A part that notes its start and end, and takes `endsInMs` to end. */
  const part = (name: string, endsInMs = 0): Part => ({
    name,
    run: async (signal) => {
      log.push(`+${name}`);
      await untilAborted(signal);
      if (endsInMs > 0) await clock.sleep(endsInMs);
      log.push(`-${name}`);
    },
  });
  const cache = (name: string, syncsInMs: number): CachePart => {
    let isSynced = false;
    return {
      ...part(name),
      get isSynced() {
        return isSynced;
      },
      whenSynced: async () => {
        await clock.sleep(syncsInMs);
        isSynced = true;
        log.push(`${name} synced`);
      },
    };
  };
  const tools: Tools = { clock, log, part, cache };
  const manager = new Manager({
    clock,
    caches: [cache('pods', 100), cache('nodes', 300)],
    always: [part('health')],
    leading: [part('provisioner')],
    ...options(tools),
  });
  const stop = new AbortController();
  const result = manager.run(stop.signal).then(
    (value) => value,
    (error: Error) => error.message,
  );
  return { ...tools, manager, stop, result };
}

interface Tools {
  clock: VirtualClock;
  log: string[];
  part(name: string, endsInMs?: number): Part;
  cache(name: string, syncsInMs: number): CachePart;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

test('controllers start when all caches are filled, and stop before caches and servers do', async () => {
  const { clock, log, manager, stop, result } = bench();
  await clock.runFor(0);
  expect(log).toEqual(['+health', '+pods', '+nodes']);
  expect(manager.isSynced).toBe(false);
  await clock.runFor(300);
  expect(log.slice(3)).toEqual(['pods synced', 'nodes synced', '+provisioner']);
  expect(manager.isSynced).toBe(true);
  stop.abort();
  await clock.runFor(0);
  expect(await result).toEqual({ outcome: 'stopped', leftBehind: [] });
  expect(log.slice(6)).toEqual(['-provisioner', '-health', '-pods', '-nodes']);
});

test('a stop before the caches are filled starts no controller', async () => {
  const { clock, log, stop, result } = bench();
  await clock.runFor(50);
  stop.abort();
  await clock.runFor(0);
  expect(await result).toMatchObject({ outcome: 'stopped' });
  expect(log).not.toContain('+provisioner');
});

test('with an election, controllers run for the term only, and the lease outlives them', async () => {
  const { clock, log, stop, result } = bench(({ clock: time, log: notes }) => ({
    election: {
      run: async (signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>) => {
        await time.sleep(1_000);
        notes.push('leads');
        await lead(signal);
        notes.push('released');
        return 'stopped';
      },
    } as unknown as LeaderElection,
  }));
  await clock.runFor(999);
  expect(log).not.toContain('+provisioner');
  await clock.runFor(301);
  expect(log).toContain('+provisioner');
  stop.abort();
  await clock.runFor(0);
  expect(await result).toEqual({ outcome: 'stopped', leftBehind: [] });
  expect(log.slice(-5)).toEqual(['-provisioner', 'released', '-health', '-pods', '-nodes']);
});

test('a lost lease stops everything and says so', async () => {
  const { clock, log, result } = bench(({ clock: time }) => ({
    election: {
      run: async (_signal: AbortSignal, lead: (term: AbortSignal) => Promise<void>) => {
        const term = new AbortController();
        const leading = lead(term.signal);
        await time.sleep(5_000);
        term.abort();
        await leading;
        return 'lost';
      },
    } as unknown as LeaderElection,
  }));
  await clock.runFor(5_000);
  expect(await result).toEqual({ outcome: 'lost', leftBehind: [] });
  expect(log.at(-1)).toBe('-nodes');
});

test('a part that fails, or ends on its own, stops the others and is the error', async () => {
  const failing = bench(({ clock: time }) => ({
    leading: [
      {
        name: 'broken',
        run: async () => {
          await time.sleep(50);
          throw new Error('broken part');
        },
      },
    ],
  }));
  await failing.clock.runFor(1_000);
  expect(await failing.result).toBe('broken part');
  expect(failing.log.slice(-3)).toEqual(['-health', '-pods', '-nodes']);
  const ending = bench(() => ({ always: [{ name: 'short', run: async () => {} }] }));
  await ending.clock.runFor(1_000);
  expect(await ending.result).toBe('short ended unexpectedly');
});

test('with nothing to lead, caches run until asked to stop', async () => {
  const { clock, stop, result, log } = bench(() => ({ leading: [] }));
  await clock.runFor(60_000);
  expect(log).not.toContain('-pods');
  stop.abort();
  await clock.runFor(0);
  expect(await result).toEqual({ outcome: 'stopped', leftBehind: [] });
});

test('a part that does not end in time is named and left behind', async () => {
  const { clock, stop, result, log } = bench(({ part }) => ({
    leading: [part('quick', 1_000), part('stuck', 1e9)],
    graceMs: 5_000,
  }));
  await clock.runFor(300);
  stop.abort();
  await clock.runFor(4_999);
  expect(log).toContain('-quick');
  expect(log).not.toContain('-pods');
  await clock.runFor(1);
  expect(await result).toEqual({ outcome: 'stopped', leftBehind: ['stuck'] });
  expect(log).toContain('-pods');
});
