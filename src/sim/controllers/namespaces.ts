// What belongs to every namespace (its default service account), and the end of a namespace: everything in it is deleted
// first.

import { isKubeError } from '../../ports/index.ts';
import { collectionOf, type ResourceDefinition } from '../api/definition.ts';
import { find, type Machinery } from '../api/machinery.ts';
import { create } from '../api/verbs/create.ts';
import { remove } from '../api/verbs/delete.ts';
import { type JsonObject, thaw } from '../json.ts';

export function runNamespaces(machinery: Machinery): () => void {
  const { store, registry, clock, around } = machinery;
  const accounts = registry.find('', 'v1', 'serviceaccounts') as ResourceDefinition;

  const addDefaults = (namespace: string): void => {
    const object = around.get('namespaces', undefined, namespace);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
    if (find(machinery, accounts, namespace, 'default') === undefined) {
      create(machinery, accounts, namespace, { metadata: { name: 'default' } }, {});
    }
  };

  const clear = (name: string): void => {
    const namespace = around.get('namespaces', undefined, name);
    if (namespace?.metadata.deletionTimestamp === undefined) return;
    let left = 0;
    for (const resource of uniqueByCollection(registry.all())) {
      for (const object of around.list(collectionOf(resource), name)) {
        if (object.metadata.deletionTimestamp === undefined)
          remove(machinery, resource, name, object.metadata.name, {});
        if (find(machinery, resource, name, object.metadata.name) !== undefined) left += 1;
      }
    }
    // What has finalizers or grace left wakes us by its own deletion.
    if (left > 0) return;
    const draft = thaw(namespace) as JsonObject;
    draft['spec'] = {};
    if ((namespace.metadata.finalizers ?? []).length > 0) store.put('namespaces', draft);
    else store.remove('namespaces', namespace);
  };

  // Several changes at one instant are one piece of work.
  const pending = new Set<string>();
  const clearSoon = (name: string): void => {
    if (pending.has(name)) return;
    pending.add(name);
    clock.after(0, () => {
      pending.delete(name);
      try {
        clear(name);
      } catch (thrown) {
        // Something in it was changed or went in between: that change, or the next turn, finishes the work.
        if (!isKubeError(thrown)) throw thrown;
        clearSoon(name);
      }
    });
  };

  for (const namespace of around.list('namespaces')) addDefaults(namespace.metadata.name);
  return store.listen((collection, previous, object, deleted) => {
    if (collection === 'namespaces') {
      if (deleted) return;
      const { name } = object.metadata;
      if (object.metadata.deletionTimestamp !== undefined) clearSoon(name);
      // The account must be there before anyone can answer: pods are refused without it.
      else if (previous === undefined) addDefaults(name);
      return;
    }
    const { namespace } = object.metadata;
    if (namespace === undefined) return;
    if (deleted && isTerminating(machinery, namespace)) clearSoon(namespace);
    if (deleted && collection === 'serviceaccounts' && object.metadata.name === 'default')
      clock.after(0, () => addDefaults(namespace));
  });
}

const isTerminating = ({ around }: Machinery, name: string): boolean =>
  around.get('namespaces', undefined, name)?.metadata.deletionTimestamp !== undefined;

function uniqueByCollection(resources: ResourceDefinition[]): ResourceDefinition[] {
  const seen = new Map<string, ResourceDefinition>();
  for (const resource of resources) if (resource.namespaced) seen.set(collectionOf(resource), resource);
  return [...seen.values()];
}
