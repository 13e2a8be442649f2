// What the provider says about label keys: which are well known (a node will have them even if no one says so), which
// no one may use, and older spellings. Every requirement is normalised here before anything else looks at it.

import { capacityType, label, normalizedLabels, wellKnownLabels } from '../../api/names.ts';
import type { Operator, ProviderFacts, RequirementSpec } from '../snapshot.ts';
import { integerOf, type Requirement, requirementOf } from './requirement.ts';

export interface LabelRules {
  readonly wellKnown: ReadonlySet<string>;
  readonly restrictedLabels: ReadonlySet<string>;
  readonly restrictedDomains: readonly string[];
  readonly keyAliases: Readonly<Record<string, string>>;
  readonly valueAliases: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const operators: readonly Operator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Gte', 'Lte'];

/** The only key whose values are a closed list. */
const knownCapacityTypes: readonly string[] = [capacityType.onDemand, capacityType.spot, capacityType.reserved];

export function labelRules(facts: ProviderFacts | undefined): LabelRules {
  return {
    wellKnown: new Set([...wellKnownLabels, ...(facts?.wellKnownLabels ?? [])]),
    restrictedLabels: new Set([label.hostname, ...(facts?.restrictedLabels ?? [])]),
    restrictedDomains: [...new Set(['karpenter.sh', ...(facts?.restrictedLabelDomains ?? [])])].sort(),
    keyAliases: { ...normalizedLabels, ...facts?.normalizedLabels },
    valueAliases: facts?.normalizedLabelValues ?? {},
  };
}

export function normalizedKey(rules: LabelRules, key: string): string {
  return Object.hasOwn(rules.keyAliases, key) ? (rules.keyAliases[key] as string) : key;
}

/** Reads a requirement as it stands in a manifest. */
export function normalizedRequirement(rules: LabelRules, spec: RequirementSpec): Requirement {
  const key = normalizedKey(rules, spec.key);
  const aliases = Object.hasOwn(rules.valueAliases, key) ? rules.valueAliases[key] : undefined;
  const values = aliases
    ? spec.values?.map((value) => (Object.hasOwn(aliases, value) ? (aliases[value] as string) : value))
    : spec.values;
  return requirementOf(key, spec.operator, values ?? [], spec.minValues);
}

/** Why the key may not be used in requirements, or undefined. */
export function restriction(rules: LabelRules, key: string): string | undefined {
  if (rules.wellKnown.has(key)) return undefined;
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  const restricted =
    rules.restrictedLabels.has(key) ||
    rules.restrictedDomains.some((suffix) => domain === suffix || domain.endsWith(`.${suffix}`));
  if (!restricted) return undefined;
  const allowed = [...rules.wellKnown].sort().join(' ');
  return `using label ${key} is not allowed as it might interfere with the internal provisioning logic; specify a well known label: [${allowed}], or a custom label that does not use a restricted domain: [${rules.restrictedDomains.join(' ')}]`;
}

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Everything wrong with one requirement of a pod's selector or required node affinity. */
export function requirementErrors(rules: LabelRules, spec: RequirementSpec): string[] {
  const errors: string[] = [];
  const key = normalizedKey(rules, spec.key);
  const { operator, values = [] } = spec;
  if (!operators.includes(operator)) {
    errors.push(`key ${key} has an unsupported operator ${operator} not in [${operators.join(' ')}]`);
  }
  const restricted = restriction(rules, key);
  if (restricted !== undefined) errors.push(restricted);
  if (key === label.capacityType && operator === 'In' && !values.some((value) => knownCapacityTypes.includes(value))) {
    errors.push(
      `no valid values found in [${values.join(' ')}] for ${key}, expected one of: [${knownCapacityTypes.join(' ')}]`,
    );
  }
  if (!isQualifiedName(key))
    errors.push(
      `key ${key} is not a qualified name, use a name of up to 63 letters, digits, '-', '_' or '.', optionally after a DNS domain and '/'`,
    );
  for (const value of values) {
    if (value !== '' && (value.length > 63 || !namePart.test(value))) {
      errors.push(`invalid value ${value} for key ${key}, use up to 63 letters, digits, '-', '_' or '.'`);
    }
  }
  if (operator === 'In' && values.length === 0) errors.push(`key ${key} with operator In must have a value defined`);
  if (operator === 'Gt' || operator === 'Lt' || operator === 'Gte' || operator === 'Lte') {
    const bound = values.length === 1 ? integerOf(values[0] as string) : undefined;
    if (bound === undefined || bound < 0) {
      errors.push(`key ${key} with operator ${operator} must have a single positive integer value`);
    }
  }
  return errors;
}

function isQualifiedName(key: string): boolean {
  const parts = key.split('/');
  const name = parts.pop() ?? '';
  const [domain] = parts;
  if (parts.length > 1 || name.length > 63 || !namePart.test(name)) return false;
  return domain === undefined || (domain.length <= 253 && dnsSubdomain.test(domain));
}
