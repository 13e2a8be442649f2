// Lists that are sets or maps (`x-kubernetes-list-type`): no element, or no key, may appear twice. It also finds the old
// version of a map's element, which is what transition rules and ratcheting compare with.
import { atField, atIndex, atKey, type FieldError, fieldError, fieldText, type Place } from './field-error.ts';
import { isObject, type JsonObject, own } from './json.ts';
import type { Structural } from './structural.ts';

/** A text that is equal for equal values, whatever the order of their keys. */
function identity(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(identity).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${identity(value[key])}`);
  return `{${entries.join(',')}}`;
}

/** The fields that name an element of a map-like list. */
function keysOf(schema: Structural, item: unknown): JsonObject {
  const keys: JsonObject = {};
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const fallback = schema.items?.properties?.[key]?.default;
    const value = (isObject(item) ? own(item, key) : undefined) ?? fallback;
    if (value !== undefined) keys[key] = value;
  }
  return keys;
}

/** A function that finds the old element with the same keys; without a map there is none. */
export function correlatedItems(schema: Structural, old: unknown): (item: unknown) => unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(old)) return () => undefined;
  const byKeys = new Map(old.map((item) => [identity(keysOf(schema, item)), item as unknown]));
  return (item) => byKeys.get(identity(keysOf(schema, item)));
}

/** Duplicates in every set and map below `value`. */
export function validateListTypes(schema: Structural, value: unknown): FieldError[] {
  const errors: FieldError[] = [];
  walk(schema, value, undefined, errors);
  return errors;
}

function walk(schema: Structural, value: unknown, place: Place | undefined, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    const type = schema['x-kubernetes-list-type'];
    if (type === 'set' || type === 'map') checkUnique(schema, type, value, place, errors);
    const { items } = schema;
    if (items !== undefined) value.forEach((item, index) => walk(items, item, atIndex(place, index), errors));
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const property = own(schema.properties ?? {}, key);
      if (property !== undefined) walk(property, value[key], atField(place, key), errors);
      else if (typeof schema.additionalProperties === 'object') {
        walk(schema.additionalProperties, value[key], atKey(place, key), errors);
      }
    }
  }
}

function checkUnique(
  schema: Structural,
  type: 'set' | 'map',
  list: unknown[],
  place: Place | undefined,
  errors: FieldError[],
): void {
  const times = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const at = atIndex(place, index);
    if (type === 'map' && !isObject(item) && item !== null) {
      const detail = 'must be an object for an array of list-type map';
      errors.push(fieldError('FieldValueInvalid', at, fieldText(at, true), detail, item));
      return;
    }
    const compared = type === 'map' ? keysOf(schema, item) : item;
    const seen = (times.get(identity(compared)) ?? 0) + 1;
    times.set(identity(compared), seen);
    // Only the first repetition is reported: the third of a kind says nothing new.
    if (seen === 2) errors.push(fieldError('FieldValueDuplicate', at, fieldText(at, true), '', compared));
  }
}
