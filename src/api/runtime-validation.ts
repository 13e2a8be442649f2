// What admission cannot check: rules that need the provider's labels, or that tie lists together. The controller runs
// these on every change and reports them in the ValidationSucceeded condition, joined into one message.

import type { NodeOverlay } from './kinds/node-overlay.ts';
import type { NodeClaimTemplate, NodePoolSpec } from './kinds/node-pool.ts';
import { keyProblems, type LabelPolicy, restrictionOf, valueProblems } from './labels.ts';
import { label } from './names.ts';

type Requirement = NodeClaimTemplate['spec']['requirements'][number];
type Taint = NonNullable<NodeClaimTemplate['spec']['taints']>[number];

const operators = ['DoesNotExist', 'Exists', 'Gt', 'Gte', 'In', 'Lt', 'Lte', 'NotIn'];
const comparing = new Set(['Gt', 'Gte', 'Lt', 'Lte']);
const effects = new Set(['NoSchedule', 'PreferNoSchedule', 'NoExecute', '']);

/** How combined errors read. */
export const joinErrors = (errors: readonly string[]): string => errors.join('; ');

/** Every problem of a NodePool that admission let through; none if it may be used. */
export function nodePoolProblems(spec: NodePoolSpec, policy: LabelPolicy): string[] {
  const { metadata, spec: node } = spec.template;
  return [
    ...labelErrors(metadata?.labels ?? {}, policy),
    ...taintErrors(node.taints ?? [], node.startupTaints ?? []),
    ...requirementErrors(node.requirements, policy),
    ...node.requirements
      .filter(({ key }) => key === label.nodePool)
      .map(({ key }) => `invalid key: "${key}" in requirements, restricted`),
  ];
}

/** Every problem of a NodeOverlay that admission let through. */
export function nodeOverlayProblems(spec: NodeOverlay['spec'], policy: LabelPolicy): string[] {
  return [
    ...requirementErrors(spec.requirements, policy),
    ...spec.requirements
      .filter(({ operator, values = [] }) => operator === 'NotIn' && values.length === 0)
      .map(({ key }) => `key ${key} with operator NotIn must have a value defined`),
    ...Object.keys(spec.capacity ?? {})
      .filter((resource) => ['cpu', 'memory', 'ephemeral-storage', 'pods'].includes(resource))
      .map((resource) => `invalid capacity: ${resource} in resource, restricted`),
  ];
}

function labelErrors(labels: Readonly<Record<string, string>>, policy: LabelPolicy): string[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const errors = key === label.nodePool ? [`invalid key name "${key}" in labels, restricted`] : [];
    errors.push(...keyProblems(key).map((why) => `invalid key name "${key}" in labels, "${why}"`));
    errors.push(...valueProblems(value).map((why) => `invalid value: ${value} for label[${key}], ${why}`));
    const restriction = restrictionOf(policy, key);
    if (restriction !== undefined) errors.push(`invalid key name "${key}" in labels, ${restriction}`);
    return errors;
  });
}

function taintErrors(taints: readonly Taint[], startupTaints: readonly Taint[]): string[] {
  const seen = new Set<string>();
  const check = (taint: Taint, field: string): string[] => {
    const problems = [...keyProblems(taint.key), ...(taint.value ? keyProblems(taint.value) : [])];
    const errors = problems.map((why) => `invalid value: ${why} in ${field}`);
    if (!effects.has(taint.effect)) errors.push(`invalid value: "${taint.effect}" in ${field}`);
    const pair = `${taint.key}=${taint.effect}`;
    if (seen.has(pair)) errors.push(`duplicate taint Key/Effect pair ${pair}`);
    seen.add(pair);
    return errors;
  };
  return [
    ...taints.flatMap((taint) => check(taint, 'taints')),
    ...startupTaints.flatMap((taint) => check(taint, 'startupTaints')),
  ];
}

function requirementErrors(requirements: readonly Requirement[], policy: LabelPolicy): string[] {
  return requirements
    .map((requirement) => joinErrors(problemsOf(requirement, policy)))
    .filter((problem) => problem !== '')
    .map((problem) => `invalid value: ${problem} in requirements, restricted`);
}

function problemsOf({ key: written, operator, values = [], minValues }: Requirement, policy: LabelPolicy): string[] {
  const key = policy.normalized.get(written) ?? written;
  const problems: string[] = [];
  if (!operators.includes(operator)) {
    problems.push(`key ${key} has an unsupported operator ${operator} not in [${operators.join(' ')}]`);
  }
  const restriction = restrictionOf(policy, key);
  if (restriction !== undefined) problems.push(restriction);
  problems.push(...knownValueProblems(key, operator, values, minValues, policy));
  problems.push(...keyProblems(key).map((why) => `key ${key} is not a qualified name, ${why}`));
  for (const value of values) {
    problems.push(...valueProblems(value).map((why) => `invalid value ${value} for key ${key}, ${why}`));
  }
  if (operator === 'In' && values.length === 0) {
    problems.push(`key ${key} with operator In must have a value defined`);
  }
  if (operator === 'In' && minValues !== undefined && values.length < minValues) {
    problems.push(`key ${key} with operator In must have at least minimum number of values defined in 'values' field`);
  }
  if (comparing.has(operator) && !(values.length === 1 && isWholeNumber(values[0] ?? ''))) {
    problems.push(`key ${key} with operator ${operator} must have a single positive integer value`);
  }
  return problems;
}

/** A whole number that is not negative and fits 64 bits, zero included. */
function isWholeNumber(text: string): boolean {
  if (!/^\+?[0-9]+$|^-0+$/.test(text)) return false;
  return BigInt(text.replace(/^[+-]/, '')) < 2n ** 63n;
}

/** A mix of known and unknown values is used as far as it is known; none known, or too few, is an error. */
function knownValueProblems(
  key: string,
  operator: string,
  values: readonly string[],
  minValues: number | undefined,
  policy: LabelPolicy,
): string[] {
  const known = policy.knownValues.get(key);
  if (known === undefined || operator !== 'In') return [];
  const valid = values.filter((value) => known.includes(value));
  const found = `found in [${values.join(' ')}] for ${key}`;
  if (valid.length === 0) return [`no valid values ${found}, expected one of: [${known.join(' ')}]`];
  if (minValues !== undefined && valid.length < minValues) {
    return [`not enough valid values ${found}, expected at least ${minValues} from: [${known.join(' ')}]`];
  }
  return [];
}
