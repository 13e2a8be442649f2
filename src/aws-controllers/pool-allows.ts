// Whether nodes of a pool may have a label with a value, by what the pool itself says.
import type { NodePool } from '../api/index.ts';
import { allows, requirementOf } from '../core/index.ts';

export function poolAllows({ spec }: NodePool, key: string, value: string): boolean {
  const { metadata, spec: template } = spec.template;
  const fixed = metadata?.labels?.[key];
  return (
    (fixed === undefined || fixed === value) &&
    (template.requirements ?? [])
      .filter((each) => each.key === key)
      .every(({ operator, values }) => allows(requirementOf(key, operator, values ?? []), value))
  );
}
