import { expect, test } from 'vitest';
import { atOnce } from '../base/index.ts';
import { queuedPod, queueOrder } from './workload.ts';

const queued = (name: string, cpu: number, memory: number, metadata: object = {}) =>
  queuedPod(
    { metadata: { name, ...metadata } },
    new Map([
      ['cpu', cpu],
      ['memory', memory],
    ]),
  );

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
