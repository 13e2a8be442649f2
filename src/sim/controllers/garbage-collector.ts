// Garbage collection by ownerReferences: dependents of a vanished owner go (background), an owner in foreground deletion
// waits for the dependents that block it, an orphaning owner lets its dependents go free first.
//
// 1. An index from owner uid to dependents follows every change; nothing is ever searched for.
// 2. Work is done in a later turn, never inside the change that caused it.

import { isKubeError } from '../../ports/index.ts';
import type { ResourceDefinition } from '../api/definition.ts';
import type { Machinery } from '../api/machinery.ts';
import { remove } from '../api/verbs/delete.ts';
import { replaceCurrent } from '../api/verbs/update.ts';
import { type JsonObject, objectAt, thaw } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { keyOf } from '../store/stored-object.ts';

interface Place {
  collection: string;
  key: string;
}

export function runGarbageCollector(machinery: Machinery): () => void {
  const { store, registry, clock } = machinery;
  const places = new Map<string, Place>();
  const dependents = new Map<string, Set<string>>();
  const pending = new Set<string>();

  const objectOf = (uid: string): StoredObject | undefined => {
    const place = places.get(uid);
    const object = place === undefined ? undefined : store.collection(place.collection).objects.get(place.key);
    return object?.metadata.uid === uid ? object : undefined;
  };
  const definitionOf = (uid: string): ResourceDefinition | undefined => {
    const place = places.get(uid);
    return place === undefined ? undefined : registry.findCollection(place.collection);
  };

  const index = (
    collection: string,
    previous: StoredObject | undefined,
    object: StoredObject,
    deleted: boolean,
  ): void => {
    const { uid } = object.metadata;
    if (previous !== undefined && previous.metadata.uid === uid) {
      if (!deleted && previous.metadata.ownerReferences === object.metadata.ownerReferences) return;
      for (const owner of previous.metadata.ownerReferences ?? []) {
        const set = dependents.get(owner.uid);
        set?.delete(uid);
        if (set?.size === 0) dependents.delete(owner.uid);
      }
    }
    if (deleted) {
      places.delete(uid);
      return;
    }
    places.set(uid, { collection, key: keyOf(object.metadata.namespace, object.metadata.name) });
    for (const owner of object.metadata.ownerReferences ?? []) {
      let set = dependents.get(owner.uid);
      if (set === undefined) {
        set = new Set();
        dependents.set(owner.uid, set);
      }
      set.add(uid);
    }
  };

  const soon = (uid: string): void => {
    if (pending.has(uid)) return;
    pending.add(uid);
    if (pending.size === 1) clock.after(0, drain);
  };

  const drain = (): void => {
    for (const uid of pending) {
      pending.delete(uid);
      try {
        collect(uid);
      } catch (thrown) {
        // Someone else was quicker; the change they made brings us back.
        if (!isKubeError(thrown)) throw thrown;
      }
    }
  };

  const collect = (uid: string): void => {
    const object = objectOf(uid);
    const definition = definitionOf(uid);
    if (object === undefined || definition === undefined) {
      for (const dependent of dependents.get(uid) ?? []) soon(dependent);
      return;
    }
    const finalizers = object.metadata.finalizers ?? [];
    if (object.metadata.deletionTimestamp !== undefined) {
      if (finalizers.includes('orphan')) orphanDependents(object, definition);
      else if (finalizers.includes('foregroundDeletion')) deleteDependents(object, definition);
      return;
    }
    releaseFromMissingOwners(object, definition);
  };

  const releaseFromMissingOwners = (object: StoredObject, definition: ResourceDefinition): void => {
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const present = owners.filter((owner) => objectOf(owner.uid) !== undefined);
    const waiting = present.filter((owner) => {
      const { deletionTimestamp, finalizers = [] } = (objectOf(owner.uid) as StoredObject).metadata;
      return deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion');
    });
    const { namespace, name, uid } = object.metadata;
    if (present.length === waiting.length) {
      const policy = waiting.length > 0 && (dependents.get(uid)?.size ?? 0) > 0 ? 'Foreground' : 'Background';
      remove(machinery, definition, namespace, name, { propagationPolicy: policy, preconditions: { uid } });
    } else if (present.length < owners.length) {
      edit(object, definition, (meta) => {
        meta['ownerReferences'] = present;
      });
    }
  };

  const orphanDependents = (owner: StoredObject, definition: ResourceDefinition): void => {
    for (const uid of dependents.get(owner.metadata.uid) ?? []) {
      const dependent = objectOf(uid);
      const kind = definitionOf(uid);
      if (dependent === undefined || kind === undefined) continue;
      edit(dependent, kind, (meta) => {
        const rest = (dependent.metadata.ownerReferences ?? []).filter(
          (reference) => reference.uid !== owner.metadata.uid,
        );
        if (rest.length > 0) meta['ownerReferences'] = rest;
        else delete meta['ownerReferences'];
      });
    }
    dropFinalizer(owner, definition, 'orphan');
  };

  const deleteDependents = (owner: StoredObject, definition: ResourceDefinition): void => {
    let blocking = 0;
    for (const uid of dependents.get(owner.metadata.uid) ?? []) {
      const dependent = objectOf(uid);
      if (dependent === undefined) continue;
      const reference = (dependent.metadata.ownerReferences ?? []).find(
        (candidate) => candidate.uid === owner.metadata.uid,
      );
      if (reference?.blockOwnerDeletion === true) blocking += 1;
      if (dependent.metadata.deletionTimestamp === undefined) soon(uid);
    }
    if (blocking === 0) dropFinalizer(owner, definition, 'foregroundDeletion');
  };

  const dropFinalizer = (object: StoredObject, definition: ResourceDefinition, finalizer: string): void =>
    edit(object, definition, (meta) => {
      const rest = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
      if (rest.length > 0) meta['finalizers'] = rest;
      else delete meta['finalizers'];
    });

  const edit = (object: StoredObject, definition: ResourceDefinition, change: (meta: JsonObject) => void): void => {
    const draft = thaw(object) as JsonObject;
    change(objectAt(draft, 'metadata'));
    replaceCurrent(
      machinery,
      { definition, namespace: object.metadata.namespace, name: object.metadata.name },
      object,
      draft,
      {},
    );
  };

  for (const [id, collection] of store.collections()) {
    for (const object of collection.objects.values()) index(id, undefined, object, false);
  }
  for (const uid of dependents.keys()) if (!places.has(uid)) soon(uid);
  return store.listen((collection, previous, object, deleted) => {
    index(collection, previous, object, deleted);
    const { uid, ownerReferences, deletionTimestamp } = object.metadata;
    if (deleted) {
      if (dependents.has(uid)) soon(uid);
      // A foreground owner may have waited for this one.
      for (const owner of ownerReferences ?? [])
        if (objectOf(owner.uid)?.metadata.deletionTimestamp !== undefined) soon(owner.uid);
      return;
    }
    if (deletionTimestamp !== undefined && previous?.metadata.deletionTimestamp === undefined) soon(uid);
    else if (ownerReferences !== undefined && ownerReferences !== previous?.metadata.ownerReferences) soon(uid);
  });
}
