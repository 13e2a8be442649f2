// Strategic merge: like a merge patch, but lists of things with a key are merged item by item. Which lists have which key
// is part of the kinds' schemas. Directives ($patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList) as kubectl sends them.
import { isIdentical } from '../../../base/index.ts';
import { isObject, type JsonObject } from '../../json.ts';
import { type Definition, type FieldType, structOf } from '../schema.ts';
import { badRequest, StatusError } from '../status.ts';

export function strategicMerge(original: unknown, patch: JsonObject, definition: Definition | undefined): unknown {
  if (patch['$patch'] === 'replace') return withoutDirectives(patch);
  if (patch['$patch'] === 'delete') return {};
  if (patch['$patch'] !== undefined && patch['$patch'] !== 'merge') {
    throw badRequest(`unknown patch type found: ${JSON.stringify(patch['$patch'])}`);
  }
  let result: JsonObject = isObject(original) ? { ...original } : {};
  const retain = patch['$retainKeys'];
  if (Array.isArray(retain)) {
    result = Object.fromEntries(Object.entries(result).filter(([key]) => retain.includes(key)));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$deleteFromPrimitiveList/')) {
      const field = key.slice('$deleteFromPrimitiveList/'.length);
      const gone = new Set(value as unknown[]);
      if (Array.isArray(result[field])) result[field] = result[field].filter((item) => !gone.has(item));
    }
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$') || key === '__proto__') continue;
    if (value === null) delete result[key];
    else result[key] = mergeField(result[key], value, definition?.fields[key]);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!Array.isArray(value) || key.startsWith('$') || `$setElementOrder/${key}` in patch) continue;
    const type = definition?.fields[key];
    if (mergesItems(type) && Array.isArray(result[key])) {
      const before = isObject(original) && Array.isArray(original[key]) ? original[key] : [];
      result[key] = ordered(result[key], before, value, mergeKeyOf(type));
    }
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith('$setElementOrder/')) continue;
    const field = key.slice('$setElementOrder/'.length);
    const type = definition?.fields[field];
    const before = isObject(original) && Array.isArray(original[field]) ? original[field] : [];
    if (Array.isArray(result[field]))
      result[field] = ordered(result[field], before, value as unknown[], mergeKeyOf(type));
  }
  return result;
}

function mergeField(original: unknown, value: unknown, type: FieldType | undefined): unknown {
  if (isObject(value)) {
    // Atomic structs such as label selectors are still merged here: only server-side apply knows "atomic".
    if (typeof type === 'object' && 'map' in type) return strategicMerge(original, value, undefined);
    if (typeof type === 'object' && 'ref' in type && type.strategy === 'replace') return withoutDirectives(value);
    return strategicMerge(original, value, structOf(type));
  }
  if (!Array.isArray(value)) return value;
  if (!mergesItems(type)) return value.map(withoutDirectives);
  return mergeKeyOf(type) === undefined
    ? mergePrimitives(original, value)
    : mergeList(original, value, type, mergeKeyOf(type) as string);
}

type MergedList = { list: FieldType; mergeKey?: string; strategy?: string };

const mergesItems = (type: FieldType | undefined): type is MergedList =>
  typeof type === 'object' && 'list' in type && (type.strategy ?? '').split(',').includes('merge');

const mergeKeyOf = (type: FieldType | undefined): string | undefined =>
  typeof type === 'object' && 'list' in type ? type.mergeKey : undefined;

function mergePrimitives(original: unknown, value: unknown[]): unknown[] {
  const before = Array.isArray(original) ? original : [];
  return [...before, ...value.filter((item) => !before.some((other) => isIdentical(other, item)))];
}

function mergeList(original: unknown, patches: unknown[], type: { list: FieldType }, key: string): unknown[] {
  let items: unknown[] = Array.isArray(original) ? [...original] : [];
  const item = structOf(type.list);
  for (const patch of patches) {
    if (!isObject(patch)) continue;
    if (patch['$patch'] === 'replace' && patch[key] === undefined) {
      items = patches.filter((other) => isObject(other) && other['$patch'] === undefined);
      break;
    }
    if (patch[key] === undefined)
      throw new StatusError(500, '', `map: ${goText(patch)} does not contain declared merge key: ${key}`);
    const index = items.findIndex((other) => isObject(other) && other[key] === patch[key]);
    if (patch['$patch'] === 'delete') {
      items = items.filter((other) => !(isObject(other) && other[key] === patch[key]));
    } else if (index < 0) items.push(withoutDirectives(patch));
    else items[index] = strategicMerge(items[index], patch, item);
  }
  return items;
}

/** Items the patch names come in its order, the others in theirs; where the two meet, the old list decides, and new items go first. */
function ordered(items: unknown[], before: unknown[], order: unknown[], key: string | undefined): unknown[] {
  const idOf = (item: unknown): unknown => (key === undefined ? item : isObject(item) ? item[key] : undefined);
  const wanted = new Map(order.map((item, index) => [idOf(item), index]));
  const old = new Map(before.map((item, index) => [idOf(item), index]));
  const named = items.filter((item) => wanted.has(idOf(item)));
  named.sort((left, right) => (wanted.get(idOf(left)) as number) - (wanted.get(idOf(right)) as number));
  const others = items.filter((item) => !wanted.has(idOf(item)));
  const result: unknown[] = [];
  while (named.length > 0 && others.length > 0) {
    const [mine, theirs] = [old.get(idOf(named[0])), old.get(idOf(others[0]))];
    const othersFirst = mine !== undefined && theirs !== undefined && theirs <= mine;
    result.push(othersFirst ? others.shift() : named.shift());
  }
  return [...result, ...named, ...others];
}

/** Directives guide the merge; they are never stored. */
function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !key.startsWith('$') && item !== null)
      .map(([key, item]) => [key, withoutDirectives(item)]),
  );
}

/** A value as Go prints it: maps with their keys sorted, texts bare. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return value === null ? '<nil>' : String(value);
  const pairs = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `map[${pairs.map(([key, item]) => `${key}:${goText(item)}`).join(' ')}]`;
}
