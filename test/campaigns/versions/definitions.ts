// The definitions of our kinds as releases of Karpenter shipped them, and as one to come might. Older ones lack fields,
// operators and choices: the API server then drops or refuses what this build writes. The newer one is invented and has more
// than this build knows.
import { customResourceDefinition, kinds } from '../../../src/api/index.ts';
import { type Definition, karpenterDefinitions } from '../../setup/karpenter-definitions.ts';

/**
 * What releases shipped. The module of the AWS provider is published for fewer of them: its kind is then that of the nearest
 * release, the older one where this is about fields that are missing.
 */
const releases = {
  '1.0': ['core 1.0.8', 'aws 1.0.8'],
  '1.5': ['core 1.5.5', 'aws 1.0.8'],
  '1.10': ['core 1.10.0', 'aws 1.14.1'],
  '1.14': ['core 1.14.1', 'aws 1.14.1'],
} as const;

export const versions = ['1.0', '1.5', '1.10', '1.14', 'newer'] as const;
export type Version = (typeof versions)[number];

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
  [keyword: string]: unknown;
}

/** Those of kinds that the release did not have yet are left alone: no one uninstalls one. */
export async function definitionsOf(version: Version): Promise<Definition[]> {
  // Through JSON: copies that may be changed.
  if (version === 'newer')
    return (JSON.parse(JSON.stringify(kinds.map(customResourceDefinition))) as Definition[]).map(newer);
  const byName = new Map<string, Definition>();
  // The provider carries the kinds of the core, too.
  for (const release of releases[version].toReversed())
    for (const definition of await karpenterDefinitions(release, () => {}))
      byName.set(definition.metadata.name, definition);
  return [...byName.values()];
}

/** Anything goes: fields that are not known, operators and choices that are not known. */
function newer(definition: Definition): Definition {
  for (const { schema } of definition.spec.versions)
    visit(schema.openAPIV3Schema as Schema, (each) => {
      delete each['x-kubernetes-validations'];
      delete each.enum;
      if (each.properties !== undefined) each['x-kubernetes-preserve-unknown-fields'] = true;
    });
  return definition;
}

function visit(schema: Schema, change: (schema: Schema) => void): void {
  change(schema);
  for (const property of Object.values(schema.properties ?? {})) visit(property, change);
  if (schema.items !== undefined) visit(schema.items, change);
  const values = schema['additionalProperties'];
  if (typeof values === 'object' && values !== null) visit(values as Schema, change);
}
