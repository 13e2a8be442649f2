import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { changesOf, edited, formOf, type PoolSpec } from './pool-edits.ts';
import { yamlOf } from './yaml.ts';

const spec: PoolSpec = {
  template: {
    metadata: { labels: { team: 'web' } },
    spec: {
      nodeClassRef: { kind: 'EC2NodeClass', name: 'default' },
      requirements: [
        { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] },
        { key: 'node.kubernetes.io/instance-type', operator: 'Exists', minValues: 5 },
      ],
    },
  },
  limits: { cpu: '1000', nodes: 40 },
  disruption: {
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    consolidateAfter: '30s',
    budgets: [{ nodes: '10%' }, { nodes: '0', reasons: ['Drifted'], schedule: '0 9 * * 1-5', duration: '8h' }],
  },
};

test('an untouched form changes nothing', () => {
  expect(edited(spec, formOf(spec))).toEqual(spec);
  expect(changesOf(formOf(spec), formOf(spec))).toEqual([]);
});

test('each of the five edits is in the specification and said in words; the rest stays', () => {
  const before = formOf(spec);
  const [capacity] = before.requirements;
  const after = {
    ...before,
    cpu: '1200',
    weight: '10',
    consolidateAfter: 'Never',
    budgets: before.budgets.slice(0, 1),
    requirements: [
      { ...(capacity as (typeof before.requirements)[0]), values: 'spot' },
      ...before.requirements.slice(1),
    ],
  };
  expect(edited(spec, after)).toEqual({
    template: {
      metadata: { labels: { team: 'web' } },
      spec: {
        nodeClassRef: { kind: 'EC2NodeClass', name: 'default' },
        requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
          { key: 'node.kubernetes.io/instance-type', operator: 'Exists', minValues: 5 },
        ],
      },
    },
    limits: { cpu: '1200', nodes: 40 },
    weight: 10,
    disruption: {
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      consolidateAfter: 'Never',
      budgets: [{ nodes: '10%' }],
    },
  });
  expect(changesOf(before, after)).toEqual([
    'limits.cpu 1000 → 1200',
    'weight none → 10',
    'consolidateAfter 30s → Never',
    'budgets 10%; 0 Drifted from 0 9 * * 1-5 for 8h → 10%',
    'without karpenter.sh/capacity-type In spot, on-demand',
    'with karpenter.sh/capacity-type In spot',
  ]);
});

test('what is emptied is gone', () => {
  const after = { ...formOf(spec), cpu: '', consolidateAfter: ' ', budgets: [] };
  const result = edited(spec, after);
  expect(result.limits).toEqual({ nodes: 40 });
  expect(result.disruption).toEqual({ consolidationPolicy: 'WhenEmptyOrUnderutilized' });
});

test('any data is written as YAML that reads the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (given) => {
      const data: unknown = JSON.parse(JSON.stringify(given));
      expect(parse(yamlOf(data))).toEqual(data);
    }),
  );
  expect(yamlOf({ a: ['on', '0', 'x y'], b: { 'k/v': 1 }, c: [] })).toBe(
    'a:\n  - "on"\n  - "0"\n  - x y\nb:\n  k/v: 1\nc: []\n',
  );
});
