import { describe, expect, test } from 'vitest';
import { kinds } from '../../api/index.ts';
import { schemaProblems } from './schema.ts';
import { suggestion } from './suggest.ts';

const nodePool = kinds.find(({ kind }) => kind === 'NodePool');

/** What is suggested for each field of a NodePool that is otherwise right. */
function suggestions(spec: Record<string, unknown>, node: Record<string, unknown> = {}): (string | undefined)[] {
  const template = { spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'n' }, requirements: [], ...node } };
  const value = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'a' },
    spec: { template, ...spec },
  };
  if (nodePool === undefined) return [];
  const subject = {
    manifest: {} as never,
    apiVersion: value.apiVersion,
    group: 'karpenter.sh',
    version: 'v1',
    kind: 'NodePool',
    name: 'a',
    value,
  };
  return schemaProblems(nodePool, subject).map((problem) => suggestion(nodePool, problem));
}

describe('what to write instead', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['a number where a text is meant', {}, { startupTaints: [{ key: 5, effect: 'NoExecute' }] }, 'key: "5"'],
    ['a number where a duration is meant', {}, { expireAfter: 5 }, 'a duration such as 720h or 1h30m, or Never'],
    [
      'a field of the first versions',
      {},
      { ttlSecondsUntilExpired: 2_592_000 },
      'spec.template.spec.expireAfter: 720h',
    ],
    ['a text where a number is meant', { weight: '5' }, {}, 'weight: 5'],
    ['one value where a list is meant', {}, { taints: 'x' }, 'taints: [x]'],
    ['a text where a map is meant', { limits: 'x' }, {}, 'limits: {…}'],
    ['a number that is too large', { weight: 101 }, {}, 'at most 100'],
    ['a number that is too small', { weight: 0 }, {}, 'at least 1'],
    ['a duration without unit', {}, { terminationGracePeriod: '5' }, 'a duration such as 24h or 90m'],
    [
      'a budget that is not a share',
      { disruption: { consolidateAfter: '1m', budgets: [{ nodes: '200%' }] } },
      {},
      'a number ("5") or a share ("10%")',
    ],
    ['an effect in the wrong case', {}, { taints: [{ key: 'a', effect: 'noschedule' }] }, 'NoSchedule'],
    [
      'a policy far from any other',
      { disruption: { consolidateAfter: '1m', consolidationPolicy: 'x' } },
      {},
      'one of WhenEmpty, WhenEmptyOrUnderutilized, Balanced',
    ],
    ['a missing field', {}, { taints: [{ key: 'a' }] }, 'effect: NoSchedule, PreferNoSchedule or NoExecute'],
    ['a slip of the hand', { limit: {} }, {}, 'limits (if that is what is meant)'],
    ['a field in the wrong place', { expireAfter: '1h' }, {}, 'it belongs at spec.template.spec.expireAfter'],
  ])('%s', (_name, spec, node, expected) => {
    expect(suggestions(spec, node)).toEqual([expected]);
  });
});

test('an alias without its version gets one', () => {
  const nodeClass = kinds.find(({ kind }) => kind === 'EC2NodeClass');
  if (nodeClass === undefined) throw new Error('there is no such kind');
  const problem = {
    kind: 'rule' as const,
    path: ['spec', 'amiSelectorTerms', 0, 'alias'],
    detail: "Invalid value: \"al2023\": 'alias' is improperly formatted, must match the format 'family@version'",
    value: 'al2023',
  };
  expect(suggestion(nodeClass, problem)).toBe('al2023@v<release>, or al2023@latest');
});

test('an empty list is one problem, not one for each rule about its items', () => {
  const nodeClass = kinds.find(({ kind }) => kind === 'EC2NodeClass');
  if (nodeClass === undefined) throw new Error('there is no such kind');
  const spec = {
    role: 'r',
    amiSelectorTerms: [{ alias: 'al2023@latest' }],
    subnetSelectorTerms: [{ id: 'subnet-0123456789abcdef0' }],
    securityGroupSelectorTerms: [],
  };
  const value = { apiVersion: 'karpenter.k8s.aws/v1', kind: 'EC2NodeClass', metadata: { name: 'a' }, spec };
  const subject = { ...value, manifest: {} as never, group: 'karpenter.k8s.aws', version: 'v1', name: 'a', value };
  expect(schemaProblems(nodeClass, subject).map(({ detail }) => detail)).toEqual([
    'Invalid value: securityGroupSelectorTerms cannot be empty',
  ]);
});
