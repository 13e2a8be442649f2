// Turns JSON into the values CEL computes with, guided by the schema: integers become BigInt (a JavaScript number would be
// a double), times and durations become CEL's own, and field names that are not identifiers are escaped as Kubernetes
// documents (`a-b` is `a__dash__b` in a rule). Only declared fields are visible to rules.
import { parseTime } from '../../base/index.ts';
import { isObject, own } from '../schema/json.ts';
import type { Structural } from '../schema/structural.ts';

/** Words CEL keeps for itself; a field of that name is written `__name__`. */
const reserved = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
);

const escapeOf: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
};

/** Names of schemas are few and asked for with every object. */
const escapedNames = new Map<string, string | undefined>();

/** The field's name in a rule; undefined if it has none. */
export function escapeFieldName(name: string): string | undefined {
  if (!escapedNames.has(name)) escapedNames.set(name, escaped(name));
  return escapedNames.get(name);
}

function escaped(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  const plain = name.replaceAll(/__|[.\-/]/g, (part) => escapeOf[part] ?? part);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(plain) ? plain : undefined;
}

export function toCel(schema: Structural | undefined, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return numberToCel(schema, value);
  if (typeof value === 'string') return stringToCel(schema, value);
  if (Array.isArray(value)) return value.map((item) => toCel(schema?.items, item));
  if (!isObject(value)) return value;
  return objectToCel(schema, value);
}

function numberToCel(schema: Structural | undefined, value: number): unknown {
  const isDouble = schema?.type === 'number' || !Number.isInteger(value);
  return isDouble ? value : BigInt(value);
}

function stringToCel(schema: Structural | undefined, value: string): unknown {
  if (schema?.type !== 'string') return value;
  if (schema.format === 'date-time' || schema.format === 'date') {
    const time = parseTime(schema.format === 'date' ? `${value}T00:00:00Z` : value);
    // oxlint-disable-next-line no-restricted-globals -- CEL's timestamp type is a Date; nothing here asks for the time.
    return time === undefined ? value : new Date(time);
  }
  return value;
}

function objectToCel(schema: Structural | undefined, value: Record<string, unknown>): unknown {
  const properties = schema?.properties;
  const result = Object.create(null) as Record<string, unknown>;
  if (properties !== undefined) {
    for (const key of Object.keys(properties)) {
      const inner = own(value, key);
      const name = inner === undefined ? undefined : escapeFieldName(key);
      if (name !== undefined) result[name] = toCel(properties[key], inner);
    }
    if (schema?.['x-kubernetes-embedded-resource'] === true) {
      for (const key of ['apiVersion', 'kind', 'metadata'])
        if (key in value) result[key] ??= toCel(undefined, value[key]);
    }
    return result;
  }
  const inner = typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  for (const key of Object.keys(value)) result[key] = toCel(inner, value[key]);
  return result;
}
