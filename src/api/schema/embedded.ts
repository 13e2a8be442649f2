// Objects inside objects (`x-kubernetes-embedded-resource`): they must say what they are.
import { atField, atIndex, atKey, type FieldError, fieldError, fieldText, type Place } from './field-error.ts';
import { isObject, own } from './json.ts';
import type { Structural } from './structural.ts';

export function validateEmbedded(schema: Structural, object: unknown): FieldError[] {
  const errors: FieldError[] = [];
  // The object itself is not embedded: its own type and metadata are checked before it gets here.
  walk({ ...schema, 'x-kubernetes-embedded-resource': false }, object, undefined, errors);
  return errors;
}

function walk(schema: Structural, value: unknown, place: Place | undefined, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items !== undefined) value.forEach((item, index) => walk(items, item, atIndex(place, index), errors));
    return;
  }
  if (!isObject(value)) return;
  if (schema['x-kubernetes-embedded-resource'] === true) {
    for (const key of ['apiVersion', 'kind']) {
      const at = atField(place, key);
      const found = own(value, key);
      if (found === undefined || found === '') {
        const detail = found === '' ? 'must not be empty' : '';
        errors.push(fieldError('FieldValueRequired', at, fieldText(at, true), detail));
      } else if (typeof found !== 'string') {
        errors.push(fieldError('FieldValueInvalid', at, fieldText(at, true), 'must be a string', found));
      }
    }
  }
  for (const key of Object.keys(value)) {
    const property = own(schema.properties ?? {}, key);
    if (property !== undefined) walk(property, value[key], atField(place, key), errors);
    else if (typeof schema.additionalProperties === 'object') {
      walk(schema.additionalProperties, value[key], atKey(place, key), errors);
    }
  }
}
