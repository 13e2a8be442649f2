import { describe, expect, test } from 'vitest';
import type { CapacityBuffer } from '../../api/index.ts';
import type { Pod } from '../../ports/index.ts';
import { desiredReplicas } from './replicas.ts';

const pod = {
  spec: {
    containers: [{ name: 'c', resources: { requests: { cpu: '500m', memory: '1Gi' } } }],
    initContainers: [{ name: 'side', restartPolicy: 'Always', resources: { requests: { cpu: '500m' } } }],
  },
} as Pick<Pod, 'spec'>;

const replicas = (spec: CapacityBuffer['spec'], workload?: number): number => desiredReplicas(spec, pod, workload);

describe('a buffer keeps room for', () => {
  test('as many pods as it says', () => expect(replicas({ replicas: 3 })).toBe(3));

  test.each([
    [10, 25, 3],
    [10, 1, 1],
    [10, 0, 0],
    [0, 50, 0],
    [3, 100, 3],
    [3, 200, 6],
  ])('of %d replicas %d percent, rounded up: %d', (workload, percentage, expected) =>
    expect(replicas({ percentage }, workload)).toBe(expected),
  );

  test('the larger of number and share', () => {
    expect(replicas({ replicas: 2, percentage: 50 }, 10)).toBe(5);
    expect(replicas({ replicas: 7, percentage: 50 }, 10)).toBe(7);
  });

  test('nothing by a share of a workload that has no replicas, or of no workload', () => {
    expect(replicas({ percentage: 50 }, 0)).toBe(0);
    expect(replicas({ percentage: 50 })).toBe(0);
  });

  test('no more than its limits allow, counting sidecars', () => {
    expect(replicas({ replicas: 10, limits: { cpu: '4500m' } })).toBe(4);
    expect(replicas({ replicas: 10, limits: { cpu: '100', memory: '3500Mi' } })).toBe(3);
    expect(replicas({ replicas: 2, limits: { cpu: '100' } })).toBe(2);
  });

  test('as many as its limits allow, if they are all it has', () => expect(replicas({ limits: { cpu: '5' } })).toBe(5));

  test('what it says if its limits speak of nothing the pods ask for', () => {
    expect(replicas({ replicas: 3, limits: { 'example.com/gpu': '1' } })).toBe(3);
    expect(replicas({ limits: { 'example.com/gpu': '1' } })).toBe(0);
  });
});
