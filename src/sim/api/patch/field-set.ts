// Sets of fields in the form the wire has for them (fieldsV1): `f:name` for fields, `k:{…}` for items of keyed lists,
// `v:…` for members of sets. A set is a tree; an empty branch means the field itself.
import { isIdentical } from '../../../base/index.ts';
import { isObject, type JsonObject } from '../../json.ts';
import type { Shape } from './shape.ts';

export type FieldSet = { [step: string]: FieldSet };

/** Metadata that no one owns. */
const unowned = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
]);

export function fieldsOfObject(object: JsonObject, shape: Shape): FieldSet {
  const { apiVersion: _a, kind: _k, metadata, ...rest } = object;
  const set = fieldsOf(rest, shape);
  if (isObject(metadata)) {
    const owned = Object.fromEntries(Object.entries(metadata).filter(([key]) => !unowned.has(key)));
    const inner = fieldsOf(owned, shape.field('metadata'));
    if (Object.keys(inner).length > 0) set['f:metadata'] = inner;
  }
  return set;
}

const stepOfItem = (item: unknown, keys: string[]): string => {
  const picked = Object.fromEntries(
    keys.filter((key) => isObject(item) && item[key] !== undefined).map((key) => [key, (item as JsonObject)[key]]),
  );
  return `k:${JSON.stringify(picked)}`;
};

function fieldsOf(value: unknown, shape: Shape): FieldSet {
  const set: FieldSet = {};
  if (shape.kind === 'map' && isObject(value)) {
    for (const [key, item] of Object.entries(value)) set[`f:${key}`] = fieldsOf(item, shape.field(key));
  } else if (shape.kind === 'keyed' && Array.isArray(value)) {
    for (const item of value) set[stepOfItem(item, shape.keys)] = { '.': {}, ...fieldsOf(item, shape.item as Shape) };
  } else if (shape.kind === 'set' && Array.isArray(value)) {
    for (const item of value) set[`v:${JSON.stringify(item)}`] = {};
  }
  return set;
}

const isLeaf = (set: FieldSet): boolean => Object.keys(set).length === 0;

export function union(left: FieldSet, right: FieldSet): FieldSet {
  const result: FieldSet = { ...left };
  for (const [step, inner] of Object.entries(right))
    result[step] = result[step] === undefined ? inner : union(result[step], inner);
  return result;
}

/** What is in `left` and not in `right`. A field taken as a whole takes what is below it along. */
export function difference(left: FieldSet, right: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const [step, inner] of Object.entries(left)) {
    const other = right[step];
    if (other === undefined) result[step] = inner;
    else if (!isLeaf(inner) && !isLeaf(other)) {
      const rest = difference(inner, other);
      if (!isLeaf(rest)) result[step] = rest;
    }
  }
  return result;
}

export function intersection(left: FieldSet, right: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const [step, inner] of Object.entries(left)) {
    const other = right[step];
    if (other === undefined) continue;
    const both = intersection(inner, other);
    if (isLeaf(inner) || isLeaf(other) || !isLeaf(both)) result[step] = both;
  }
  return result;
}

export const isEmptySet = isLeaf;

/** The value a step leads to, in a parent of any form. */
export function follow(parent: unknown, step: string): unknown {
  if (step.startsWith('f:')) return isObject(parent) ? parent[step.slice(2)] : undefined;
  if (!Array.isArray(parent)) return undefined;
  const wanted: unknown = JSON.parse(step.slice(2));
  if (step.startsWith('v:')) return parent.find((item) => isIdentical(item, wanted));
  return parent.find(
    (item) =>
      isObject(item) && Object.entries(wanted as JsonObject).every(([key, value]) => isIdentical(item[key], value)),
  );
}

/** The fields of `set` whose values differ between the two. */
export function differing(set: FieldSet, left: unknown, right: unknown): FieldSet {
  const result: FieldSet = {};
  for (const [step, inner] of Object.entries(set)) {
    if (step === '.') continue;
    const before = follow(left, step);
    const after = follow(right, step);
    if (isLeaf(inner)) {
      if (!isIdentical(before, after)) result[step] = {};
      continue;
    }
    const rest = differing(inner, before, after);
    if (!isLeaf(rest)) result[step] = rest;
  }
  return result;
}

/** `.spec.template.containers[name="web"].image`, one per field. */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  return Object.entries(set).flatMap(([step, inner]) => {
    if (step === '.') return [];
    let path = `${prefix}.${step.slice(2)}`;
    if (step.startsWith('v:')) path = `${prefix}[=${step.slice(2)}]`;
    if (step.startsWith('k:')) {
      const keys = Object.entries(JSON.parse(step.slice(2)) as JsonObject).map(
        ([key, value]) => `${key}=${JSON.stringify(value)}`,
      );
      path = `${prefix}[${keys.join(',')}]`;
    }
    const below = pathsOf(inner, path);
    return below.length > 0 ? below : [path];
  });
}
