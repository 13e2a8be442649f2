// What a served resource is, as data plus the few functions that differ from kind to kind. Built-in kinds are listed in
// kinds/; custom ones are made from a CustomResourceDefinition (custom-resources.ts).

import type { NameRule } from '../../api/index.ts';
import type { JsonObject } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { FieldError } from './field-error.ts';
import type { FieldReader } from './selectors.ts';

export type SubresourceName =
  | 'status'
  | 'scale'
  | 'eviction'
  | 'binding'
  | 'finalize'
  | 'ephemeralcontainers'
  | 'resize';

export interface TableColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  /** Above zero: only in wide output. */
  priority?: number;
}

export interface TableLayout {
  /** An empty list has no rows, `null`, rather than an empty list of them. */
  nullIfEmpty?: true;
  columns: TableColumn[];
  /** One cell per column; `nowMs` for ages. */
  cells(object: JsonObject, nowMs: number): unknown[];
}

/** What a strategy may ask of the cluster while it prepares an object. */
export interface Surroundings {
  nowMs(): number;
  /** Now, as metadata shows it. */
  timestamp(): string;
  suffix(): string;
  uid(): string;
  get(collection: string, namespace: string | undefined, name: string): StoredObject | undefined;
  list(collection: string, namespace?: string): Iterable<StoredObject>;
}

/** How a kind's objects are made, changed and checked. Drafts may be changed in place; stored objects never. */
export interface Strategy {
  nameRule?: NameRule;
  /** Whether `metadata.generation` counts changes of the spec. */
  generation?: boolean;
  /** PUT of a name that does not exist creates it. */
  createOnUpdate?: boolean;
  /** False: an update must carry a resourceVersion. */
  unconditionalUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. */
  returnsDeleted?: boolean;
  /** Fills in what the API promises when a field is left out. */
  defaults?(draft: JsonObject): void;
  /** Admission: what the cluster adds or refuses, depending on its other objects. */
  admit?(draft: JsonObject, around: Surroundings, old: StoredObject | undefined): void;
  prepareCreate?(draft: JsonObject, around: Surroundings): void;
  prepareUpdate?(draft: JsonObject, old: StoredObject, around: Surroundings): void;
  /** Replaces the usual "spec stays, status changes" for the status subresource. */
  prepareStatus?(draft: JsonObject, old: StoredObject): void;
  validate?(object: JsonObject, around: Surroundings): FieldError[];
  validateUpdate?(object: JsonObject, old: StoredObject, around: Surroundings): FieldError[];
  validateStatus?(object: JsonObject, old: StoredObject): FieldError[];
}

/** The parts of a custom resource that a built-in one has as code. */
export interface CustomSchema {
  /** Drops unknown fields in place; returns their paths. */
  prune(draft: JsonObject): string[];
  /** Fills in defaults in place. */
  applyDefaults(draft: JsonObject): void;
  validate(object: JsonObject, old: JsonObject | undefined): FieldError[];
  openApi: JsonObject;
  preservesUnknown: boolean;
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

export interface ResourceDefinition {
  group: string;
  version: string;
  plural: string;
  singular: string;
  kind: string;
  listKind: string;
  namespaced: boolean;
  shortNames: string[];
  categories: string[];
  subresources: SubresourceName[];
  /** What can be done with it, where that is not everything: it is computed, or only asked. */
  verbs?: string[];
  /** Name in data/schemas.json; absent for custom resources. */
  schema?: string;
  custom?: CustomSchema;
  scale?: ScalePaths;
  strategy: Strategy;
  table?: TableLayout;
  fields: Record<string, FieldReader>;
}

/** The collection a resource is kept in: all its versions share one. */
export const collectionOf = (resource: { group: string; plural: string }): string =>
  resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;

export const apiVersionOf = (resource: { group: string; version: string }): string =>
  resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
