// Deep equality of JSON values, in two readings: as the objects of an API mean it, where a field that is absent and one
// that is undefined are the same, and to the letter.

type Json = Record<string, unknown>;

/** Absent and undefined are the same. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) || Array.isArray(right)) return areListsEqual(left, right, isEqual);
  if (!isObject(left) || !isObject(right)) return false;
  // Plain loops: every object that enters a cache is compared (bench kube-cache-slim).
  for (const key in left) if (!isEqual(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

/** The same own fields with the same values, whatever they are called. */
export function isIdentical(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) || Array.isArray(right)) return areListsEqual(left, right, isIdentical);
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  for (const key of keys) if (!Object.hasOwn(right, key) || !isIdentical(left[key], right[key])) return false;
  return true;
}

function areListsEqual(left: unknown, right: unknown, areEqual: typeof isEqual): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (!areEqual(left[index], right[index])) return false;
  return true;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}
