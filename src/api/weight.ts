// Which of two pools or overlays comes first.

interface Weighted {
  metadata: { name?: string };
  spec: { weight?: number };
}

/** For `sort`: more weight first; among equals, the name that is later in the alphabet. */
export function byWeight(a: Weighted, b: Weighted): number {
  const difference = (b.spec.weight ?? 0) - (a.spec.weight ?? 0);
  if (difference !== 0) return difference;
  const [first = '', second = ''] = [a.metadata.name, b.metadata.name];
  return first < second ? 1 : first > second ? -1 : 0;
}
