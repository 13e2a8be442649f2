// What every controller is given, and what a controller is. Controllers read the cluster model and the caches, ask core,
// and act through ports; nothing here knows which API server or cloud is behind them.

import { type Clock, objectKey } from '../base/index.ts';
import type { DefaultSpreadConstraint, NodeVerdict, Plan, PlanOptions, Snapshot } from '../core/index.ts';
import type { Cloud, Kube, KubeObject, Log, Metrics, Recorder, Resource } from '../ports/index.ts';
import type { BackoffLimits, Outcome, ServerTime } from '../runtime/index.ts';
import type { Cluster, LaunchLedger } from '../state/index.ts';
import type { NodeClassRef } from './managed.ts';

/** The settings controllers look at; the process hands over its own, which has more. */
export interface ControllerSettings {
  cpuRequests: number;
  batchMaxDurationMs: number;
  batchIdleDurationMs: number;
  preferencePolicy: 'Respect' | 'Ignore';
  minValuesPolicy: 'Strict' | 'BestEffort';
  ignoreDraRequests: boolean;
  disableClusterStateObservability: boolean;
  /** Of the schedules of disruption budgets; UTC if absent. */
  budgetTimeZone?: string;
  /** How long a replacement may take to earn its cost; absent or zero asks for nothing. */
  consolidationPaybackMs?: number;
  /** What a node costs beside its price, in USD; absent, the usual figure. */
  nodeCostPerHour?: number;
  /** How long an expired node may wait for budgets; absent or zero, it does not wait at all. */
  expirationGraceMs?: number;
  /** New nodes take other pods only once those of their DaemonSets are bound. */
  keepDaemonSetRoom?: boolean;
  /** Spread of pods that declare none. */
  defaultSpread?: DefaultSpreadConstraint[];
  /** Broken nodes are deleted first and replaced afterwards, as before 1.15. */
  legacyNodeRepair?: boolean;
  featureGates: Readonly<Record<string, boolean>>;
}

/** A cache of one resource, kept equal to the API by a reflector. */
export interface Cache<T extends KubeObject> {
  get(key: string): T | undefined;
  values(): Iterable<T>;
}

/** Keeps what decisions looked at and what came out, so that they can be made again. Never in the way: it returns at once. */
export interface DecisionRecording {
  plan(snapshot: Snapshot, plan: Plan): void;
  /** Nodes are about to go; what becomes of their pods is asked of the snapshot again. */
  move(snapshot: Snapshot, reason: string, nodeClaims: readonly string[]): void;
}

export interface ControllerContext {
  kube: Kube;
  /**
   * What the API server stores, asked now: past the caches, which may be behind, and past the gate, which hides objects
   * that cannot be worked with. Whoever concludes that something has no owner asks here.
   */
  stored: Pick<Kube, 'get' | 'list'>;
  cloud: Cloud;
  cluster: Cluster;
  clock: Clock;
  /** Whether the clock agrees with the API server's: who takes something away for its age asks first. */
  time: Pick<ServerTime, 'aheadMs' | 'cautiousNow' | 'problem'>;
  log: Log;
  metrics: Metrics;
  recorder: Recorder;
  settings: ControllerSettings;
  /** Plans a snapshot without holding up the event loop. */
  plan(snapshot: Snapshot, options?: Pick<PlanOptions, 'onEmptyPool' | 'onRelaxed' | 'onZones'>): Promise<Plan>;
  /** Names a snapshot by what is in it; absent where no one keeps records of decisions. */
  snapshotId?(snapshot: Snapshot): Promise<string>;
  /** Absent where nothing is recorded. */
  recording?: DecisionRecording;
  /** Receives the verdicts about all nodes whenever they were found anew. */
  onVerdicts?(verdicts: readonly NodeVerdict[]): void;
  /** Claims this process made that are not launched yet. */
  ledger: LaunchLedger;
  /** Uniform in [0, 1); seeded in tests. */
  random: () => number;
  /** The cache of a resource that some controller watches. */
  cacheOf<T extends KubeObject>(resource: Resource<T>): Cache<T>;
  /** Runs one pass of a loop, so that what it logs and counts belongs together; without it, it just runs. */
  asPass?<T>(controller: string, pass: () => Promise<T>): Promise<T>;
  /** Whether the provider serves this kind of node class: everything else is someone else's. */
  isManaged(ref: NodeClassRef | undefined): boolean;
}

/** Runs one pass of the named loop as the process wants it. */
export function inPass<T>(context: ControllerContext, controller: string, pass: () => Promise<T>): Promise<T> {
  return context.asPass === undefined ? pass() : context.asPass(controller, pass);
}

/** When to ask again whether the clock can be trusted. */
export const untrustedClockMs = 10_000;

/** Look again after this long, whatever happens. */
export const again = (afterMs: number): Outcome => ({ kind: 'again', afterMs });

/** Which objects wake a controller, and for which keys. Both versions are given so that leaving an object wakes it too. */
export interface Source<T extends KubeObject = KubeObject> {
  resource: Resource<T>;
  keys(change: { before: T | undefined; after: T | undefined }): Iterable<string>;
  /** A cluster may do without this resource; it counts as empty then. */
  optional?: boolean;
}

export interface Controller {
  /** Label of its logs and metrics, as users know it: `nodeclaim.lifecycle`. */
  name: string;
  sources: readonly Source[];
  /** Called at start by the loop that runs it: for controllers that are also woken by others, not only by objects. */
  listen?(wake: (key: string) => void): void;
  /** Keys to reconcile at start beside those of the sources; a controller without objects has one key of its own. */
  startKeys?: readonly string[];
  reconcile(key: string, signal: AbortSignal): Promise<Outcome>;
  concurrency?: number;
  backoff?: BackoffLimits;
}

/** A source with its type hidden, so that sources of different kinds fit one list. */
export function source<T extends KubeObject>(resource: Resource<T>, keys: Source<T>['keys']): Source {
  return { resource, keys };
}

/** Wakes the controller with the object's own key. */
export function ownKey<T extends KubeObject>(resource: Resource<T>): Source {
  return source(resource, ({ before, after }) => {
    const { namespace, name = '' } = (after ?? before)?.metadata ?? {};
    return [objectKey(namespace, name)];
  });
}

/** Between `least` at one core and `most` at sixty: how many reconciles of a kind may run at once. */
export function concurrencyFor(settings: ControllerSettings, least: number, most: number): number {
  const cores = settings.cpuRequests / 1000;
  return Math.max(least, Math.min(most, Math.round(least + ((most - least) * (cores - 1)) / 59)));
}
