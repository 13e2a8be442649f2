// The JSON merge patch (RFC 7386) that turns one value into another: what changed, with null for what went away. Lists
// are replaced as a whole, as merge patches do.

import { isEqual } from './equality.ts';

type Json = Record<string, unknown>;

/** Undefined when nothing changed. */
export function mergePatchBetween(before: unknown, after: unknown): Json | undefined {
  const from = isObject(before) ? before : {};
  const to = isObject(after) ? after : {};
  const patch: Json = {};
  for (const key of Object.keys(from)) if (to[key] === undefined && from[key] !== undefined) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined || isEqual(from[key], value)) continue;
    patch[key] = isObject(value) && isObject(from[key]) ? mergePatchBetween(from[key], value) : value;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
