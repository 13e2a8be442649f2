// Gives pods a node, as kube-scheduler does: one pod at a time in order of priority, against a view of the cluster that
// already counts the pods it has just placed.
//
// 1. A pod is bound only to a node that passes every filter at that moment.
// 2. A pod without a node gets the condition PodScheduled=False (Unschedulable) and a FailedScheduling event, written when
//    what they say changes.
// 3. Claims that wait for their first consumer are bound before the pod is.
// 4. A pod that fits nowhere may push less important ones aside: see preemptor.ts.
import type { Clock } from '../../base/index.ts';
import { formatTime } from '../../base/index.ts';
import { isKubeError, type Kube, type Node, type Pod, resources } from '../../ports/index.ts';
import { type Change, keyOf } from '../../runtime/index.ts';
import type { Caches } from '../caches.ts';
import { eventTeller, type Tell } from '../events.ts';
import { ClaimBinder } from './claim-binder.ts';
import { ClusterView, type NodeRoom } from './cluster-view.ts';
import { roomFilter } from './filters.ts';
import { Preemptor } from './preemptor.ts';
import { SchedulingQueue } from './queue.ts';
import { type PodRefused, type Refused, unschedulableMessage } from './reasons.ts';
import { bestRoom } from './score.ts';
import type { VolumeLookup } from './volumes.ts';

export interface SchedulerOptions {
  caches: Caches;
  /** Pods that name this scheduler are its own. */
  name?: string;
  onFailure?: (error: unknown) => void;
}

const defaultName = 'default-scheduler';
/** Pods decided between two turns of the event loop. */
const podsPerTurn = 16;
/** As kube-scheduler, which takes no fewer either: of many nodes that would do, so many are enough to choose from. */
const enoughNodes = 100;

interface Failure {
  message: string;
  improvements: number;
  placements: number;
}

export class Scheduler {
  readonly view = new ClusterView();
  private readonly kube: Kube;
  private readonly clock: Clock;
  private readonly options: SchedulerOptions;
  private readonly name: string;
  private readonly queue: SchedulingQueue;
  private readonly lookup: VolumeLookup;
  private readonly claims: ClaimBinder;
  private readonly preemptor: Preemptor;
  private readonly tell: Tell;
  private readonly subscriptions: { dispose(): void }[] = [];
  /** Placed by us, not yet seen bound. */
  private readonly assumed = new Set<string>();
  /** Pods that rest and whose rules look at other pods. */
  private readonly topological = new Set<string>();
  /** Why pods of a kind found no node, good until something improves. */
  private readonly failures = new Map<string, Failure>();
  private improvements = 0;
  private placements = 0;
  /** Where the last search ended, so that not always the same nodes are looked at. */
  private startAt = 0;
  private pumping = false;
  private stopped = false;

  constructor(kube: Kube, clock: Clock, options: SchedulerOptions) {
    this.kube = kube;
    this.clock = clock;
    this.options = options;
    this.name = options.name ?? defaultName;
    this.queue = new SchedulingQueue(clock, () => this.pump());
    this.tell = eventTeller(kube, clock, this.name);
    this.lookup = lookupIn(options.caches);
    this.claims = new ClaimBinder(kube, clock, this.lookup);
    const budgets = options.caches.of(resources.podDisruptionBudgets).store;
    this.preemptor = new Preemptor({
      kube,
      clock,
      view: this.view,
      lookup: this.lookup,
      budgets: () => budgets.values(),
      tell: this.tell,
      schedulerName: this.name,
      onFailure: options.onFailure,
    });
    this.follow(options.caches);
  }

  /** Pods that wait for a node. */
  get waiting(): number {
    return this.queue.size;
  }

  stop(): void {
    this.stopped = true;
    for (const subscription of this.subscriptions) subscription.dispose();
    this.queue.dispose();
    this.claims.dispose();
  }

  private follow(caches: Caches): void {
    const improve = (): void => this.improved();
    this.subscriptions.push(
      caches.of(resources.namespaces).subscribe(({ kind, object }) => {
        if (kind === 'deleted') this.view.removeNamespace(object);
        else this.view.setNamespace(object);
        this.view.counts.forgetSelections();
      }),
      caches.of(resources.nodes).subscribe((change) => this.onNode(change)),
      caches.of(resources.pods).subscribe((change) => this.onPod(change)),
      caches.of(resources.storageClasses).subscribe(improve),
      caches.of(resources.csiNodes).subscribe(improve),
      caches.of(resources.persistentVolumes).subscribe(improve),
      caches.of(resources.persistentVolumeClaims).subscribe(() => {
        this.claims.claimsChanged();
        this.improved();
      }),
    );
  }

  private onNode(change: Change<Node>): void {
    if (change.kind === 'deleted') this.view.removeNode(change.object);
    else this.view.setNode(change.object);
    if (change.kind !== 'updated' || mattersToPods(change.old, change.object)) this.improved();
  }

  private onPod(change: Change<Pod>): void {
    const pod = change.object;
    const key = keyOf(pod);
    const phase = pod.status?.phase;
    const nodeName = pod.spec?.nodeName ?? '';
    const isOver = change.kind === 'deleted' || phase === 'Succeeded' || phase === 'Failed';
    if (isOver || (nodeName === '' && pod.metadata.deletionTimestamp !== undefined)) {
      const hadRoom = this.view.nodeOf(key) !== undefined;
      this.forget(key);
      this.view.lift(key);
      if (hadRoom) this.improved();
    } else if (nodeName !== '') {
      const isNew = this.view.nodeOf(key) !== nodeName;
      this.forget(key);
      this.view.place(key, pod, nodeName);
      if (isNew) this.placed();
    } else if (!this.assumed.has(key) && this.isOurs(pod)) {
      this.queue.add(key, pod.spec?.priority ?? 0);
      if (change.kind === 'updated' && change.old.metadata.labels !== pod.metadata.labels) this.queue.retryNow(key);
    }
  }

  private isOurs({ spec }: Pod): boolean {
    return (spec?.schedulerName ?? defaultName) === this.name && (spec?.schedulingGates ?? []).length === 0;
  }

  private forget(key: string): void {
    this.queue.remove(key);
    this.assumed.delete(key);
    this.topological.delete(key);
    this.preemptor.forget(key);
  }

  private improved(): void {
    this.improvements++;
    this.queue.retryResting();
  }

  private placed(): void {
    this.placements++;
    if (this.topological.size > 0) this.queue.retryResting([...this.topological]);
  }

  private pump(): void {
    if (this.pumping || this.stopped) return;
    this.pumping = true;
    this.work().then(
      () => {
        this.pumping = false;
      },
      (error: unknown) => {
        this.pumping = false;
        this.options.onFailure?.(error);
      },
    );
  }

  private async work(): Promise<void> {
    // What is known must be complete before anything is decided on it.
    await this.options.caches.whenSynced();
    for (let done = 0; !this.stopped; done++) {
      if (done % podsPerTurn === 0) await this.clock.sleep(0);
      const key = this.queue.take();
      if (key === undefined) return;
      const pod = this.options.caches.of(resources.pods).store.get(key);
      if (pod === undefined || (pod.spec?.nodeName ?? '') !== '') this.queue.remove(key);
      else this.schedule(key, pod);
    }
  }

  private schedule(key: string, pod: Pod): void {
    const kind = kindOf(pod);
    const known = kind === undefined ? undefined : this.failures.get(kind);
    const stillFails =
      known?.improvements === this.improvements && (known.placements === this.placements || !isTopological(pod));
    if (known !== undefined && stillFails) {
      this.failed(key, pod, known.message);
      return;
    }
    const found = this.preemptor.lookPast(key, pod, () => this.find(pod));
    if ('room' in found) {
      this.assume(key, pod, found.room);
      return;
    }
    const { refusals } = found;
    const preemption = 'message' in refusals ? undefined : this.preemptor.preempt(key, pod, refusals);
    const message = unschedulableMessage(refusals, this.view.nodes.length, preemption);
    // What holds for this pod only is not remembered for others of its kind.
    if (kind !== undefined && this.preemptor.nominatedNode(key) === undefined) {
      if (this.failures.size > 5_000) this.failures.clear();
      this.failures.set(kind, { message, improvements: this.improvements, placements: this.placements });
    }
    this.failed(key, pod, message);
  }

  /** The best node, or why there is none. */
  private find(pod: Pod): { room: NodeRoom } | { refusals: ReadonlyMap<string, Refused> | PodRefused } {
    const filter = roomFilter(pod, this.view, this.lookup);
    if ('message' in filter) return { refusals: filter };
    const { nodes } = this.view;
    const refusals = new Map<string, Refused>();
    const rooms: NodeRoom[] = [];
    let looked = 0;
    for (; looked < nodes.length && rooms.length < enoughNodes; looked++) {
      const room = nodes[(this.startAt + looked) % nodes.length] as NodeRoom;
      const refusal = filter(room);
      if (refusal === undefined) rooms.push(room);
      else refusals.set(room.name, refusal);
    }
    if (nodes.length > 0) this.startAt = (this.startAt + looked) % nodes.length;
    const room = bestRoom(pod, rooms, this.view);
    return room === undefined ? { refusals } : { room };
  }

  private assume(key: string, pod: Pod, room: NodeRoom): void {
    this.queue.remove(key);
    this.topological.delete(key);
    this.preemptor.forget(key);
    this.assumed.add(key);
    this.view.place(key, pod, room.name);
    this.placed();
    this.bind(key, pod, room).catch((error: unknown) => {
      if (!this.assumed.delete(key)) return;
      this.view.lift(key);
      this.improvements++;
      // Someone else was quicker, or the pod is gone: taken again, it is looked at as it then is.
      if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) this.options.onFailure?.(error);
      this.queue.add(key, pod.spec?.priority ?? 0);
      this.queue.failed(key);
      this.queue.retryResting([key]);
    });
  }

  private async bind(key: string, pod: Pod, room: NodeRoom): Promise<void> {
    const { name = '', namespace = '' } = pod.metadata;
    await this.claims.bindClaims(pod, room);
    if (!this.assumed.has(key) || this.stopped) return;
    await this.kube.bind({ name, namespace }, room.name);
    this.tell(resources.pods, pod, {
      type: 'Normal',
      reason: 'Scheduled',
      message: `Successfully assigned ${namespace}/${name} to ${room.name}`,
    });
  }

  private failed(key: string, pod: Pod, message: string): void {
    this.queue.failed(key);
    if (isTopological(pod)) this.topological.add(key);
    const known = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    const nominatedNodeName = this.preemptor.nominatedNode(key);
    const isKnown = known?.status === 'False' && known.reason === 'Unschedulable' && known.message === message;
    if (isKnown && pod.status?.nominatedNodeName === nominatedNodeName) return;
    const { name = '', namespace = '', uid } = pod.metadata;
    const lastTransitionTime =
      known?.status === 'False' ? (known.lastTransitionTime ?? null) : formatTime(this.clock.now());
    const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime };
    const nominated = { nominatedNodeName: nominatedNodeName ?? null };
    const body = { metadata: { uid }, status: { conditions: [condition], ...nominated } };
    this.kube
      .patch(resources.pods, { name, namespace }, { type: 'strategic', body }, { subresource: 'status' })
      .catch((error: unknown) => {
        if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) this.options.onFailure?.(error);
      });
    this.tell(resources.pods, pod, { type: 'Warning', reason: 'FailedScheduling', message });
  }
}

/** Pods of one kind get the same answer. Undefined: claims make every pod its own. */
function kindOf({ metadata: { namespace, labels }, spec }: Pod): string | undefined {
  if ((spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim ?? volume.ephemeral)) return undefined;
  const { containers, initContainers, nodeSelector, affinity, tolerations, topologySpreadConstraints } = spec ?? {};
  const shapes = [containers, initContainers].map((list) =>
    list?.map(({ resources: wanted, ports }) => [wanted, ports]),
  );
  return JSON.stringify([
    namespace,
    labels,
    shapes,
    nodeSelector,
    affinity,
    tolerations,
    topologySpreadConstraints,
    spec?.overhead,
    spec?.priority,
    spec?.preemptionPolicy,
  ]);
}

const isTopological = ({ spec }: Pod): boolean =>
  (spec?.topologySpreadConstraints ?? []).length > 0 ||
  spec?.affinity?.podAffinity !== undefined ||
  spec?.affinity?.podAntiAffinity !== undefined;

function mattersToPods(before: Node, after: Node): boolean {
  const facts = ({ metadata, spec, status }: Node): string =>
    JSON.stringify([metadata.labels, spec?.taints, spec?.unschedulable, status?.allocatable]);
  return facts(before) !== facts(after);
}

function lookupIn(caches: Caches): VolumeLookup {
  const claims = caches.of(resources.persistentVolumeClaims).store;
  const volumes = caches.of(resources.persistentVolumes).store;
  const classes = caches.of(resources.storageClasses).store;
  const csiNodes = caches.of(resources.csiNodes).store;
  return {
    claim: (key) => claims.get(key),
    volume: (name) => volumes.get(name),
    volumes: () => volumes.values(),
    storageClass: (name) => classes.get(name),
    csiNode: (name) => csiNodes.get(name),
  };
}
