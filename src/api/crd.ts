// Turns the definition of a kind into the CustomResourceDefinition users install. The result is plain JSON: it can be
// printed, sent to an API server, or installed in the embedded one.
import type { KindDefinition, PrinterColumn } from './kinds/definition.ts';
import type { Structural } from './schema/structural.ts';

export interface CustomResourceDefinition {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'CustomResourceDefinition';
  metadata: { name: string };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: string[];
      categories: string[];
    };
    scope: 'Cluster' | 'Namespaced';
    versions: {
      name: string;
      served: boolean;
      storage: boolean;
      additionalPrinterColumns?: { name: string; type: string; jsonPath: string; priority?: number }[];
      subresources: { status: object; scale?: { specReplicasPath: string; statusReplicasPath: string } };
      schema: { openAPIV3Schema: Structural };
    }[];
  };
}

/** The schema of a whole object of the kind, as plain JSON. */
export function objectSchema(definition: KindDefinition): Structural {
  return JSON.parse(
    JSON.stringify({
      description: definition.description,
      type: 'object',
      properties: {
        apiVersion: { type: 'string', description: 'Version of the schema this object is written in.' },
        kind: { type: 'string', description: 'What kind of object this is.' },
        metadata: { type: 'object' },
        spec: definition.spec,
        status: definition.status,
      },
      ...(definition.specIsOptional === true ? {} : { required: ['spec'] }),
    }),
  ) as Structural;
}

export function customResourceDefinition(definition: KindDefinition): CustomResourceDefinition {
  const { group, version, kind, plural, shortNames, category, scale } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
        categories: [category],
      },
      scope: definition.namespaced ? 'Namespaced' : 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(definition.columns.length === 0 ? {} : { additionalPrinterColumns: definition.columns.map(column) }),
          subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
          schema: { openAPIV3Schema: objectSchema(definition) },
        },
      ],
    },
  };
}

const column = ({ wide, ...shown }: PrinterColumn) => ({ ...shown, ...(wide === true ? { priority: 1 } : {}) });
