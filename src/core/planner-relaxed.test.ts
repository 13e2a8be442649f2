// What a pod does without is reported, in the order in which it was given up.
import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import { planSnapshot, type SnapshotObject } from './index.ts';
import { nodePool, pod, pods, snapshot } from './testing/builders.testing.ts';

const during = 'DuringSchedulingIgnoredDuringExecution';
const near = (app: string) => ({ topologyKey: label.zone, labelSelector: { matchLabels: { app } } });
const inZone = (zone: string) => ({ matchExpressions: [{ key: label.zone, operator: 'In', values: [zone] }] });

function relaxed(...objects: SnapshotObject[]): Record<string, readonly string[]> {
  const reported: Record<string, readonly string[]> = {};
  planSnapshot(snapshot([nodePool(), ...objects]), { onRelaxed: (name, changes) => (reported[name] = changes) });
  return reported;
}

test('a pod that gets all it wants gives nothing up', () => {
  const wish = { nodeAffinity: { [`preferred${during}`]: [{ weight: 1, preference: inZone('zone-1') }] } };
  expect(relaxed(pod({ spec: { affinity: wish } }), ...pods(3))).toEqual({});
});

test('preferences are given up one by one: pod affinity, then node affinity, heaviest first, then spreads', () => {
  const affinity = {
    podAffinity: { [`preferred${during}`]: [{ weight: 1, podAffinityTerm: near('nobody') }] },
    nodeAffinity: {
      [`preferred${during}`]: [
        { weight: 1, preference: inZone('nowhere') },
        { weight: 9, preference: inZone('utopia') },
      ],
    },
  };
  const reported = relaxed(pod({ name: 'wishful', namespace: 'shop', spec: { affinity } }));
  expect(Object.keys(reported)).toEqual(['shop/wishful']);
  expect(reported['shop/wishful']).toEqual([
    `removing: spec.affinity.podAffinity.preferred${during}[0]=${JSON.stringify(near('nobody'))}`,
    `removing: spec.affinity.nodeAffinity.preferred${during}[0]=${JSON.stringify(inZone('utopia'))}`,
    `removing: spec.affinity.nodeAffinity.preferred${during}[0]=${JSON.stringify(inZone('nowhere'))}`,
  ]);
});

test('a pod that finds no place at all has given up everything it could', () => {
  const spread = { topologyKey: label.zone, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} };
  const huge = pod({ name: 'huge', namespace: 'shop', cpu: '100000', spec: { topologySpreadConstraints: [spread] } });
  expect(relaxed(huge)).toEqual({
    'shop/huge': [`removing: spec.topologySpreadConstraints=${JSON.stringify(spread)}`],
  });
});

test('an alternative of the required node affinity that leads nowhere is given up first', () => {
  const affinity = { nodeAffinity: { [`required${during}`]: { nodeSelectorTerms: ['utopia', 'zone-2'].map(inZone) } } };
  expect(relaxed(pod({ name: 'flexible', namespace: 'shop', spec: { affinity } }))).toEqual({
    'shop/flexible': [`removing: spec.affinity.nodeAffinity.required${during}[0]=${JSON.stringify(inZone('utopia'))}`],
  });
});
