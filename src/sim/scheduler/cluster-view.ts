// The cluster as the scheduler counts it: what each node has, what is taken, and which pods run where, bound or about to
// be. Fed with objects as they change; never reads the API.
//
// 1. A pod that has ended takes nothing; one that is being deleted still takes its room.
// 2. Counts of pods by selector (for spreading and affinity) are kept up to date, not searched for: see pod-counts.ts.
import { type HostPort, hostPortsOf, RequestsOfPods, ResourceTable } from '../../core/index.ts';
import type { Namespace, Node, Pod } from '../../ports/index.ts';
import { PodCounts } from './pod-counts.ts';

export type Labels = Readonly<Record<string, string>>;
export type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];
/** The planner's pod: the same object, with the fields both of us read. */
export type PlannerPod = Parameters<typeof hostPortsOf>[0];

export interface PlacedPod {
  key: string;
  pod: Pod;
  nodeName: string;
  requests: ReadonlyMap<string, number>;
  ports: readonly HostPort[];
}

export interface NodeRoom {
  name: string;
  /** Absent: pods claim to run on a node that no one has seen. */
  node: Node | undefined;
  labels: Labels;
  taints: readonly Taint[];
  allocatable: ReadonlyMap<string, number>;
  used: Map<string, number>;
  pods: Map<string, PlacedPod>;
}

const none: ReadonlyMap<string, number> = new Map();

export class ClusterView {
  readonly rooms = new Map<string, NodeRoom>();
  readonly counts = new PodCounts();
  readonly namespaces = new Map<string, Labels>();
  private readonly placed = new Map<string, PlacedPod>();
  private readonly table = new ResourceTable();
  private readonly requests = new RequestsOfPods(this.table, { forgets: true });
  private listed: NodeRoom[] | undefined;
  /** How many pods there are of each priority. */
  private readonly priorities = new Map<number, number>();

  /** Rooms of nodes that exist, in the order in which they came. */
  get nodes(): readonly NodeRoom[] {
    this.listed ??= [...this.rooms.values()].filter((room) => room.node !== undefined);
    return this.listed;
  }

  setNode(node: Node): void {
    const room = this.roomOf(node.metadata.name ?? '');
    if (room.node === undefined) this.listed = undefined;
    room.node = node;
    room.labels = node.metadata.labels ?? {};
    room.taints = node.spec?.taints ?? [];
    const allocatable = Object.entries((node.status?.allocatable ?? node.status?.capacity ?? {}) as Labels);
    room.allocatable = new Map(allocatable.map(([name, amount]) => [name, this.table.amount(name, amount)]));
  }

  removeNode(node: Node): void {
    const name = node.metadata.name ?? '';
    const room = this.rooms.get(name);
    if (room === undefined) return;
    this.listed = undefined;
    if (room.pods.size === 0) this.rooms.delete(name);
    else Object.assign(room, { node: undefined, labels: {}, taints: [], allocatable: none });
  }

  setNamespace(namespace: Namespace): void {
    this.namespaces.set(namespace.metadata.name ?? '', namespace.metadata.labels ?? {});
  }

  removeNamespace(namespace: Namespace): void {
    this.namespaces.delete(namespace.metadata.name ?? '');
  }

  /** Of the pods that have a place. */
  get lowestPriority(): number {
    return Math.min(...this.priorities.keys());
  }

  nodeOf(key: string): string | undefined {
    return this.placed.get(key)?.nodeName;
  }

  requestsOf(pod: Pod): ReadonlyMap<string, number> {
    return this.requests.of(pod as PlannerPod);
  }

  /** The pod takes its room on the node, whether the API knows yet or not. */
  place(key: string, pod: Pod, nodeName: string): void {
    const before = this.placed.get(key);
    if (before?.nodeName === nodeName && isSameForScheduling(before.pod, pod)) {
      before.pod = pod;
      return;
    }
    this.lift(key);
    const placed = { key, pod, nodeName, requests: this.requestsOf(pod), ports: hostPortsOf(pod as PlannerPod) };
    this.placed.set(key, placed);
    const room = this.roomOf(nodeName);
    room.pods.set(key, placed);
    for (const [name, amount] of placed.requests) room.used.set(name, (room.used.get(name) ?? 0) + amount);
    this.counts.add(placed);
    this.count(pod, 1);
  }

  /** The pod gives its room back; false if it had none. */
  lift(key: string): boolean {
    const placed = this.placed.get(key);
    if (placed === undefined) return false;
    this.placed.delete(key);
    this.counts.remove(placed);
    this.count(placed.pod, -1);
    const room = this.roomOf(placed.nodeName);
    room.pods.delete(key);
    for (const [name, amount] of placed.requests) room.used.set(name, (room.used.get(name) ?? 0) - amount);
    if (room.node === undefined && room.pods.size === 0) this.rooms.delete(room.name);
    return true;
  }

  private count({ spec }: Pod, by: 1 | -1): void {
    const priority = spec?.priority ?? 0;
    const next = (this.priorities.get(priority) ?? 0) + by;
    if (next === 0) this.priorities.delete(priority);
    else this.priorities.set(priority, next);
  }

  private roomOf(name: string): NodeRoom {
    let room = this.rooms.get(name);
    if (room === undefined) {
      room = {
        name,
        node: undefined,
        labels: {},
        taints: [],
        allocatable: none,
        used: new Map(),
        pods: new Map(),
      };
      this.rooms.set(name, room);
    }
    return room;
  }
}

/** Status changes of a running pod are most of what happens; they move nothing. */
function isSameForScheduling(before: Pod, after: Pod): boolean {
  return (
    before.metadata.uid === after.metadata.uid &&
    before.metadata.deletionTimestamp === after.metadata.deletionTimestamp &&
    (before.metadata.labels === after.metadata.labels ||
      JSON.stringify(before.metadata.labels) === JSON.stringify(after.metadata.labels)) &&
    (before.spec?.containers === after.spec?.containers ||
      JSON.stringify(before.spec?.containers) === JSON.stringify(after.spec?.containers))
  );
}
