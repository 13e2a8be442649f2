// A budget of zero forbids every disruption while it is in force; the most restrictive one wins, and schedules are UTC.
import { parseGoDuration } from '../../../base/index.ts';
import type { Failure, Found } from '../../failure.ts';
import { listAt, textAt, textsAt } from '../../fields.ts';
import { caught, fieldItem, foundIn } from '../../found.ts';
import { kinds } from '../../needs.ts';
import { refOf } from '../../objects.ts';

export const budgetZeroInForce: Failure = {
  id: 'disruption/budget-zero-in-force',
  severity: 'low',
  symptom: 'Nothing is disrupted in, or by a mistake of time zones outside, the intended hours.',
  cause: 'A budget with `nodes: "0"` is in force: the most restrictive one wins, and schedules are read as UTC',
  fix: 'Correct the schedule (UTC, five fields) and its duration; remove a budget of zero that has no schedule.',
  needs: [kinds('NodePool')],
  signs: [
    {
      words: ['no allowed disruptions'],
      pattern: /No allowed disruptions(?: for disruption reason (?<reason>\w+))? due to blocking budgets?/i,
      evenWhenWell: true,
    },
  ],
  fromText(sightings) {
    const pool = sightings.find(({ about }) => about?.kind === 'NodePool')?.about?.name;
    const reason = caught(sightings, 'reason');
    return [
      foundIn(sightings, {
        summary: `A budget${pool === undefined ? '' : ` of NodePool ${pool}`} allows no disruption${reason === undefined ? '' : ` for ${reason}`} at the moment.`,
        fix: [
          `kubectl get nodepool ${pool ?? '"$POOL"'} -o jsonpath='{.spec.disruption.budgets}' (schedules are UTC; the smallest budget in force wins)`,
        ],
        ...(pool === undefined ? {} : { key: pool }),
      }),
    ];
  },
  check(evidence): Found[] {
    return evidence.objects.of('NodePool').flatMap((pool): Found[] => {
      const budgets = listAt(pool.object, 'spec', 'disruption', 'budgets');
      const index = budgets.findIndex((one) => /^0%?$/.test(textAt(one, 'nodes')) && isAlways(one));
      if (index < 0) return [];
      const reasons = textsAt(budgets[index], 'reasons');
      const schedule = textAt(budgets[index], 'schedule');
      return [
        {
          confidence: 'certain',
          summary: `Budget ${index} of NodePool ${pool.name} always allows no disruption${reasons.length === 0 ? '' : ` for ${reasons.join(', ')}`}${schedule === '' ? '' : ': its window never closes'}.`,
          objects: [refOf(pool)],
          evidence: [fieldItem(pool, `spec.disruption.budgets[${index}]`, JSON.stringify(budgets[index]))],
          fix: [
            `kubectl edit nodepool ${pool.name}: give spec.disruption.budgets[${index}] a schedule and a duration shorter than its period, or remove it.`,
          ],
          key: pool.name,
        },
      ];
    });
  },
};

/** Without a schedule it holds for ever; a window that lasts as long as its period never closes. */
function isAlways(budget: unknown): boolean {
  const schedule = textAt(budget, 'schedule');
  if (schedule === '') return true;
  const hours = hoursOf(textAt(budget, 'duration'));
  if (/^\S+ \S+ \* \* \*$/.test(schedule) && !/[*/,-]/.test(schedule.split(' ')[1] ?? '*')) return hours >= 24;
  if (schedule === '@daily' || schedule === '@midnight') return hours >= 24;
  return schedule === '@hourly' || /^\S+ \* \* \* \*$/.test(schedule) ? hours >= 1 : false;
}

const hourMs = 3_600_000;

const hoursOf = (duration: string): number => (parseGoDuration(duration) ?? 0) / hourMs;
