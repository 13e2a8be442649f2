// How many pods of a selection run on each node, kept as pods come and go. A selection is counted from when it is first
// asked for; asking again costs nothing, which is what makes 100,000 pods with spreading affordable.
import type { Pod } from '../../ports/index.ts';
import type { PlacedPod } from './cluster-view.ts';
import { type AffinityTerm, type PodSelection, requiredTerms, termIdentity } from './pod-terms.ts';

export type CountByNode = ReadonlyMap<string, number>;

/** Running pods that refuse company by the same term. */
export interface Refusal {
  term: AffinityTerm;
  /** One of the pods with the term: they agree in all the term reads. */
  owner: Pod;
  byNode: Map<string, number>;
}

/** Selections no one asked for lately are forgotten beyond this many. */
const mostSelections = 2_000;

export class PodCounts {
  private readonly pods = new Map<string, PlacedPod>();
  private readonly selections = new Map<string, { selection: PodSelection; byNode: Map<string, number> }>();
  private readonly refusalsById = new Map<string, Refusal>();

  countsOf(selection: PodSelection): CountByNode {
    let counted = this.selections.get(selection.id);
    if (counted === undefined) {
      counted = { selection, byNode: new Map() };
      for (const placed of this.pods.values()) if (selection.selects(placed.pod)) count(counted.byNode, placed, 1);
      if (this.selections.size >= mostSelections) {
        const [oldest = ''] = this.selections.keys();
        this.selections.delete(oldest);
      }
    } else this.selections.delete(selection.id);
    this.selections.set(selection.id, counted);
    return counted.byNode;
  }

  /** Required anti-affinity of pods that run. */
  refusals(): Iterable<Refusal> {
    return this.refusalsById.values();
  }

  /** Namespaces changed their labels: what selections reach may have changed. */
  forgetSelections(): void {
    this.selections.clear();
  }

  add(placed: PlacedPod): void {
    this.pods.set(placed.key, placed);
    this.change(placed, 1);
  }

  remove(placed: PlacedPod): void {
    this.pods.delete(placed.key);
    this.change(placed, -1);
  }

  private change(placed: PlacedPod, by: 1 | -1): void {
    for (const { selection, byNode } of this.selections.values()) {
      if (selection.selects(placed.pod)) count(byNode, placed, by);
    }
    for (const term of requiredTerms(placed.pod.spec?.affinity?.podAntiAffinity)) {
      const id = `${term.topologyKey} ${termIdentity(placed.pod, term)}`;
      let refusal = this.refusalsById.get(id);
      if (refusal === undefined) {
        refusal = { term, owner: placed.pod, byNode: new Map() };
        this.refusalsById.set(id, refusal);
      }
      count(refusal.byNode, placed, by);
      if (refusal.byNode.size === 0) this.refusalsById.delete(id);
    }
  }
}

function count(byNode: Map<string, number>, { nodeName }: PlacedPod, by: 1 | -1): void {
  const next = (byNode.get(nodeName) ?? 0) + by;
  if (next === 0) byNode.delete(nodeName);
  else byNode.set(nodeName, next);
}
