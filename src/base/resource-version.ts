// Resource versions compared. Kubernetes API servers number their changes; where both are numbers they can be ordered,
// and events that come late or twice can be distinguished from new ones. Anything else is opaque: only equality means something.

const digits = /^\d+$/;

/** True if `a` is known to be at or before `b`; false when it is after, or when no one can tell. */
export function isAtOrBefore(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined || a === '' || b === '') return false;
  if (a === b) return true;
  if (!digits.test(a) || !digits.test(b)) return false;
  // Compared as text, because they are 64 bits wide.
  return a.length === b.length ? a < b : a.length < b.length;
}
