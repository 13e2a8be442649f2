// A verdict can be believed: it names exactly what keeps a node, without it the planner acts, and when nothing is named
// the planner acts within one round.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import { object } from '../testing/builders.testing.ts';
import { emptinessCommand } from './emptiness.ts';
import { finish, machine, pool, roundOf, running } from './fleet.testing.ts';
import { multiNodeCommand } from './multi-node.ts';
import type { Round } from './round.ts';
import { singleNodeCommand } from './single-node.ts';
import { nodeVerdicts } from './verdicts.ts';

const causes = {
  Nominated: 'a pod is about to come',
  NodeDoNotDisrupt: 'the node is annotated',
  PodDoNotDisrupt: 'a pod is annotated',
  PodBudgetExhausted: 'a pod disruption budget allows nothing',
  ConsolidationDisabled: 'the pool never consolidates',
  OnlyWhenEmpty: 'the pool removes empty nodes only',
  NotQuiet: 'a pod came a moment ago',
  Budget: 'the budget allows nothing',
} as const;
type Cause = keyof typeof causes;

interface Cluster {
  causes: readonly Cause[];
  /** What its one pod asks for; a large one has no cheaper node to go to. */
  cpu: string;
}

function roundWith({ causes: all, cpu }: Cluster): Round {
  const has = (cause: Cause): boolean => all.includes(cause);
  const guard = { [annotation.doNotDisrupt]: 'true' };
  const objects: SnapshotObject[] = [
    pool('default', {
      ...(has('ConsolidationDisabled') ? { consolidateAfter: 'Never' } : {}),
      ...(has('OnlyWhenEmpty') ? { consolidationPolicy: 'WhenEmpty' } : {}),
      ...(has('Budget') ? { budgets: [{ nodes: '0' }] } : {}),
    }),
    ...machine('a', {
      type: 'c16',
      ...(has('NodeDoNotDisrupt') ? { annotations: guard } : {}),
      ...(has('NotQuiet') || has('ConsolidationDisabled') ? { conditions: { Consolidatable: 'False' } } : {}),
    }),
    running('a', {
      name: 'p',
      cpu,
      labels: { app: 'web' },
      ...(has('PodDoNotDisrupt') ? { annotations: guard } : {}),
    }),
    ...(has('PodBudgetExhausted')
      ? [
          object('policy/v1', 'PodDisruptionBudget', 'web', {
            metadata: { namespace: 'default' },
            spec: { selector: { matchLabels: { app: 'web' } } },
            status: { disruptionsAllowed: 0 },
          }),
        ]
      : []),
  ];
  const nodeState = [{ node: 'a', nodeClaim: 'a', initialized: true, nominated: has('Nominated') }];
  return roundOf(objects, { nodeState });
}

const acts = (round: Round): boolean =>
  [
    emptinessCommand(round).command,
    finish(multiNodeCommand(round)).command,
    finish(singleNodeCommand(round)).command,
  ].some((command) => command?.members.some((member) => member.name === 'a'));

const named = (round: Round): string[] => finish(nodeVerdicts(round))[0]?.blockers.map(({ code }) => code) ?? [];

const anyCauses = fc
  .subarray(Object.keys(causes) as Cause[])
  // A pool that never consolidates has no quiet time to wait for.
  .map((all) => (all.includes('ConsolidationDisabled') ? all.filter((cause) => cause !== 'NotQuiet') : all))
  // A pod says only once that it stays.
  .map((all) => (all.includes('PodDoNotDisrupt') ? all.filter((cause) => cause !== 'PodBudgetExhausted') : all));

test('a verdict names exactly what keeps the node, and without it the planner acts', () => {
  fc.assert(
    fc.property(anyCauses, fc.constantFrom('1', '3', '12'), (all, cpu) => {
      const round = roundWith({ causes: all, cpu });
      const blockers = named(round);
      const own = blockers.filter((code) => code in causes);
      expect([...own].sort()).toEqual([...all].sort());
      const others = blockers.filter((code) => !(code in causes));
      expect(others).toEqual(cpu === '12' ? ['NotCheaper'] : []);
      expect(acts(round)).toBe(blockers.length === 0);
      const without = roundWith({ causes: all.filter((cause) => !own.includes(cause)), cpu });
      expect(acts(without)).toBe(others.length === 0);
    }),
    { seed: 3, numRuns: 120 },
  );
});

test('taking away all but one of the named blockers is not enough', () => {
  fc.assert(
    fc.property(fc.constantFrom(...(Object.keys(causes) as Cause[])), (cause) => {
      const round = roundWith({ causes: [cause], cpu: '3' });
      expect(named(round)).toEqual([cause]);
      expect(acts(round)).toBe(false);
    }),
    { seed: 3, numRuns: 30 },
  );
});
