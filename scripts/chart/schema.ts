// values.schema.json: every value with its type, and nothing else. Helm shows only what the schema itself says, so the
// suggestion for a misspelt name is part of it: names that are one slip away from a known one are listed as patterns.
import { chartValues, withoutEffect } from './own-values.ts';
import type { JsonSchema } from './value.ts';

interface Branch {
  [name: string]: Branch | JsonSchema;
}

const isLeaf = Symbol('leaf');
type Leaf = JsonSchema & { [isLeaf]: true };

export function valuesSchema(): string {
  const root: Branch = {};
  for (const { path, note } of withoutEffect) place(root, path, { description: `has no effect: ${note}` });
  for (const { path, schema, meaning } of chartValues) place(root, path, { ...schema, description: meaning });
  // Helm's own: values that a parent chart shares with all.
  place(root, ['global'], { type: 'object', description: 'values shared by all charts of a release' });
  // A chart that has this one as a dependency switches it on and off by it; Helm hands it down with the rest.
  place(root, ['enabled'], { description: 'has no effect: read by a chart that has this one as a dependency' });
  const { patternProperties, ...schema } = asSchema(root);
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Values of the chart kerf',
    ...schema,
    // Names by which values files keep what their anchors repeat.
    patternProperties: { ...(patternProperties as JsonSchema), '^(x-|[._])': {} },
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

function place(root: Branch, path: readonly string[], schema: JsonSchema): void {
  let branch = root;
  for (const name of path.slice(0, -1)) {
    branch[name] ??= {};
    branch = branch[name] as Branch;
  }
  branch[path.at(-1) ?? ''] = { ...schema, [isLeaf]: true } as Leaf;
}

function asSchema(branch: Branch): JsonSchema {
  const names = Object.keys(branch);
  const needed = names.filter((name) => {
    const value = branch[name] ?? {};
    return isLeaf in value ? name === 'repository' : !withoutNeed.includes(name);
  });
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(branch).map(([name, value]) => [
        name,
        isLeaf in value ? withoutMark(value as Leaf) : asSchema(value as Branch),
      ]),
    ),
    ...(needed.length === 0 ? {} : { required: needed }),
    // Never met: what is shown is where the slip is and what it had to be.
    patternProperties: Object.fromEntries(names.map((name) => [slips(name), { const: `misspelt: write ${name}` }])),
    additionalProperties: false,
  };
}

/** Parts that a release of Karpenter's chart may not have, old or new: templates fill them in. */
export const missingElsewhere: readonly string[] = [
  ...new Set(['service', ...chartValues.flatMap(({ path: [first = ''], isOurs }) => (isOurs === true ? [first] : []))]),
];

/** Parts that null may take away as a whole; templates read the others, and say less well what is missing. */
const withoutNeed: readonly string[] = ['securityContext', 'awsFeatureGates', ...missingElsewhere];

const withoutMark = ({ ...schema }: Leaf): JsonSchema => schema;

/** Names that are not this one but differ only in upper and lower case or by one slip: a letter more, less, other, swapped. */
export function slips(name: string): string {
  const letters = [...name];
  const anyCase = (letter: string): string => `[${letter.toLowerCase()}${letter.toUpperCase()}]`;
  const otherCase = (letter: string): string =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  const alternatives = letters.flatMap((letter, at) => {
    const before = letters.slice(0, at).join('');
    const rest = letters.slice(at + 1);
    const after = rest.join('');
    const next = rest[0];
    const swapped = next === undefined || next === letter ? [] : [`${before}${next}${letter}${rest.slice(1).join('')}`];
    return [
      `${before}${otherCase(letter)}${rest.map(anyCase).join('')}`,
      `${before}[^${letter}]?${after}`,
      // A dot or an underscore in front makes it a name of the user's.
      `${before}${at === 0 ? '[^._]' : '.'}${letter}${after}`,
      ...swapped,
    ];
  });
  return `^(${[...alternatives, `${name}.`].join('|')})$`;
}
