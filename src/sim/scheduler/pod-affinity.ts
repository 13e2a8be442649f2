// Pod affinity and anti-affinity that must hold: the pod's own terms, and those of pods that already run.
import type { Pod } from '../../ports/index.ts';
import type { ClusterView } from './cluster-view.ts';
import type { CountByNode } from './pod-counts.ts';
import { type AffinityTerm, type PodSelection, requiredTerms, termSelection } from './pod-terms.ts';
import { refused } from './reasons.ts';
import type { RoomFilter } from './spread.ts';

/** Undefined: no one asks for anything. */
export function podAffinityFilter(pod: Pod, view: ClusterView): RoomFilter | undefined {
  const filters = [togetherFilter(pod, view), apartFilter(pod, view), unwelcomeFilter(pod, view)].filter(
    (filter) => filter !== undefined,
  );
  if (filters.length === 0) return undefined;
  return (room) => {
    for (const filter of filters) {
      const refusal = filter(room);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
}

/** A pod counts only if all terms select it; the first of a kind that selects itself may start anywhere. */
function togetherFilter(pod: Pod, view: ClusterView): RoomFilter | undefined {
  const terms = requiredTerms(pod.spec?.affinity?.podAffinity);
  if (terms.length === 0) return undefined;
  const selections = terms.map((term) => termSelection(pod, term, view.namespaces));
  const all: PodSelection = {
    id: selections.map(({ id }) => id).join(' & '),
    selects: (other) => selections.every((selection) => selection.selects(other)),
  };
  const byNode = view.counts.countsOf(all);
  const places = terms.map((term) => ({ key: term.topologyKey, values: valuesWith(view, byNode, term) }));
  const isEmpty = places.every(({ values }) => values.size === 0);
  const mayStart = isEmpty && all.selects(pod);
  return ({ labels }) => {
    let found = true;
    for (const { key, values } of places) {
      const value = labels[key];
      if (value === undefined) return refused.affinity;
      if (!values.has(value)) found = false;
    }
    return found || mayStart ? undefined : refused.affinity;
  };
}

function apartFilter(pod: Pod, view: ClusterView): RoomFilter | undefined {
  const terms = requiredTerms(pod.spec?.affinity?.podAntiAffinity);
  if (terms.length === 0) return undefined;
  const places = terms.map((term) => ({
    key: term.topologyKey,
    values: valuesWith(view, view.counts.countsOf(termSelection(pod, term, view.namespaces)), term),
  }));
  return ({ labels }) =>
    places.some(({ key, values }) => labels[key] !== undefined && values.has(labels[key]))
      ? refused.antiAffinity
      : undefined;
}

function unwelcomeFilter(pod: Pod, view: ClusterView): RoomFilter | undefined {
  const places = new Map<string, Set<string>>();
  for (const { term, owner, byNode } of view.counts.refusals()) {
    if (!termSelection(owner, term, view.namespaces).selects(pod)) continue;
    const values = valuesWith(view, byNode, term);
    const known = places.get(term.topologyKey);
    if (known === undefined) places.set(term.topologyKey, values);
    else for (const value of values) known.add(value);
  }
  if (places.size === 0) return undefined;
  return ({ labels }) => {
    for (const [key, values] of places) {
      const value = labels[key];
      if (value !== undefined && values.has(value)) return refused.existingAntiAffinity;
    }
    return undefined;
  };
}

/** The values of a topology key on nodes where something was counted. */
function valuesWith(view: ClusterView, byNode: CountByNode, { topologyKey }: AffinityTerm): Set<string> {
  const values = new Set<string>();
  for (const name of byNode.keys()) {
    const value = view.rooms.get(name)?.labels[topologyKey];
    if (value !== undefined) values.add(value);
  }
  return values;
}
