import { expect, test } from 'vitest';
import { atOnce } from '../base/index.ts';
import { PodKinds, queuedPod, queueOrder } from './workload.ts';

const queued = (name: string, cpu: number, memory: number, metadata: object = {}) => {
  const pod = { metadata: { name, ...metadata } };
  const requests = new Map([
    ['cpu', cpu],
    ['memory', memory],
  ]);
  return queuedPod(pod, new PodKinds().kindOf(pod), requests);
};

test('pods queue by cpu, then memory, then age, then uid', () => {
  const order = [
    queued('most-cpu', 2000, 1, { creationTimestamp: '2026-01-02T00:00:00Z' }),
    queued('most-memory', 1000, 9),
    // As `kubectl create --dry-run` writes it; whoever has no age yet comes before the others.
    queued('no-age', 1000, 5, { creationTimestamp: null, uid: 'z' }),
    queued('oldest', 1000, 5, { creationTimestamp: '2026-01-01T00:00:00Z', uid: 'c' }),
    queued('uid-a', 1000, 5, { creationTimestamp: '2026-01-02T00:00:00Z', uid: 'a' }),
    queued('uid-b', 1000, 5, { creationTimestamp: '2026-01-02T00:00:00Z', uid: 'b' }),
  ];
  expect(atOnce(queueOrder([...order].reverse())).map(({ pod }) => pod.metadata.name)).toEqual(
    order.map(({ pod }) => pod.metadata.name),
  );
});

test('pods are of one kind if specifications, namespaces and labels are equal, whatever else differs', () => {
  const kinds = new PodKinds();
  const kindOf = (metadata: object, spec: object = {}) =>
    kinds.kindOf({ metadata: { name: 'any', ...metadata }, spec });
  const web = kindOf({ namespace: 'shop', labels: { app: 'web' } });
  expect(kindOf({ name: 'other', namespace: 'shop', labels: { app: 'web' }, uid: 'x' })).toBe(web);
  expect(kindOf({ namespace: 'shop', labels: { app: 'api' } })).not.toBe(web);
  expect(kindOf({ namespace: 'bank', labels: { app: 'web' } })).not.toBe(web);
  expect(kindOf({ namespace: 'shop', labels: { app: 'web' } }, { nodeSelector: { a: 'b' } })).not.toBe(web);
  expect(kindOf({ namespace: 'shop', labels: null })).toBe(kindOf({ namespace: 'shop' }));
});
