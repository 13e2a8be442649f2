// An object as the store keeps it: complete metadata, frozen.
import { objectKey } from '../../base/index.ts';
import type { KubeObject, ObjectMeta } from '../../ports/index.ts';
import type { JsonObject } from '../json.ts';

export interface StoredMeta extends ObjectMeta {
  name: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
}

export interface StoredObject extends KubeObject, JsonObject {
  apiVersion: string;
  kind: string;
  metadata: StoredMeta;
}

/** Where an object stands in its collection; sorts as the real store does. */
export const keyOf = objectKey;
