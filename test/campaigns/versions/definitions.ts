// The definitions of our kinds as other versions had them, and as one to come might: older ones lack fields, operators and
// choices (the API server then drops or refuses what this build writes), the newer one has more than this build knows.
import { customResourceDefinition, kinds } from '../../../src/api/index.ts';

export const versions = ['1.0', '1.5', '1.10', '1.14', 'newer'] as const;
export type Version = (typeof versions)[number];

interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
  required?: string[];
  [keyword: string]: unknown;
}

interface Definition {
  metadata: { name: string };
  spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: Schema } }[] };
}

/** The minor release in which each field came, by kind; what is not named was there in 1.0. */
const fieldsSince: Record<string, Record<string, number>> = {
  NodePool: { 'spec.replicas': 8, 'status.nodes': 8, 'status.nodeClassObservedGeneration': 3 },
  NodeClaim: { 'status.lastPodEventTime': 1 },
  EC2NodeClass: {
    'spec.capacityReservationSelectorTerms': 3,
    'status.capacityReservations': 3,
    'spec.amiSelectorTerms[].ssmParameter': 6,
    'spec.ipPrefixCount': 8,
    'spec.placementGroupSelector': 11,
    'spec.networkInterfaces': 12,
    'spec.cpuOptions': 12,
    'spec.connectionTracking': 13,
    'spec.enclaveOptions': 15,
  },
};
const choicesSince: Record<string, number> = { Gte: 9, Lte: 9, Balanced: 12, Unhealthy: 15 };
const kindsSince: Record<string, number> = { NodeOverlay: 7, CapacityBuffer: 13 };

export function definitionsOf(version: Version): Definition[] {
  // Through JSON: copies that may be changed.
  const all = JSON.parse(JSON.stringify(kinds.map(customResourceDefinition))) as Definition[];
  if (version === 'newer') return all.map(newer);
  const minor = Number(version.split('.')[1]);
  // A kind that did not exist keeps the definition of the first version that had it: no one uninstalls one.
  return all.map((definition) => older(definition, Math.max(minor, kindsSince[definition.spec.names.kind] ?? 0)));
}

function older(definition: Definition, minor: number): Definition {
  for (const { schema } of definition.spec.versions) {
    for (const [path, since] of Object.entries(fieldsSince[definition.spec.names.kind] ?? {}))
      if (since > minor) drop(schema.openAPIV3Schema, path.split('.'));
    visit(schema.openAPIV3Schema, (each) => {
      if (each.enum !== undefined) each.enum = each.enum.filter((choice) => (choicesSince[choice] ?? 0) <= minor);
      // Rules name fields, some of which are gone.
      delete each['x-kubernetes-validations'];
    });
  }
  return definition;
}

/** Anything goes: fields no one heard of, operators and choices that are not known. */
function newer(definition: Definition): Definition {
  for (const { schema } of definition.spec.versions)
    visit(schema.openAPIV3Schema, (each) => {
      delete each['x-kubernetes-validations'];
      delete each.enum;
      if (each.properties !== undefined) each['x-kubernetes-preserve-unknown-fields'] = true;
    });
  return definition;
}

function drop(schema: Schema, [name = '', ...rest]: string[]): void {
  const key = name.replace('[]', '');
  const property = schema.properties?.[key];
  if (property === undefined || schema.properties === undefined) return;
  if (rest.length === 0) delete schema.properties[key];
  else drop(name.endsWith('[]') ? (property.items ?? {}) : property, rest);
}

function visit(schema: Schema, change: (schema: Schema) => void): void {
  change(schema);
  for (const property of Object.values(schema.properties ?? {})) visit(property, change);
  if (schema.items !== undefined) visit(schema.items, change);
  const values = schema['additionalProperties'];
  if (typeof values === 'object' && values !== null) visit(values as Schema, change);
}
