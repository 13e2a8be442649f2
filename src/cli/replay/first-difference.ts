// Where two documents first differ, in the order in which they are written.

export interface Difference {
  /** `newNodes[2].chosen.zone`; empty for the whole. */
  path: string;
  before: string;
  after: string;
}

const longest = 200;

export function firstDifference(before: unknown, after: unknown, path = ''): Difference {
  const inner = deeper(before, after, path);
  return inner ?? { path, before: shown(before), after: shown(after) };
}

function deeper(before: unknown, after: unknown, path: string): Difference | undefined {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return undefined;
  if (Array.isArray(before) !== Array.isArray(after)) return undefined;
  const left = before as Record<string, unknown>;
  const right = after as Record<string, unknown>;
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (JSON.stringify(left[key]) === JSON.stringify(right[key])) continue;
    const step = Array.isArray(before) ? `[${key}]` : path === '' ? key : `.${key}`;
    return firstDifference(left[key], right[key], `${path}${step}`);
  }
  return undefined;
}

function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}
