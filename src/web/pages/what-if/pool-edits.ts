// The five usual edits of a NodePool: its limits, budgets, consolidateAfter, requirements and weight, as a form shows them.
// Fields that a form does not know stay as they are.

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
  minValues?: number;
}

export interface Budget {
  nodes: string;
  reasons?: string[];
  schedule?: string;
  duration?: string;
}

export interface PoolSpec {
  template?: { spec?: { requirements?: Requirement[]; [field: string]: unknown }; [field: string]: unknown };
  limits?: Record<string, string | number>;
  weight?: number;
  disruption?: { consolidateAfter?: string; budgets?: Budget[]; [field: string]: unknown };
  [field: string]: unknown;
}

/** What a form holds: texts, as they are typed. */
export interface PoolForm {
  cpu: string;
  memory: string;
  weight: string;
  consolidateAfter: string;
  budgets: { nodes: string; reasons: string; schedule: string; duration: string }[];
  requirements: { key: string; operator: string; values: string }[];
}

export const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'] as const;

export function formOf(spec: PoolSpec): PoolForm {
  return {
    cpu: String(spec.limits?.['cpu'] ?? ''),
    memory: String(spec.limits?.['memory'] ?? ''),
    weight: String(spec.weight ?? ''),
    consolidateAfter: spec.disruption?.consolidateAfter ?? '',
    budgets: (spec.disruption?.budgets ?? []).map(({ nodes, reasons = [], schedule = '', duration = '' }) => ({
      nodes,
      reasons: reasons.join(', '),
      schedule,
      duration,
    })),
    requirements: (spec.template?.spec?.requirements ?? []).map(({ key, operator, values = [] }) => ({
      key,
      operator,
      values: values.join(', '),
    })),
  };
}

const words = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** The specification with what the form says; a field that is emptied is gone. */
export function edited(spec: PoolSpec, form: PoolForm): PoolSpec {
  const { cpu: _cpu, memory: _memory, ...otherLimits } = spec.limits ?? {};
  const limits = { ...otherLimits, ...given('cpu', form.cpu), ...given('memory', form.memory) };
  const { limits: _limits, weight: _weight, ...rest } = spec;
  const { consolidateAfter: _after, budgets: _budgets, ...disruption } = spec.disruption ?? {};
  const minValues = new Map(spec.template?.spec?.requirements?.map((each) => [each.key, each.minValues]));
  const requirements = form.requirements
    .filter(({ key }) => key !== '')
    .map(({ key, operator, values }) => {
      const kept = minValues.get(key);
      return {
        key,
        operator,
        ...(words(values).length > 0 && { values: words(values) }),
        ...(kept !== undefined && { minValues: kept }),
      };
    });
  const budgets = form.budgets
    .filter(({ nodes }) => nodes !== '')
    .map(({ nodes, reasons, schedule, duration }) => ({
      nodes,
      ...(words(reasons).length > 0 && { reasons: words(reasons) }),
      ...given('schedule', schedule),
      ...given('duration', duration),
    }));
  return {
    ...rest,
    template: { ...spec.template, spec: { ...spec.template?.spec, requirements } },
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(form.weight !== '' && { weight: Number(form.weight) }),
    disruption: {
      ...disruption,
      ...given('consolidateAfter', form.consolidateAfter),
      ...(budgets.length > 0 && { budgets }),
    },
  };
}

const given = (name: string, text: string): Record<string, string> =>
  text.trim() === '' ? {} : { [name]: text.trim() };

/** What differs, in words: `limits.cpu 1000 → 1200`. */
export function changesOf(before: PoolForm, after: PoolForm): string[] {
  const changes: string[] = [];
  const note = (name: string, old: string, now: string): void => {
    if (old !== now) changes.push(`${name} ${old || 'none'} → ${now || 'none'}`);
  };
  note('limits.cpu', before.cpu, after.cpu);
  note('limits.memory', before.memory, after.memory);
  note('weight', before.weight, after.weight);
  note('consolidateAfter', before.consolidateAfter, after.consolidateAfter);
  note('budgets', before.budgets.map(budgetText).join('; '), after.budgets.map(budgetText).join('; '));
  const texts = (form: PoolForm): string[] => form.requirements.map(requirementText);
  const [old, now] = [texts(before), texts(after)];
  for (const text of old.filter((each) => !now.includes(each))) changes.push(`without ${text}`);
  for (const text of now.filter((each) => !old.includes(each))) changes.push(`with ${text}`);
  return changes;
}

const budgetText = ({ nodes, reasons, schedule, duration }: PoolForm['budgets'][number]): string =>
  [nodes, reasons, schedule && `from ${schedule}`, duration && `for ${duration}`]
    .filter((part) => part !== '')
    .join(' ');

const requirementText = ({ key, operator, values }: PoolForm['requirements'][number]): string =>
  `${key} ${operator}${values === '' ? '' : ` ${values}`}`;
