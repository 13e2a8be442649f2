// What two servers' answers have in common once everything that differs from run to run is blanked out, and the short
// list of differences we accept, each with its reason.
import type { Answer } from './exchange.ts';

export interface AcceptedDifference {
  reason: string;
  /** Takes the difference out of an answer, on either side. True if it did. */
  remove(value: Json, path: string[]): boolean;
}

type Json = { [key: string]: unknown };

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const accepted: AcceptedDifference[] = [
  {
    reason: 'ownership (managedFields) is kept only from the first server-side apply on',
    remove: (value, path) => path.at(-1) === 'metadata' && drop(value, 'managedFields'),
  },
  {
    reason: 'no service account tokens are issued, so none is mounted into pods',
    remove(value) {
      if (!Array.isArray(value['containers'])) return false;
      let found = false;
      const isToken = (item: unknown): boolean => isObject(item) && String(item['name']).startsWith('kube-api-access-');
      for (const list of ['volumes', 'containers', 'initContainers']) {
        const items = value[list];
        if (!Array.isArray(items)) continue;
        if (list === 'volumes' && items.some(isToken)) {
          value[list] = items.filter((item) => !isToken(item));
          if ((value[list] as unknown[]).length === 0) delete value[list];
          found = true;
          continue;
        }
        for (const container of items) {
          const mounts = isObject(container) ? container['volumeMounts'] : undefined;
          if (!Array.isArray(mounts) || !mounts.some(isToken)) continue;
          (container as Json)['volumeMounts'] = mounts.filter((item) => !isToken(item));
          if (((container as Json)['volumeMounts'] as unknown[]).length === 0)
            delete (container as Json)['volumeMounts'];
          found = true;
        }
      }
      return found;
    },
  },
  {
    reason: 'columns of tables carry no prose description',
    remove(value, path) {
      if (path.at(-2) !== 'columnDefinitions' || value['description'] === '') return false;
      value['description'] = '';
      return true;
    },
  },
  {
    reason: 'the refusal of a change does not append a dump of both specs',
    remove: (value) => reword(value, /((if it was previously negative\)|for bound claims))[\s\S]*/, '$1'),
  },
  {
    reason: 'objects inside messages are shown as users write them, without ownership and Go names',
    remove: (value) =>
      reword(
        value,
        /(Invalid|Duplicate|Unsupported) value: (\{.*\}|\[\{.*\}\]|"\{.*\}\n?"): /g,
        '$1 value: <object>: ',
      ),
  },
  {
    reason: 'a parser of another language describes malformed input in other words',
    remove: (value) =>
      reword(value, /(json parse error: |continue key is not valid: |error decoding patch: (?!json:)).*/, '$1<parser>'),
  },
  {
    reason: 'of a value that fits none of several schemas, the nearest one is not guessed at',
    remove(value) {
      if (!reword(value, /(must validate at least one schema \(anyOf\)),.*/, '$1]')) return false;
      const details = value['details'] as Json;
      details['causes'] = (details['causes'] as unknown[]).slice(0, 2);
      return true;
    },
  },
  {
    reason: 'discovery has no storage version hashes: nothing here migrates storage',
    remove: (value) => drop(value, 'storageVersionHash'),
  },
  {
    reason: 'built-in priority classes describe themselves in our words',
    remove: (value) =>
      typeof value['preemptionPolicy'] === 'string' && 'globalDefault' in value === false && drop(value, 'description'),
  },
];

function reword(value: Json, pattern: RegExp, replacement: string): boolean {
  const text = value['message'];
  if (typeof text !== 'string') return false;
  value['message'] = text.replace(pattern, replacement);
  return value['message'] !== text;
}

function drop(value: Json, key: string): boolean {
  if (!(key in value)) return false;
  delete value[key];
  return true;
}

/** An answer without what changes from run to run; `used` collects the accepted differences that were met. */
export function comparable(answer: Answer, used: Set<string>): unknown {
  return {
    code: answer.code,
    type: answer.contentType.split(';')[0],
    warnings: answer.warnings,
    body: blank(structuredClone(answer.body), [], used),
  };
}

const uidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

function blank(value: unknown, path: string[], used: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => blank(item, [...path, String(index)], used));
  if (typeof value === 'string') return blankText(value, path);
  if (!isObject(value)) return value;
  for (const difference of accepted) if (difference.remove(value, path)) used.add(difference.reason);
  const prefix = value['generateName'];
  if (typeof prefix === 'string' && typeof value['name'] === 'string' && path.at(-1) === 'metadata') {
    value['name'] = value['name'].replace(/[bcdfghjklmnpqrstvwxz2456789]{5}$/, '<suffix>');
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, blank(item, [...path, key], used)]));
}

function blankText(text: string, path: string[]): string {
  const key = path.at(-1);
  if (key === 'resourceVersion') return '<version>';
  if (key === 'continue') return '<token>';
  if (path.at(-2) === 'cells' && /^(\d+[smhdy])+$/.test(text)) return '<age>';
  if (text.startsWith('10.96.')) return '<address>';
  return text
    .replaceAll(uidPattern, '<uid>')
    .replaceAll(timePattern, '<time>')
    .replaceAll(/(ResourceVersion in record )\(\d+\)/g, '$1(<version>)')
    .replaceAll(/too old resource version: \d+ \(\d+\)/g, 'too old resource version: <version>')
    .replaceAll(
      /Too large resource version: (\d+), current: \d+/g,
      'Too large resource version: $1, current: <version>',
    );
}
