import { expect, test } from 'vitest';
import type { Pod } from '../kube/objects.ts';
import { RequestsOfPods } from './pod-requests.ts';
import { ResourceTable } from './resource-table.ts';

const running = (name: string, held: string, conditions: { type: string; reason: string }[] = []): Pod => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] },
  status: { conditions, containerStatuses: [{ name: 'main', resources: { requests: { cpu: held } } }] },
});

test('equal pods have one and the same requests, also while their containers report what they hold', () => {
  const requests = new RequestsOfPods(new ResourceTable());
  expect(requests.of(running('a', '2'))).toBe(requests.of(running('b', '2')));
});

test('a pod that is resized counts with the larger of what it asks for and what it holds, unless that is infeasible', () => {
  const requests = new RequestsOfPods(new ResourceTable());
  const cpu = (pod: Pod): number | undefined => requests.of(pod).get('cpu');
  expect(cpu(running('settled', '2'))).toBe(2_000);
  expect(cpu(running('shrinking', '3'))).toBe(3_000);
  expect(cpu(running('growing', '1'))).toBe(2_000);
  expect(cpu(running('stuck', '1', [{ type: 'PodResizePending', reason: 'Infeasible' }]))).toBe(1_000);
});

test('what outlives the pods forgets shapes that are gone, and answers the same afterwards', () => {
  const requests = new RequestsOfPods(new ResourceTable(), { forgets: true, most: 10 });
  const shape = (cpu: number): Pod => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: `${cpu}m` } } }] },
  });
  for (let cpu = 1; cpu <= 1_000; cpu++) {
    expect(requests.of(shape(cpu)).get('cpu')).toBe(cpu);
    expect(requests.size).toBeLessThanOrEqual(10);
  }
  expect(requests.of(shape(1)).get('cpu')).toBe(1);
});

test('so does a pod that asks for resources as a whole', () => {
  const requests = new RequestsOfPods(new ResourceTable());
  const cpu = (held: string, allocated: string, conditions: { type: string; reason: string }[] = []) =>
    requests
      .of({
        metadata: { name: 'whole' },
        spec: { resources: { requests: { cpu: '2' } }, containers: [{ name: 'main' }] },
        status: { conditions, resources: { requests: { cpu: held } }, allocatedResources: { cpu: allocated } },
      })
      .get('cpu');
  expect(cpu('2', '2')).toBe(2_000);
  expect(cpu('3', '2')).toBe(3_000);
  expect(cpu('1', '4')).toBe(4_000);
  expect(cpu('1', '1')).toBe(2_000);
  expect(cpu('1', '1', [{ type: 'PodResizePending', reason: 'Infeasible' }])).toBe(1_000);
});
