// Label selectors, tolerations and namespaces as the API defines them.
import type { LabelSelector, Namespace, PodTerm, Taint, Toleration } from './objects.ts';

/** A missing selector matches nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Record<string, string> | undefined): boolean {
  if (selector === undefined) return false;
  const own = labels ?? {};
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) if (own[key] !== value) return false;
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const value = own[key];
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}

function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true;
    case 'Equal':
    case '':
      return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
    case 'Gt':
      return wholeNumbers(toleration, taint) && Number(taint.value) > Number(toleration.value);
    case 'Lt':
      return wholeNumbers(toleration, taint) && Number(taint.value) < Number(toleration.value);
    default:
      return false;
  }
}

function wholeNumbers(toleration: Toleration, taint: Taint): boolean {
  return [toleration.value, taint.value].every((value) => value !== undefined && /^-?\d+$/.test(value));
}

/** The first taint that none of the tolerations covers. */
export function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[] = []): Taint | undefined {
  return taints.find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** Names of the namespaces a pod affinity term looks into. */
export function namespacesOf(term: PodTerm, own: string, all: readonly Namespace[]): Set<string> {
  if (term.namespaceSelector === undefined) {
    return new Set(term.namespaces === undefined || term.namespaces.length === 0 ? [own] : term.namespaces);
  }
  const selected = all.filter((namespace) => selects(term.namespaceSelector, namespace.metadata.labels));
  return new Set([...(term.namespaces ?? []), ...selected.map((namespace) => namespace.metadata.name)]);
}
