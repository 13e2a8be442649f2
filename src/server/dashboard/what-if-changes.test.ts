import { expect, test } from 'vitest';
import { annotation, label, type NodePool, nodePoolHash } from '../../api/index.ts';
import type { Snapshot } from '../../core/index.ts';
import { changedSnapshot, readManifests } from './what-if-changes.ts';

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

test('nodes drift when the template is another, and when their labels do not meet the requirements', () => {
  const pool = (spec: object): string =>
    JSON.stringify({
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodePool',
      metadata: { name: 'default' },
      spec: {
        template: {
          spec: {
            nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
            requirements: [],
            ...spec,
          },
        },
      },
    });
  const [written] = readManifests(pool({}));
  const hash = nodePoolHash((written as unknown as NodePool).spec.template);
  const claim = (name: string, capacityType: string) => ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name,
      labels: { [label.nodePool]: 'default', [label.capacityType]: capacityType },
      annotations: { [annotation.nodePoolHash]: hash },
    },
  });
  const items = [claim('a', 'spot'), claim('b', 'on-demand')];
  const of = (spec: object) =>
    changedSnapshot({ ...snapshot, objects: { items } } as unknown as Snapshot, { ...order, manifests: pool(spec) })
      .drift;
  expect(of({})).toEqual([]);
  const requirements = [{ key: label.capacityType, operator: 'In', values: ['on-demand'] }];
  expect(of({ requirements })).toEqual([{ nodePool: 'default', reason: 'RequirementsDrifted', nodes: ['a'] }]);
  const expired = of({ expireAfter: '1h', requirements });
  expect(expired).toEqual([{ nodePool: 'default', reason: 'NodePoolDrifted', nodes: ['a', 'b'] }]);
});
