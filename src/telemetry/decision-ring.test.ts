import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import type { DecisionDraft } from '../ports/index.ts';
import { DecisionRing } from './decision-ring.ts';

const draft = (more: Partial<DecisionDraft> = {}): DecisionDraft => ({
  what: 'launch',
  objects: [{ kind: 'NodeClaim', name: 'default-1' }],
  reasons: [{ code: 'InsufficientResources', message: 'no node has room' }],
  ...more,
});

test('a record has an id, a time, and lists within their limits', () => {
  const ring = new DecisionRing(new VirtualClock({ settle: () => Promise.resolve() }));
  const names = Array.from({ length: 80 }, (_, index) => `shop/web-${index}`);
  const alternatives = names.map((name) => ({ instanceType: name, pricePerHour: 1, because: 'price' }));
  const decision = ring.add(draft({ pods: { count: 80, names }, alternatives, alternativesLeftOut: 10 }));
  expect(decision).toMatchObject({ kind: 'Decision', id: 'd-0001', alternativesLeftOut: 85 });
  expect(decision.pods?.names).toHaveLength(50);
  expect(decision.alternatives).toHaveLength(5);
  expect(ring.get('d-0001')).toBe(decision);
});

test('an outcome replaces the record where it stands, and listeners hear of both', () => {
  const ring = new DecisionRing(new VirtualClock({ settle: () => Promise.resolve() }));
  const heard: (string | undefined)[] = [];
  const stop = ring.subscribe(({ outcome }) => void heard.push(outcome?.state));
  ring.add(draft());
  ring.add(draft());
  ring.settle('d-0001', { state: 'done', seconds: 41 });
  stop();
  ring.settle('d-0002', { state: 'failed' });
  expect([...ring.all()].map(({ id, outcome }) => [id, outcome?.state])).toEqual([
    ['d-0001', 'done'],
    ['d-0002', 'failed'],
  ]);
  expect(heard).toEqual([undefined, undefined, 'done']);
  ring.settle('d-9999', { state: 'done' });
});

test('whatever comes, it stays within its records and bytes, and keeps the newest', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 400 }), { maxLength: 60 }), (messages) => {
      const limits = { records: 20, bytes: 8_000 };
      const ring = new DecisionRing(new VirtualClock({ settle: () => Promise.resolve() }), undefined, limits);
      for (const message of messages) ring.add(draft({ reasons: [{ code: 'Code', message }] }));
      const kept = [...ring.all()];
      expect(kept.length).toBeLessThanOrEqual(limits.records);
      expect(kept.reduce((sum, decision) => sum + JSON.stringify(decision).length * 2, 0)).toBeLessThanOrEqual(
        limits.bytes,
      );
      expect(ring.keptSince).toBe(kept.length < messages.length ? kept[0]?.time : undefined);
      expect(kept.at(-1)?.reasons[0]?.message).toBe(kept.length === 0 ? undefined : messages.at(-1));
    }),
  );
});
