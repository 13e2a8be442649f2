// Existing nodes as columns: what no plan changes about them, compiled once per world and shared by every plan and
// what-if on it. Answers about kinds of nodes and about room that is not even there to begin with are remembered here.

import type { ExistingNode } from '../nodes/existing-nodes.ts';
import type { HostPort } from '../pods/host-ports.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { KeyDomains } from '../topology/topology-index.ts';

export class NodeColumns {
  readonly nodes: readonly ExistingNode[];
  readonly hosts: Int32Array;
  readonly free: readonly Float64Array[];
  readonly exhausted: Uint8Array;
  readonly ports: readonly (readonly HostPort[])[];
  /** Nodes with the same labels and taints share a kind. */
  readonly kindOf: Int32Array;
  readonly kindCount: number;
  /** By constraint and kind: 0 is not known yet. */
  readonly kindAnswers: (Uint8Array | undefined)[] = [];
  /** By step: nodes that would refuse it even if nothing else came. */
  readonly refusedFromStart: (Uint32Array | undefined)[] = [];

  constructor(nodes: readonly ExistingNode[], resources: ResourceTable, hostnames: KeyDomains) {
    this.nodes = nodes;
    this.hosts = Int32Array.from(nodes, (node) => hostnames.id(node.hostname));
    this.free = resources.names.map((name) => Float64Array.from(nodes, (node) => node.free.get(name) ?? 0));
    this.exhausted = Uint8Array.from(nodes, (node) => ([...node.free.values()].some((amount) => amount < 0) ? 1 : 0));
    this.ports = nodes.map((node) => node.ports);
    const kinds = new Map<string, number>();
    this.kindOf = Int32Array.from(nodes, (node) => {
      const identity = `${node.set.id}|${JSON.stringify(node.taints)}`;
      const kind = kinds.get(identity) ?? kinds.size;
      kinds.set(identity, kind);
      return kind;
    });
    this.kindCount = kinds.size;
  }
}

const known = new WeakMap<readonly ExistingNode[], NodeColumns>();

/** The columns of a world's nodes, made when they are first asked for. */
export function columnsOf(
  nodes: readonly ExistingNode[],
  resources: ResourceTable,
  hostnames: KeyDomains,
): NodeColumns {
  let columns = known.get(nodes);
  if (columns === undefined || columns.free.length !== resources.names.length) {
    columns = new NodeColumns(nodes, resources, hostnames);
    known.set(nodes, columns);
  }
  return columns;
}
