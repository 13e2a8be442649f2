// Puts the controllers together: one cache per resource anyone watches, the cluster model fed from the caches, one
// reconciler per controller, and the gate that keeps objects that cannot be worked with from all of them. The controller process,
// the embedded cluster and the scenario tests all run what this builds.
//
// Order matters: the model subscribes to every cache before any controller does, so a controller that is woken by a
// change finds the model already there.
import type { NodeClaim, NodePool } from '../api/index.ts';
import { type Clock, inSlices, messageOf } from '../base/index.ts';
import {
  type Controller,
  type ControllerContext,
  type ControllerSettings,
  type Controllers,
  compileUntrustedSelector,
  controllersOf,
  type DecisionRecording,
  isServedBy,
  nodeClaims,
  nodePools,
  type RefusedObjects,
} from '../controllers/index.ts';
import { type NodeVerdict, planSnapshotInSlices, type Snapshot } from '../core/index.ts';
import type { Cloud, Kube, KubeObject, Log, Metrics, Node, Pod, Recorder, Resource } from '../ports/index.ts';
import { isKubeError, resources } from '../ports/index.ts';
import {
  type CachePart,
  type Change,
  loopMetrics,
  type Part,
  Reconciler,
  Reflector,
  ServerTime,
  UnderWay,
} from '../runtime/index.ts';
import { Cluster, type ContextKind, LaunchLedger } from '../state/index.ts';
import type { DecisionRing } from '../telemetry/index.ts';
import { AdmissionGate } from './admission/gate.ts';
import { asController, asLoop } from './caller.ts';
import { LaunchOutcomes } from './launch-outcomes.ts';
import { meteredCloud } from './metered-cloud.ts';
import { whatToInstall } from './missing-definition.ts';
import { modelSync } from './model-sync.ts';
import { slimmingOf } from './slimming.ts';
import { snapshotId } from './snapshot-id.ts';
import { type Touches, touchesOf } from './touches.ts';

export interface AssemblyOptions {
  kube: Kube;
  cloud: Cloud;
  clock: Clock;
  /** What the API server says about the time; without it, our clock is believed. */
  time?: ServerTime;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  settings: ControllerSettings;
  random: () => number;
  /** Keeps records of decisions. */
  decisions?: DecisionRing;
  /** Writes down what decisions look at. */
  recording?: DecisionRecording;
  /** Receives the verdicts about all nodes whenever they were found anew. */
  onVerdicts?: (verdicts: readonly NodeVerdict[]) => void;
  /** What runs; every controller that needs no provider of its own unless more, or only some, are asked for. */
  controllers?: (context: ControllerContext, objects: RefusedObjects) => Controllers;
}

export interface Assembly {
  context: ControllerContext;
  caches: readonly CachePart[];
  /** What every replica runs beside its caches. */
  always: readonly Part[];
  /** What only the leader runs. */
  leading: readonly Part[];
  /** What changes touch, for whoever shows the cluster. */
  touches: Touches;
  /** Which controller hangs, in a sentence; undefined while none does. */
  hanging(): string | undefined;
}

const contextResources: Record<ContextKind, Resource> = {
  Namespace: resources.namespaces,
  DaemonSet: resources.daemonSets,
  PodDisruptionBudget: resources.podDisruptionBudgets,
  PersistentVolumeClaim: resources.persistentVolumeClaims,
  PersistentVolume: resources.persistentVolumes,
  StorageClass: resources.storageClasses,
  CSINode: resources.csiNodes,
  CSIDriver: resources.csiDrivers,
  CSIStorageCapacity: resources.csiStorageCapacities,
  Service: resources.services,
  ReplicationController: resources.replicationControllers,
  ReplicaSet: resources.replicaSets,
  StatefulSet: resources.statefulSets,
  VolumeAttachment: resources.volumeAttachments,
  ResourceSlice: resources.resourceSlices,
  ResourceClaim: resources.resourceClaims,
  DeviceClass: resources.deviceClasses,
  DeviceTaintRule: resources.deviceTaintRules,
};

/** Followed only where devices are planned, and not on every cluster. */
const deviceKinds: readonly string[] = [
  'ResourceSlice',
  'ResourceClaim',
  'DeviceClass',
  'DeviceTaintRule',
] satisfies ContextKind[];

/** Followed only where pods are spread by default: their owners and Services tell among whom. */
const spreadKinds: readonly string[] = [
  'Service',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
] satisfies ContextKind[];

/** Plans are a little less exact without these; roles of other charts do not grant them. */
const dispensable: readonly string[] = [
  'csidrivers.storage.k8s.io',
  'csistoragecapacities.storage.k8s.io',
  'devicetaintrules.resource.k8s.io',
];

export function assemble(options: AssemblyOptions): Assembly {
  const { clock, log } = options;
  const gate = new AdmissionGate();
  const kube = gate.kube(options.kube);
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
        dispensable: dispensable.includes(key),
        ...(transform === undefined ? {} : { transform }),
        onFailure(error, retryInMs) {
          // A forgotten version only means listing again; it happens in every long-lived cluster.
          if (isKubeError(error, 'Expired')) log.debug('listing resource again', { resource: key });
          else if (dispensable.includes(key))
            log.debug('planning without resource', { resource: key, reason: messageOf(error) });
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
  const underWay = new UnderWay(clock);
  const cluster = new Cluster(clock);
  const { ignoreDraRequests, defaultSpread = [] } = options.settings;
  feed(cluster, reflectorOf, { withDevices: !ignoreDraRequests, withSpread: defaultSpread.length > 0 });
  const { decisions } = options;
  if (decisions !== undefined) followLaunches(new LaunchOutcomes(decisions, clock), reflectorOf(nodeClaims));
  const context: ControllerContext = {
    ...options,
    kube,
    stored: options.kube,
    ...(decisions !== undefined && {
      recorder: withDecisions(options.recorder, decisions),
      snapshotId: (snapshot: Snapshot) => snapshotId(clock, snapshot),
    }),
    time: options.time ?? new ServerTime(clock),
    cloud,
    cluster,
    plan: (snapshot, given) =>
      inSlices(
        clock,
        planSnapshotInSlices(snapshot, {
          ...given,
          compileDeviceSelector: compileUntrustedSelector,
          stopwatch: () => performance.now(),
        }),
      ),
    ledger: new LaunchLedger(),
    cacheOf: (resource) => reflectorOf(resource).store,
    asPass: (name, pass) => underWay.during(name, () => asController(name, pass)),
    isManaged: (ref) => isServedBy(cloud, ref),
  };
  const touches = touchesOf({
    nodes: reflectorOf(resources.nodes),
    pods: reflectorOf(resources.pods),
    claims: reflectorOf(nodeClaims),
  });
  const { controllers, loops } = (options.controllers ?? controllersOf)(context, gate);
  for (const { sources } of controllers) for (const { resource, optional } of sources) reflectorOf(resource, optional);
  const observer = loopMetrics(options.metrics);
  const caches = [...reflectors].map(([name, reflector]): CachePart => asCache(name, reflector));
  return {
    context,
    touches,
    caches: [...caches, populating(cluster, caches)],
    always: [modelSync(cluster, { clock, log, metrics: options.metrics, waitingFor: () => unsynced(caches) })],
    leading: [
      ...loops.map((loop): Part => ({ name: loop.name, run: (signal) => asLoop(loop.name, () => loop.run(signal)) })),
      ...controllers.map((controller) => asPart(watched(controller, underWay), context, reflectorOf, observer)),
    ],
    hanging: () => underWay.problem(),
  };
}

function withDecisions(recorder: Recorder, ring: DecisionRing): Recorder {
  return {
    publish: (event) => recorder.publish(event),
    decide: (draft) => ring.add(draft).id,
    settle: (id, outcome) => ring.settle(id, outcome),
  };
}

function followLaunches(outcomes: LaunchOutcomes, claims: Reflector<NodeClaim>): void {
  claims.subscribe((change) =>
    change.kind === 'deleted' ? outcomes.gone(change.object) : outcomes.changed(change.object),
  );
}

function feed(
  cluster: Cluster,
  reflectorOf: <T extends KubeObject>(resource: Resource<T>, optional?: boolean) => Reflector<T>,
  { withDevices, withSpread }: { withDevices: boolean; withSpread: boolean },
): void {
  const follow = <T extends KubeObject>(
    resource: Resource<T>,
    set: (object: T) => void,
    remove: (object: T) => void,
    optional = false,
  ): void =>
    void reflectorOf(resource, optional).subscribe((change) => {
      if (change.kind === 'deleted') return remove(change.object);
      cluster.noteShown(change.object, change.kind === 'updated' ? change.old : undefined);
      set(change.object);
    });
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
    if ((optional && !withDevices) || (spreadKinds.includes(kind) && !withSpread)) continue;
    follow(
      resource,
      (object) => cluster.setContext(kind, object),
      (object) => cluster.removeContext(kind, object),
      optional,
    );
  }
}

/** The caches that are not filled yet, by name. */
export function unsynced(caches: readonly CachePart[]): string {
  return caches
    .filter((cache) => !cache.isSynced)
    .map((cache) => cache.name)
    .join(', ');
}

/** A server says something every minute; a watch that is silent for two and a half is opened anew. */
const staleMs = 240_000;

/** The caches that may be behind because nothing was heard for long, by name; empty when there are none. */
export function stale(caches: readonly CachePart[]): string {
  return caches
    .filter(({ isSynced, silentMs = 0 }) => isSynced && silentMs > staleMs)
    .map(({ name, silentMs = 0 }) => `${name} heard nothing for ${Math.round(silentMs / 1000)} s`)
    .join(', ');
}

function asCache(name: string, reflector: Reflector<KubeObject>): CachePart {
  return {
    name: `cache ${name}`,
    get isSynced() {
      return reflector.isSynced;
    },
    get silentMs() {
      return reflector.silentMs;
    },
    whenSynced: () => reflector.whenSynced(),
    run: (signal) => reflector.run(signal),
  };
}

/** The model is complete when every cache is; a cache that comes last says so. */
function populating(cluster: Cluster, caches: readonly CachePart[]): CachePart {
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

/** The controller, with its reconciles known to `underWay`. */
function watched(controller: Controller, underWay: UnderWay): Controller {
  const reconcile: Controller['reconcile'] = (key, signal) =>
    underWay.during(`${controller.name} of ${key}`, () => controller.reconcile(key, signal));
  return { ...controller, reconcile };
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
