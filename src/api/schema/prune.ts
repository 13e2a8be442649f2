// Removes the fields a schema does not know, in place, and tells which they were: the API server drops them silently,
// warns, or refuses, as the client asked. What lies under `x-kubernetes-preserve-unknown-fields` stays.
import { atField, atIndex, fieldText, type Place } from './field-error.ts';
import { isObject, own } from './json.ts';
import type { Structural } from './structural.ts';

export interface UnknownField {
  field: string;
  path: (string | number)[];
}

const typeAndMetadata = new Set(['apiVersion', 'kind', 'metadata']);

/** Changes `value`, a whole object; pass a copy to keep the original. */
export function prune(schema: Structural, value: unknown): UnknownField[] {
  const unknown: Place[] = [];
  walk({ ...schema, 'x-kubernetes-embedded-resource': true }, value, undefined, unknown);
  return unknown
    .map((place) => ({ field: fieldText(place, false), path: pathOf(place) }))
    .sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}

function pathOf(place: Place): (string | number)[] {
  return place.parent === undefined ? [place.segment] : [...pathOf(place.parent), place.segment];
}

function walk(schema: Structural | undefined, value: unknown, place: Place | undefined, unknown: Place[]): void {
  if (Array.isArray(value)) {
    const keeps = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
    value.forEach((item, index) => {
      if (schema?.items !== undefined || !keeps) walk(schema?.items, item, atIndex(place, index), unknown);
    });
    return;
  }
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    if (schema?.['x-kubernetes-embedded-resource'] === true && typeAndMetadata.has(key)) continue;
    const property = own(schema?.properties ?? {}, key);
    const additional = schema?.additionalProperties;
    if (property !== undefined) walk(property, value[key], atField(place, key), unknown);
    else if (typeof additional === 'object') walk(additional, value[key], atField(place, key), unknown);
    else if (schema?.['x-kubernetes-preserve-unknown-fields'] !== true && additional !== true) {
      unknown.push(atField(place, key));
      delete value[key];
    }
  }
}
