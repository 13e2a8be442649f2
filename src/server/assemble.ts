// Puts the controllers together: one cache per resource anyone watches, the cluster model fed from the caches, one
// reconciler per controller. The controller process, the embedded cluster and the scenario tests all run what this builds.
//
// Order matters: the model subscribes to every cache before any controller does, so a controller that is woken by a
// change finds the model already there.
import { compileDeviceSelector, type NodeClaim, type NodePool } from '../api/index.ts';
import { type Clock, inSlices } from '../base/index.ts';
import {
  type Controller,
  type ControllerContext,
  type ControllerSettings,
  type Controllers,
  controllersOf,
  isServedBy,
  nodeClaims,
  nodePools,
} from '../controllers/index.ts';
import { planSnapshotInSlices } from '../core/index.ts';
import type { Cloud, Kube, KubeObject, Log, Metrics, Node, Pod, Recorder, Resource } from '../ports/index.ts';
import { isKubeError, resources } from '../ports/index.ts';
import { type Cache, type Change, loopMetrics, type Part, Reconciler, Reflector } from '../runtime/index.ts';
import { Cluster, type ContextKind, LaunchLedger } from '../state/index.ts';
import { asController, asLoop } from './caller.ts';
import { meteredCloud } from './metered-cloud.ts';
import { whatToInstall } from './missing-definition.ts';
import { modelSync } from './model-sync.ts';
import { slimmingOf } from './slimming.ts';

export interface AssemblyOptions {
  kube: Kube;
  cloud: Cloud;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  settings: ControllerSettings;
  random: () => number;
  /** What runs; every controller unless a test asks for some. */
  controllers?: (context: ControllerContext) => Controllers;
}

export interface Assembly {
  context: ControllerContext;
  caches: readonly Cache[];
  /** What every replica runs beside its caches. */
  always: readonly Part[];
  /** What only the leader runs. */
  leading: readonly Part[];
}

const contextResources: Record<ContextKind, Resource> = {
  Namespace: resources.namespaces,
  DaemonSet: resources.daemonSets,
  PodDisruptionBudget: resources.podDisruptionBudgets,
  PersistentVolumeClaim: resources.persistentVolumeClaims,
  PersistentVolume: resources.persistentVolumes,
  StorageClass: resources.storageClasses,
  CSINode: resources.csiNodes,
  VolumeAttachment: resources.volumeAttachments,
  ResourceSlice: resources.resourceSlices,
  ResourceClaim: resources.resourceClaims,
  DeviceClass: resources.deviceClasses,
};

/** Followed only where devices are planned, and not on every cluster. */
const deviceKinds: readonly string[] = ['ResourceSlice', 'ResourceClaim', 'DeviceClass'] satisfies ContextKind[];

export function assemble(options: AssemblyOptions): Assembly {
  const { kube, clock, log } = options;
  const cloud = meteredCloud(options.cloud, options.metrics, clock);
  const reflectors = new Map<string, Reflector<KubeObject>>();
  const reflectorOf = <T extends KubeObject>(resource: Resource<T>, optional = false): Reflector<T> => {
    const key = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
    let reflector = reflectors.get(key);
    if (reflector === undefined) {
      const transform = slimmingOf<KubeObject>(resource);
      reflector = new Reflector<KubeObject>({
        kube,
        clock,
        resource,
        random: options.random,
        optional,
        ...(transform === undefined ? {} : { transform }),
        onFailure(error, retryInMs) {
          // A forgotten version only means listing again; it happens in every long-lived cluster.
          if (isKubeError(error, 'Expired')) log.debug('listing resource again', { resource: key });
          else {
            const hint = whatToInstall(error, resource);
            log.error('cannot follow resource', error, { resource: key, retryInMs: Math.round(retryInMs), ...hint });
          }
        },
      });
      reflectors.set(key, reflector);
    }
    // A reflector is made for one resource, whose type the key stands for.
    return reflector as unknown as Reflector<T>;
  };
  const cluster = new Cluster(clock);
  feed(cluster, reflectorOf, !options.settings.ignoreDraRequests);
  const context: ControllerContext = {
    ...options,
    cloud,
    cluster,
    plan: (snapshot, given) =>
      inSlices(
        clock,
        planSnapshotInSlices(snapshot, { ...given, compileDeviceSelector, stopwatch: () => performance.now() }),
      ),
    ledger: new LaunchLedger(),
    cacheOf: (resource) => reflectorOf(resource).store,
    asPass: asController,
    isManaged: (ref) => isServedBy(cloud, ref),
  };
  const { controllers, loops } = (options.controllers ?? controllersOf)(context);
  for (const { sources } of controllers) for (const { resource, optional } of sources) reflectorOf(resource, optional);
  const observer = loopMetrics(options.metrics);
  const caches = [...reflectors].map(([name, reflector]): Cache => asCache(name, reflector));
  return {
    context,
    caches: [...caches, populating(cluster, caches)],
    always: [modelSync(cluster, { clock, log, metrics: options.metrics, waitingFor: () => unsynced(caches) })],
    leading: [
      ...loops.map((loop): Part => ({ name: loop.name, run: (signal) => asLoop(loop.name, () => loop.run(signal)) })),
      ...controllers.map((controller) => asPart(controller, context, reflectorOf, observer)),
    ],
  };
}

function feed(
  cluster: Cluster,
  reflectorOf: <T extends KubeObject>(resource: Resource<T>, optional?: boolean) => Reflector<T>,
  withDevices: boolean,
): void {
  const follow = <T extends KubeObject>(
    resource: Resource<T>,
    set: (object: T) => void,
    remove: (object: T) => void,
    optional = false,
  ): void =>
    void reflectorOf(resource, optional).subscribe((change) =>
      change.kind === 'deleted' ? remove(change.object) : set(change.object),
    );
  follow<Node>(
    resources.nodes,
    (node) => cluster.setNode(node),
    (node) => cluster.removeNode(node),
  );
  follow<Pod>(
    resources.pods,
    (pod) => cluster.setPod(pod),
    (pod) => cluster.removePod(pod),
  );
  follow<NodeClaim>(
    nodeClaims,
    (claim) => cluster.setClaim(claim),
    (claim) => cluster.removeClaim(claim),
  );
  follow<NodePool>(
    nodePools,
    (pool) => cluster.setNodePool(pool),
    (pool) => cluster.removeNodePool(pool),
  );
  for (const [kind, resource] of Object.entries(contextResources) as [ContextKind, Resource][]) {
    const optional = deviceKinds.includes(kind);
    if (optional && !withDevices) continue;
    follow(
      resource,
      (object) => cluster.setContext(kind, object),
      (object) => cluster.removeContext(kind, object),
      optional,
    );
  }
}

/** The caches that are not filled yet, by name. */
export function unsynced(caches: readonly Cache[]): string {
  return caches
    .filter((cache) => !cache.isSynced)
    .map((cache) => cache.name)
    .join(', ');
}

function asCache(name: string, reflector: Reflector<KubeObject>): Cache {
  return {
    name: `cache ${name}`,
    get isSynced() {
      return reflector.isSynced;
    },
    whenSynced: () => reflector.whenSynced(),
    run: (signal) => reflector.run(signal),
  };
}

/** The model is complete when every cache is; a cache that comes last says so. */
function populating(cluster: Cluster, caches: readonly Cache[]): Cache {
  const whenSynced = async (): Promise<void> => {
    await Promise.all(caches.map((cache) => cache.whenSynced()));
    cluster.markPopulated();
  };
  return {
    name: 'cluster model',
    get isSynced() {
      return cluster.synced;
    },
    whenSynced,
    run: async (signal) => {
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      if (signal.aborted) return;
      await Promise.race([whenSynced(), stopped]);
      await stopped;
    },
  };
}

/** A controller listens to its sources only while it runs: a replica that does not lead gathers no work. */
function asPart(
  controller: Controller,
  { clock, log }: ControllerContext,
  reflectorOf: (resource: Resource) => Reflector<KubeObject>,
  observer: ReturnType<typeof loopMetrics>,
): Part {
  const { name } = controller;
  const reconcile: Controller['reconcile'] = (key, signal) =>
    asController(name, async () => {
      try {
        return await controller.reconcile(key, signal);
      } catch (error) {
        log.error('Reconciler error', error, { controller: name, key });
        throw error;
      }
    });
  return {
    name,
    async run(signal) {
      const reconciler = new Reconciler({
        name,
        clock,
        workers: controller.concurrency ?? 10,
        reconcile,
        ...(controller.backoff === undefined ? {} : { backoff: controller.backoff }),
        observer,
      });
      const subscriptions = controller.sources.map(({ resource, keys }) =>
        reflectorOf(resource).subscribe((change) => {
          for (const key of keys(versionsOf(change))) reconciler.queue.add(key);
        }),
      );
      observer.starts(name, reconciler.workers);
      for (const key of controller.startKeys ?? []) reconciler.queue.add(key);
      controller.listen?.((key) => reconciler.queue.add(key));
      try {
        await reconciler.run(signal);
      } finally {
        for (const subscription of subscriptions) subscription.dispose();
      }
    },
  };
}

function versionsOf<T>(change: Change<T>): { before: T | undefined; after: T | undefined } {
  switch (change.kind) {
    case 'added':
      return { before: undefined, after: change.object };
    case 'updated':
      return { before: change.old, after: change.object };
    case 'deleted':
      return { before: change.object, after: undefined };
  }
}
