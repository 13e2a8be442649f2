// Events under their newer name, events.k8s.io/v1: the same objects as those of the core group with a few fields called
// otherwise. They are stored once, under the old names; whoever asks by the new name reads and writes the new ones.
import { formatMicroTime, parseTime } from '../../base/index.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';

const newNames: Readonly<Record<string, string>> = {
  involvedObject: 'regarding',
  message: 'note',
  reportingComponent: 'reportingController',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
};
const oldNames: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(newNames).map(([old, renamed]) => [renamed, old]),
);

export const renamedEventsPath = { group: 'events.k8s.io', version: 'v1', plural: 'events' };

/**
 * The newer kind demands an `eventTime`, which events written by the old name do without. A real server shows null then, and
 * models made from the schema (the official Python client's) fail on it; here it is when the event was first seen.
 */
export function withNewNames(object: StoredObject): StoredObject {
  const shown = { ...(renamed(object, newNames) as StoredObject), apiVersion: 'events.k8s.io/v1' };
  if ((object['eventTime'] ?? null) !== null) return shown;
  const seen = parseTime(String(object['firstTimestamp'] ?? object.metadata.creationTimestamp ?? ''));
  return seen === undefined ? shown : { ...shown, eventTime: formatMicroTime(seen) };
}

/** Also for a merge patch, which names only what it changes. */
export function withOldNames(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { apiVersion, ...rest } = renamed(body, oldNames);
  return apiVersion === undefined ? rest : { ...rest, apiVersion: 'v1' };
}

/** A JSON patch names fields by paths. */
export function withOldPaths(patch: unknown): unknown {
  if (!Array.isArray(patch)) return patch;
  return patch.map((step: unknown) => (isObject(step) ? { ...step, ...oldPaths(step) } : step));
}

function oldPaths(step: JsonObject): JsonObject {
  const paths: JsonObject = {};
  for (const key of ['path', 'from']) {
    const [, first = '', ...rest] = String(step[key] ?? '').split('/');
    if (oldNames[first] !== undefined) paths[key] = ['', oldNames[first], ...rest].join('/');
  }
  return paths;
}

/** `regarding.name=web` asks for what the old name calls `involvedObject.name`. */
export function withOldFields(selector: string | undefined): string | undefined {
  return selector
    ?.split(',')
    .map((term) => {
      const name = /^[A-Za-z]+/.exec(term)?.[0] ?? '';
      return oldNames[name] === undefined ? term : oldNames[name] + term.slice(name.length);
    })
    .join(',');
}

function renamed(object: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [Object.hasOwn(names, key) ? (names[key] as string) : key, value]),
  );
}
