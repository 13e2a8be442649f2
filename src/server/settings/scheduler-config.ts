// `--scheduler-config`: what the cluster's kube-scheduler was configured with and plans must follow. Only the defaults of
// topology spread so far; what kube-scheduler would refuse is refused here, with the same rules.
import { parseDocument } from 'yaml';
import { isQualifiedName } from '../../api/index.ts';
import { nearestName } from '../../base/index.ts';
import type { DefaultSpreadConstraint } from '../../core/index.ts';

const constraintFields = [
  'maxSkew',
  'topologyKey',
  'whenUnsatisfiable',
  'minDomains',
  'nodeAffinityPolicy',
  'nodeTaintsPolicy',
];
const actions = ['DoNotSchedule', 'ScheduleAnyway'];
const inclusions = ['Honor', 'Ignore'];

export type ParsedSchedulerConfig = { constraints: DefaultSpreadConstraint[] } | { problem: string };

export function parseSchedulerConfig(text: string): ParsedSchedulerConfig {
  if (text.trim() === '') return { constraints: [] };
  const document = parseDocument(text, { logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) return { problem: `is neither YAML nor JSON: ${error.message.split('\n')[0]}` };
  const config: unknown = document.toJS();
  const problem =
    unknownField(config, ['podTopologySpread'], '') ??
    unknownField(fieldOf(config, 'podTopologySpread'), ['defaultConstraints'], 'podTopologySpread');
  if (problem !== undefined) return { problem };
  const constraints = fieldOf(fieldOf(config, 'podTopologySpread'), 'defaultConstraints') ?? [];
  if (!Array.isArray(constraints)) return { problem: 'podTopologySpread.defaultConstraints must be a list' };
  for (const [index, each] of constraints.entries()) {
    const wrong = constraintProblem(each, constraints.slice(0, index));
    if (wrong !== undefined) return { problem: `podTopologySpread.defaultConstraints[${index}]${wrong}` };
  }
  return { constraints: constraints as DefaultSpreadConstraint[] };
}

function constraintProblem(each: unknown, before: readonly unknown[]): string | undefined {
  if (typeof each !== 'object' || each === null) return ' must be an object';
  const { maxSkew, topologyKey, whenUnsatisfiable, labelSelector, matchLabelKeys } = each as Record<string, unknown>;
  if (!Number.isInteger(maxSkew) || (maxSkew as number) <= 0) return '.maxSkew must be greater than 0';
  if (typeof topologyKey !== 'string' || topologyKey === '') return '.topologyKey must be set';
  const [wrong] = isQualifiedName(topologyKey);
  if (wrong !== undefined) return `.topologyKey "${topologyKey}" is not a valid label name: ${wrong}`;
  if (!actions.includes(String(whenUnsatisfiable)))
    return `.whenUnsatisfiable must be one of ${actions.join(', ')}, not ${JSON.stringify(whenUnsatisfiable)}`;
  if (labelSelector !== undefined && labelSelector !== null)
    return '.labelSelector must not be set: it is deduced for each pod';
  if (Array.isArray(matchLabelKeys) && matchLabelKeys.length > 0)
    return '.matchLabelKeys must not be set: it has no effect on default constraints';
  const { minDomains } = each as Record<string, unknown>;
  if (isGiven(minDomains) && !Number.isInteger(minDomains)) return '.minDomains must be a whole number';
  for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy']) {
    const value = fieldOf(each, policy);
    if (isGiven(value) && !inclusions.includes(String(value)))
      return `.${policy} must be one of ${inclusions.join(', ')}, not ${JSON.stringify(value)}`;
  }
  const same = before.findIndex(
    (other) =>
      fieldOf(other, 'topologyKey') === topologyKey && fieldOf(other, 'whenUnsatisfiable') === whenUnsatisfiable,
  );
  if (same >= 0) return ` repeats [${same}]: ${topologyKey}, ${String(whenUnsatisfiable)}`;
  return unknownField(each, [...constraintFields, 'labelSelector', 'matchLabelKeys'], '');
}

function unknownField(value: unknown, known: readonly string[], place: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) return `${place || 'the document'} must be an object`;
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown === undefined) return undefined;
  const near = nearestName(unknown, known);
  return `${place === '' ? '' : `${place}.`}${unknown} is not a known field${near === undefined ? '' : `; did you mean ${near}?`}`;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
