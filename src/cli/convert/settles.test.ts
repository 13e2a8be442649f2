import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { runCommand } from '../run-command.testing.ts';
import { configure } from './convert.ts';
import { errorsOf } from './errors-of.testing.ts';

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const name = fc.constantFrom('shop', 'web', 'batch');
const tags = fc.dictionary(
  fc.constantFrom('Name', 'team', 'karpenter.sh/discovery'),
  fc.constantFrom('a', 'true', 'shop'),
  { minKeys: 1 },
);
const requirements = fc.array(
  fc.record({
    key: fc.constantFrom('kubernetes.io/arch', 'karpenter.sh/capacity-type', 'x'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.constant(['spot']),
  }),
  { maxLength: 3 },
);
const budget = fc.record(
  {
    nodes: fc.constantFrom('10%', '0'),
    reasons: fc.subarray(['Empty', 'Drifted', 'Odd'], { minLength: 1 }),
    schedule: fc.constant('0 9 * * *'),
    duration: fc.constant('8h'),
  },
  { requiredKeys: ['nodes'] },
);
const poolOf = fc
  .record({
    name,
    version: fc.constantFrom('v1beta1', 'v1'),
    ref: fc.record(
      { apiVersion: fc.constant('karpenter.k8s.aws/v1beta1'), kind: fc.constant('EC2NodeClass') },
      { requiredKeys: [] },
    ),
    className: name,
    requirements,
    kubelet: optional(fc.record({ maxPods: fc.constantFrom(10, 20) })),
    affinity: optional(fc.constant({ nodeAffinity: {} })),
    disruption: optional(
      fc.record(
        {
          consolidationPolicy: fc.constantFrom('WhenUnderutilized', 'WhenEmpty'),
          consolidateAfter: fc.constantFrom('30s', 'Never'),
          expireAfter: fc.constantFrom('720h', 'Never'),
          budgets: fc.array(budget, { minLength: 1, maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
    ),
  })
  .map(({ name: poolName, version, ref, className, requirements: wanted, kubelet, affinity, disruption }) => ({
    apiVersion: `karpenter.sh/${version}`,
    kind: 'NodePool',
    metadata: { name: poolName },
    spec: {
      template: { spec: { nodeClassRef: { ...ref, name: className }, requirements: wanted, kubelet, affinity } },
      disruption,
    },
  }));
const classOf = fc
  .record({
    name,
    version: fc.constantFrom(
      'karpenter.k8s.aws/v1beta1 EC2NodeClass',
      'karpenter.k8s.aws/v1 EC2NodeClass',
      'karpenter.k8s.aws/v1alpha1 AWSNodeTemplate',
    ),
    amiFamily: optional(fc.constantFrom('AL2', 'AL2023', 'Ubuntu', 'WINDOWS', 'bottlerocket', 'Custom')),
    role: optional(fc.constant('nodes')),
    subnetSelector: tags,
    securityGroupSelector: tags,
    kubelet: optional(fc.record({ maxPods: fc.constantFrom(10, 20) })),
  })
  .map(({ name: className, version, ...spec }) => {
    const [apiVersion, kind] = version.split(' ');
    return { apiVersion, kind, metadata: { name: className }, spec };
  });
const provisionerOf = fc
  .record(
    {
      requirements,
      labels: fc.constant({ team: 'x' }),
      providerRef: fc.record({ name }),
      ttlSecondsAfterEmpty: fc.nat({ max: 100 }),
      ttlSecondsUntilExpired: fc.nat({ max: 1000 }),
      consolidation: fc.record({ enabled: fc.boolean() }),
      limits: fc.constant({ resources: { cpu: 10 } }),
      kubeletConfiguration: fc.constant({ maxPods: 30 }),
    },
    { requiredKeys: [] },
  )
  .map((spec) => ({ apiVersion: 'karpenter.sh/v1alpha5', kind: 'Provisioner', metadata: { name: 'old' }, spec }));
const input = fc
  .tuple(fc.array(fc.oneof(poolOf, classOf, provisionerOf), { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([objects, indentSeq]) => objects.map((object) => stringify(object, { indentSeq })).join('---\n'));

test('whatever old manifests go in, the result passes validation, and converting it again changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(input, fc.constantFrom('none', 'inline'), async (text, notes) => {
      const first = await runCommand(configure, ['-f', '-', '--notes', notes], text);
      expect(await errorsOf(first.out)).toEqual([]);
      const second = await runCommand(configure, ['-f', '-', '--notes', notes], first.out);
      expect(second.out).toBe(first.out);
    }),
    { numRuns: 70, seed: 21 },
  );
});
