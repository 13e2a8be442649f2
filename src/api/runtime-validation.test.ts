import { describe, expect, test } from 'vitest';
import {
  awsLabels,
  joinErrors,
  kwokLabels,
  labelPolicy,
  type NodeClaimTemplate,
  nodeOverlayProblems,
  nodePoolProblems,
} from './index.ts';

type NodeSpec = NodeClaimTemplate['spec'];
type Requirement = NodeSpec['requirements'][number];

const core = labelPolicy();

const problems = (node: Partial<NodeSpec>, labels?: Record<string, string>, policy = core): string[] =>
  nodePoolProblems(
    {
      template: {
        ...(labels === undefined ? {} : { metadata: { labels } }),
        spec: { requirements: [], nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, ...node },
      },
    },
    policy,
  );

const required = (requirement: Requirement, policy = core): string[] =>
  problems({ requirements: [requirement] }, undefined, policy);

const restricted = (key: string): string =>
  `using label ${key} is not allowed as it might interfere with the internal provisioning logic; ` +
  'specify a well known label: [karpenter.sh/capacity-type karpenter.sh/nodepool kubernetes.io/arch kubernetes.io/os ' +
  'node.kubernetes.io/instance-type node.kubernetes.io/windows-build topology.kubernetes.io/region ' +
  'topology.kubernetes.io/zone], or a custom label that does not use a restricted domain: [karpenter.sh]';

const inRequirements = (problem: string): string => `invalid value: ${problem} in requirements, restricted`;

test('an ordinary pool has no problems', () => {
  expect(
    problems(
      {
        requirements: [
          { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] },
          { key: 'example.com/team', operator: 'NotIn', values: ['a'] },
          { key: 'cpu', operator: 'Gt', values: ['0'] },
        ],
        taints: [{ key: 'a', effect: 'NoSchedule' }],
        startupTaints: [{ key: 'a', effect: 'NoExecute' }],
      },
      { 'example.com/team': '' },
    ),
  ).toEqual([]);
});

describe('labels', () => {
  test('the pool label is not for users', () => {
    expect(problems({}, { 'karpenter.sh/nodepool': 'x' })).toEqual([
      'invalid key name "karpenter.sh/nodepool" in labels, restricted',
    ]);
  });

  test('a key must be a qualified name', () => {
    expect(problems({}, { [`a/${'n'.repeat(64)}`]: 'x' })).toEqual([
      `invalid key name "a/${'n'.repeat(64)}" in labels, "name part must be no more than 63 bytes"`,
    ]);
  });

  test('a value must be a label value', () => {
    expect(problems({}, { a: 'x y' })[0]).toMatch(/^invalid value: x y for label\[a\], a valid label must be/);
  });

  test.each(['karpenter.sh/x', 'a.karpenter.sh/x', 'kubernetes.io/hostname'])('%s is restricted', (key) => {
    expect(problems({}, { [key]: 'x' })).toEqual([`invalid key name "${key}" in labels, ${restricted(key)}`]);
  });

  test.each(['mykarpenter.sh/x', 'kubernetes.io/x', 'a.k8s.io/x', 'node-restriction.kubernetes.io/x', 'karpenter.sh'])(
    '%s is not: only the domain itself and those below it are',
    (key) => {
      expect(problems({}, { [key]: 'x' })).toEqual([]);
    },
  );

  test('a provider restricts its own domain and knows its own labels', () => {
    const aws = labelPolicy(awsLabels, kwokLabels);
    expect(problems({}, { 'karpenter.k8s.aws/instance-family': 'm5' }, aws)).toEqual([]);
    expect(problems({}, { 'karpenter.k8s.aws/x': 'm5' }, aws)[0]).toContain(
      'restricted domain: [karpenter.k8s.aws karpenter.kwok.sh karpenter.sh]',
    );
  });
});

describe('taints', () => {
  test('key and value must be qualified names', () => {
    const [key, value, ...rest] = problems({
      taints: [{ key: 'a b', effect: 'NoSchedule' }],
      startupTaints: [{ key: 'a', value: '???', effect: 'NoSchedule' }],
    });
    expect(key).toMatch(/^invalid value: name part must consist of .* in taints$/);
    expect(value).toMatch(/^invalid value: name part must consist of .* in startupTaints$/);
    expect(rest).toEqual([]);
  });

  test('a pair of key and effect appears once in both lists together', () => {
    const taint = { key: 'a', effect: 'NoSchedule' } as const;
    expect(problems({ taints: [taint], startupTaints: [{ ...taint, value: 'x' }] })).toEqual([
      'duplicate taint Key/Effect pair a=NoSchedule',
    ]);
    expect(problems({ taints: [taint, { key: 'a', effect: 'NoExecute' }] })).toEqual([]);
  });

  test('an effect that admission would have refused is named', () => {
    expect(problems({ taints: [{ key: 'a', effect: 'Never' as 'NoExecute' }] })).toEqual([
      'invalid value: "Never" in taints',
    ]);
  });
});

describe('requirements', () => {
  test.each<[string, Requirement, string]>([
    [
      'an unknown operator',
      { key: 'a', operator: 'Near' as 'In', values: ['x'] },
      'key a has an unsupported operator Near not in [DoesNotExist Exists Gt Gte In Lt Lte NotIn]',
    ],
    ['a restricted key', { key: 'karpenter.sh/x', operator: 'Exists' }, restricted('karpenter.sh/x')],
    [
      'a key that is too long',
      { key: 'n'.repeat(64), operator: 'Exists' },
      `key ${'n'.repeat(64)} is not a qualified name, name part must be no more than 63 bytes`,
    ],
    [
      'a value that is too long',
      { key: 'a', operator: 'In', values: ['v'.repeat(64)] },
      `invalid value ${'v'.repeat(64)} for key a, must be no more than 63 bytes`,
    ],
    ['In without values', { key: 'a', operator: 'In', values: [] }, 'key a with operator In must have a value defined'],
    [
      'fewer values than asked for',
      { key: 'a', operator: 'In', values: ['x'], minValues: 2 },
      "key a with operator In must have at least minimum number of values defined in 'values' field",
    ],
    [
      'a number below zero',
      { key: 'a', operator: 'Gt', values: ['1.5'] },
      'key a with operator Gt must have a single positive integer value',
    ],
    [
      'two numbers',
      { key: 'a', operator: 'Lte', values: ['1', '2'] },
      'key a with operator Lte must have a single positive integer value',
    ],
  ])('%s', (_, requirement, problem) => {
    expect(required(requirement)).toEqual([inRequirements(problem)]);
  });

  test('an older spelling is judged by what it stands for', () => {
    expect(required({ key: 'beta.kubernetes.io/arch', operator: 'In', values: ['!'] })[0]).toContain(
      'invalid value ! for key kubernetes.io/arch',
    );
  });

  test('of known values, none known or too few is an error, a mix is not', () => {
    const type = (values: string[], minValues?: number): string[] =>
      required({
        key: 'karpenter.sh/capacity-type',
        operator: 'In',
        values,
        ...(minValues === undefined ? {} : { minValues }),
      });
    expect(type(['free'])[0]).toMatch(
      /^invalid value: no valid values found in \[free\] for karpenter.sh\/capacity-type/,
    );
    expect(type(['free', 'spot'], 2)[0]).toMatch(/^invalid value: not enough valid values found in \[free spot\] for/);
    expect(type(['free', 'spot'])).toEqual([]);
    expect(required({ key: 'karpenter.sh/capacity-type', operator: 'NotIn', values: ['free'] })).toEqual([]);
  });

  test('a provider knows the values of more keys: of those required one must be known', () => {
    const tenancy = (values: string[]) =>
      required({ key: 'karpenter.k8s.aws/instance-tenancy', operator: 'In', values }, labelPolicy(awsLabels));
    expect(tenancy(['host'])).toHaveLength(1);
    expect(tenancy(['host', 'dedicated'])).toEqual([]);
  });

  test('the pool cannot require itself', () => {
    expect(required({ key: 'karpenter.sh/nodepool', operator: 'Exists' })).toEqual([
      'invalid key: "karpenter.sh/nodepool" in requirements, restricted',
    ]);
  });

  test('all problems are reported at once', () => {
    const all = problems(
      {
        requirements: [{ key: 'a', operator: 'In', values: [], minValues: 1 }],
        taints: [{ key: '', effect: 'NoSchedule' }],
      },
      { 'karpenter.sh/nodepool': 'x' },
    );
    expect(joinErrors(all).split('; ')).toHaveLength(5);
  });
});

test('overlays are checked as pools are, and NotIn needs a value', () => {
  expect(
    nodeOverlayProblems(
      {
        requirements: [
          { key: 'karpenter.sh/nodepool', operator: 'In', values: ['a'] },
          { key: 'a', operator: 'NotIn' },
          { key: 'b', operator: 'Gt', values: ['-1'] },
        ],
        capacity: { cpu: 1, 'example.com/x': 1 },
      },
      core,
    ),
  ).toEqual([
    inRequirements(
      'invalid value -1 for key b, a valid label must be an empty string or consist of alphanumeric characters, ' +
        "'-', '_' or '.', and must start and end with an alphanumeric character; key b with operator Gt must have a single positive integer value",
    ),
    'key a with operator NotIn must have a value defined',
    'invalid capacity: cpu in resource, restricted',
  ]);
});
