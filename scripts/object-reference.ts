// The reference page of the objects users write, made from their schemas: one table of fields per kind, then the rules.

import { type KindDefinition, objectSchema, type Structural } from '../src/api/index.ts';
import * as patterns from '../src/api/kinds/patterns.ts';
import { aligned } from './markdown-table.ts';

/** What people call the patterns that many fields share. */
const patternNames: Readonly<Record<string, string>> = {
  [patterns.qualifiedName]: 'a label key',
  [patterns.labelValue]: 'a label value',
  [patterns.duration]: 'a duration (`30s`, `1h30m`)',
  [patterns.durationOrNever]: 'a duration (`30s`, `1h30m`) or `Never`',
  [patterns.goDuration]: 'a duration (`500ms`, `1m30s`)',
  [patterns.conditionType]: 'a label key',
  [patterns.conditionReason]: 'one CamelCase word',
  [patterns.conditionReasonOrEmpty]: 'one CamelCase word or nothing',
};

/** `docs/reference/objects.md`. */
export function objectReference(kinds: readonly KindDefinition[]): string {
  return `# Objects

<!-- Written by \`npm run generate\` from src/api/kinds. -->

The kinds users write, field by field. A field is required where its type says so. \`kerf crds\` prints the same as
CustomResourceDefinitions, \`kerf validate\` checks manifests against it.

${kinds.map((kind) => `- [${kind.kind}](#${kind.kind.toLowerCase()})`).join('\n')}

${kinds.map(section).join('\n')}`;
}

function section(kind: KindDefinition): string {
  const { spec, status } = objectSchema(kind).properties ?? {};
  const names = [kind.plural, ...(kind.shortNames ?? [])].map(code).join(', ');
  const rules = spec === undefined ? [] : [...rulesOf(spec, 'spec')];
  return `## ${kind.kind}

${kind.description}

\`apiVersion: ${kind.group}/${kind.version}\`, ${kind.namespaced ? 'in a namespace' : 'cluster-wide'}; \`kubectl get\` knows it as ${names}.

${spec === undefined ? '' : table(spec, 'spec')}
${rules.length === 0 ? '' : `Rules:\n\n${rules.map(([field, message]) => `- ${code(field)}: ${message}`).join('\n')}\n\n`}Status, written by the controller:

${status === undefined ? '' : table(status, 'status')}`;
}

function table(schema: Structural, root: string): string {
  const rows = [...fieldsOf(schema, root)].map(([field, part, isRequired]) =>
    [code(field), typeOf(part, isRequired), limitsOf(part), part.description ?? ''].map((cell) =>
      cell.replaceAll('|', '\\|'),
    ),
  );
  return aligned([['field', 'type', 'values', 'meaning'], ...rows]);
}

/** Every field below a schema, in the order of its definition. Lists are `[]`, maps are `.*`. */
function* fieldsOf(schema: Structural, path: string): Generator<[string, Structural, boolean]> {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const field = `${path}.${name}`;
    yield [field, property, schema.required?.includes(name) === true && property.default === undefined];
    yield* fieldsOf(property, field);
    if (property.items !== undefined) yield* fieldsOf(property.items, `${field}[]`);
    if (typeof property.additionalProperties === 'object') yield* fieldsOf(property.additionalProperties, `${field}.*`);
  }
}

function* rulesOf(schema: Structural, path: string): Generator<[string, string]> {
  for (const { rule, message } of schema['x-kubernetes-validations'] ?? []) yield [path, message ?? rule];
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* rulesOf(property, `${path}.${name}`);
  if (schema.items !== undefined) yield* rulesOf(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* rulesOf(schema.additionalProperties, `${path}.*`);
}

function typeOf(schema: Structural, isRequired = false): string {
  return (isRequired ? 'required ' : '') + plainType(schema);
}

function plainType(schema: Structural): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (schema.items !== undefined) return `list of ${plainType(schema.items)}`;
  if (typeof schema.additionalProperties === 'object') return `map of ${plainType(schema.additionalProperties)}`;
  if (schema.type === 'string') return schema.format === 'date-time' ? 'time' : 'text';
  return { integer: 'integer', boolean: 'true or false', object: 'object' }[schema.type ?? ''] ?? schema.type ?? '';
}

function limitsOf(schema: Structural): string {
  const inner = schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {});
  const limits = [
    ...(schema.enum ?? inner.enum ?? []).map((value) => code(String(value))),
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' entries'),
    range(undefined, schema.maxProperties, ' entries'),
    pattern(schema.pattern ?? inner.pattern),
    schema.default === undefined ? '' : `default ${code(JSON.stringify(schema.default))}`,
  ];
  return limits.filter((limit) => limit !== '').join(', ');
}

function pattern(text: string | undefined): string {
  if (text === undefined) return '';
  // Quantities already have a type of their own; thresholds are a share or a quantity.
  if (text.includes('[KMGTPE]i')) return text.includes('%') ? 'a share (`5%`) or a quantity' : '';
  return patternNames[text] ?? `matches ${code(text)}`;
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least === 1 && unit !== '') return 'not empty';
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? '' : `at most ${most}${unit}`;
}

const code = (text: string): string => `\`${text}\``;
