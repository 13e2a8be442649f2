// Label and field selectors: matching objects against them, whatever form they come in.
import { isObject, type JsonObject, listAt, objectAt } from '../json.ts';
import { readLabelSelector, type SelectorOperator } from './label-selector.ts';
import { badRequest } from './status.ts';

export type LabelMatcher = (labels: Readonly<Record<string, unknown>> | undefined) => boolean;

const none: Readonly<Record<string, unknown>> = {};

function requirement(key: string, operator: SelectorOperator, values: readonly string[]): LabelMatcher {
  const set = new Set<unknown>(values);
  const bound = Number(values[0]);
  switch (operator) {
    case 'In':
      return (labels = none) => set.has(labels[key]);
    case 'NotIn':
      return (labels = none) => !set.has(labels[key]);
    case 'Exists':
      return (labels = none) => Object.hasOwn(labels, key);
    case 'DoesNotExist':
      return (labels = none) => !Object.hasOwn(labels, key);
    case 'Gt':
      return (labels = none) => Object.hasOwn(labels, key) && Number(labels[key]) > bound;
    case 'Lt':
      return (labels = none) => Object.hasOwn(labels, key) && Number(labels[key]) < bound;
  }
}

const all =
  (matchers: LabelMatcher[]): LabelMatcher =>
  (labels) =>
    matchers.every((matches) => matches(labels));

/** Reads a selector's text; throws what the API server answers to nonsense. */
export function parseLabelSelector(text: string | undefined): LabelMatcher | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  return all(readLabelSelector(text).map(({ key, operator, values }) => requirement(key, operator, values)));
}

/** The object form. A missing selector matches nothing, an empty one everything. */
export function labelSelectorMatcher(selector: unknown): LabelMatcher {
  if (!isObject(selector)) return () => false;
  const exact = Object.entries(objectAt(selector, 'matchLabels')).map(([key, value]) =>
    requirement(key, 'In', [String(value)]),
  );
  const expressions = listAt(selector, 'matchExpressions').map((expression) =>
    requirement(
      String(expression['key']),
      expression['operator'] as SelectorOperator,
      listAt<string>(expression, 'values'),
    ),
  );
  return all([...exact, ...expressions]);
}

/** `app=web,tier in (a,b)`: how kubectl and the scale subresource show a selector. */
export function formatLabelSelector(selector: unknown): string {
  if (!isObject(selector)) return '<none>';
  const parts = Object.entries(objectAt(selector, 'matchLabels'))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, value]) => `${key}=${String(value)}`);
  for (const expression of listAt(selector, 'matchExpressions')) {
    const key = String(expression['key']);
    const values = `(${[...listAt<string>(expression, 'values')].sort().join(',')})`;
    if (expression['operator'] === 'In') parts.push(`${key} in ${values}`);
    else if (expression['operator'] === 'NotIn') parts.push(`${key} notin ${values}`);
    else parts.push(expression['operator'] === 'Exists' ? key : `!${key}`);
  }
  return parts.length === 0 ? '<none>' : parts.join(',');
}

export type FieldReader = (object: JsonObject) => string;
export type FieldMatcher = (object: JsonObject) => boolean;

export interface FieldSelector {
  matches: FieldMatcher;
  /** The one name asked for, if the selector pins it. */
  name: string | undefined;
}

/** Reads `spec.nodeName=a,status.phase!=Running` against the fields a resource can be selected by. */
export function parseFieldSelector(
  text: string | undefined,
  readers: Readonly<Record<string, FieldReader>>,
  unsupported: (field: string) => string,
): FieldSelector | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  let pinned: string | undefined;
  const matchers = text
    .split(',')
    .filter((term) => term !== '')
    .map((term): FieldMatcher => {
      const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
      if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
      const [, field = '', sign, value = ''] = match;
      const read = Object.hasOwn(readers, field) ? readers[field] : undefined;
      if (read === undefined) throw badRequest(unsupported(field));
      if (field === 'metadata.name' && sign !== '!=') pinned = value;
      return sign === '!=' ? (object) => read(object) !== value : (object) => read(object) === value;
    });
  return { matches: (object) => matchers.every((matches) => matches(object)), name: pinned };
}
