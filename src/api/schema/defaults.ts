// Fills in a schema's defaults, in place, as the API server does before it validates: a null in a field that may not be
// null is treated as absent, then every absent field with a default gets it, and the defaults inside a default follow.
import { cloneJson, isObject, own, setOwn } from './json.ts';
import type { Structural } from './structural.ts';

/** Changes `value`; pass a copy to keep the original. */
export function applyDefaults(schema: Structural, value: unknown): void {
  dropNulls(schema, value);
  fill(schema, value);
}

function schemaOf(schema: Structural | undefined, key: string): Structural | undefined {
  if (schema === undefined) return undefined;
  const property = own(schema.properties ?? {}, key);
  if (property !== undefined) return property;
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function dropNulls(schema: Structural | undefined, value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(schema?.items, item);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const inner = schemaOf(schema, key);
      if (value[key] !== null) dropNulls(inner, value[key]);
      else if (inner !== undefined && inner.nullable !== true && inner.default === undefined) delete value[key];
    }
  }
}

const isMissing = (schema: Structural, value: unknown): boolean =>
  value === undefined || (value === null && schema.nullable !== true);

function fill(schema: Structural | undefined, value: unknown): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [index, item] of value.entries()) {
      if (item === null && items.nullable !== true && items.default !== undefined)
        value[index] = cloneJson(items.default);
      fill(items, value[index]);
    }
  } else if (isObject(value)) {
    const properties = schema.properties ?? {};
    for (const key of Object.keys(properties)) {
      const property = properties[key];
      if (property?.default !== undefined && isMissing(property, own(value, key))) {
        setOwn(value, key, cloneJson(property.default));
      }
    }
    for (const key of Object.keys(value)) {
      const inner = schemaOf(schema, key);
      if (value[key] === null && inner !== undefined && inner.nullable !== true && inner.default !== undefined) {
        setOwn(value, key, cloneJson(inner.default));
      }
      fill(inner, value[key]);
    }
  }
}
