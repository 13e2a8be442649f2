// Labels as Kubernetes and the providers see them: what a valid key and value is, which keys users may not use, and older
// spellings. A provider adds what it knows to the policy; everything else asks the policy.
import {
  awsGroup,
  awsLabel,
  awsNormalizedLabels,
  awsWellKnownLabels,
  capacityType,
  kwokGroup,
  kwokWellKnownLabels,
  label,
  normalizedLabels,
  restrictedLabelDomains,
  restrictedLabels,
  wellKnownLabels,
} from './names.ts';

export interface LabelPolicy {
  wellKnown: ReadonlySet<string>;
  restrictedDomains: readonly string[];
  restricted: ReadonlySet<string>;
  /** Older spelling of a key to the present one. */
  normalized: ReadonlyMap<string, string>;
  /** Keys of which every possible value is known. */
  knownValues: ReadonlyMap<string, readonly string[]>;
}

/** What a provider adds to the labels every provider has. */
export interface LabelAdditions {
  wellKnown?: readonly string[];
  restrictedDomains?: readonly string[];
  normalized?: Readonly<Record<string, string>>;
  knownValues?: Readonly<Record<string, readonly string[]>>;
}

export function labelPolicy(...additions: LabelAdditions[]): LabelPolicy {
  const all = <T>(pick: (addition: LabelAdditions) => readonly T[] | undefined): T[] =>
    additions.flatMap((addition) => pick(addition) ?? []);
  return {
    wellKnown: new Set([...wellKnownLabels, ...all((addition) => addition.wellKnown)]),
    restrictedDomains: [...restrictedLabelDomains, ...all((addition) => addition.restrictedDomains)].sort(),
    restricted: new Set(restrictedLabels),
    normalized: new Map([
      ...Object.entries(normalizedLabels),
      ...all((addition) => Object.entries(addition.normalized ?? {})),
    ]),
    knownValues: new Map([
      [label.capacityType, Object.values(capacityType)],
      ...all((addition) => Object.entries(addition.knownValues ?? {})),
    ]),
  };
}

export const kwokLabels: LabelAdditions = { wellKnown: kwokWellKnownLabels, restrictedDomains: [kwokGroup] };

export const awsLabels: LabelAdditions = {
  wellKnown: awsWellKnownLabels,
  restrictedDomains: [awsGroup],
  normalized: awsNormalizedLabels,
  knownValues: { [awsLabel.instanceTenancy]: ['default', 'dedicated'] },
};

/** Why users may not set or require this key; undefined if they may. */
export function restrictionOf(policy: LabelPolicy, key: string): string | undefined {
  if (policy.wellKnown.has(key)) return undefined;
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  const isRestricted =
    policy.restricted.has(key) ||
    policy.restrictedDomains.some((restricted) => domain === restricted || domain.endsWith(`.${restricted}`));
  if (!isRestricted) return undefined;
  const known = [...policy.wellKnown].sort().join(' ');
  return (
    `using label ${key} is not allowed as it might interfere with the internal provisioning logic; ` +
    `specify a well known label: [${known}], or a custom label that does not use a restricted domain: ` +
    `[${policy.restrictedDomains.join(' ')}]`
  );
}

const namePattern = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const domainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const alphanumeric =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** What keeps the text from being a label key; nothing if it is one. */
export function keyProblems(key: string): string[] {
  const parts = key.split('/');
  const [name = '', domain] = parts.toReversed();
  if (parts.length > 2) return [`a valid label key must ${alphanumeric} with an optional DNS subdomain prefix and '/'`];
  const problems: string[] = [];
  if (domain === '') problems.push('prefix part must be non-empty');
  else if (domain !== undefined && domain.length > 253) problems.push('prefix part must be no more than 253 bytes');
  else if (domain !== undefined && !domainPattern.test(domain)) {
    problems.push(
      "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    );
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 bytes');
  if (!namePattern.test(name)) problems.push(`name part must ${alphanumeric}`);
  return problems;
}

/** What keeps the text from being a label value; nothing if it is one. */
export function valueProblems(value: string): string[] {
  const problems: string[] = [];
  if (value.length > 63) problems.push('must be no more than 63 bytes');
  if (value !== '' && !namePattern.test(value)) {
    problems.push(`a valid label must be an empty string or ${alphanumeric}`);
  }
  return problems;
}
