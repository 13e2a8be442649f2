// Server-side apply with ownership kept simple: owners are tracked from an object's first apply on. Until then everything
// in it belongs to one earlier writer, `before-first-apply`. Afterwards every apply and every change keeps the record.
import { isIdentical } from '../../../base/index.ts';
import { isObject, type JsonObject, listAt, objectAt, thaw } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { apiVersionOf, type ResourceDefinition } from '../definition.ts';
import { StatusError } from '../status.ts';
import {
  difference,
  differing,
  type FieldSet,
  fieldsOfObject,
  follow,
  intersection,
  isEmptySet,
  pathsOf,
  union,
} from './field-set.ts';
import { type Shape, shapeOf } from './shape.ts';

interface Owner {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time: string;
  subresource: string | undefined;
  fields: FieldSet;
}

export interface ApplyRequest {
  definition: ResourceDefinition;
  current: StoredObject | undefined;
  applied: JsonObject;
  manager: string;
  force: boolean;
  subresource: string | undefined;
  time: string;
}

export function applyServerSide(request: ApplyRequest): JsonObject {
  const { definition, current, applied, manager, force, subresource, time } = request;
  const shape = shapeOf(definition);
  const wanted = fieldsOfObject(applied, shape);
  const owners = current === undefined ? [] : ownersOf(current, definition, shape, time);
  const isMine = (owner: Owner): boolean =>
    owner.manager === manager && owner.operation === 'Apply' && owner.subresource === subresource;
  const mine = owners.find(isMine);
  let others = owners.filter((owner) => !isMine(owner));
  if (current !== undefined) {
    const changed = differing(wanted, current, applied);
    const contested = others
      .map((owner) => ({ owner, fields: intersection(owner.fields, changed) }))
      .filter(({ fields }) => !isEmptySet(fields));
    if (contested.length > 0 && !force) throw conflictWith(contested);
    others = others
      .map((owner) => ({ ...owner, fields: difference(owner.fields, changed) }))
      .filter(({ fields }) => !isEmptySet(fields));
  }
  let merged = current === undefined ? thaw(applied) : (merge(current, applied, shape) as JsonObject);
  if (mine !== undefined) {
    const kept = others.reduce((set, owner) => union(set, owner.fields), wanted);
    merged = without(merged, difference(mine.fields, kept)) as JsonObject;
  }
  const entry: Owner = {
    manager,
    operation: 'Apply',
    apiVersion: apiVersionOf(definition),
    time,
    subresource,
    fields: wanted,
  };
  // An apply that changes nothing must not count as a change.
  if (mine !== undefined && isIdentical(mine.fields, wanted)) entry.time = mine.time;
  merged['metadata'] = { ...objectAt(merged, 'metadata'), managedFields: [entry, ...others].map(written) };
  return merged;
}

/** The record after a plain write by `manager`: whoever changes a field owns it alone. */
export function ownersAfterUpdate(
  definition: ResourceDefinition,
  current: StoredObject,
  draft: JsonObject,
  manager: string,
  subresource: string | undefined,
  time: string,
): JsonObject[] {
  const shape = shapeOf(definition);
  const before = fieldsOfObject(current, shape);
  const after = fieldsOfObject(draft, shape);
  const changed = union(differing(after, current, draft), difference(before, after));
  const owners = ownersOf(current, definition, shape, time);
  if (isEmptySet(changed)) return owners.map(written);
  const isMine = (owner: Owner): boolean =>
    owner.manager === manager && owner.operation === 'Update' && owner.subresource === subresource;
  const mine = owners.find(isMine);
  const gained = intersection(changed, after);
  const others = owners
    .filter((owner) => !isMine(owner))
    .map((owner) => ({ ...owner, fields: difference(owner.fields, changed) }))
    .filter(({ fields }) => !isEmptySet(fields));
  const fields = intersection(union(mine?.fields ?? {}, gained), after);
  const entry: Owner = {
    manager,
    operation: 'Update',
    apiVersion: apiVersionOf(definition),
    time,
    subresource,
    fields,
  };
  return (isEmptySet(fields) ? others : [...others, entry]).map(written);
}

function ownersOf(object: StoredObject, definition: ResourceDefinition, shape: Shape, time: string): Owner[] {
  const entries = listAt(object.metadata as unknown as JsonObject, 'managedFields');
  if (entries.length === 0) {
    const fields = fieldsOfObject(object, shape);
    return [
      {
        manager: 'before-first-apply',
        operation: 'Update',
        apiVersion: apiVersionOf(definition),
        time,
        subresource: undefined,
        fields,
      },
    ];
  }
  return entries.map((entry) => ({
    manager: String(entry['manager']),
    operation: entry['operation'] === 'Apply' ? 'Apply' : 'Update',
    apiVersion: String(entry['apiVersion']),
    time: String(entry['time']),
    subresource: entry['subresource'] as string | undefined,
    fields: (entry['fieldsV1'] ?? {}) as FieldSet,
  }));
}

const written = ({ manager, operation, apiVersion, time, subresource, fields }: Owner): JsonObject => ({
  manager,
  operation,
  apiVersion,
  time,
  fieldsType: 'FieldsV1',
  fieldsV1: fields,
  ...(subresource !== undefined && { subresource }),
});

function conflictWith(contested: { owner: Owner; fields: FieldSet }[]): StatusError {
  const causes = contested.flatMap(({ owner, fields }) =>
    pathsOf(fields).map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${JSON.stringify(owner.manager)}${owner.operation === 'Update' ? ` using ${owner.apiVersion}` : ''}`,
      field,
    })),
  );
  const [first] = causes;
  if (causes.length === 1 && first !== undefined) {
    return new StatusError(409, 'Conflict', `Apply failed with 1 conflict: ${first.message}: ${first.field}`, {
      causes,
    });
  }
  const groups = Map.groupBy(causes, (cause) => cause.message);
  const text = [...groups]
    .map(
      ([message, list]) =>
        `${message.replace('conflict with', 'conflicts with')}:\n${list.map((cause) => `- ${cause.field}`).join('\n')}`,
    )
    .join('\n');
  return new StatusError(409, 'Conflict', `Apply failed with ${causes.length} conflicts: ${text}`, { causes });
}

/** The current value with the applied one laid over it. */
function merge(current: unknown, applied: unknown, shape: Shape): unknown {
  if (shape.kind === 'map' && isObject(current) && isObject(applied)) {
    const result: JsonObject = { ...current };
    for (const [key, value] of Object.entries(applied)) result[key] = merge(current[key], value, shape.field(key));
    return result;
  }
  if (shape.kind === 'keyed' && Array.isArray(current) && Array.isArray(applied)) {
    const key = (item: unknown): string =>
      JSON.stringify(shape.keys.map((name) => (isObject(item) ? item[name] : undefined)));
    const laid = new Map(applied.map((item) => [key(item), item]));
    const kept = current.map((item) => {
      const over = laid.get(key(item));
      laid.delete(key(item));
      return over === undefined ? item : merge(item, over, shape.item as Shape);
    });
    return [...kept, ...thaw([...laid.values()])];
  }
  if (shape.kind === 'set' && Array.isArray(current) && Array.isArray(applied)) {
    return [...applied, ...current.filter((item) => !applied.some((other) => isIdentical(other, item)))];
  }
  return thaw(applied);
}

/** The value with the fields of `set` taken out. */
function without(value: unknown, set: FieldSet): unknown {
  if (isEmptySet(set)) return value;
  let result = value;
  for (const [step, inner] of Object.entries(set)) {
    if (step === '.') continue;
    const found = follow(result, step);
    if (found === undefined) continue;
    const wholly = isEmptySet(inner) || '.' in inner;
    if (step.startsWith('f:')) {
      const { [step.slice(2)]: _gone, ...rest } = result as JsonObject;
      result = wholly ? rest : { ...rest, [step.slice(2)]: without(found, inner) };
    } else {
      const items = result as unknown[];
      result = wholly
        ? items.filter((item) => item !== found)
        : items.map((item) => (item === found ? without(item, inner) : item));
    }
  }
  return result;
}
