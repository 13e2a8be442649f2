import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../base/index.ts';
import type { Snapshot, SnapshotObject } from '../core/index.ts';
import { snapshotIdInSlices } from './snapshot-id.ts';

const pod = (name: string, resourceVersion?: string): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop', ...(resourceVersion && { resourceVersion }) },
});
const idOf = (items: SnapshotObject[], more: Partial<Snapshot> = {}): string =>
  atOnce(
    snapshotIdInSlices({
      apiVersion: 'kerf/v1',
      kind: 'Snapshot',
      objects: { apiVersion: 'v1', kind: 'List', items },
      ...more,
    }),
  );

test('equal content has one name, whatever its order', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(names, fc.nat(), (all, turn) => {
      const items = all.map((name, index) => pod(name, index % 2 === 0 ? String(index + 1) : undefined));
      const turned = [...items.slice(turn % items.length), ...items.slice(0, turn % items.length)];
      expect(idOf(turned)).toBe(idOf(items));
      expect(idOf(turned)).toMatch(/^s-[0-9a-f]{12}$/);
    }),
  );
});

test('another version, clock, machine or offer is another snapshot', () => {
  const ids = [
    idOf([pod('web', '1')]),
    idOf([pod('web', '2')]),
    idOf([pod('web')]),
    idOf([pod('web', '1'), pod('api', '1')]),
    idOf([pod('web', '1')], { time: '2026-11-16T12:00:00Z' }),
    idOf([pod('web', '1')], { nodeState: [{ node: 'a', nominated: true }] }),
    idOf([pod('web', '1')], { instanceTypes: [{ nodePool: 'default', error: 'gone' }] }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
