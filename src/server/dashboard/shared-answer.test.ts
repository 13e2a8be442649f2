import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { SharedAnswer } from './shared-answer.ts';

/** Answers are numbered; each takes as long as asked for. */
function counting(tookMs: number) {
  const real = new VirtualClock({ settle });
  const state = { changedAt: 0, found: 0 };
  const answer = new SharedAnswer({
    real,
    changedAt: () => state.changedAt,
    async find() {
      const number = ++state.found;
      await real.sleep(tookMs);
      return { number };
    },
  });
  /** Asks so many at once. */
  const ask = async (count = 1, how = {}): Promise<number[]> => {
    const asked = Promise.all(Array.from({ length: count }, () => answer.read(how)));
    await real.runFor(tookMs);
    return (await asked).map(({ number }) => number);
  };
  return { real, state, answer, ask, held: () => Reflect.get(answer, 'current') as unknown };
}

test('everyone who asks at the same time gets the same answer, found once', async () => {
  const { ask, state } = counting(10);
  expect(await ask(5)).toEqual([1, 1, 1, 1, 1]);
  expect(state.found).toBe(1);
});

test('when the cluster has changed it is found once more, however many ask for it', async () => {
  const { ask, state, real } = counting(10);
  await ask();
  state.changedAt = 1;
  await real.runFor(100);
  expect(await ask(5)).toEqual([2, 2, 2, 2, 2]);
});

test('an answer that took long serves for longer, whatever changes', async () => {
  const { ask, state, real } = counting(2_000);
  await ask();
  state.changedAt = 1;
  await real.runFor(5_000);
  expect(await ask()).toEqual([1]);
  await real.runFor(10_000);
  expect(await ask()).toEqual([2]);
});

test('it is let go of when it serves no more, and at once when it was for one question', async () => {
  const { ask, held, real } = counting(2_000);
  await ask(1, { keep: false });
  expect(held()).toBeUndefined();
  await ask();
  expect(held()).toBeDefined();
  await real.runFor(20_000);
  expect(held()).toBeUndefined();
});

test('a failure is reported to who asked, and not kept', async () => {
  const real = new VirtualClock({ settle });
  let count = 0;
  const answer = new SharedAnswer({
    real,
    changedAt: () => 0,
    find: async () => {
      if (++count === 1) throw new Error('no answer');
      return count;
    },
  });
  await expect(answer.read()).rejects.toThrow('no answer');
  expect(await answer.read()).toBe(2);
});
