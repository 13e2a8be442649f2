// NodePool: when its nodes may be disrupted, and how many at once.
import { accept, type CorpusCase, each, type Manifest, reject, shown, underRule } from './case.ts';
import { pool } from './objects.ts';

const disruption = (fields: object): Manifest => pool({ disruption: { consolidateAfter: '0s', ...fields } });
const budgets = (...list: unknown[]): Manifest => disruption({ budgets: list });
const budgetAt = 'spec.disruption.budgets[0]';
const window = { schedule: '0 9 * * 1-5', duration: '8h' };

export const disruptionCases: CorpusCase[] = [
  ...underRule(
    'disruption defaults',
    accept('disruption unset', pool(), {
      stored: {
        'spec.disruption.consolidateAfter': '0s',
        'spec.disruption.consolidationPolicy': 'WhenEmptyOrUnderutilized',
        'spec.disruption.budgets': [{ nodes: '10%' }],
      },
    }),
    accept('disruption null', pool({ disruption: null }), { stored: { 'spec.disruption.consolidateAfter': '0s' } }),
    accept('disruption without consolidateAfter', pool({ disruption: {} }), {
      stored: { 'spec.disruption.consolidateAfter': '0s' },
    }),
    accept('budgets without consolidateAfter', pool({ disruption: { budgets: [{ nodes: '1' }] } }), {
      stored: { 'spec.disruption.consolidateAfter': '0s', 'spec.disruption.budgets': [{ nodes: '1' }] },
    }),
    accept('a static pool without consolidateAfter', pool({ replicas: 3, disruption: {} })),
    accept('a budget for repairs', budgets({ nodes: '1', reasons: ['Unhealthy'] }), {
      stored: { 'spec.disruption.budgets': [{ nodes: '1', reasons: ['Unhealthy'] }] },
    }),
    accept('budgets null', disruption({ budgets: null }), {
      stored: { 'spec.disruption.budgets': [{ nodes: '10%' }] },
    }),
    accept('budgets empty stay empty', disruption({ budgets: [] }), { stored: { 'spec.disruption.budgets': [] } }),
    accept('a budget without nodes', budgets({ reasons: ['Empty'] }), {
      stored: { 'spec.disruption.budgets': [{ reasons: ['Empty'], nodes: '10%' }] },
    }),
  ),
  ...underRule(
    'consolidateAfter',
    ...['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'].flatMap((consolidationPolicy) =>
      each(['0s', '30s', '1h30m5s', 'Never'], (consolidateAfter) =>
        accept(
          `${consolidationPolicy} after ${consolidateAfter}`,
          disruption({ consolidationPolicy, consolidateAfter }),
          {
            stored: { 'spec.disruption.consolidateAfter': consolidateAfter },
          },
        ),
      ),
    ),
    ...each(['', '-1s', '1hr', 'FooNever', '30', 'never', '1.5h'], (consolidateAfter) =>
      reject(
        `consolidateAfter ${shown(consolidateAfter)}`,
        disruption({ consolidateAfter }),
        'spec.disruption.consolidateAfter',
        'should match',
      ),
    ),
    reject(
      'consolidateAfter as a number',
      disruption({ consolidateAfter: 30 }),
      'spec.disruption.consolidateAfter',
      'must be of type string',
    ),
  ),
  ...underRule(
    'consolidationPolicy',
    ...each(['whenempty', 'balanced', 'WhenUnderutilized', ''], (consolidationPolicy) =>
      reject(
        `policy ${shown(consolidationPolicy)}`,
        disruption({ consolidationPolicy }),
        'spec.disruption.consolidationPolicy',
        'Unsupported value',
      ),
    ),
    reject(
      'policy as a number',
      disruption({ consolidationPolicy: 3 }),
      'spec.disruption.consolidationPolicy',
      'must be of type string',
    ),
  ),
  ...underRule(
    'budget nodes',
    ...each(['0', '10', '1000', '0%', '7%', '99%', '100%'], (nodes) => accept(`nodes ${nodes}`, budgets({ nodes }))),
    ...each(['-1', '-1%', '101%', '1000%', '5.5%', '%', '', 'all', '10 %'], (nodes) =>
      reject(`nodes ${shown(nodes)}`, budgets({ nodes }), `${budgetAt}.nodes`, 'should match'),
    ),
    reject('nodes as a number', budgets({ nodes: 10 }), `${budgetAt}.nodes`, 'must be of type string'),
    accept('50 budgets', budgets(...Array.from({ length: 50 }, () => ({ nodes: '1' })))),
    reject(
      '51 budgets',
      budgets(...Array.from({ length: 51 }, () => ({ nodes: '1' }))),
      'spec.disruption.budgets',
      'must have at most 50 items',
    ),
  ),
  ...underRule(
    'budget reasons',
    accept('every reason', budgets({ nodes: '1', reasons: ['Underutilized', 'Empty', 'Drifted'] })),
    accept('an empty list of reasons', budgets({ nodes: '1', reasons: [] })),
    ...each(['expired', '', 'empty', 'Unknown'], (reason) =>
      reject(
        `reason ${shown(reason)}`,
        budgets({ nodes: '1', reasons: [reason] }),
        `${budgetAt}.reasons[0]`,
        'Unsupported value',
      ),
    ),
    reject(
      'a reason twice',
      budgets({ nodes: '1', reasons: ['Empty', 'Empty'] }),
      `${budgetAt}.reasons[1]`,
      'Duplicate value: "Empty"',
    ),
    reject(
      '51 reasons',
      budgets({ nodes: '1', reasons: Array.from({ length: 51 }, () => 'Empty') }),
      `${budgetAt}.reasons`,
      'must have at most 50 items',
    ),
  ),
  ...underRule(
    'budget window',
    ...each(
      [
        '0 9 * * 1-5',
        '*/5 * * * *',
        '@annually',
        '@yearly',
        '@monthly',
        '@weekly',
        '@daily',
        '@midnight',
        '@hourly',
        '0 0 1 1 *',
      ],
      (schedule) => accept(`schedule ${schedule}`, budgets({ nodes: '1', ...window, schedule })),
    ),
    ...each(['* * * *', '@reboot', '@every 1h', '', 'daily'], (schedule) =>
      reject(
        `schedule ${shown(schedule)}`,
        budgets({ nodes: '1', ...window, schedule }),
        `${budgetAt}.schedule`,
        'should match',
      ),
    ),
    ...each(['8h', '30m', '1h30m', '8h0s', '30m0s', '1h30m0s', '0h'], (duration) =>
      accept(`duration ${duration}`, budgets({ nodes: '1', ...window, duration })),
    ),
    ...each(['30s', '-1h', '1h30s', '1.5h', '8', '', 'Never', '1d', '30m1h'], (duration) =>
      reject(
        `duration ${shown(duration)}`,
        budgets({ nodes: '1', ...window, duration }),
        `${budgetAt}.duration`,
        'should match',
      ),
    ),
    reject(
      'schedule without duration',
      budgets({ nodes: '1', schedule: '@daily' }),
      'spec.disruption.budgets',
      "'schedule' must be set with 'duration'",
    ),
    reject(
      'duration without schedule',
      budgets({ nodes: '1', duration: '8h' }),
      'spec.disruption.budgets',
      "'schedule' must be set with 'duration'",
    ),
    reject(
      'the last of several without duration',
      budgets({ nodes: '1' }, { nodes: '1', ...window }, { nodes: '1', schedule: '@daily' }),
      'spec.disruption.budgets',
      "'schedule' must be set with 'duration'",
    ),
    accept('windows and reasons together', budgets({ nodes: '0', ...window, reasons: ['Drifted'] }, { nodes: '20%' })),
  ),
];
