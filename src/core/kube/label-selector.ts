// Kubernetes label selectors. A missing selector selects nothing, an empty one everything, and one that cannot be read
// nothing: the same three answers the API machinery gives.

import type { LabelSelector, Labels } from './objects.ts';

export type SelectorMatch = (labels: Labels) => boolean;

const nothing: SelectorMatch = () => false;

export function selectorMatch(selector: LabelSelector | undefined | null): SelectorMatch {
  if (selector === undefined || selector === null) return nothing;
  const wanted = Object.entries(selector.matchLabels ?? {});
  const expressions = selector.matchExpressions ?? [];
  if (expressions.some((expression) => !isReadable(expression))) return nothing;
  return (labels) => {
    for (const [key, value] of wanted) if (valueOf(labels, key) !== value) return false;
    for (const { key, operator, values = [] } of expressions) {
      const value = valueOf(labels, key);
      if (operator === 'In' && (value === undefined || !values.includes(value))) return false;
      if (operator === 'NotIn' && value !== undefined && values.includes(value)) return false;
      if (operator === 'Exists' && value === undefined) return false;
      if (operator === 'DoesNotExist' && value !== undefined) return false;
    }
    return true;
  };
}

/** Text that is equal exactly when two selectors are the same set of conditions. */
export function selectorIdentity(selector: LabelSelector | undefined | null): string {
  if (selector === undefined || selector === null) return 'none';
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) => `${key} ${operator} ${[...new Set(values)].sort().join(',')}`,
  );
  return `${labels.sort().join('&')}|${[...new Set(expressions)].sort().join('&')}`;
}

/** A label both keys and values of which someone must have, to find candidates quickly; undefined if there is none. */
export function requiredLabel(selector: LabelSelector | undefined | null): [string, string] | undefined {
  return Object.entries(selector?.matchLabels ?? {})[0];
}

function valueOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function isReadable({ operator, values = [] }: { operator: string; values?: string[] }): boolean {
  if (operator === 'In' || operator === 'NotIn') return values.length > 0;
  return (operator === 'Exists' || operator === 'DoesNotExist') && values.length === 0;
}
