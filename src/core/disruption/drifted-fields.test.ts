import { expect, test } from 'vitest';
import type { NodeClaim, NodePool } from '../kube/objects.ts';
import { driftedFields } from './drifted-fields.ts';

const taint = { key: 'team', value: 'a', effect: 'NoSchedule' };
const claim: NodeClaim = {
  metadata: { name: 'c', labels: { team: 'a', 'topology.kubernetes.io/zone': 'z1' } },
  spec: { taints: [taint], expireAfter: '720h', nodeClassRef: { name: 'default' } },
};
const pool = (labels: Record<string, string>, spec: object): NodePool => ({
  metadata: { name: 'p' },
  spec: { template: { metadata: { labels }, spec: { nodeClassRef: { name: 'default' }, ...spec } } },
});

test('a claim made from the same template differs in nothing', () => {
  expect(driftedFields(pool({ team: 'a' }, { taints: [taint], expireAfter: '720h' }), claim)).toEqual([]);
});

test('every field that differs is named with what it was and what it is now', () => {
  const zone = { key: 'topology.kubernetes.io/zone', operator: 'In' as const, values: ['z2', 'z3'] };
  const absent = { key: 'rack', operator: 'Exists' as const };
  const wanted = pool({ team: 'b' }, { expireAfter: '24h', requirements: [zone, absent] });
  expect(driftedFields(wanted, claim)).toEqual([
    'labels[team]: was a, now b',
    'taints: was team=a:NoSchedule, now none',
    'expireAfter: was 720h, now 24h',
    'requirement topology.kubernetes.io/zone: was z1, now In z2, z3',
    'requirement rack: was none, now Exists',
  ]);
});
