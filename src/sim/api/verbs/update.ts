// Changing an object: conflict checks, what a writer may not touch, defaults, generation, validation. An object that is
// being deleted vanishes when an update takes its last finalizer.

import { isSubdomain } from '../../../api/index.ts';
import { isIdentical } from '../../../base/index.ts';
import { freeze, type JsonObject, listAt, objectAt, share, stringAt, thaw } from '../../json.ts';
import { keyOf, type StoredObject } from '../../store/stored-object.ts';
import { collectionOf, type ResourceDefinition } from '../definition.ts';
import type { FieldError } from '../field-error.ts';
import { invalidValue } from '../field-error.ts';
import { find, type Machinery, type WriteCall } from '../machinery.ts';
import { validateMetadata, validateMetadataUpdate } from '../metadata.ts';
import { ownersAfterUpdate } from '../patch/apply.ts';
import { badRequest, conflict, invalid, modified, notFound } from '../status.ts';
import { create } from './create.ts';
import { decodeBody } from './decode-body.ts';

export interface UpdateTarget {
  definition: ResourceDefinition;
  namespace: string | undefined;
  name: string;
  subresource?: 'status' | 'finalize' | 'resize' | 'ephemeralcontainers' | undefined;
}

export interface Updated {
  object: StoredObject;
  created: boolean;
}

/** PUT. Takes ownership of `body`. */
export function update(machinery: Machinery, target: UpdateTarget, body: unknown, call: WriteCall): Updated {
  const { definition, namespace, name } = target;
  const draft = decodeBody(definition, body, call);
  const meta = objectAt(draft, 'metadata');
  checkAddress(target, meta);
  const current = find(machinery, definition, namespace, name);
  if (current === undefined) {
    if (target.subresource !== undefined || definition.strategy.createOnUpdate !== true)
      throw notFound(definition, name);
    delete meta['resourceVersion'];
    return { object: create(machinery, definition, namespace, draft, call), created: true };
  }
  return { object: replaceCurrent(machinery, target, current, draft, call), created: false };
}

function checkAddress(target: UpdateTarget, meta: JsonObject): void {
  const name = stringAt(meta, 'name');
  if (name === '') meta['name'] = target.name;
  else if (name !== target.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
  }
  const namespace = stringAt(meta, 'namespace');
  if (!target.definition.namespaced) return;
  if (namespace === '') meta['namespace'] = target.namespace;
  else if (namespace !== target.namespace) {
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the URL (${target.namespace})`,
    );
  }
}

/** Writes `draft`, a decoded object, over `current`. */
export function replaceCurrent(
  machinery: Machinery,
  target: UpdateTarget,
  current: StoredObject,
  draft: JsonObject,
  call: WriteCall,
): StoredObject {
  const { definition, name } = target;
  const { strategy } = definition;
  const { around } = machinery;
  const meta = objectAt(draft, 'metadata');
  const uid = stringAt(meta, 'uid');
  if (uid !== '' && uid !== current.metadata.uid) {
    throw conflict(
      definition,
      name,
      `StorageError: invalid object, Code: 4, Key: /registry/${definition.custom === undefined ? '' : `${definition.group}/`}${definition.plural}/${keyOf(current.metadata.namespace, name)}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid}`,
    );
  }
  const version = stringAt(meta, 'resourceVersion');
  if (version === '' || version === '0') {
    if (strategy.unconditionalUpdate === false) {
      // Here the real server names the resource instead of the kind.
      throw invalid({ ...definition, kind: definition.plural }, name, [
        invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
      ]);
    }
  } else if (version !== current.metadata.resourceVersion) throw modified(definition, name);
  keepIdentity(meta, current);
  trackOwners(machinery, target, current, draft, call);
  if (target.subresource === 'status') prepareStatus(definition, draft, current);
  else if (target.subresource === 'finalize')
    Object.assign(draft, { metadata: thaw(current.metadata), status: current['status'] });
  else {
    if (target.subresource !== undefined) keepAllBut(target.subresource, draft, current);
    strategy.defaults?.(draft);
    strategy.admit?.(draft, around, current);
    prepareSpec(machinery, definition, draft, current);
  }
  const errors = validateChange(machinery, target, draft, current);
  if (errors.length > 0) throw invalid(definition, name, errors);
  return commit(machinery, definition, current, draft, call);
}

/** Facts about an object that no writer changes. */
function keepIdentity(meta: JsonObject, current: StoredObject): void {
  const before = current.metadata as unknown as JsonObject;
  for (const key of [
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
  ]) {
    if (before[key] === undefined) delete meta[key];
    else meta[key] = before[key];
  }
  delete meta['selfLink'];
}

/** Ownership is only kept for objects that were applied server-side; see patch/apply.ts. */
function trackOwners(
  machinery: Machinery,
  target: UpdateTarget,
  current: StoredObject,
  draft: JsonObject,
  call: WriteCall,
): void {
  const meta = objectAt(draft, 'metadata');
  if (call.managedFields !== undefined) meta['managedFields'] = call.managedFields;
  else if ('managedFields' in current.metadata) {
    const { definition, subresource } = target;
    meta['managedFields'] = ownersAfterUpdate(
      definition,
      current,
      draft,
      call.fieldManager ?? call.agent ?? 'unknown',
      subresource,
      machinery.around.timestamp(),
    );
  } else delete meta['managedFields'];
}

function prepareStatus(definition: ResourceDefinition, draft: JsonObject, current: StoredObject): void {
  if (definition.custom !== undefined) {
    // Of a custom object only the status may change here.
    const status = draft['status'];
    const { managedFields } = objectAt(draft, 'metadata');
    for (const key of Object.keys(draft)) delete draft[key];
    Object.assign(draft, current, {
      metadata: { ...thaw(current.metadata), ...(managedFields !== undefined && { managedFields }) },
    });
    if (status === undefined) delete draft['status'];
    else draft['status'] = status;
    return;
  }
  if (definition.strategy.prepareStatus !== undefined) definition.strategy.prepareStatus(draft, current);
  else if (current['spec'] !== undefined) draft['spec'] = current['spec'];
}

/** Of a running pod, these subresources change one thing each. */
function keepAllBut(subresource: 'resize' | 'ephemeralcontainers', draft: JsonObject, current: StoredObject): void {
  const wanted = objectAt(draft, 'spec');
  const spec = thaw(objectAt(current as JsonObject, 'spec'));
  if (subresource === 'ephemeralcontainers') {
    if (wanted['ephemeralContainers'] !== undefined) spec['ephemeralContainers'] = wanted['ephemeralContainers'];
  } else {
    for (const list of ['containers', 'initContainers']) {
      for (const container of listAt(spec, list)) {
        const twin = listAt(wanted, list).find((other) => other['name'] === container['name']);
        if (twin?.['resources'] !== undefined) container['resources'] = twin['resources'];
      }
    }
  }
  draft['spec'] = spec;
}

function prepareSpec(
  machinery: Machinery,
  definition: ResourceDefinition,
  draft: JsonObject,
  current: StoredObject,
): void {
  const { strategy } = definition;
  strategy.prepareUpdate?.(draft, current, machinery.around);
  if (definition.custom !== undefined && definition.subresources.includes('status')) {
    if (current['status'] === undefined) delete draft['status'];
    else draft['status'] = current['status'];
  }
  if (strategy.generation !== true) return;
  if (countsAsChange(definition, draft, current)) {
    objectAt(draft, 'metadata')['generation'] = (current.metadata.generation ?? 0) + 1;
  }
}

/** Custom kinds count everything but metadata and (where it is separate) status; built-in ones their spec. */
function countsAsChange(definition: ResourceDefinition, draft: JsonObject, current: StoredObject): boolean {
  if (definition.custom !== undefined) {
    const body = ({ metadata: _m, status, ...rest }: JsonObject): JsonObject =>
      definition.subresources.includes('status') ? rest : { ...rest, status };
    return !isIdentical(body(draft), body(current));
  }
  if (
    definition.kind === 'Deployment' &&
    !isIdentical(objectAt(draft, 'metadata')['annotations'], current.metadata.annotations)
  )
    return true;
  const key = definition.kind === 'PodTemplate' ? 'template' : 'spec';
  return !isIdentical(draft[key], current[key]);
}

function validateChange(
  machinery: Machinery,
  target: UpdateTarget,
  draft: JsonObject,
  current: StoredObject,
): FieldError[] {
  const { definition, subresource } = target;
  const { strategy } = definition;
  const errors = [
    ...validateMetadata(draft, strategy.nameRule ?? isSubdomain, definition.custom === undefined),
    ...validateMetadataUpdate(draft, current),
  ];
  if (subresource === 'status') errors.push(...(strategy.validateStatus?.(draft, current) ?? []));
  else if (subresource === undefined) {
    if (!isIdentical(draft['spec'], current['spec']) || draft['spec'] === undefined)
      errors.push(...(strategy.validate?.(draft, machinery.around) ?? []));
    errors.push(...(strategy.validateUpdate?.(draft, current, machinery.around) ?? []));
  }
  const custom = definition.custom?.validate(draft, current) ?? [];
  errors.push(...(subresource === 'status' ? custom.map(asSeenFromStatus) : custom));
  return errors;
}

/** A status is validated by itself, so messages do not repeat where it hangs. */
const asSeenFromStatus = (error: FieldError): FieldError => ({
  ...error,
  message: error.message.replace(/\bstatus\.(\S+ in body )/, '$1'),
});

/** Stores a changed object; an unchanged one keeps its version, a released one goes. */
export function commit(
  machinery: Machinery,
  definition: ResourceDefinition,
  current: StoredObject,
  draft: JsonObject,
  call: WriteCall,
): StoredObject {
  const { store } = machinery;
  const next = share(current, draft) as StoredObject;
  if (next === current) return current;
  if (isReleased(definition, next)) {
    if (call.dryRun === true) return freeze(next);
    // Watchers must see the state it had when it went.
    return store.remove(collectionOf(definition), freeze(next));
  }
  return call.dryRun === true ? freeze(next) : store.put(collectionOf(definition), next);
}

/** Being deleted, with nothing left to wait for. */
export function isReleased(definition: ResourceDefinition, object: JsonObject): boolean {
  const meta = objectAt(object, 'metadata');
  if (meta['deletionTimestamp'] === undefined) return false;
  if (listAt(meta, 'finalizers').length > 0) return false;
  if (Number(meta['deletionGracePeriodSeconds'] ?? 0) > 0) return false;
  return definition.kind !== 'Namespace' || listAt(objectAt(object, 'spec'), 'finalizers').length === 0;
}
