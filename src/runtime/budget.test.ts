import { expect, test } from 'vitest';
import { withinBudget } from './budget.ts';

const cell = new Int32Array(new SharedArrayBuffer(4));
/** Takes time without computing, as a thread does that gets no processor. */
const starve = (ms: number) => Atomics.wait(cell, 0, 0, ms);

test('work that computes for too long is ended', () => {
  const endless = () => {
    for (;;);
  };
  expect(withinBudget(20, endless)).toEqual({ kind: 'late' });
});

test('work that was late for want of a processor is tried again', () => {
  let tries = 0;
  const starved = () => {
    tries += 1;
    if (tries < 3) starve(1_000);
    return 'answer';
  };
  expect(withinBudget(50, starved)).toEqual({ kind: 'done', value: 'answer' });
});

test('the tries end', () => {
  expect(withinBudget(10, () => starve(1_000))).toEqual({ kind: 'late' });
});
