// Creating an object: name, identity, defaults, admission, validation, in the API server's order.

import { isSubdomain } from '../../../api/index.ts';
import { freeze, type JsonObject, objectAt, stringAt } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { collectionOf, type ResourceDefinition } from '../definition.ts';
import type { FieldError } from '../field-error.ts';
import { find, type Machinery, type WriteCall } from '../machinery.ts';
import { validateMetadata } from '../metadata.ts';
import { alreadyExists, badRequest, forbidden, invalid, notFound, StatusError } from '../status.ts';
import { decodeBody } from './decode-body.ts';

/** Tries at a free generated name; 27^5 suffixes make even the second rare. */
const nameAttempts = 8;
/** A generated name is cut so that the suffix still fits a label. */
const longestPrefix = 58;

export function create(
  machinery: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  body: unknown,
  call: WriteCall,
): StoredObject {
  const draft = decodeBody(definition, body, call);
  const meta = objectAt(draft, 'metadata');
  settleNamespace(definition, meta, namespace);
  if (stringAt(meta, 'resourceVersion') !== '') {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  checkNamespaceTakesObjects(machinery, definition, meta);
  settleIdentity(machinery, definition, meta);
  if (call.managedFields !== undefined) meta['managedFields'] = call.managedFields;
  return admitAndStore(machinery, definition, draft, call);
}

function settleNamespace(definition: ResourceDefinition, meta: JsonObject, namespace: string | undefined): void {
  const given = stringAt(meta, 'namespace');
  if (!definition.namespaced) {
    if (given !== '')
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    return;
  }
  if (given !== '' && given !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (namespace === undefined)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  meta['namespace'] = namespace;
}

function checkNamespaceTakesObjects(machinery: Machinery, definition: ResourceDefinition, meta: JsonObject): void {
  if (!definition.namespaced) return;
  const name = stringAt(meta, 'namespace');
  const namespace = machinery.around.get('namespaces', undefined, name);
  if (namespace === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, name);
  if (namespace.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
    definition,
    stringAt(meta, 'name'),
    `unable to create new content in namespace ${name} because it is being terminated`,
    [{ reason: 'NamespaceTerminating', message: `namespace ${name} is being terminated`, field: 'metadata.namespace' }],
  );
}

/** What only the server may say about a new object. */
function settleIdentity(machinery: Machinery, definition: ResourceDefinition, meta: JsonObject): void {
  const { around } = machinery;
  for (const key of [
    'selfLink',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'managedFields',
    'resourceVersion',
  ]) {
    delete meta[key];
  }
  meta['creationTimestamp'] = around.timestamp();
  meta['uid'] = around.uid();
  if (definition.strategy.generation === true) meta['generation'] = 1;
  const prefix = stringAt(meta, 'generateName');
  if (stringAt(meta, 'name') === '' && prefix !== '') {
    for (let attempt = 0; attempt < nameAttempts; attempt += 1) {
      meta['name'] = `${prefix.slice(0, longestPrefix)}${around.suffix()}`;
      if (find(machinery, definition, stringAt(meta, 'namespace'), meta['name'] as string) === undefined) break;
    }
  }
}

function admitAndStore(
  machinery: Machinery,
  definition: ResourceDefinition,
  draft: JsonObject,
  call: WriteCall,
): StoredObject {
  const { store, around } = machinery;
  const { strategy } = definition;
  const meta = objectAt(draft, 'metadata');
  strategy.defaults?.(draft);
  strategy.admit?.(draft, around, undefined);
  strategy.prepareCreate?.(draft, around);
  const errors: FieldError[] = [
    ...validateMetadata(draft, strategy.nameRule ?? isSubdomain, definition.custom === undefined),
    ...(strategy.validate?.(draft, around) ?? []),
    ...(definition.custom?.validate(draft, undefined) ?? []),
  ];
  const name = stringAt(meta, 'name');
  if (errors.length > 0) throw invalid(definition, name, errors);
  if (find(machinery, definition, stringAt(meta, 'namespace'), name) !== undefined)
    throw alreadyExists(definition, name);
  if (call.dryRun === true) return freeze(draft) as StoredObject;
  return store.put(collectionOf(definition), draft);
}
