// A bench for controllers: the embedded cluster, the simulated provider and chosen controllers in virtual time, with what
// they say (events, metrics, logs) kept for tests. Everything runs for real except time, kubelets and the scheduler.
import { setImmediate } from 'node:timers/promises';
import { customResourceDefinition, type KWOKNodeClass, kinds, type NodeClaim, type NodePool } from '../../api/index.ts';
import { formatTime, VirtualClock } from '../../base/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import {
  type Cloud,
  isKubeError,
  type Kube,
  KubeError,
  type KubeObject,
  type Node,
  type Resource,
  resources,
} from '../../ports/index.ts';
import { ServerTime } from '../../runtime/index.ts';
import { assemble } from '../../server/index.ts';
import {
  createCluster,
  genericCatalogue,
  KwokCloud,
  kwokNodeClasses,
  kwokProviderFacts,
  SimKube,
} from '../../sim/index.ts';
import type { Controller, ControllerContext, ControllerSettings } from '../context.ts';
import { nodeClaims, nodePools } from '../own-resources.ts';
import { recordedEvents, recordedLog, recordedMetrics } from './records.testing.ts';

export interface BenchOptions {
  controllers: (context: ControllerContext) => Controller[];
  settings?: Partial<ControllerSettings>;
  catalogue?: readonly InstanceTypeSpec[];
  /** Changes to the simulated provider. */
  cloud?: (cloud: Cloud) => Cloud;
  /** What stands between the API server and the controllers. */
  between?: (kube: Kube) => Kube;
}

const settings: ControllerSettings = {
  cpuRequests: 1_000,
  batchMaxDurationMs: 10_000,
  batchIdleDurationMs: 1_000,
  preferencePolicy: 'Respect',
  minValuesPolicy: 'Strict',
  ignoreDraRequests: true,
  disableClusterStateObservability: false,
  featureGates: {},
};

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

export type Bench = Awaited<ReturnType<typeof openBench>>;

export async function openBench(options: BenchOptions) {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const cluster = await createCluster({ clock });
  const kube = new SimKube(cluster.machinery);
  for (const kind of kinds) await kube.create(definitions, customResourceDefinition(kind));
  await clock.runFor(10);
  const events = recordedEvents();
  const metrics = recordedMetrics();
  const log = recordedLog();
  const kwok = new KwokCloud({
    kube,
    clock,
    log,
    catalogue: options.catalogue ?? genericCatalogue(),
    facts: kwokProviderFacts(),
    random: () => 0.5,
  });
  const time = new ServerTime(clock);
  const { context, caches, leading } = assemble({
    time,
    kube: options.between?.(kube) ?? kube,
    clock,
    log,
    metrics,
    recorder: events,
    cloud: options.cloud?.(kwok) ?? kwok,
    settings: { ...settings, ...options.settings },
    random: () => 0.5,
    controllers: (given) => ({ controllers: options.controllers(given), loops: [] }),
  });
  const stop = new AbortController();
  const running = caches.map((cache) => cache.run(stop.signal));
  await clock.runFor(100);
  const started = [...running, ...leading.map((part) => part.run(stop.signal))];
  await clock.runFor(100);

  /** The object with the changed fields, metadata and spec first, then status; made if it is not there. */
  const apply = async <T extends KubeObject>(resource: Resource<T>, wanted: DeepPartial<T>): Promise<T> => {
    const { metadata, status } = wanted as { metadata: { name: string; namespace?: string }; status?: unknown };
    const ref = metadata.namespace === undefined ? { name: metadata.name } : metadata;
    const { status: _, ...body } = wanted as { status?: unknown };
    let stored: T;
    try {
      stored = await kube.patch(resource, ref, { type: 'merge', body });
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
      stored = await kube.create(resource, body as T);
    }
    if (status !== undefined)
      stored = await kube.patch(resource, ref, { type: 'merge', body: { status } }, { subresource: 'status' });
    await clock.runFor(0);
    return stored;
  };
  const get = async <T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string) => {
    try {
      return await kube.get(resource, namespace === undefined ? { name } : { name, namespace });
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  return {
    clock,
    kube,
    context,
    cloud: context.cloud,
    events: events.list,
    metrics,
    log,
    /** What the API server says about the time; nothing unless a test says so. */
    time,
    apply,
    get,
    /** Lets time pass, and everything due in it happen. */
    run: (durationMs: number) => clock.runFor(durationMs),
    nowPlus: (durationMs: number) => formatTime(clock.now() + durationMs),
    list: async <T extends KubeObject>(resource: Resource<T>): Promise<T[]> => (await kube.list(resource)).items,
    /** The API server stores something else than caches have seen so far: what `change` makes of it; until it returns. */
    storedOtherwise<T extends KubeObject>({ plural }: Resource<T>, change: (items: T[]) => T[]): () => void {
      const { stored } = context;
      const isMeant = (asked: { plural: string }): boolean => asked.plural === plural;
      context.stored = {
        async get(resource, ref, asked) {
          const found = await stored.get(resource, ref, asked);
          const [object] = isMeant(resource) ? (change([found as never]) as unknown[]) : [found];
          if (object === undefined) throw new KubeError({ status: 404, reason: 'NotFound', message: 'not there' });
          return object as typeof found;
        },
        async list(resource, asked) {
          const found = await stored.list(resource, asked);
          return isMeant(resource) ? { ...found, items: change(found.items as never) as never } : found;
        },
      };
      return () => {
        context.stored = stored;
      };
    },
    async remove(resource: Resource, name: string, namespace?: string): Promise<void> {
      await kube.delete(resource, namespace === undefined ? { name } : { name, namespace });
      await clock.runFor(0);
    },
    nodeClass: (name = 'default', over: DeepPartial<KWOKNodeClass> = {}) =>
      apply(kwokNodeClasses, merged({ metadata: { name }, spec: {}, status: { conditions: [ready] } }, over)),
    pool: (name = 'default', over: DeepPartial<NodePool> = {}) => apply(nodePools, merged(poolManifest(name), over)),
    async machine(pool: string | undefined, name: string, over: MachineParts = {}) {
      const manifest = claimManifest(pool, name, over, formatTime(clock.now()));
      // The spec of a claim that is there already cannot change.
      const { spec: _, ...changes } = manifest;
      const exists = (await get(nodeClaims, name)) !== undefined;
      const claim = await apply(nodeClaims, exists ? changes : manifest);
      if (over.node === false) return claim;
      const node = await apply<Node>(resources.nodes, nodeManifest(pool, name, over, formatTime(clock.now())));
      // As the node controller does once the kubelet reports.
      const taints = node.spec?.taints?.filter(({ key }) => key !== 'node.kubernetes.io/not-ready') ?? [];
      await apply<Node>(resources.nodes, { metadata: { name }, spec: { taints } });
      return claim;
    },
    async close(): Promise<void> {
      stop.abort();
      await clock.runFor(20_000);
      await Promise.allSettled(started);
      await cluster.stop();
    },
  };
}

export type DeepPartial<T> = { [K in keyof T]?: T[K] extends object ? DeepPartial<T[K]> : T[K] };

export interface MachineParts {
  /** Conditions of the claim; launched, registered and initialized unless given. */
  conditions?: Record<string, string>;
  /** Absent: the claim has not been launched. */
  launched?: boolean;
  /** Without a Node: false. */
  node?: false | DeepPartial<Node>;
  claim?: DeepPartial<NodeClaim>;
  capacity?: Record<string, string>;
}

function poolManifest(name: string): NodePool {
  return {
    metadata: { name },
    spec: { template: { spec: { nodeClassRef, requirements: [] } }, disruption: { consolidateAfter: '0s' } },
  };
}

const labelsOf = (pool: string | undefined): Record<string, string> => ({
  ...(pool === undefined ? {} : { 'karpenter.sh/nodepool': pool }),
  'karpenter.kwok.sh/kwoknodeclass': 'default',
  'node.kubernetes.io/instance-type': 'c-4x-amd64-linux',
});

function claimManifest(pool: string | undefined, name: string, over: MachineParts, now: string): NodeClaim {
  const { conditions = { Launched: 'True', Registered: 'True', Initialized: 'True' }, launched = true } = over;
  const status = {
    ...(launched ? { providerID: `kwok://${name}`, capacity: over.capacity ?? { cpu: '4', memory: '8Gi' } } : {}),
    conditions: Object.entries(conditions).map(([type, status]) => ({
      type,
      status,
      reason: type,
      message: '',
      lastTransitionTime: now,
    })),
  };
  return merged(
    { metadata: { name, labels: labelsOf(pool) }, spec: { nodeClassRef, requirements: [] }, status },
    over.claim ?? {},
  ) as unknown as NodeClaim;
}

function nodeManifest(pool: string | undefined, name: string, over: MachineParts, now: string): Node {
  const labels = { ...labelsOf(pool), 'karpenter.sh/registered': 'true', 'karpenter.sh/initialized': 'true' };
  return merged(
    {
      metadata: { name, labels },
      spec: { providerID: `kwok://${name}` },
      status: {
        capacity: over.capacity ?? { cpu: '4', memory: '8Gi' },
        allocatable: over.capacity ?? { cpu: '4', memory: '8Gi' },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now }],
      },
    },
    over.node || {},
  );
}

/** `over` laid over `base` as a merge patch would. */
function merged<T>(base: T, over: unknown): T {
  if (typeof over !== 'object' || over === null || Array.isArray(over)) return over as T;
  const result: Record<string, unknown> = { ...(base as Record<string, unknown>) };
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result as T;
}
