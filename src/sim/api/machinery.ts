// What every verb works on: the store, the registry and the clock, plus the options of one call.
import { type Clock, formatTime } from '../../base/index.ts';
import type { Store } from '../store/store.ts';
import { keyOf, type StoredObject } from '../store/stored-object.ts';
import { collectionOf, type ResourceDefinition, type Surroundings } from './definition.ts';
import type { Registry } from './registry.ts';
import { notFound } from './status.ts';

export interface Machinery {
  store: Store;
  registry: Registry;
  clock: Clock;
  around: Surroundings;
}

export interface WriteCall {
  dryRun?: boolean;
  /** As the client named itself. */
  fieldManager?: string;
  /** What to call it otherwise. */
  agent?: string;
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  /** Who owns which field, when server-side apply has worked it out. */
  managedFields?: unknown;
  /** Receives warnings for the client, which do not refuse the request. */
  warn?(text: string): void;
}

export function surroundings(store: Store, clock: Clock): Surroundings {
  return {
    nowMs: () => clock.now(),
    timestamp: () => formatTime(clock.now()),
    suffix: () => store.identity.suffix(),
    uid: () => store.identity.uid(),
    get: (collection, namespace, name) => store.collection(collection).objects.get(keyOf(namespace, name)),
    list: (collection, namespace) =>
      store.collection(collection).objects.values(namespace === undefined ? '' : `${namespace}/`),
  };
}

export function find(
  { store }: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
): StoredObject | undefined {
  return store
    .collection(collectionOf(definition))
    .objects.get(keyOf(definition.namespaced ? namespace : undefined, name));
}

export function get(
  machinery: Machinery,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
): StoredObject {
  const object = find(machinery, definition, namespace, name);
  if (object === undefined) throw notFound(definition, name);
  return object;
}
