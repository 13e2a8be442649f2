import { expect, test } from 'vitest';
import type { Snapshot } from '../../core/index.ts';
import { changedSnapshot } from './what-if-changes.ts';

const snapshot = { apiVersion: 'kerf/v1', kind: 'Snapshot', objects: { items: [] } } as unknown as Snapshot;
const order = { removeNodes: [], zoneGone: '', spotPriceFactor: 1, scale: [], day: false };

test.each([
  ['brackets', '['.repeat(200_000)],
  ['braces', '{a: '.repeat(50_000)],
])(
  'manifests of nested %s are refused before they are parsed: parsing them would hold the process up for seconds',
  (_, manifests) => {
    const startedMs = performance.now();
    expect(() => changedSnapshot(snapshot, { ...order, manifests })).toThrow('nested more than 200 levels deep');
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  },
);
