/** Why a node does not take a pod: for good as far as this constraint or kind of pod goes, or only as things stand. */
export type Refusal = 'constraint' | 'group' | 'now' | 'deferred';

/** Of several alternatives the refusal that promises least. */
export function weaker(left: Refusal, right: Refusal): Refusal {
  const strength: Refusal[] = ['constraint', 'group', 'now', 'deferred'];
  return strength.indexOf(left) > strength.indexOf(right) ? left : right;
}
