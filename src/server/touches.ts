// Which nodes and claims changes touch, for whoever shows them. Without listeners a change costs a comparison.
import type { NodeClaim } from '../api/index.ts';
import type { Node, Pod } from '../ports/index.ts';
import type { Change, Reflector } from '../runtime/index.ts';

export interface Touched {
  kind: 'node' | 'claim';
  /** Empty for a pod that has no node. */
  name: string;
  pod?: { object: Pod; gone: boolean };
}

export interface Touches {
  listen(listener: (touched: Touched) => void): () => void;
}

export interface TouchSources {
  nodes: Reflector<Node>;
  pods: Reflector<Pod>;
  claims: Reflector<NodeClaim>;
}

export function touchesOf({ nodes, pods, claims }: TouchSources): Touches {
  const listeners = new Set<(touched: Touched) => void>();
  const tell = (touched: Touched): void => {
    for (const listener of listeners) listener(touched);
  };
  nodes.subscribe(({ object }) => {
    if (listeners.size > 0) tell({ kind: 'node', name: object.metadata.name ?? '' });
  });
  claims.subscribe(({ object }) => {
    if (listeners.size === 0) return;
    tell({ kind: 'claim', name: object.metadata.name ?? '' });
    if (object.status?.nodeName) tell({ kind: 'node', name: object.status.nodeName });
  });
  pods.subscribe((change) => {
    if (listeners.size === 0) return;
    tell({
      kind: 'node',
      name: change.object.spec?.nodeName ?? '',
      pod: { object: change.object, gone: change.kind === 'deleted' },
    });
    const before = nodeBefore(change);
    if (before !== '') tell({ kind: 'node', name: before });
  });
  return {
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The node a pod was on, if it was another one. */
function nodeBefore(change: Change<Pod>): string {
  const before = change.kind === 'updated' ? (change.old.spec?.nodeName ?? '') : '';
  return before === change.object.spec?.nodeName ? '' : before;
}
