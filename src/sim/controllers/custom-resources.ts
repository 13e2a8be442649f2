// Serves what CustomResourceDefinitions ask for, and clears away what a deleted one leaves behind.
import { establish, resourcesOf } from '../api/custom-resources.ts';
import { collectionOf, type ResourceDefinition } from '../api/definition.ts';
import type { Machinery } from '../api/machinery.ts';
import { customResourceCleanup, remove } from '../api/verbs/delete.ts';
import { type JsonObject, listAt, objectAt, thaw } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';

const crds = 'customresourcedefinitions.apiextensions.k8s.io';

export function runCustomResources(machinery: Machinery): () => void {
  const { store, registry, clock, around } = machinery;

  const serve = (crd: StoredObject): void => {
    const resources = resourcesOf(crd);
    const [first] = resources;
    if (first !== undefined) registry.remove(first.group, first.plural);
    for (const resource of resources) registry.add(resource);
  };

  const settle = (name: string): void => {
    const crd = around.get(crds, undefined, name);
    if (crd === undefined) return;
    if (crd.metadata.deletionTimestamp !== undefined) {
      clear(crd);
      return;
    }
    if (listAt(objectAt(crd, 'status'), 'conditions').length > 0) return;
    const draft = thaw(crd) as JsonObject;
    establish(draft, around.timestamp());
    store.put(crds, draft);
  };

  const clear = (crd: StoredObject): void => {
    const [resource] = resourcesOf(crd);
    if (resource !== undefined && !emptied(resource)) {
      clock.after(100, () => settle(crd.metadata.name));
      return;
    }
    const draft = thaw(crd) as JsonObject;
    const meta = objectAt(draft, 'metadata');
    meta['finalizers'] = listAt<string>(meta, 'finalizers').filter((finalizer) => finalizer !== customResourceCleanup);
    if (listAt(meta, 'finalizers').length === 0) store.remove(crds, crd);
    else store.put(crds, draft);
  };

  /** Deletes what is there; true when nothing is left. */
  const emptied = (resource: ResourceDefinition): boolean => {
    const objects = [...around.list(collectionOf(resource))];
    for (const { metadata } of objects) {
      if (metadata.deletionTimestamp === undefined) remove(machinery, resource, metadata.namespace, metadata.name, {});
    }
    return store.collection(collectionOf(resource)).objects.size === 0;
  };

  for (const crd of around.list(crds)) serve(crd);
  return store.listen((collection, _previous, object, deleted) => {
    if (collection !== crds) return;
    if (deleted) {
      const [first] = resourcesOf(object);
      if (first !== undefined) registry.remove(first.group, first.plural);
      return;
    }
    if (object.metadata.deletionTimestamp === undefined) serve(object);
    clock.after(0, () => settle(object.metadata.name));
  });
}
