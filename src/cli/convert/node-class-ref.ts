// `nodeClassRef` of NodePools and NodeClaims: v1 wants group, kind and name.
import type { YAMLMap } from 'yaml';
import type { Notes } from './notes.ts';
import { field, put, renameKey, setText, take, textAt } from './yaml-edit.ts';

/** Node classes in the same input, by name, to complete references that give only a name. */
export type KnownClasses = ReadonlyMap<string, { group: string; kind: string }>;

const assumed = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass' };

export function convertNodeClassRef(reference: YAMLMap, classes: KnownClasses, notes: Notes): void {
  const old = textAt(reference, 'apiVersion');
  const apiVersion = field(reference, 'apiVersion');
  if (apiVersion !== undefined && old !== undefined) {
    const group = old.replace(/\/.*/, '');
    if (field(reference, 'group') === undefined) {
      renameKey(apiVersion, 'group');
      setText(reference, 'group', group);
    } else take(reference, 'apiVersion');
    notes.changed(`nodeClassRef.apiVersion became nodeClassRef.group: ${group}`, 'M10');
  }
  const kind = textAt(reference, 'kind');
  if (kind === 'AWSNodeTemplate' || kind === 'NodeTemplate') {
    setText(reference, 'kind', assumed.kind);
    notes.changed('nodeClassRef.kind AWSNodeTemplate became EC2NodeClass', 'M01');
  }
  const missing = (['group', 'kind'] as const).filter((name) => (textAt(reference, name) ?? '') === '');
  if (missing.length === 0) return;
  const name = textAt(reference, 'name') ?? '';
  const known = classes.get(name);
  // Group and kind go before the name, in that order.
  for (const part of missing.toReversed()) put(reference, part, (known ?? assumed)[part], 'start');
  const written = missing.map((part) => `${part}: ${(known ?? assumed)[part]}`).join(', ');
  if (known !== undefined)
    notes.changed(`nodeClassRef got ${written}, as of the node class ${name} in the same input`, 'M09');
  else notes.changed(`nodeClassRef got ${written} (assumed: no node class ${name} in the input)`, 'M09');
}
