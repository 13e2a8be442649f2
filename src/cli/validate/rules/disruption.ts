// Rules about nodeClassRef and spec.disruption of a NodePool: names that moved between versions, budgets, schedules.
import { asList, asMap, asText, valueAt } from '../../manifests/index.ts';
import { type Hit, type Subject, sourceOf } from '../finding.ts';
import type { Rule } from './rule.ts';

const isPool = ({ kind }: Subject): boolean => kind === 'NodePool';
const endsWith = (path: readonly (string | number)[], ...tail: string[]): boolean =>
  tail.every((part, index) => path[path.length - tail.length + index] === part);

const budgets = ({ value }: Subject): Record<string, unknown>[] =>
  asList(valueAt(value, ['spec', 'disruption', 'budgets'])).map(asMap);

export const disruptionRules: Rule[] = [
  {
    id: 'M09',
    severity: 'error',
    strict: true,
    wrong: '`nodeClassRef: {name: default}`',
    why: 'v1 requires group, kind and name; group is the API group without a version.',
    instead: '`nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}`',
    failure: 'crd/nodeclassref-incomplete',
    explain(problem, subject) {
      const [field, owner] = [problem.path.at(-1), problem.path.at(-2)];
      if (owner !== 'nodeClassRef' || (field !== 'group' && field !== 'kind' && field !== 'name')) return undefined;
      const isMissing = problem.kind === 'required' || problem.detail.includes('may not be empty');
      if (!isMissing) return undefined;
      const reference = asMap(valueAt(subject.value, problem.path.slice(0, -1)));
      const old = asText(reference['apiVersion'])?.replace(/\/.*/, '');
      const known = { group: old ?? 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: '<node class>' };
      return { path: problem.path, message: `nodeClassRef.${field} is required`, fix: `${field}: ${known[field]}` };
    },
  },
  {
    id: 'M10',
    severity: 'error',
    strict: true,
    wrong: '`nodeClassRef.apiVersion`',
    why: 'Replaced in v1 by `group`.',
    instead: '`group: karpenter.k8s.aws`',
    failure: 'crd/nodeclassref-incomplete',
    explain(problem, subject) {
      if (problem.kind !== 'unknown' || !endsWith(problem.path, 'nodeClassRef', 'apiVersion')) return undefined;
      const old = asText(valueAt(subject.value, problem.path)) ?? 'karpenter.k8s.aws';
      return {
        path: problem.path,
        message: 'nodeClassRef has no apiVersion in v1',
        fix: `group: ${old.replace(/\/.*/, '')}`,
      };
    },
  },
  {
    id: 'M11',
    severity: 'error',
    strict: true,
    wrong: '`spec.disruption.expireAfter`',
    why: 'Moved in v1, so that each NodeClaim carries its own.',
    instead: '`spec.template.spec.expireAfter: 720h` (also the default; `Never` is allowed)',
    failure: 'crd/unknown-field',
    explain(problem, subject) {
      if (problem.kind !== 'unknown' || !endsWith(problem.path, 'disruption', 'expireAfter')) return undefined;
      const value = valueAt(subject.value, problem.path);
      return {
        path: problem.path,
        message: 'expireAfter moved out of disruption in v1',
        fix: `spec.template.spec.expireAfter: ${String(value)}`,
      };
    },
  },
  {
    id: 'M12',
    severity: 'error',
    strict: true,
    wrong: '`consolidationPolicy: WhenUnderutilized`',
    why: 'Renamed in v1.',
    instead: '`WhenEmptyOrUnderutilized` (or `Balanced`, `WhenEmpty`)',
    failure: 'crd/consolidation-policy-renamed',
    explain(problem) {
      if (problem.kind !== 'enum' || !endsWith(problem.path, 'disruption', 'consolidationPolicy')) return undefined;
      if (problem.value !== 'WhenUnderutilized') return undefined;
      return {
        path: problem.path,
        message: 'WhenUnderutilized was renamed in v1',
        fix: 'consolidationPolicy: WhenEmptyOrUnderutilized',
      };
    },
  },
  {
    id: 'M14',
    severity: 'error',
    strict: true,
    wrong: 'budget reason `UnderutilizedGPU`',
    why: 'The reasons are Underutilized, Empty and Drifted.',
    instead: 'remove it; give GPU nodes their own NodePool with its own budget',
    explain(problem) {
      const isReason = problem.path.at(-2) === 'reasons' || problem.path.at(-1) === 'reasons';
      if (problem.kind !== 'enum' || !isReason) return undefined;
      return {
        path: problem.path,
        message: `"${String(problem.value)}" is not a disruption reason; there are Underutilized, Empty and Drifted`,
        fix: 'remove it; GPU nodes get their own NodePool with its own budget',
      };
    },
  },
  {
    id: 'M16',
    severity: 'error',
    strict: true,
    wrong: 'budget `duration: "5m"` without `schedule`',
    why: 'A window needs its start: schedule and duration come together. Durations are hours and minutes.',
    instead: '`schedule: "0 9 * * mon-fri"` beside `duration: 8h`',
    explain(problem, subject) {
      if (!problem.detail.includes("'schedule' must be set with 'duration'")) return undefined;
      const index = budgets(subject).findIndex(
        (budget) => (budget['schedule'] === undefined) !== (budget['duration'] === undefined),
      );
      const lone = budgets(subject)[index]?.['duration'] === undefined ? 'schedule' : 'duration';
      const missing =
        lone === 'duration'
          ? 'schedule: "0 9 * * mon-fri"  (five cron fields, UTC)'
          : 'duration: 8h  (hours and minutes)';
      return {
        path: ['spec', 'disruption', 'budgets', Math.max(0, index), lone],
        message: `a budget with ${lone} also needs ${lone === 'duration' ? 'schedule' : 'duration'}`,
        fix: missing,
      };
    },
  },
  {
    id: 'M17',
    severity: 'warning',
    strict: false,
    wrong: '`schedule: "0 9 * * 1-5"` meant as local office hours',
    why: 'Schedules are in UTC. A comment with the word UTC on the budget says that you know.',
    instead: 'hours shifted to UTC, and `# UTC` beside them',
    failure: 'disruption/budget-zero-in-force',
    *check(subject): Generator<Hit> {
      if (!isPool(subject)) return;
      for (const [index, budget] of budgets(subject).entries()) {
        const hour = /^\S+\s+(\d[\d,-]*)\s/.exec(asText(budget['schedule']) ?? '')?.[1];
        const path = ['spec', 'disruption', 'budgets', index];
        if (hour === undefined || /\bUTC\b/i.test(sourceOf(subject, path))) continue;
        yield {
          path: [...path, 'schedule'],
          message: `this schedule starts at ${hour} o'clock UTC, whatever the cluster's time zone`,
          fix: 'shift the hours to UTC and say so in a comment (# UTC)',
        };
      }
    },
  },
  {
    id: 'M18',
    severity: 'warning',
    strict: false,
    wrong: 'budget `nodes: "0"` as "no disruption", with the default expireAfter',
    why: 'Budgets do not hold back expiration, interruption, repair or manual deletion.',
    instead: 'write `spec.template.spec.expireAfter` as well, longer than your freeze or `Never`',
    failure: 'disruption/budget-zero-in-force',
    *check(subject): Generator<Hit> {
      if (!isPool(subject) || valueAt(subject.value, ['spec', 'template', 'spec', 'expireAfter']) !== undefined) return;
      const index = budgets(subject).findIndex((budget) => /^0+%?$/.test(String(budget['nodes'] ?? '')));
      if (index < 0) return;
      yield {
        path: ['spec', 'disruption', 'budgets', index, 'nodes'],
        message:
          'a budget of 0 does not hold back expiration (720h by default), interruption, repair or manual deletion',
        fix: 'spec.template.spec.expireAfter, longer than the freeze, or Never',
      };
    },
  },
];
