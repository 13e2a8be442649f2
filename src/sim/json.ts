// Plain JSON as the embedded cluster keeps it. Stored values are deeply frozen and shared between versions of an object:
// reading costs nothing, and two versions with the same `spec` have the identical `spec`. A frozen value is taken to be
// frozen all the way down; only `freeze` makes such values.

import { isIdentical } from '../base/index.ts';

export type JsonObject = { [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `key`, or an empty one that is not attached. */
export function objectAt(parent: JsonObject | undefined, key: string): JsonObject {
  const value = parent?.[key];
  return isObject(value) ? value : {};
}

/** The list at `key`, or an empty one that is not attached. */
export function listAt<T = JsonObject>(parent: JsonObject | undefined, key: string): T[] {
  const value = parent?.[key];
  return Array.isArray(value) ? (value as T[]) : [];
}

export function stringAt(parent: JsonObject | undefined, key: string): string {
  const value = parent?.[key];
  return typeof value === 'string' ? value : '';
}

/** The object at `key`, created if absent, so that it can be written to. */
export function ensureObject(parent: JsonObject, key: string): JsonObject {
  const value = parent[key];
  if (isObject(value)) return value;
  const made: JsonObject = {};
  parent[key] = made;
  return made;
}

/** Sets `key` where it is absent: what a default does. */
export function setDefault(parent: JsonObject, key: string, value: unknown): void {
  if (parent[key] === undefined || parent[key] === null) parent[key] = value;
}

/** A copy that may be changed freely. Keys without a value are dropped, as they would be on the wire. */
export function thaw<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : thaw(item))) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = {};
  for (const key in value) {
    const item = value[key as keyof T];
    if (item === undefined) continue;
    // A key of this name must stay data and not become the copy's prototype.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: thaw(item), enumerable: true, writable: true, configurable: true });
    else copy[key] = thaw(item);
  }
  return copy as T;
}

export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) for (const item of value) freeze(item);
  else for (const key in value) freeze(value[key as keyof T]);
  return Object.freeze(value);
}

/** `next`, with every part that equals its counterpart in `previous` replaced by that counterpart. Equal as a whole means `previous` itself. */
export function share<T>(previous: unknown, next: T): T {
  if (previous === next || typeof previous !== 'object' || typeof next !== 'object') return next;
  if (previous === null || next === null || Array.isArray(previous) !== Array.isArray(next)) return next;
  if (Object.isFrozen(next)) return isIdentical(previous, next) ? (previous as T) : next;
  const before = previous as JsonObject;
  const after = next as JsonObject;
  const keys = Object.keys(after);
  let same = keys.length === Object.keys(before).length;
  for (const key of keys) {
    const old = before[key];
    const value = after[key];
    const shared = old === undefined ? value : share(old, value);
    if (shared !== value) after[key] = shared;
    if (shared !== old || (shared === undefined && !(key in before))) same = false;
  }
  return (same ? previous : next) as T;
}
