import { expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import type { Plan, SnapshotObject } from '../index.ts';
import { nodePool, object, plan, pods, type SnapshotParts, skew } from '../testing/builders.testing.ts';

const byZone = { maxSkew: 1, topologyKey: label.zone, whenUnsatisfiable: 'DoNotSchedule' } as const;
const settings: SnapshotParts = { settings: { defaultTopologySpreadConstraints: [byZone] } };
const labels = { app: 'web' };
const replicaSet = object('apps/v1', 'ReplicaSet', 'web', { spec: { selector: { matchLabels: labels } } });
const service = object('v1', 'Service', 'web', { spec: { selector: labels } });
/** Whether pods are spread shows in the first packing; what nodes cost is another question. */
const packed = (objects: SnapshotObject[], parts: SnapshotParts = {}): Plan => plan(objects, parts, { improve: false });
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', controller: true };

test('pods of a ReplicaSet are spread as kube-scheduler is configured to', () => {
  const waiting = pods(6, { labels, owner, cpu: '1' });
  expect(skew(plan([nodePool(), replicaSet, ...waiting], settings), label.zone)).toEqual([2, 2, 2]);
  expect(packed([nodePool(), replicaSet, ...waiting]).newNodes).toHaveLength(1);
});

test('a Service that selects them does as well; without either they are not spread', () => {
  const waiting = pods(6, { labels, cpu: '1' });
  expect(skew(plan([nodePool(), service, ...waiting], settings), label.zone)).toEqual([2, 2, 2]);
  expect(packed([nodePool(), ...waiting], settings).newNodes).toHaveLength(1);
  const elsewhere = { ...service, metadata: { name: 'web', namespace: 'other' } };
  expect(packed([nodePool(), elsewhere, ...waiting], settings).newNodes).toHaveLength(1);
});

test('a Service without selector, or with one of other pods, counts for nothing', () => {
  const waiting = pods(6, { labels, cpu: '1' });
  for (const selector of [undefined, null, { app: 'other' }, {}]) {
    const other = object('v1', 'Service', 'other', { spec: { selector } });
    expect(packed([nodePool(), other, ...waiting], settings).newNodes).toHaveLength(1);
  }
});

test('constraints of their own take the place of all defaults', () => {
  const own = [{ maxSkew: 6, topologyKey: label.hostname, whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} }];
  const waiting = pods(6, { labels, owner, cpu: '1', spec: { topologySpreadConstraints: own } });
  expect(packed([nodePool(), replicaSet, ...waiting], settings).newNodes).toHaveLength(1);
});

test('pods of other workloads are not counted', () => {
  const bound = pods(4, { labels: { app: 'other' }, node: 'n' });
  const waiting = pods(3, { labels, owner, cpu: '1' });
  const result = plan([nodePool(), replicaSet, ...bound, ...waiting], settings);
  expect(skew(result, label.zone)).toEqual([1, 1, 1]);
});
