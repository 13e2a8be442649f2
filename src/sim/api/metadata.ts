// Rules every object's metadata obeys, whatever its kind.

import { isLabelValue, isQualifiedName, type NameRule } from '../../api/index.ts';
import { isIdentical } from '../../base/index.ts';
import { isObject, type JsonObject, listAt, objectAt, stringAt } from '../json.ts';
import { duplicate, type FieldError, forbiddenField, invalidValue, required, tooLong } from './field-error.ts';

/** All annotations of an object together. */
const annotationBytesLimit = 256 * 1024;

export function validateMetadata(object: JsonObject, nameRule: NameRule, builtIn: boolean): FieldError[] {
  const field = 'metadata';
  const meta = objectAt(object, 'metadata');
  const name = stringAt(meta, 'name');
  const generateName = stringAt(meta, 'generateName');
  const errors: FieldError[] = [];
  if (generateName !== '') {
    // A prefix may end in the dash that its suffix will follow.
    const probe = generateName.endsWith('-') ? `${generateName.slice(0, -1)}a` : generateName;
    errors.push(...nameRule(probe).map((detail) => invalidValue(`${field}.generateName`, generateName, detail)));
  }
  if (name === '') errors.push(required(`${field}.name`, 'name or generateName is required'));
  else errors.push(...nameRule(name).map((detail) => invalidValue(`${field}.name`, name, detail)));
  errors.push(...validateLabels(meta['labels'], `${field}.labels`));
  errors.push(...validateAnnotations(meta['annotations'], `${field}.annotations`));
  errors.push(...validateOwners(listAt(meta, 'ownerReferences'), `${field}.ownerReferences`));
  errors.push(...validateFinalizers(listAt<string>(meta, 'finalizers'), `${field}.finalizers`, builtIn));
  return errors;
}

export function validateLabels(labels: unknown, field: string): FieldError[] {
  if (!isObject(labels)) return [];
  return Object.entries(labels).flatMap(([key, value]) => [
    ...isQualifiedName(key).map((detail) => invalidValue(field, key, detail)),
    ...isLabelValue(String(value)).map((detail) => invalidValue(field, value, detail)),
  ]);
}

export function validateAnnotations(annotations: unknown, field: string): FieldError[] {
  if (!isObject(annotations)) return [];
  let bytes = 0;
  const errors = Object.entries(annotations).flatMap(([key, value]) => {
    bytes += key.length + String(value).length;
    return isQualifiedName(key.toLowerCase()).map((detail) => invalidValue(field, key, detail));
  });
  return bytes > annotationBytesLimit ? [...errors, tooLong(field, annotationBytesLimit)] : errors;
}

function validateOwners(owners: JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const [index, owner] of owners.entries()) {
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      if (stringAt(owner, key) === '') errors.push(required(`${field}[${index}].${key}`, 'must not be empty'));
    }
    if (owner['controller'] !== true) continue;
    const name = `${stringAt(owner, 'kind')}/${stringAt(owner, 'name')}`;
    if (controller !== undefined) {
      errors.push(
        invalidValue(
          field,
          owners,
          `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
        ),
      );
    } else controller = name;
  }
  return errors;
}

/** Finalizers older than the rule that they name who they belong to. */
const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

function validateFinalizers(finalizers: string[], field: string, builtIn: boolean): FieldError[] {
  const errors = finalizers.flatMap((name) => isQualifiedName(name).map((detail) => invalidValue(field, name, detail)));
  finalizers.forEach((name, index) => {
    if (!builtIn || name.includes('/') || standardFinalizers.has(name)) return;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.push(invalidValue(`${field}[${index}]`, name, detail));
  });
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalidValue(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

export function validateMetadataUpdate(next: JsonObject, old: JsonObject): FieldError[] {
  const meta = objectAt(next, 'metadata');
  const before = objectAt(old, 'metadata');
  const errors: FieldError[] = [];
  if (before['deletionTimestamp'] !== undefined) {
    const known = new Set(listAt<string>(before, 'finalizers'));
    const added = [...new Set(listAt<string>(meta, 'finalizers'))].filter((name) => !known.has(name)).sort();
    if (added.length > 0) {
      const shown = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      errors.push(
        forbiddenField(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`,
        ),
      );
    }
  }
  for (const key of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ]) {
    if (!isIdentical(meta[key], before[key])) {
      errors.push(invalidValue(`metadata.${key}`, meta[key] ?? '', 'field is immutable'));
    }
  }
  return errors;
}

/** The value must stay what it was. */
export function validateImmutable(next: unknown, old: unknown, field: string): FieldError[] {
  return isIdentical(next, old) ? [] : [invalidValue(field, next, 'field is immutable')];
}

/** Values of a list must differ; `error` words it when one does not. */
export function validateUnique(
  values: readonly unknown[],
  field: (index: number) => string,
  error: (field: string, index: number) => FieldError = (at, index) => duplicate(at, values[index]),
): FieldError[] {
  const seen = new Set<unknown>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [error(field(index), index)];
    seen.add(value);
    return [];
  });
}
