// Shapes of plain data, and the check that data has them. Made for documents of a hundred thousand objects: a first look
// says only whether all is well and allocates nothing; what is wrong is worked out when something is, up to a page of it.
import { editDistance, tryParseQuantity } from '../../base/index.ts';
import type { FieldPath } from '../manifests/index.ts';

export type Shape =
  | { type: 'text' | 'boolean' | 'number' | 'integer' | 'quantity' | 'anything' }
  | { type: 'choice'; choices: readonly string[] }
  | { type: 'list'; of: Shape }
  | { type: 'map'; of: Shape }
  | {
      type: 'fields';
      fields: ReadonlyMap<string, Shape>;
      required: readonly string[];
      /** Other fields may be there too: Kubernetes objects have many that decisions never read. */
      open: boolean;
    };

export interface ShapeProblem {
  path: FieldPath;
  message: string;
}

/** A page: enough to fix several mistakes at once, not enough to drown in one made a thousand times. */
const mostProblems = 20;

export const text: Shape = { type: 'text' };
export const flag: Shape = { type: 'boolean' };
export const number: Shape = { type: 'number' };
export const integer: Shape = { type: 'integer' };
export const quantity: Shape = { type: 'quantity' };
export const anything: Shape = { type: 'anything' };
export const listOf = (of: Shape): Shape => ({ type: 'list', of });
export const mapOf = (of: Shape): Shape => ({ type: 'map', of });
export const choice = (...choices: string[]): Shape => ({ type: 'choice', choices });
/** Fields of an own document: what is not listed is a mistake. */
export const fields = (known: Record<string, Shape>, required: string[] = []): Shape => ({
  type: 'fields',
  fields: new Map(Object.entries(known)),
  required,
  open: false,
});
/** Fields of a Kubernetes object that are read; the others may be anything. */
export const openFields = (known: Record<string, Shape>, required: string[] = []): Shape => ({
  type: 'fields',
  fields: new Map(Object.entries(known)),
  required,
  open: true,
});

/**
 * Appends what is wrong with `value` to `problems`. Null is "not set" everywhere: such fields are taken out of own
 * documents, and where there must be a list it becomes an empty one, so that no one after this meets two ways of saying so.
 */
export function checkShape(value: unknown, shape: Shape, path: (string | number)[], problems: ShapeProblem[]): void {
  if (!fits(value, shape)) findProblems(value, shape, path, problems);
}

function fits(value: unknown, shape: Shape): boolean {
  switch (shape.type) {
    case 'list': {
      if (!Array.isArray(value)) return false;
      // Not `every`, which passes over holes.
      for (const item of value) if (!fits(item, shape.of)) return false;
      return true;
    }
    case 'map': {
      if (!isObject(value)) return false;
      for (const key in value) if (!fits(value[key], shape.of)) return false;
      return true;
    }
    case 'fields':
      return isObject(value) && fieldsFit(value, shape);
    default:
      return mismatch(value, shape) === undefined;
  }
}

function fieldsFit(value: Record<string, unknown>, { fields: known, required, open }: Shape & { type: 'fields' }) {
  for (const key in value) {
    const shape = known.get(key);
    const field = value[key];
    if (shape === undefined ? !open : !(open && field === null) && !fits(field, shape)) return false;
  }
  for (const key of required) if (value[key] === undefined || value[key] === null) return false;
  return true;
}

function findProblems(value: unknown, shape: Shape, path: (string | number)[], problems: ShapeProblem[]): void {
  if (problems.length >= mostProblems) return;
  const wrong = mismatch(value, shape);
  if (wrong !== undefined) {
    problems.push({ path: [...path], message: wrong });
    return;
  }
  if (shape.type === 'list') {
    const list = value as unknown[];
    for (let index = 0; index < list.length; index += 1) checkAt(list[index], shape.of, index, path, problems);
  } else if (shape.type === 'map') {
    for (const key in value as object) checkAt((value as Record<string, unknown>)[key], shape.of, key, path, problems);
  } else if (shape.type === 'fields') {
    checkFields(value as Record<string, unknown>, shape, path, problems);
  }
}

function checkFields(
  value: Record<string, unknown>,
  shape: Shape & { type: 'fields' },
  path: (string | number)[],
  problems: ShapeProblem[],
): void {
  for (const key of shape.required) {
    if (value[key] === null && shape.fields.get(key)?.type === 'list') value[key] = [];
  }
  if (shape.open) {
    for (const [key, own] of shape.fields) {
      const field = value[key];
      if (field !== undefined && field !== null) checkAt(field, own, key, path, problems);
    }
  } else {
    for (const key in value) {
      const known = shape.fields.get(key);
      if (known !== undefined && value[key] === null) delete value[key];
      else if (known !== undefined) checkAt(value[key], known, key, path, problems);
      else
        problems.push({
          path: [...path, key],
          message: `is not a known field${nearest(key, [...shape.fields.keys()])}`,
        });
    }
  }
  for (const key of shape.required) {
    if (value[key] === undefined || value[key] === null) problems.push({ path: [...path, key], message: 'is missing' });
  }
}

function checkAt(
  value: unknown,
  shape: Shape,
  key: string | number,
  path: (string | number)[],
  problems: ShapeProblem[],
): void {
  path.push(key);
  findProblems(value, shape, path, problems);
  path.pop();
}

/** Quantities repeat endlessly in a large document; each text is read once. */
const knownQuantities = new Set<string>();

function mismatch(value: unknown, shape: Shape): string | undefined {
  switch (shape.type) {
    case 'anything':
      return undefined;
    case 'text':
      return typeof value === 'string' ? undefined : `must be a text, not ${nameOf(value)}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `must be true or false, not ${nameOf(value)}`;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : `must be a number, not ${nameOf(value)}`;
    case 'integer':
      return Number.isSafeInteger(value) ? undefined : `must be a whole number, not ${nameOf(value)}`;
    case 'quantity':
      return isQuantity(value) ? undefined : `must be a quantity such as 500m, 2 or 1.5Gi, not ${nameOf(value)}`;
    case 'choice':
      return typeof value === 'string' && shape.choices.includes(value)
        ? undefined
        : `must be ${listed(shape.choices)}, not ${nameOf(value)}`;
    case 'list':
      return Array.isArray(value) ? undefined : `must be a list, not ${nameOf(value)}`;
    default:
      return isObject(value) ? undefined : `must be an object, not ${nameOf(value)}`;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listed(choices: readonly string[]): string {
  const last = choices.at(-1) ?? '';
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`;
}

function isQuantity(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'string') return false;
  if (knownQuantities.has(value)) return true;
  if (tryParseQuantity(value) === undefined) return false;
  if (knownQuantities.size < 10_000) knownQuantities.add(value);
  return true;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const shown = JSON.stringify(value);
  return shown.length > 40 ? `${shown.slice(0, 40)}…` : shown;
}

/** ` (did you mean "x"?)` when a known name differs only in case or by a letter or two; else the names there are. */
function nearest(key: string, known: string[]): string {
  const close = known.find(
    (name) => editDistance(name.toLowerCase(), key.toLowerCase()) <= Math.max(1, name.length >> 2),
  );
  return close === undefined ? `; known here: ${known.join(', ')}` : `; did you mean "${close}"?`;
}
