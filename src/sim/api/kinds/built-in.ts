// Builds a definition from the few facts that differ; everything else follows from the kind's name.

import { isSubdomain } from '../../../api/index.ts';
import { type JsonObject, objectAt, stringAt } from '../../json.ts';
import type { ResourceDefinition, Strategy, SubresourceName } from '../definition.ts';
import type { FieldReader } from '../selectors.ts';
import { layoutOf } from '../tables/index.ts';

interface Facts {
  kind: string;
  plural: string;
  cluster?: true;
  shortNames?: string[];
  categories?: string[];
  subresources?: SubresourceName[];
  fields?: Record<string, FieldReader>;
  strategy?: Strategy;
}

export const metadataFields: Record<string, FieldReader> = {
  'metadata.name': (object) => stringAt(objectAt(object, 'metadata'), 'name'),
  'metadata.namespace': (object) => stringAt(objectAt(object, 'metadata'), 'namespace'),
};

/** A reader of a field selector's path; absent values read as empty text. */
export function fieldAt(path: string, fallback = ''): FieldReader {
  const keys = path.split('.');
  const last = keys.pop() as string;
  return (object) => {
    let parent: JsonObject = object;
    for (const key of keys) parent = objectAt(parent, key);
    const value = parent[last];
    return value === undefined ? fallback : String(value);
  };
}

export const builtIn =
  (group: string, version: string, schemaPrefix: string) =>
  (facts: Facts): ResourceDefinition => {
    const table = layoutOf(facts.kind);
    return {
      group,
      version,
      plural: facts.plural,
      singular: facts.kind.toLowerCase(),
      kind: facts.kind,
      listKind: `${facts.kind}List`,
      namespaced: facts.cluster !== true,
      shortNames: facts.shortNames ?? [],
      categories: facts.categories ?? [],
      subresources: facts.subresources ?? [],
      schema: `${schemaPrefix}.${facts.kind}`,
      strategy: { nameRule: isSubdomain, ...facts.strategy },
      fields: facts.cluster
        ? { 'metadata.name': metadataFields['metadata.name'] as FieldReader, ...facts.fields }
        : { ...metadataFields, ...facts.fields },
      ...(table && { table }),
    };
  };
