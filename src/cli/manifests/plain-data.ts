// Looking into data not yet checked: each question answers with something usable, never with an exception.

export type PlainMap = Record<string, unknown>;

export function isMap(value: unknown): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The map itself, or an empty one for anything else. */
export function asMap(value: unknown): PlainMap {
  return isMap(value) ? value : {};
}

/** The list itself, or an empty one for anything else. */
export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The text itself, or undefined for anything else. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
