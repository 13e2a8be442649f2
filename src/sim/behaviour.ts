// What makes an API server a living cluster: scheduler, workload controllers and fake kubelets, on shared caches. Meant for
// the embedded cluster; a real control plane brings its own of all but the kubelets (see startFakeKubelets).
import type { Clock } from '../base/index.ts';
import { type Kube, type Node, type Pod, resources } from '../ports/index.ts';
import { Caches } from './caches.ts';
import { type FakeKubeletOptions, startFakeKubelets } from './kubelet/fake-kubelets.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { startWorkloads } from './workloads/index.ts';

export interface BehaviourOptions {
  /** Uniform in [0, 1); seeded for runs that must be alike. */
  random: () => number;
  kubelets?: Omit<FakeKubeletOptions, 'caches' | 'random' | 'onFailure'>;
  /** Receives writes and watches that fail and are tried again. */
  onFailure?: (error: unknown) => void;
}

export interface Behaviour {
  /** Pods that wait for a node. */
  readonly waitingPods: number;
  /** What the cluster has, as the caches know it. */
  nodes(): Iterable<Node>;
  pods(): Iterable<Pod>;
  whenSynced(): Promise<void>;
  stop(): Promise<void>;
}

export function startBehaviour(kube: Kube, clock: Clock, options: BehaviourOptions): Behaviour {
  const { random, onFailure, kubelets: timings } = options;
  const failure = onFailure === undefined ? {} : { onFailure };
  const caches = new Caches({ kube, clock, random, ...failure });
  const scheduler = new Scheduler(kube, clock, { caches, ...failure });
  const kubelets = startFakeKubelets(kube, clock, { ...timings, caches, random, ...failure });
  const workloads = startWorkloads(kube, clock, caches, onFailure);
  return {
    get waitingPods() {
      return scheduler.waiting;
    },
    nodes: () => caches.of(resources.nodes).store.values(),
    pods: () => caches.of(resources.pods).store.values(),
    whenSynced: () => caches.whenSynced(),
    async stop() {
      scheduler.stop();
      await workloads.stop();
      await kubelets.stop();
      await caches.stop();
    },
  };
}
