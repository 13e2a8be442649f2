// Listing: a consistent view of a collection at one revision, read object by object so that a caller can stream it.
import type { SortedMap } from '../../store/sorted-map.ts';
import { keyOf, type StoredObject } from '../../store/stored-object.ts';
import { collectionOf, type ResourceDefinition } from '../definition.ts';
import { forbiddenField } from '../field-error.ts';
import type { Machinery } from '../machinery.ts';
import { type FieldSelector, type LabelMatcher, parseFieldSelector, parseLabelSelector } from '../selectors.ts';
import { badRequest, expired, invalid, StatusError, tooLargeVersion } from '../status.ts';

export interface Selection {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
}

export interface ListCall extends Selection {
  limit?: number | undefined;
  continue?: string | undefined;
  resourceVersion?: string | undefined;
  resourceVersionMatch?: string | undefined;
}

export interface Listing {
  revision: number;
  /** The objects of this page, in order. To be read once. */
  objects: Iterable<StoredObject>;
  /** Known when `objects` has been read to the end. */
  rest(): { continue?: string; remainingItemCount?: number };
}

export interface Selector {
  prefix: string;
  /** Absent: everything under the prefix. */
  matches: ((object: StoredObject) => boolean) | undefined;
  name: string | undefined;
}

const listOptions = { group: 'meta.k8s.io', plural: 'listoptions', kind: 'ListOptions' };

export function selectorOf(definition: ResourceDefinition, call: Selection): Selector {
  const labels: LabelMatcher | undefined = parseLabelSelector(call.labelSelector);
  const fields: FieldSelector | undefined = parseFieldSelector(call.fieldSelector, definition.fields, (field) =>
    unsupportedField(definition, field),
  );
  const matches =
    labels === undefined && fields === undefined
      ? undefined
      : (object: StoredObject): boolean =>
          (labels === undefined || labels(object.metadata.labels)) && (fields === undefined || fields.matches(object));
  const prefix = definition.namespaced && call.namespace !== undefined ? `${call.namespace}/` : '';
  return { prefix, matches, name: fields?.name };
}

/** Kinds with fields of their own name only the field; the others say what is possible. */
function unsupportedField(definition: ResourceDefinition, field: string): string {
  const own = Object.keys(definition.fields).some((key) => !key.startsWith('metadata.'));
  if (definition.custom !== undefined || own) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

export function list(machinery: Machinery, definition: ResourceDefinition, call: ListCall): Listing {
  const { store } = machinery;
  const selector = selectorOf(definition, call);
  const collection = store.collection(collectionOf(definition));
  const limit = call.limit ?? 0;
  if (limit < 0) throw badRequest(`limit must not be negative, not ${limit}`);
  validateVersions(call);
  const token = call.continue === undefined || call.continue === '' ? undefined : readToken(call.continue);
  const exact = call.resourceVersionMatch === 'Exact' || (limit > 0 && call.resourceVersionMatch === undefined);
  let revision = store.revision;
  const asked = Number(call.resourceVersion ?? 0);
  if (token !== undefined && token.revision > 0) revision = token.revision;
  else if (asked > store.revision) throw tooLargeVersion(asked, store.revision);
  else if (asked > 0 && exact) revision = asked;
  if (revision < collection.oldest) {
    if (token === undefined) throw expired('The resourceVersion for the provided list is too old.');
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
      writeToken({ revision: -1, after: token.after }),
    );
  }
  const objects = collection.at(revision);
  if (selector.name !== undefined && limit === 0 && (selector.prefix !== '' || !definition.namespaced)) {
    const one = objects.get(keyOf(definition.namespaced ? call.namespace : undefined, selector.name));
    const found = one !== undefined && selector.matches?.(one) !== false ? [one] : [];
    return { revision, objects: found, rest: () => ({}) };
  }
  return page(objects, revision, selector, limit, token?.after ?? '');
}

function page(
  objects: SortedMap<StoredObject>,
  revision: number,
  selector: Selector,
  limit: number,
  after: string,
): Listing {
  const { prefix, matches } = selector;
  let next: StoredObject | undefined;
  let last: StoredObject | undefined;
  let passed = 0;
  function* read(): Generator<StoredObject> {
    let count = 0;
    for (const object of objects.values(prefix, after)) {
      if (matches !== undefined && !matches(object)) continue;
      if (limit > 0 && count === limit) {
        next = object;
        return;
      }
      count += 1;
      passed += 1;
      last = object;
      yield object;
    }
  }
  return {
    revision,
    objects: read(),
    rest() {
      if (next === undefined || last === undefined) return {};
      const token = writeToken({ revision, after: keyOf(last.metadata.namespace, last.metadata.name) });
      // Counting what is left is only cheap when everything counts.
      if (matches !== undefined) return { continue: token };
      let before = 0;
      if (prefix === '' && after === '') return { continue: token, remainingItemCount: objects.size - passed };
      for (const _ of objects.values(prefix, keyOf(last.metadata.namespace, last.metadata.name))) before += 1;
      return { continue: token, remainingItemCount: before };
    },
  };
}

function validateVersions(call: ListCall): void {
  const { resourceVersion: version = '', resourceVersionMatch: match } = call;
  if (call.continue && version !== '' && version !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (match !== undefined) {
    if (version === '') {
      throw invalid(listOptions, '', [
        forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      ]);
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      throw invalid(listOptions, '', [
        {
          reason: 'FieldValueNotSupported',
          field: 'resourceVersionMatch',
          message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
        },
      ]);
    }
    if (match === 'Exact' && version === '0') {
      throw invalid(listOptions, '', [
        forbiddenField('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      ]);
    }
  }
  parseVersion(version);
}

export function parseVersion(version: string): number {
  if (version === '') return 0;
  if (!/^\d{1,15}$/.test(version)) {
    throw new StatusError(
      500,
      '',
      `resourceVersion: Invalid value: ${JSON.stringify(version)}: strconv.ParseUint: parsing ${JSON.stringify(version)}: invalid syntax`,
    );
  }
  return Number(version);
}

interface Token {
  /** -1: continue inconsistently with the present. */
  revision: number;
  after: string;
}

const writeToken = ({ revision, after }: Token): string =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${after}\0` })).toString('base64url');

function readToken(text: string): Token {
  try {
    const { v, rv, start } = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as {
      v: string;
      rv: number;
      start: string;
    };
    if (v !== 'meta.k8s.io/v1' || !Number.isInteger(rv) || typeof start !== 'string') throw new Error('malformed');
    return { revision: rv, after: start.replace(/\0$/, '') };
  } catch {
    throw badRequest('invalid continue token: continue key is not valid: not a token of this server');
  }
}
