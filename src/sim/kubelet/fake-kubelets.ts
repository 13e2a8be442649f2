// Plays kubelet for every node annotated `kwok.x-k8s.io/node: fake`: reports the node, renews its Lease, runs and ends the
// pods bound to it. One queue and one timer heap for all nodes, so 5,000 nodes and 100,000 pods cost what they change.
//
// 1. Works over the Kube port alone: the embedded cluster and a real API server are the same to it.
// 2. Each step is worked out from the object as last seen (node-report.ts, pod-step.ts); a restart loses nothing.
// 3. A write that finds the object changed or gone is dropped: the change itself wakes the key again.
import { kwokNode } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { isKubeError, type Kube, type Node, type Pod, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome, Reconciler } from '../../runtime/index.ts';
import { Caches } from '../caches.ts';
import { fractionOf } from './hash.ts';
import { leaseDurationSeconds, renewLease } from './heartbeat.ts';
import { isReady, nodeReport } from './node-report.ts';
import { nextStep, type PodTimings } from './pod-step.ts';

export interface FakeKubeletOptions extends Partial<PodTimings> {
  /** How often Leases are renewed; 0: never, for runs over days where nothing looks at them. Default 10 s. */
  heartbeatMs?: number;
  /** Writes under way at once. */
  concurrency?: number;
  /** Shared with others that play a part in the cluster; own ones if absent. */
  caches?: Caches;
  /** Uniform in [0, 1). */
  random?: () => number;
  /** Receives writes and watches that fail and are tried again. */
  onFailure?: (error: unknown) => void;
}

export interface FakeKubelets {
  /** Resolves when the nodes and pods there at the start are known. */
  whenSynced(): Promise<void>;
  stop(): Promise<void>;
}

const defaults: PodTimings = { startMs: { least: 500, most: 1_500 }, stopMs: 0, runMs: 5_000 };
const defaultHeartbeatMs = 10_000;
const defaultConcurrency = 32;

export const isFakeNode = (node: Node): boolean => node.metadata.annotations?.[kwokNode.label] === kwokNode.value;

export function startFakeKubelets(kube: Kube, clock: Clock, options: FakeKubeletOptions = {}): FakeKubelets {
  return new Kubelets(kube, clock, options);
}

class Kubelets implements FakeKubelets {
  private readonly kube: Kube;
  private readonly clock: Clock;
  private readonly options: FakeKubeletOptions;
  private readonly timings: PodTimings;
  private readonly caches: Caches;
  private readonly loop: Reconciler;
  private readonly running: Promise<void>;
  private readonly stopping = new AbortController();
  private readonly subscriptions: { dispose(): void }[];
  /** Pods bound to each node, by key. */
  private readonly podsOn = new Map<string, Set<string>>();
  /** When each node's Lease was last renewed, by uid. */
  private readonly renewed = new Map<string, number>();
  /** Nodes whose Lease was renewed in time: whoever notes that it was silent is wrong, and means something by it. */
  private readonly punctual = new Set<string>();
  /** When a pod that waits for something was first seen in its stage. */
  private readonly seen = new Map<string, { stage: string; ms: number }>();
  /** Pods whose node was not ready and is again. */
  private readonly nodeIsBack = new Set<string>();

  constructor(kube: Kube, clock: Clock, options: FakeKubeletOptions) {
    this.kube = kube;
    this.clock = clock;
    this.options = options;
    this.timings = { ...defaults, ...options };
    const { random = Math.random, onFailure } = options;
    this.caches =
      options.caches ?? new Caches({ kube, clock, random, ...(onFailure === undefined ? {} : { onFailure }) });
    this.loop = new Reconciler({
      name: 'kubelet',
      clock,
      workers: options.concurrency ?? defaultConcurrency,
      backoff: { baseMs: 200, maxMs: 30_000 },
      reconcile: (key) => this.reconcile(key),
      observer: { onReconciled: ({ error }) => (error === undefined ? undefined : onFailure?.(error)) },
    });
    this.subscriptions = [
      this.caches.of(resources.nodes).subscribe((change) => {
        this.onNode(change.kind === 'updated' ? change.old : undefined, change.object, change.kind === 'deleted');
      }),
      this.caches.of(resources.pods).subscribe((change) => this.onPod(change.object, change.kind === 'deleted')),
    ];
    this.running = this.loop.run(this.stopping.signal);
  }

  async whenSynced(): Promise<void> {
    await Promise.all([this.caches.of(resources.nodes).whenSynced(), this.caches.of(resources.pods).whenSynced()]);
  }

  async stop(): Promise<void> {
    for (const subscription of this.subscriptions) subscription.dispose();
    this.stopping.abort();
    await Promise.all([this.running, this.options.caches === undefined ? this.caches.stop() : undefined]);
  }

  private onNode(old: Node | undefined, node: Node, deleted: boolean): void {
    const { name = '' } = node.metadata;
    if (deleted) {
      this.renewed.delete(node.metadata.uid ?? '');
      this.punctual.delete(node.metadata.uid ?? '');
      return;
    }
    if (!isFakeNode(node)) return;
    const { queue } = this.loop;
    queue.add(`node ${name}`);
    const isNew = old === undefined || !isFakeNode(old);
    const isBack = !isNew && !isReady(old) && isReady(node);
    if (isNew || isBack) {
      for (const key of this.podsOn.get(name) ?? []) {
        if (isBack) this.nodeIsBack.add(key);
        queue.add(`pod ${key}`);
      }
    }
    const { heartbeatMs = defaultHeartbeatMs } = this.options;
    // The first renewals are spread, so that a thousand nodes that came together do not renew together for ever.
    if (isNew && heartbeatMs > 0) queue.addAfter(`lease ${name}`, 1 + fractionOf(name) * Math.min(heartbeatMs, 2_000));
  }

  private onPod(pod: Pod, deleted: boolean): void {
    const { nodeName } = pod.spec ?? {};
    if (nodeName === undefined || nodeName === '') return;
    const key = keyOf(pod);
    const keys = this.podsOn.get(nodeName);
    if (deleted) {
      keys?.delete(key);
      if (keys?.size === 0) this.podsOn.delete(nodeName);
      this.seen.delete(key);
      this.nodeIsBack.delete(key);
      return;
    }
    if (keys === undefined) this.podsOn.set(nodeName, new Set([key]));
    else keys.add(key);
    this.loop.queue.add(`pod ${key}`);
  }

  private async reconcile(task: string): Promise<Outcome> {
    const [kind, key = ''] = task.split(' ', 2);
    try {
      if (kind === 'pod') return await this.reconcilePod(key);
      const node = this.caches.of(resources.nodes).store.get(key);
      if (node === undefined || !isFakeNode(node)) return done;
      if (kind === 'node') return await this.reconcileNode(node);
      return await this.reconcileLease(node);
    } catch (error) {
      // The object changed or went in between; its next event brings it back. A Lease is renewed for as long as its node is there.
      if (kind !== 'lease' && (isKubeError(error, 'NotFound') || isKubeError(error, 'Conflict'))) return done;
      throw error;
    }
  }

  private async reconcileNode(node: Node): Promise<Outcome> {
    const { name = '', uid = '' } = node.metadata;
    const status = nodeReport(node, { nowMs: this.clock.now(), wasSilent: !this.punctual.has(uid) });
    if (status !== undefined) {
      const body = { metadata: { uid }, status };
      await this.kube.patch(resources.nodes, { name }, { type: 'strategic', body }, { subresource: 'status' });
    }
    return done;
  }

  private async reconcileLease(node: Node): Promise<Outcome> {
    const { name = '', uid = '' } = node.metadata;
    const nowMs = this.clock.now();
    await renewLease(this.kube, node, nowMs);
    const quietMs = nowMs - (this.renewed.get(uid) ?? 0);
    this.renewed.set(uid, nowMs);
    if (quietMs < leaseDurationSeconds * 1000) this.punctual.add(uid);
    else {
      this.punctual.delete(uid);
      this.loop.queue.add(`node ${name}`);
    }
    return { kind: 'again', afterMs: this.options.heartbeatMs ?? defaultHeartbeatMs };
  }

  private async reconcilePod(key: string): Promise<Outcome> {
    const pod = this.caches.of(resources.pods).store.get(key);
    const node = this.caches.of(resources.nodes).store.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined || !isFakeNode(node)) return done;
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const nowMs = this.clock.now();
    const step = nextStep(pod, this.timings, {
      nowMs,
      seenMs: this.firstSeen(key, pod, nowMs),
      hostIP: node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '10.0.0.1',
      nodeIsBack: this.nodeIsBack.delete(key),
    });
    switch (step.kind) {
      case 'none':
        this.seen.delete(key);
        return done;
      case 'wait':
        return { kind: 'again', afterMs: Math.max(1, step.untilMs - nowMs) };
      case 'report': {
        const body = { metadata: { uid }, status: step.status };
        await this.kube.patch(
          resources.pods,
          { name, namespace },
          { type: 'strategic', body },
          { subresource: 'status' },
        );
        return done;
      }
      case 'remove':
        await this.kube.delete(resources.pods, { name, namespace }, { gracePeriodSeconds: 0, preconditions: { uid } });
        return done;
    }
  }

  private firstSeen(key: string, pod: Pod, nowMs: number): number {
    const stage = `${pod.metadata.uid} ${pod.metadata.deletionTimestamp === undefined ? 'bound' : 'going'}`;
    const known = this.seen.get(key);
    if (known?.stage === stage) return known.ms;
    this.seen.set(key, { stage, ms: nowMs });
    return nowMs;
  }
}
