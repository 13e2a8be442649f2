// How server-side apply sees a value: which parts are owned field by field, which as a whole. One view over the schemas
// of built-in kinds and over the OpenAPI schemas of custom ones.
import { isObject, type JsonObject } from '../../json.ts';
import type { ResourceDefinition } from '../definition.ts';
import { definitionOf, type FieldType } from '../schema.ts';

export interface Shape {
  /** `map` covers structs too: owned key by key. `keyed` lists are owned item by item. */
  kind: 'atomic' | 'map' | 'keyed' | 'set';
  field(key: string): Shape;
  item: Shape | undefined;
  keys: string[];
}

const leaf: Shape = { kind: 'atomic', field: () => leaf, item: undefined, keys: [] };
/** Where nothing is known, objects are maps and lists are atomic. */
const free: Shape = { kind: 'map', field: () => free, item: undefined, keys: [] };

export function shapeOf(definition: ResourceDefinition): Shape {
  if (definition.schema !== undefined) return ofField(`@${definition.schema}`);
  const custom = ofSchema(definition.custom?.openApi);
  const metadata = ofField('@apimachinery.pkg.apis.meta.v1.ObjectMeta');
  return { ...custom, field: (key) => (key === 'metadata' ? metadata : custom.field(key)) };
}

function ofField(type: FieldType | undefined): Shape {
  if (type === undefined) return free;
  if (typeof type === 'object') {
    if ('ref' in type) return ofField(type.ref);
    if ('map' in type)
      return type.atomic === true ? leaf : { kind: 'map', field: () => ofField(type.map), item: undefined, keys: [] };
    if (type.set === true) return { ...leaf, kind: 'set' };
    return type.keys === undefined ? leaf : { ...leaf, kind: 'keyed', item: ofField(type.list), keys: type.keys };
  }
  if (!type.startsWith('@')) return type === 'any' ? free : leaf;
  const definition = definitionOf(type.slice(1));
  return definition.atomic === true
    ? leaf
    : { kind: 'map', field: (key) => ofField(definition.fields[key]), item: undefined, keys: [] };
}

function ofSchema(schema: JsonObject | undefined): Shape {
  if (schema === undefined) return free;
  if (schema['type'] === 'array') {
    const items = isObject(schema['items']) ? schema['items'] : undefined;
    if (schema['x-kubernetes-list-type'] === 'set') return { ...leaf, kind: 'set' };
    if (schema['x-kubernetes-list-type'] !== 'map') return leaf;
    return {
      ...leaf,
      kind: 'keyed',
      item: ofSchema(items),
      keys: (schema['x-kubernetes-list-map-keys'] ?? []) as string[],
    };
  }
  if (schema['type'] !== 'object' && schema['properties'] === undefined) {
    return schema['x-kubernetes-preserve-unknown-fields'] === true ? free : leaf;
  }
  if (schema['x-kubernetes-map-type'] === 'atomic') return leaf;
  const properties = schema['properties'];
  const additional = schema['additionalProperties'];
  return {
    kind: 'map',
    field: (key) => {
      const own = isObject(properties) ? properties[key] : undefined;
      if (isObject(own)) return ofSchema(own);
      return isObject(additional) ? ofSchema(additional) : free;
    },
    item: undefined,
    keys: [],
  };
}
