import { expect, test } from 'vitest';
import { PodDecisions } from './pod-decisions.ts';

test('each time is noted once', () => {
  const decisions = new PodDecisions();
  decisions.see('a/b', 1);
  decisions.see('a/b', 2);
  expect(decisions.place('a/b', 3, true)).toBe(2);
  expect(decisions.place('a/b', 4, true)).toBeUndefined();
  expect(decisions.of('a/b')).toEqual({ seenMs: 1, triedMs: 3, placedMs: 3, placedWellMs: 3 });
});

test('a place in a pool whose nodes do not register yet is not a good one, until a later one is', () => {
  const decisions = new PodDecisions();
  decisions.place('a/b', 3, false);
  expect(decisions.of('a/b').placedWellMs).toBeUndefined();
  decisions.place('a/b', 5, true);
  expect(decisions.of('a/b')).toEqual({ triedMs: 3, placedMs: 3, placedWellMs: 5 });
});

test('a later refusal clears the places, not the first try', () => {
  const decisions = new PodDecisions();
  decisions.see('a/b', 1);
  expect(decisions.refuse('a/b', 2)).toBe(1);
  decisions.place('a/b', 3, true);
  expect(decisions.refuse('a/b', 4)).toBeUndefined();
  expect(decisions.of('a/b')).toEqual({ seenMs: 1, triedMs: 2 });
});

test('a pod without a known start is tried all the same, without a wait to report', () => {
  const decisions = new PodDecisions();
  expect(decisions.refuse('a/b', 2)).toBeUndefined();
  decisions.forget('a/b');
  expect(decisions.of('a/b')).toEqual({});
});
