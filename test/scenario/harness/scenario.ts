// A whole cluster in virtual time for scenarios: the embedded API, scheduler, workload controllers and kubelets, the
// simulated provider, and our controllers as a process that can be stopped, killed at any write, and started again.
// Same seed, same run.
import { setImmediate as settle } from 'node:timers/promises';
import { customResourceDefinition, kinds, type NodeClaim, type NodePool } from '../../../src/api/index.ts';
import { type Clock, seededRandom, VirtualClock } from '../../../src/base/index.ts';
import {
  type ControllerContext,
  type ControllerSettings,
  nodeClaims,
  nodePools,
} from '../../../src/controllers/index.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import type { InstanceTypeSpec } from '../../../src/core/index.ts';
import {
  isKubeError,
  type Kube,
  type KubeObject,
  type LogFields,
  type Node,
  type Pod,
  type Resource,
  resources,
} from '../../../src/ports/index.ts';
import { Manager } from '../../../src/runtime/index.ts';
import { assemble, parseSettings } from '../../../src/server/index.ts';
import {
  type ClusterOptions,
  createCluster,
  genericCatalogue,
  KwokCloud,
  kwokNodeClasses,
  kwokProviderFacts,
  SimKube,
  startBehaviour,
} from '../../../src/sim/index.ts';
import { Life } from './mortal.ts';
import { Weather } from './weather.ts';

export interface ScenarioOptions {
  seed?: number;
  settings?: Partial<ControllerSettings>;
  /** How long simulated machines take to boot; a Go duration. */
  bootTime?: string;
  /** This share of our controllers' calls fails. */
  failureRate?: number;
  /** Without our controllers; tests start them. */
  idle?: boolean;
  /** The world as it was at a moment of another scenario; without our controllers. */
  from?: Moment;
  /** What the provider offers; everything it has unless a test can do with less, which is quicker. */
  catalogue?: readonly InstanceTypeSpec[];
  /** Around everything our controllers ask of the API server: to look at it, or to lie to them. */
  between?: (kube: Kube) => Kube;
  /** Hears every line our controllers log. */
  onLog?: (message: string, fields: LogFields) => void;
}

/** What was there at one moment, and when that was. */
export interface Moment {
  state: NonNullable<ClusterOptions['state']>;
  ms: number;
}

/** Our controllers as one process. */
export interface Process {
  context: ControllerContext;
  life: Life;
  /** Ends in order, as on SIGTERM. */
  stop(): Promise<void>;
  /** Ends at once, as on SIGKILL. */
  kill(): void;
}

const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const namespace = 'default';
export const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

export type Scenario = Awaited<ReturnType<typeof openScenario>>;

export async function openScenario(options: ScenarioOptions = {}) {
  const { from } = options;
  const clock = new VirtualClock({ settle: () => settle(), ...(from === undefined ? {} : { startMs: from.ms }) });
  const cluster = await createCluster({
    clock,
    seed: options.seed ?? 1,
    ...(from === undefined ? {} : { state: from.state }),
  });
  const kube = new SimKube(cluster.machinery);
  const random = seededRandom(options.seed ?? 1);
  const failures: unknown[] = [];
  const behaviour = startBehaviour(kube, clock, {
    random,
    kubelets: { heartbeatMs: 0 },
    onFailure: (error) => failures.push(error),
  });
  if (from === undefined) {
    for (const kind of kinds) await kube.create(definitions, customResourceDefinition(kind));
    await clock.runFor(1_000);
    await kube.create(kwokNodeClasses, {
      metadata: { name: 'default' },
      spec: options.bootTime === undefined ? {} : { nodeRegistrationDelay: options.bootTime },
    });
  }
  const events = recordedEvents();
  const metrics = recordedMetrics();
  const log = recordedLog(options.onLog);

  const weather = new Weather(clock, random);
  if (options.failureRate !== undefined) weather.become({ failureRate: options.failureRate, mostDelayMs: 0 });

  const startProcess = async (): Promise<Process> => {
    const life = new Life();
    const served = weather.kube(options.between?.(kube) ?? kube);
    const own: { kube: Kube; clock: Clock } = { kube: life.kube(served), clock: life.clock(clock) };
    const cloud = new KwokCloud({
      ...own,
      log,
      random,
      catalogue: options.catalogue ?? genericCatalogue(),
      facts: kwokProviderFacts(),
    });
    const { context, caches, leading } = assemble({
      ...own,
      cloud,
      log,
      random,
      metrics,
      recorder: events,
      settings: { ...parseSettings({}, {}).settings, ...options.settings },
    });
    await cloud.recover((await context.kube.list(nodeClaims)).items);
    const stopping = new AbortController();
    const running = new Manager({ clock: own.clock, caches, leading }).run(stopping.signal);
    // A killed process never ends; one that fails should be noticed.
    running.catch((error: unknown) => failures.push(error));
    return {
      context,
      life,
      async stop() {
        stopping.abort();
        await clock.runFor(10_000);
        await running;
        life.end();
      },
      kill: () => life.end(),
    };
  };
  let process: Process | undefined;
  if (from === undefined) {
    if (options.idle !== true) process = await startProcess();
    await clock.runFor(1_000);
  }

  const list = async <T extends KubeObject>(resource: Resource<T>): Promise<T[]> => (await kube.list(resource)).items;
  const find = async <T extends KubeObject>(resource: Resource<T>, name: string, inNamespace?: string) => {
    try {
      return await kube.get(resource, inNamespace === undefined ? { name } : { name, namespace: inNamespace });
    } catch (error) {
      if (isKubeError(error, 'NotFound')) return undefined;
      throw error;
    }
  };
  return {
    clock,
    kube,
    events: events.list,
    metrics,
    log,
    list,
    find,
    failures,
    weather,
    run: (durationMs: number) => clock.runFor(durationMs),
    moment: (): Moment => ({ state: cluster.machinery.store.state(), ms: clock.now() }),
    /** Our controllers; an error while there are none. */
    get process(): Process {
      if (process === undefined) throw new Error('no controller process is running');
      return process;
    },
    async restart(): Promise<Process> {
      process = await startProcess();
      return process;
    },
    eventsOf: (reason: string) => events.list.filter((event) => event.reason === reason),
    pool: (name = 'default', spec: object = {}, template: object = {}): Promise<NodePool> =>
      kube.create(nodePools, {
        metadata: { name },
        spec: {
          template: { spec: { nodeClassRef, requirements: [], ...template } },
          disruption: { consolidateAfter: 'Never' },
          ...spec,
        },
      }),
    async deployment(app: string, replicas: number, podSpec: object = {}, requests: object = { cpu: '1' }) {
      const containers = [{ name: 'main', image: 'example.com/main', resources: { requests } }];
      await kube.create(resources.deployments, {
        metadata: { name: app, namespace },
        spec: {
          replicas,
          selector: { matchLabels: { app } },
          template: { metadata: { labels: { app } }, spec: { containers, ...podSpec } },
        },
      } as never);
    },
    async scale(app: string, replicas: number): Promise<void> {
      const body = { spec: { replicas } };
      await kube.patch(resources.deployments, { name: app, namespace }, { type: 'merge', body });
    },
    /** Pods that run and are ready, of one app or of all. */
    async readyPods(app?: string): Promise<Pod[]> {
      return (await list(resources.pods)).filter(
        ({ metadata, status }) =>
          (app === undefined || metadata.labels?.['app'] === app) &&
          metadata.deletionTimestamp === undefined &&
          status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
      );
    },
    nodes: (): Promise<Node[]> => list(resources.nodes),
    claims: (): Promise<NodeClaim[]> => list(nodeClaims),
    /** Lets time pass until it holds; fails the test if it does not within the limit. */
    async until(what: string, isSo: () => Promise<boolean>, limitMs = 600_000): Promise<void> {
      const endMs = clock.now() + limitMs;
      while (!(await isSo())) {
        if (clock.now() >= endMs) throw new Error(`after ${limitMs / 1000} s still not: ${what}`);
        await clock.runFor(Math.min(1_000, endMs - clock.now()));
      }
    },
    async close(): Promise<void> {
      if (process?.life.isOver === false) await process.stop();
      const stopped = behaviour.stop();
      await clock.runFor(2_000);
      await stopped;
      await cluster.stop();
    },
  };
}
