// What to write instead of a field or value that does not exist: the field's real place, or the nearest name.
import {
  awsLabels,
  type KindDefinition,
  kwokLabels,
  labelPolicy,
  objectSchema,
  type Structural,
} from '../../api/index.ts';
import { nearestName } from '../../base/index.ts';
import { type FieldPath, formatPath } from '../manifests/index.ts';
import type { SchemaProblem } from './rules/index.ts';

const schemas = new Map<KindDefinition, Structural>();

function schemaOf(definition: KindDefinition): Structural {
  const known = schemas.get(definition) ?? objectSchema(definition);
  schemas.set(definition, known);
  return known;
}

/** A sentence part that follows "write", or undefined when there is nothing good to say. */
export function suggestion(definition: KindDefinition, problem: SchemaProblem): string | undefined {
  if (problem.kind === 'unknown') return fieldSuggestion(schemaOf(definition), problem.path);
  if (problem.kind === 'enum') return enumSuggestion(problem);
  if (problem.kind === 'required') return samples[String(problem.path.at(-1))] ?? `add ${formatPath(problem.path)}`;
  if (problem.kind === 'type') return typeSuggestion(problem);
  if (problem.kind === 'pattern' || problem.kind === 'range')
    return formats[fieldName(problem)] ?? boundSuggestion(problem.detail);
  if (problem.detail.includes("'alias' is improperly formatted")) return aliasSuggestion(problem.value);
  if (problem.detail.includes('is restricted')) return labelSuggestion(String(problem.value ?? problem.path.at(-1)));
  return undefined;
}

const knownLabels = labelPolicy(awsLabels, kwokLabels).wellKnown;

/** For a label of a reserved domain that is not one of the known ones. */
export function labelSuggestion(key: string): string {
  const [domain, name = ''] = key.split('/');
  const near = nearestName(name, [...knownLabels].map(nameOf));
  const alike = [...knownLabels].filter((known) => nameOf(known) === near);
  // Of labels with the same name, the one of the domain that was written.
  return (
    alike.find((known) => known.startsWith(`${domain}/`)) ?? alike[0] ?? 'a known label, or one of a domain of your own'
  );
}

const nameOf = (label: string): string => label.split('/').at(-1) ?? '';

/** The field a value belongs to, also when it is an item of a list. */
const fieldName = ({ path }: SchemaProblem): string => String(path.findLast((part) => typeof part === 'string') ?? '');

/** How values of a field look, for those whose pattern says little to people. */
const formats: Readonly<Record<string, string>> = {
  expireAfter: 'a duration such as 720h or 1h30m, or Never',
  consolidateAfter: 'a duration such as 30s or 5m, or Never',
  terminationGracePeriod: 'a duration such as 24h or 90m',
  nodeRegistrationDelay: 'a duration such as 30s',
  nodes: 'a number ("5") or a share ("10%")',
  schedule: 'five cron fields ("0 8 * * mon-fri"), or @daily and the like',
  duration: 'hours and minutes, such as 8h or 1h30m',
  priceAdjustment: 'a signed amount or share, such as "-0.5" or "+10%"',
  price: 'a price without sign, such as "0.42"',
  key: 'a label key: an optional domain and "/", then letters, digits, "-", "_" and "."',
  alias: 'family@version, such as al2023@v<release>',
};

function typeSuggestion({ path, detail, value }: SchemaProblem): string | undefined {
  const wanted = /must be of type (\w+)/.exec(detail)?.[1];
  const field = String(path.at(-1));
  // In quotes, a number alone is not a duration either.
  if (wanted === 'string' && formats[field]?.startsWith('a duration')) return formats[field];
  if (wanted === 'string' && typeof value !== 'object')
    return typeof path.at(-1) === 'number' ? `"${String(value)}", in quotes` : `${field}: "${String(value)}"`;
  if ((wanted === 'integer' || wanted === 'number') && /^-?\d+$/.test(String(value)))
    return `${field}: ${String(value)}`;
  if (wanted === 'boolean') return `${field}: true or ${field}: false`;
  if (wanted === 'array') return `${field}: [${typeof value === 'object' ? '…' : String(value)}]`;
  return wanted === 'object' ? `${field}: {…}` : undefined;
}

/** The version is what people leave out. */
function aliasSuggestion(value: unknown): string | undefined {
  const family = /^[a-z0-9]+$/.exec(String(value))?.[0];
  return family === undefined ? formats['alias'] : `${family}@v<release>, or ${family}@latest`;
}

function boundSuggestion(detail: string): string | undefined {
  const bound = /should be (less|greater) than or equal to (\S+)$/.exec(detail);
  return bound === null ? undefined : `${bound[1] === 'less' ? 'at most' : 'at least'} ${bound[2]}`;
}

/** What a missing field usually looks like. */
const samples: Readonly<Record<string, string>> = {
  nodeClassRef: 'nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: <node class>}',
  requirements: 'requirements: []  (any node will do), or what you require of nodes',
  template: 'template: {spec: {nodeClassRef: {…}, requirements: []}}',
  subnetSelectorTerms: 'subnetSelectorTerms: [{tags: {karpenter.sh/discovery: <cluster name>}}]',
  securityGroupSelectorTerms: 'securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: <cluster name>}}]',
  operator: 'operator: In, NotIn, Exists, DoesNotExist, Gt, Gte, Lt or Lte',
  effect: 'effect: NoSchedule, PreferNoSchedule or NoExecute',
  spec: 'spec: {…}',
};

/** Fields of the first versions, wherever they were left: what says the same in v1. */
const formerly: Readonly<Record<string, string>> = {
  ttlSecondsAfterEmpty: 'spec.disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}',
  ttlSecondsUntilExpired: 'spec.template.spec.expireAfter: 720h',
  consolidation: 'spec.disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}',
  providerRef: 'spec.template.spec.nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: <node class>}',
};

function fieldSuggestion(schema: Structural, path: FieldPath): string | undefined {
  const name = String(path.at(-1));
  const siblings = Object.keys(schemaAt(schema, path.slice(0, -1))?.properties ?? {});
  const former = formerly[name];
  if (former !== undefined) return former;
  const near = nearestName(name, siblings);
  if (near !== undefined) return `${near} (if that is what is meant)`;
  const elsewhere = placesOf(schema, name);
  if (elsewhere.length === 1 && elsewhere[0] !== undefined) return `it belongs at ${elsewhere[0]}`;
  if (siblings.length === 0) return undefined;
  return siblings.length <= 12 ? `one of ${siblings.join(', ')}, or remove it` : 'remove it';
}

function enumSuggestion(problem: SchemaProblem): string | undefined {
  const supported = [...problem.detail.matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '').slice(1);
  return (
    nearestName(String(problem.value), supported) ??
    (supported.length > 0 ? `one of ${supported.join(', ')}` : undefined)
  );
}

function schemaAt(schema: Structural, path: FieldPath): Structural | undefined {
  let at: Structural | undefined = schema;
  for (const part of path) {
    const additional: boolean | Structural | undefined = at?.additionalProperties;
    at =
      typeof part === 'number'
        ? at?.items
        : (at?.properties?.[part] ?? (typeof additional === 'object' ? additional : undefined));
  }
  return at;
}

/** Every place of the spec where a field of that name exists. */
function placesOf(schema: Structural, name: string): string[] {
  const found: string[] = [];
  const walk = (node: Structural, path: (string | number)[]): void => {
    for (const [field, below] of Object.entries(node.properties ?? {})) {
      if (path.length === 0 && field !== 'spec') continue;
      const here = [...path, field];
      if (field === name) found.push(formatPath(here));
      walk(below, here);
      if (below.items !== undefined) walk(below.items, [...here, '']);
    }
  };
  walk(schema, []);
  return found.map((place) => place.replaceAll('[]', '[*]'));
}
