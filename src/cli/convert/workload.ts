// Names in workloads that changed: the annotations against disruption, and the label that names a node's pool.
import { isScalar, type Node, type Scalar, visit } from 'yaml';
import { annotation, label } from '../../api/names.ts';
import type { Notes } from './notes.ts';

const renamed: Readonly<Record<string, { to: string; rule?: string }>> = {
  'karpenter.sh/do-not-evict': { to: annotation.doNotDisrupt, rule: 'M25' },
  'karpenter.sh/do-not-consolidate': { to: annotation.doNotDisrupt, rule: 'M25' },
  'karpenter.sh/provisioner-name': { to: label.nodePool, rule: 'M01' },
};

/** Cheap test whether a text can hold one of the names. */
export const mentionsOldNames = (text: string): boolean =>
  /karpenter\.sh\/(do-not-(evict|consolidate)|provisioner-name)/.test(text);

/** Renames keys of maps (annotations, labels, selectors) and `key:` values of affinity terms and tolerations. */
export function renameOldNames(root: Node, notes: Notes): void {
  const rename = (scalar: Scalar, where: string): void => {
    const old = String(scalar.value);
    const target = renamed[old];
    if (target === undefined) return;
    scalar.value = target.to;
    delete scalar.source;
    notes.changed(`${where} ${old} is called ${target.to}`, target.rule);
  };
  visit(root, {
    Map(_key, map) {
      const present = new Set(map.items.map((pair) => (isScalar(pair.key) ? String(pair.key.value) : '')));
      map.items = map.items.filter((pair) => {
        const target = isScalar(pair.key) ? renamed[String(pair.key.value)] : undefined;
        if (target === undefined || !present.has(target.to)) return true;
        notes.changed(`dropped ${String((pair.key as Scalar).value)}: ${target.to} is written too`, target.rule);
        return false;
      });
    },
    Pair(_key, pair) {
      if (isScalar(pair.key)) rename(pair.key, 'the key');
      const isKey = isScalar(pair.key) && (pair.key.value === 'key' || pair.key.value === 'topologyKey');
      if (isKey && isScalar(pair.value)) rename(pair.value, 'the label');
    },
  });
}
