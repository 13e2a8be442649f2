// The JSON merge patch (RFC 7386) that turns one value into another: what changed, with null for what went away. Lists
// are replaced as a whole, as merge patches do.

type Json = Record<string, unknown>;

/** Undefined when nothing changed. */
export function mergePatch(before: unknown, after: unknown): Json | undefined {
  const from = isObject(before) ? before : {};
  const to = isObject(after) ? after : {};
  const patch: Json = {};
  for (const key of Object.keys(from)) if (to[key] === undefined && from[key] !== undefined) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    if (value === undefined || isEqual(from[key], value)) continue;
    patch[key] = isObject(value) && isObject(from[key]) ? mergePatch(from[key], value) : value;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** Deep equality of JSON values; absent and undefined are the same. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index++) if (!isEqual(left[index], right[index])) return false;
    return true;
  }
  if (!isObject(left) || !isObject(right)) return false;
  // Plain loops: every object that enters a cache is compared (bench kube-cache-slim).
  for (const key in left) if (!isEqual(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
