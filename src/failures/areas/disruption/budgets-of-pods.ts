// Which PodDisruptionBudgets hold which pods, and whether one can ever allow a disruption.
import { isPlain, listAt, mapAt, numberAt, textAt, textsAt } from '../../fields.ts';
import { labelsOf, type Stored } from '../../objects.ts';

export function selects(budget: Stored, pod: Stored): boolean {
  if (budget.namespace !== pod.namespace) return false;
  const selector = budget.object['spec'] === undefined ? undefined : mapAt(budget.object, 'spec')['selector'];
  if (!isPlain(selector)) return false;
  const labels = labelsOf(pod.object);
  const isEqual = Object.entries(mapAt(selector, 'matchLabels')).every(([key, value]) => labels[key] === value);
  return isEqual && listAt(selector, 'matchExpressions').every((one) => holds(one, textAt(labels, textAt(one, 'key'))));
}

function holds(expression: unknown, value: string): boolean {
  const values = textsAt(expression, 'values');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return values.includes(value);
    case 'NotIn':
      return !values.includes(value);
    case 'Exists':
      return value !== '';
    default:
      return value === '';
  }
}

/** Why a budget that allows nothing now will not allow anything later either; undefined when it may. */
export function neverAllows({ object }: Stored): string | undefined {
  const expected = numberAt(object, 'status', 'expectedPods');
  if (expected === undefined || expected === 0) return undefined;
  const most = textAt(object, 'spec', 'maxUnavailable');
  if (most === '0' || most === '0%') return 'maxUnavailable is 0';
  const least = textAt(object, 'spec', 'minAvailable');
  if (least === '100%') return 'minAvailable is 100%';
  const desired = numberAt(object, 'status', 'desiredHealthy') ?? numberAt(object, 'spec', 'minAvailable');
  if (least !== '' && desired !== undefined && desired >= expected)
    return `minAvailable ${least} needs all ${expected} ${expected === 1 ? 'pod' : 'pods'}`;
  return undefined;
}

export const allowsNothing = ({ object }: Stored): boolean =>
  textAt(object, 'status', 'disruptionsAllowed') === '0' && (numberAt(object, 'status', 'expectedPods') ?? 1) > 0;
