import { describe, expect, test } from 'vitest';
import type { Pod } from '../kube/objects.ts';
import { evictionCost, lifetimeRemaining } from './eviction-cost.ts';

const pod = (priority?: number, deletionCost?: string): Pod => ({
  metadata: {
    name: 'p',
    ...(deletionCost === undefined
      ? {}
      : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': deletionCost } }),
  },
  spec: { containers: [], ...(priority === undefined ? {} : { priority }) },
});

describe('the cost of evicting a pod', () => {
  test('is one without deletion cost and priority', () => expect(evictionCost(pod())).toBe(1));

  test('rises with priority and deletion cost and falls with negative ones', () => {
    expect(evictionCost(pod(2 ** 25))).toBe(2);
    expect(evictionCost(pod(-(2 ** 24)))).toBe(0.5);
    expect(evictionCost(pod(undefined, String(2 ** 27)))).toBe(2);
    expect(evictionCost(pod(undefined, String(-(2 ** 27))))).toBe(0);
  });

  test('is what the pod itself says about disruption, before its deletion cost', () => {
    const annotations = (cost: string) => ({
      'karpenter.sh/disruption-cost': cost,
      'controller.kubernetes.io/pod-deletion-cost': String(2 ** 27),
    });
    const cost = (text: string) => evictionCost({ metadata: { name: 'p', annotations: annotations(text) } });
    expect([cost('0'), cost(String(2 ** 28))]).toEqual([1, 3]);
    // What cannot be read is ignored; the deletion cost does not stand in for it.
    expect([cost('dear'), cost(String(2 ** 31))]).toEqual([1, 1]);
  });

  test('does not count the ranks that the controller itself writes, but still what the pod says', () => {
    const ranked = pod(undefined, String(2 ** 27));
    expect([evictionCost(ranked), evictionCost(ranked, 'controller')]).toEqual([2, 1]);
    const asked: Pod = { metadata: { name: 'p', annotations: { 'karpenter.sh/disruption-cost': String(2 ** 27) } } };
    expect(evictionCost(asked, 'controller')).toBe(2);
  });

  test('stays within ten in both directions', () => {
    expect(evictionCost(pod(2_000_000_000))).toBe(10);
    expect(evictionCost(pod(-2_147_483_648))).toBe(-10);
  });

  test.each(['', 'high', '1.5', '1e3', '2147483648', '-2147483649'])(
    'ignores the deletion cost "%s", which is not an int32',
    (text) => expect(evictionCost(pod(undefined, text))).toBe(1),
  );
});

test.each([
  [0, 100, 1],
  [25, 100, 0.75],
  [100, 100, 0],
  [250, 100, 0],
  [50, Number.POSITIVE_INFINITY, 1],
  [50, undefined, 1],
  [50, 0, 0],
])('at age %d of %s, %d of the life remains', (age, expireAfter, expected) =>
  expect(lifetimeRemaining(age, expireAfter)).toBe(expected),
);
