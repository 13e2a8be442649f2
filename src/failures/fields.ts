// Reading fields of objects and answers that others wrote: every step may be missing or of another type, and then there is
// nothing there. No entry of the catalogue throws because of a malformed object.

export type Plain = Readonly<Record<string, unknown>>;

export const isPlain = (value: unknown): value is Plain =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Step = string | number;

export function at(value: unknown, ...path: readonly Step[]): unknown {
  let node = value;
  for (const step of path) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, step)) return undefined;
    node = (node as Record<Step, unknown>)[step];
  }
  return node;
}

/** Text at the path; numbers and booleans as they are written; empty when there is none. */
export function textAt(value: unknown, ...path: readonly Step[]): string {
  const found = at(value, ...path);
  if (typeof found === 'string') return found;
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : '';
}

export function listAt(value: unknown, ...path: readonly Step[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function mapAt(value: unknown, ...path: readonly Step[]): Plain {
  const found = at(value, ...path);
  return isPlain(found) ? found : {};
}

export function numberAt(value: unknown, ...path: readonly Step[]): number | undefined {
  const found = at(value, ...path);
  if (typeof found === 'number') return found;
  return typeof found === 'string' && /^-?\d+(\.\d+)?$/.test(found) ? Number(found) : undefined;
}

/** Texts of a list; a single text counts as a list of one, as AWS policies write it. */
export function textsAt(value: unknown, ...path: readonly Step[]): string[] {
  const found = at(value, ...path);
  if (typeof found === 'string') return [found];
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
}
