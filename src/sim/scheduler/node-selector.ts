// Node selectors as kube-scheduler reads them: terms are alternatives, a term without conditions selects nothing, and
// numbers are compared as integers.
import type { Node, Pod } from '../../ports/index.ts';
import type { Labels, NodeRoom } from './cluster-view.ts';

type PodSpec = NonNullable<Pod['spec']>;
type NodeAffinity = NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>;
type Terms = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms'];
export type NodeSelectorTerm = Terms[number];
type Requirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

/** `nodeSelector` and required node affinity together. */
export function matchesNode(pod: Pod, room: NodeRoom): boolean {
  for (const [key, value] of Object.entries(pod.spec?.nodeSelector ?? {})) {
    if (room.labels[key] !== value) return false;
  }
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined || matchesTerms(terms, room);
}

export const matchesTerms = (terms: readonly NodeSelectorTerm[], room: NodeRoom): boolean =>
  terms.some((term) => matchesTerm(term, room));

export function matchesTerm({ matchExpressions, matchFields }: NodeSelectorTerm, room: NodeRoom): boolean {
  const expressions = matchExpressions ?? [];
  const fields = matchFields ?? [];
  if (expressions.length === 0 && fields.length === 0) return false;
  return (
    expressions.every((requirement) => holds(requirement, room.labels)) &&
    fields.every((requirement) => holds(requirement, fieldsOf(room.node)))
  );
}

/** The nodes a pod's affinity names one by one, as that of DaemonSet pods does; undefined if it does not. */
export function namedNodes(pod: Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (terms === undefined || terms.length === 0) return undefined;
  const names = new Set<string>();
  for (const { matchFields } of terms) {
    const lists = (matchFields ?? []).filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (lists.length === 0) return undefined;
    const [first, ...others] = lists.map(({ values }) => values ?? []);
    for (const name of first ?? []) if (others.every((list) => list.includes(name))) names.add(name);
  }
  return names;
}

const fieldsOf = (node: Node | undefined): Labels => ({ 'metadata.name': node?.metadata.name ?? '' });

function holds({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt': {
      const [actual, limit] = [integer(value), integer(values[0])];
      if (actual === undefined || limit === undefined) return false;
      return operator === 'Gt' ? actual > limit : actual < limit;
    }
    default:
      return false;
  }
}

const integer = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
