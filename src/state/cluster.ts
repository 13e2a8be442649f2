// The one model of the cluster: folded from watch events, asked by every controller, handed to the planner as a snapshot.
//
// Promises:
// 1. Objects are kept as they came; a snapshot shares them and copies none.
// 2. `synced` is false while an object the API server has may be unknown here. Claims that are being launched do not matter
//    to it: they count in the limits of their pools.
// 3. `changedAt` moves whenever something happened that could change a consolidation verdict, and at least every hour, so
//    that a verdict is never older than that. What the model is not shown, `controllers/input-watch.ts` notices.
// 4. An object never goes back to an older version, nor comes back once it is gone.

import type { NodeClaim, NodePool } from '../api/index.ts';
import { type Clock, formatTime, isAtOrBefore } from '../base/index.ts';
import { isInitialized } from '../core/index.ts';
import type { KubeObject, Node, Pod } from '../ports/index.ts';
import { LaunchBackoff } from './launch-backoff.ts';
import { isLeaving, type Machine } from './machine.ts';
import { Machines } from './machines.ts';
import { isBudgetNews, isNodeNews, isPodNews } from './news.ts';
import { keyOf, ObjectStore } from './object-store.ts';
import { doNotDisruptEndsMs } from './pod-classes.ts';
import { PodIndex } from './pod-index.ts';
import { Recency } from './recency.ts';

/** Kinds that only the planner reads; the model keeps them as they are. */
export const contextKinds = [
  'Namespace',
  'DaemonSet',
  'PodDisruptionBudget',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'StorageClass',
  'CSINode',
  'CSIDriver',
  'CSIStorageCapacity',
  'Service',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
  'VolumeAttachment',
  'ResourceSlice',
  'ResourceClaim',
  'DeviceClass',
  'DeviceTaintRule',
] as const;
export type ContextKind = (typeof contextKinds)[number];

/** What only the passing of time decides, such as how much of its life a node has left, changes slowly. */
const verdictMaxAgeMs = 3_600_000;

export class Cluster {
  readonly machines = new Machines();
  readonly pods = new PodIndex();
  readonly nodePools = new ObjectStore<NodePool>();
  /** Filed under provider ids, as the claims are: more than one of either is a mistake someone has to tell. */
  readonly nodes = new ObjectStore<Node>((node) => node.spec?.providerID || undefined);
  readonly claims = new ObjectStore<NodeClaim>((claim) => claim.status?.providerID || undefined);
  readonly context: Record<ContextKind, ObjectStore<KubeObject>>;
  readonly launchBackoff: LaunchBackoff;
  private readonly clock: Clock;
  private readonly recency = new Recency();
  private bufferPods: readonly Pod[] = [];
  private changedMs: number;
  /** When the first of the present nominations ends. */
  private nominationEndsMs = Number.POSITIVE_INFINITY;
  /** When the first pod that protects itself for a while does so no longer. */
  private protectionEndsMs = Number.POSITIVE_INFINITY;
  private populated = false;

  constructor(clock: Clock) {
    this.clock = clock;
    this.launchBackoff = new LaunchBackoff(clock);
    this.changedMs = clock.elapsed();
    this.context = Object.fromEntries(contextKinds.map((kind) => [kind, new ObjectStore<KubeObject>()])) as Record<
      ContextKind,
      ObjectStore<KubeObject>
    >;
  }

  /** To be called with every change of the watch before it is set: what it shows again is back (see recency.ts). */
  noteShown(object: KubeObject, before: KubeObject | undefined): void {
    if (before === undefined) this.recency.noteShown(object);
    else if (isSetBack(object, before)) this.recency.noteSetBack(object);
  }

  setNode(node: Node): void {
    if (!this.recency.isNews(node, this.nodes.get(keyOf(node)))) return;
    const before = this.machines.ofNode(node.metadata.name ?? '');
    const was = before === undefined ? undefined : [isInitialized(before), isLeaving(before)].join();
    const previous = this.nodes.set(node);
    this.machines.setNode(node);
    const after = this.machines.ofNode(node.metadata.name ?? '');
    const is = after === undefined ? undefined : [isInitialized(after), isLeaving(after)].join();
    if (was !== is || (previous !== undefined && isNodeNews(previous, node))) this.changed();
  }

  removeNode(node: Node): void {
    this.recency.noteGone(node);
    this.nodes.delete(keyOf(node));
    this.machines.removeNode(node.metadata.name ?? '');
    this.changed();
  }

  setClaim(claim: NodeClaim): void {
    if (this.recency.isNews(claim, this.claims.get(keyOf(claim)))) this.takeClaim(claim);
  }

  /** The API server accepted the claim's deletion; the watch will say exactly when. */
  markClaimDeleted(claim: NodeClaim): void {
    const known = this.claims.get(keyOf(claim));
    if (known === undefined || known.metadata.uid !== claim.metadata.uid) return;
    if (known.metadata.deletionTimestamp !== undefined) return;
    const deletionTimestamp = formatTime(this.clock.now());
    this.takeClaim({ ...known, metadata: { ...known.metadata, deletionTimestamp } });
  }

  private takeClaim(claim: NodeClaim): void {
    const before = this.machines.ofClaim(claim.metadata.name ?? '');
    const was = before === undefined ? undefined : isLeaving(before);
    this.claims.set(claim);
    this.machines.setClaim(claim);
    const after = this.machines.ofClaim(claim.metadata.name ?? '');
    if (was !== (after === undefined ? undefined : isLeaving(after))) this.changed();
  }

  removeClaim(claim: NodeClaim): void {
    this.recency.noteGone(claim);
    this.claims.delete(keyOf(claim));
    this.machines.removeClaim(claim.metadata.name ?? '');
    this.changed();
  }

  setPod(pod: Pod): void {
    const previous = this.pods.set(pod);
    const protectedUntilMs = doNotDisruptEndsMs(pod);
    if (protectedUntilMs > this.clock.now()) this.protectionEndsMs = Math.min(this.protectionEndsMs, protectedUntilMs);
    if (isPodNews(previous, pod)) this.changed();
  }

  removePod(pod: Pod): void {
    if (this.pods.delete(keyOf(pod)) !== undefined) this.changed();
  }

  setNodePool(pool: NodePool): void {
    if (!this.recency.isNews(pool, this.nodePools.get(keyOf(pool)))) return;
    const previous = this.nodePools.set(pool);
    if (previous?.metadata.generation !== pool.metadata.generation) this.changed();
  }

  removeNodePool(pool: NodePool): void {
    this.recency.noteGone(pool);
    this.launchBackoff.clear(pool.metadata.uid ?? '');
    if (this.nodePools.delete(keyOf(pool)) !== undefined) this.changed();
  }

  setContext(kind: ContextKind, object: KubeObject): void {
    const previous = this.context[kind].set(object);
    if (kind === 'DaemonSet' || (kind === 'PodDisruptionBudget' && isBudgetNews(previous, object))) this.changed();
  }

  removeContext(kind: ContextKind, object: KubeObject): void {
    this.context[kind].delete(keyOf(object));
    if (kind === 'DaemonSet' || kind === 'PodDisruptionBudget') this.changed();
  }

  /** Virtual pods of capacity buffers; replaced as a whole. */
  setBufferPods(pods: readonly Pod[]): void {
    this.bufferPods = pods;
    this.changed();
  }

  getBufferPods(): readonly Pod[] {
    return this.bufferPods;
  }

  /** The initial lists of every kind have been folded in. */
  markPopulated(): void {
    this.populated = true;
  }

  /** Every object is known. Claims still launching are part of the snapshot's limits, not a reason to stand still. */
  get synced(): boolean {
    return this.populated;
  }

  nominate(key: string, forMs: number): void {
    const machine = this.machines.get(key);
    if (machine === undefined) return;
    machine.nominatedUntilMs = Math.max(machine.nominatedUntilMs, this.clock.elapsed() + forMs);
    this.nominationEndsMs = Math.min(this.nominationEndsMs, machine.nominatedUntilMs);
  }

  isNominated(machine: Machine): boolean {
    return machine.nominatedUntilMs > this.clock.elapsed();
  }

  mark(keys: Iterable<string>, leaving: boolean): void {
    for (const key of keys) {
      const machine = this.machines.get(key);
      if (machine !== undefined) machine.marked = leaving;
    }
    this.changed();
  }

  /** When something last happened that could change a consolidation verdict. */
  changedAt(): number {
    const nowMs = this.clock.now();
    const elapsedMs = this.clock.elapsed();
    if (elapsedMs >= this.nominationEndsMs) {
      this.nominationEndsMs = firstEndMs(this.machines.all(), (machine) => machine.nominatedUntilMs, elapsedMs);
      this.changed();
    }
    if (nowMs >= this.protectionEndsMs) {
      this.protectionEndsMs = firstEndMs(this.pods.store.list(), doNotDisruptEndsMs, nowMs);
      this.changed();
    }
    if (elapsedMs - this.changedMs >= verdictMaxAgeMs) this.changed();
    return this.changedMs;
  }

  changed(): void {
    // Strictly increasing, so that two changes within one millisecond are two.
    this.changedMs = Math.max(this.clock.elapsed(), this.changedMs + 1);
  }
}

/** The first end that is still to come. */
function firstEndMs<T>(all: Iterable<T>, endMs: (each: T) => number, nowMs: number): number {
  let firstMs = Number.POSITIVE_INFINITY;
  for (const each of all) {
    const ms = endMs(each);
    if (ms > nowMs) firstMs = Math.min(firstMs, ms);
  }
  return firstMs;
}

function isSetBack({ metadata: now }: KubeObject, { metadata: before }: KubeObject): boolean {
  const [version, old] = [now.resourceVersion, before.resourceVersion];
  return now.uid === before.uid && version !== old && isAtOrBefore(version, old);
}
