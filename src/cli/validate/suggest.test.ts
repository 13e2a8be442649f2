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
    ['a number where a text is meant', {}, { expireAfter: 5 }, 'expireAfter: "5"'],
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
