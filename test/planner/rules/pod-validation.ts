// Pods that no planner may place: broken selectors, unusable volumes, and pods that opted out.
import { label } from '../../../src/api/index.ts';
import type { Cluster } from './cluster.ts';
import type { Pod } from './objects.ts';
import { requiredTerms, strictRequirements } from './pods.ts';
import { operatorOf } from './requirement.ts';
import { volumeProblem } from './volumes.ts';

const qualifiedName =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

export type Verdict = { kind: 'valid' } | { kind: 'PodInvalid'; why: string } | { kind: 'PodOptedOut' };

export function validatePod(pod: Pod, cluster: Cluster): Verdict {
  const own = strictRequirements(pod.spec, cluster.spelling).get(label.nodePool);
  if (own !== undefined && operatorOf(own) === 'DoesNotExist') return { kind: 'PodOptedOut' };
  const why = selectorProblem(pod, cluster) ?? volumeProblem(pod, cluster);
  return why === undefined ? { kind: 'valid' } : { kind: 'PodInvalid', why };
}

function selectorProblem(pod: Pod, cluster: Cluster): string | undefined {
  const entries = Object.entries(pod.spec.nodeSelector ?? {}).map(([key, value]) => ({
    key,
    operator: 'In',
    values: [value],
  }));
  for (const term of requiredTerms(pod.spec)) {
    if ((term.matchFields ?? []).length > 0) return 'matchFields';
    for (const { key, operator, values = [] } of term.matchExpressions ?? []) entries.push({ key, operator, values });
  }
  for (const entry of entries) {
    const problem = entryProblem(cluster.spelling.keys[entry.key] ?? entry.key, entry.operator, entry.values, cluster);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function entryProblem(key: string, operator: string, values: string[], cluster: Cluster): string | undefined {
  if (!['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'].includes(operator))
    return `operator ${operator}`;
  if (isRestricted(key, cluster)) return `restricted label ${key}`;
  if (!qualifiedName.test(key)) return `key ${key}`;
  if (values.some((value) => !labelValue.test(value))) return `value of ${key}`;
  if (operator === 'In' && values.length === 0) return `no values for ${key}`;
  if (['Gt', 'Lt', 'Gte', 'Lte'].includes(operator) && !(values.length === 1 && /^\d+$/.test(values[0] ?? ''))) {
    return `bound of ${key}`;
  }
  const known = ['on-demand', 'spot', 'reserved'];
  if (key === label.capacityType && operator === 'In' && !values.some((value) => known.includes(value))) {
    return `capacity type ${values.join(' ')}`;
  }
  return undefined;
}

function isRestricted(key: string, cluster: Cluster): boolean {
  if (cluster.wellKnown.has(key)) return false;
  if (cluster.restrictedLabels.has(key)) return true;
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  return cluster.restrictedDomains.some((restricted) => domain === restricted || domain.endsWith(`.${restricted}`));
}
