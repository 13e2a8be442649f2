// Deleting: preconditions, grace, finalizers and what becomes of dependents. An object with something to wait for only
// gets a deletionTimestamp; the verb that takes the last reason away removes it.
import { formatTime } from '../../../base/index.ts';
import { freeze, type JsonObject, listAt, objectAt, stringAt, thaw } from '../../json.ts';
import type { StoredObject } from '../../store/stored-object.ts';
import { collectionOf, type ResourceDefinition } from '../definition.ts';
import { invalidValue, notSupported } from '../field-error.ts';
import { get, type Machinery } from '../machinery.ts';
import { badRequest, conflict, forbidden, invalid } from '../status.ts';
import { commit, isReleased } from './update.ts';

export interface DeleteCall {
  gracePeriodSeconds?: number | undefined;
  propagationPolicy?: string | undefined;
  orphanDependents?: boolean | undefined;
  preconditions?: { uid?: string | undefined; resourceVersion?: string | undefined } | undefined;
  dryRun?: boolean | undefined;
}

export interface Deleted {
  /** Gone, or only marked. */
  gone: boolean;
  object: StoredObject;
}

/** Held by a definition while its objects are deleted. */
export const customResourceCleanup = 'customresourcecleanup.apiextensions.k8s.io';
const policies = ['Background', 'Foreground', 'Orphan'];
const deleteOptions = { group: 'meta.k8s.io', plural: 'deleteoptions', kind: 'DeleteOptions' };
/** Namespaces without which there is no cluster. */
const immortalNamespaces = new Set(['default', 'kube-system', 'kube-public']);

export function remove(
  machinery: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
  call: DeleteCall,
): Deleted {
  validateCall(call);
  if (definition.kind === 'Namespace' && definition.group === '' && immortalNamespaces.has(name)) {
    throw forbidden(definition, name, 'this namespace may not be deleted');
  }
  const current = get(machinery, definition, namespace, name);
  checkPreconditions(definition, current, call);
  const graceSeconds = definition.kind === 'Pod' && definition.group === '' ? podGraceSeconds(current, call) : 0;
  const draft = thaw(current) as JsonObject;
  const meta = objectAt(draft, 'metadata');
  const finalizers = finalizersFor(listAt<string>(meta, 'finalizers'), call);
  if (finalizers.length > 0) meta['finalizers'] = finalizers;
  else delete meta['finalizers'];
  mark(machinery, definition, current, draft, graceSeconds);
  if (isReleased(definition, draft)) {
    return { gone: true, object: vanish(machinery, definition, current, draft, call.dryRun === true) };
  }
  return { gone: false, object: commit(machinery, definition, current, draft, { dryRun: call.dryRun === true }) };
}

/** A pod is marked before it goes, also when it goes at once: watchers see both. */
function vanish(
  machinery: Machinery,
  definition: ResourceDefinition,
  current: StoredObject,
  draft: JsonObject,
  dryRun: boolean,
): StoredObject {
  const { store } = machinery;
  const collection = collectionOf(definition);
  const isPod = definition.kind === 'Pod' && definition.group === '';
  if (dryRun) return isPod ? freeze(draft as StoredObject) : current;
  return store.remove(collection, isPod ? store.put(collection, draft) : current);
}

function validateCall(call: DeleteCall): void {
  const { propagationPolicy: policy } = call;
  if (policy !== undefined && !policies.includes(policy)) {
    throw invalid(deleteOptions, '', [
      notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']),
    ]);
  }
  if (policy !== undefined && call.orphanDependents !== undefined) {
    throw invalid(deleteOptions, '', [
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    ]);
  }
  if (call.gracePeriodSeconds !== undefined && !Number.isInteger(call.gracePeriodSeconds)) {
    throw badRequest(`gracePeriodSeconds must be a whole number of seconds, not ${String(call.gracePeriodSeconds)}`);
  }
}

function checkPreconditions(
  definition: ResourceDefinition,
  current: StoredObject,
  { preconditions }: DeleteCall,
): void {
  const { name, uid, resourceVersion } = current.metadata;
  const subject = { ...definition, plural: definition.kind };
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) {
    throw conflict(
      subject,
      name,
      `the UID in the precondition (${preconditions.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== resourceVersion) {
    throw conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${preconditions.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

/** A pod no one runs needs no grace. */
function podGraceSeconds(pod: StoredObject, call: DeleteCall): number {
  const spec = objectAt(pod, 'spec');
  const phase = stringAt(objectAt(pod, 'status'), 'phase');
  const asked = call.gracePeriodSeconds ?? Number(spec['terminationGracePeriodSeconds'] ?? 30);
  const period = asked < 0 ? 1 : asked;
  return stringAt(spec, 'nodeName') === '' || phase === 'Succeeded' || phase === 'Failed' ? 0 : period;
}

function finalizersFor(finalizers: string[], call: DeleteCall): string[] {
  const policy =
    call.propagationPolicy ??
    (call.orphanDependents === true ? 'Orphan' : call.orphanDependents === false ? 'Background' : undefined);
  if (policy === undefined) return finalizers;
  const rest = finalizers.filter((name) => name !== 'orphan' && name !== 'foregroundDeletion');
  if (policy === 'Orphan') return [...rest, 'orphan'];
  return policy === 'Foreground' ? [...rest, 'foregroundDeletion'] : rest;
}

/** Sets the time of deletion, or brings it forward. */
function mark(
  machinery: Machinery,
  definition: ResourceDefinition,
  current: StoredObject,
  draft: JsonObject,
  graceSeconds: number,
): void {
  const meta = objectAt(draft, 'metadata');
  const nowMs = machinery.clock.now();
  const known = current.metadata.deletionGracePeriodSeconds;
  if (current.metadata.deletionTimestamp !== undefined) {
    if (known === undefined || graceSeconds >= known) return;
    const startedMs = Date.parse(current.metadata.deletionTimestamp) - known * 1000;
    meta['deletionTimestamp'] = formatTime(Math.max(startedMs + graceSeconds * 1000, graceSeconds === 0 ? nowMs : 0));
    meta['deletionGracePeriodSeconds'] = graceSeconds;
    return;
  }
  meta['deletionTimestamp'] = formatTime(nowMs + graceSeconds * 1000);
  if (definition.kind === 'CustomResourceDefinition') {
    markDefinition(draft, formatTime(nowMs));
    return;
  }
  meta['deletionGracePeriodSeconds'] = graceSeconds;
  if (meta['generation'] !== undefined) meta['generation'] = Number(meta['generation']) + 1;
  if (definition.kind === 'Namespace' && definition.group === '') {
    draft['status'] = { ...objectAt(draft, 'status'), phase: 'Terminating' };
    delete meta['deletionGracePeriodSeconds'];
  }
}

/** Its objects go first; the definition waits and says so meanwhile. */
function markDefinition(draft: JsonObject, time: string): void {
  const meta = objectAt(draft, 'metadata');
  meta['finalizers'] = [...new Set([...listAt<string>(meta, 'finalizers'), customResourceCleanup])];
  const status = objectAt(draft, 'status');
  const conditions = listAt(status, 'conditions').filter((condition) => condition['type'] !== 'Terminating');
  status['conditions'] = [
    ...conditions,
    {
      type: 'Terminating',
      status: 'True',
      lastTransitionTime: time,
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
  ];
}
