// RFC 7396: objects are merged, null removes, everything else replaces. Untouched parts are shared with the original.
import { isObject, type JsonObject } from '../../json.ts';

export function applyMergePatch(original: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: JsonObject = isObject(original) ? { ...original } : {};
  for (const [key, value] of Object.entries(patch)) {
    // Nothing served has a field of this name; assigning it would change the result's prototype.
    if (key === '__proto__') continue;
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}
