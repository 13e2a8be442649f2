// Viewers that come and go: what is computed for them, and what is not.
import { expect, test, vi } from 'vitest';
import type { ControllerContext } from '../../controllers/index.ts';
import type { NodeVerdict } from '../../core/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { Cluster } from '../../state/index.ts';
import { silentLog } from '../../telemetry/index.ts';
import type { Touched, Touches } from '../touches.ts';
import { LiveView } from './live-view.ts';

/** Counts timers that are set, and can be put forward. */
class CountingClock extends RealClock {
  timersSet = 0;
  aheadMs = 0;

  override now(): number {
    return super.now() + this.aheadMs;
  }

  override after(delayMs: number, task: () => void) {
    this.timersSet += 1;
    return super.after(delayMs, task);
  }
}

function made() {
  const real = new CountingClock();
  const cluster = new Cluster(real);
  const listeners = new Set<(touched: Touched) => void>();
  const touches: Touches = {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const context = { cluster, clock: real, log: silentLog } as unknown as ControllerContext;
  const live = new LiveView({ context, touches, real });
  const addNode = (name: string): void => {
    cluster.setNode({ metadata: { name, uid: name } });
    for (const listener of listeners) listener({ kind: 'node', name });
  };
  return { live, real, addNode, listeners };
}

test('however often viewers come and go, there is one loop', async () => {
  const { live, real } = made();
  const stops = Array.from({ length: 20 }, () => {
    live.watch(() => undefined)();
    return live.watch(() => undefined);
  });
  for (const stop of stops.slice(1)) stop();
  const before = real.timersSet;
  await new Promise((resolve) => setTimeout(resolve, 1_700));
  expect(real.timersSet - before).toBeLessThanOrEqual(4);
  expect(real.timersSet - before).toBeGreaterThan(0);
  stops[0]?.();
});

test('rows are kept up to date between two questions, and forgotten when none comes for long', async () => {
  const { live, real, addNode, listeners } = made();
  addNode('a');
  live.watch(() => undefined)();
  await live.ready();
  expect([...live.model.names()]).toEqual(['a']);
  const { revision } = live.model;
  addNode('b');
  live.watch(() => undefined)();
  await live.ready();
  expect(live.model.revision).toBe(revision + 1);
  real.aheadMs = 60_000;
  addNode('c');
  expect(listeners.size).toBe(0);
  const stop = live.watch(() => undefined);
  await vi.waitFor(() => expect([...live.model.names()].sort()).toEqual(['a', 'b', 'c']));
  stop();
});

test('verdicts that a loop finds without a viewer leave nothing behind', () => {
  const { live } = made();
  for (let at = 0; at < 1_000; at++) {
    const verdict = { node: `n-${at}`, pricePerHour: 1, savingsPerHour: 0, verdict: 'keep', blockers: [] };
    live.takeVerdicts([verdict as unknown as NodeVerdict]);
  }
  expect(Reflect.get(live, 'dirtyNodes')).toEqual(new Set());
});
