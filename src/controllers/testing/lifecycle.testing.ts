// The bench with the controllers of claims and their nodes on a scripted cloud, and the words their tests speak in: a
// claim is made, its machine joins, pods run on it.

import { type Condition, type NodeClaim } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { isKubeError, type KubeObject, type Node, type Pod, resources } from '../../ports/index.ts';
import type { Controller, ControllerContext, ControllerSettings } from '../context.ts';
import { EvictionQueue } from '../eviction/eviction-queue.ts';
import { nodeTerminationController } from '../node/termination/controller.ts';
import { type ClaimMetrics, claimMetrics } from '../nodeclaim/claim-metrics.ts';
import { healthReporter } from '../nodeclaim/health-reporter.ts';
import { lifecycleController } from '../nodeclaim/lifecycle/controller.ts';
import { MachineRemoval } from '../nodeclaim/machine-removal.ts';
import { RegistrationHealth } from '../nodeclaim/registration-health.ts';
import { nodeClaims } from '../own-resources.ts';
import { type DeepPartial, nodeClassRef, openBench } from './bench.testing.ts';
import { ScriptedCloud } from './scripted-cloud.testing.ts';

export interface LifecycleOptions {
  cloud?: ScriptedCloud;
  settings?: Partial<ControllerSettings>;
  /** In place of the controllers of claims and nodes. */
  controllers?: (context: ControllerContext, metrics: ClaimMetrics) => Controller[];
}

export interface PodParts {
  metadata?: Partial<Pod['metadata']>;
  spec?: Partial<NonNullable<Pod['spec']>>;
  status?: Partial<NonNullable<Pod['status']>>;
}

/** The object as if no one had asked for its deletion. */
export function asStaying<T extends KubeObject>(object: T): T {
  const { deletionTimestamp: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

export type LifecycleBench = Awaited<ReturnType<typeof openLifecycle>>;

export async function openLifecycle(options: LifecycleOptions = {}) {
  const cloud = options.cloud ?? new ScriptedCloud();
  const bench = await openBench({
    cloud: () => cloud,
    ...(options.settings === undefined ? {} : { settings: options.settings }),
    controllers: (context) => {
      const metrics = claimMetrics(context.metrics);
      if (options.controllers !== undefined) return options.controllers(context, metrics);
      const evictions = new EvictionQueue(context);
      const removals = new MachineRemoval(context);
      return [
        lifecycleController(context, metrics, healthReporter(context, new RegistrationHealth()), removals),
        nodeTerminationController(context, metrics, evictions, removals),
        evictions.controller,
      ];
    },
  });
  await bench.nodeClass();
  const { apply, get, kube, run } = bench;

  const claim = async (name = 'a'): Promise<NodeClaim> => {
    const found = await get(nodeClaims, name);
    if (found === undefined) throw new Error(`there is no NodeClaim ${name}`);
    return found;
  };
  const node = async (name = 'a'): Promise<Node> => {
    const found = await get(resources.nodes, name);
    if (found === undefined) throw new Error(`there is no Node ${name}`);
    return found;
  };
  return {
    ...bench,
    cloud,
    claim,
    node,
    isGone: async (name = 'a') => (await get(nodeClaims, name)) === undefined,
    isNodeGone: async (name = 'a') => (await get(resources.nodes, name)) === undefined,
    async condition(type: string, name = 'a'): Promise<Condition | undefined> {
      return conditionOf((await claim(name)).status?.conditions, type);
    },
    /** Makes a claim and lets the controllers see it. */
    async makeClaim(name = 'a', over: DeepPartial<NodeClaim> = {}): Promise<NodeClaim> {
      const spec = { nodeClassRef, requirements: [], ...over.spec };
      await kube.create(nodeClaims, {
        ...over,
        metadata: { name, labels: { 'karpenter.sh/nodepool': 'default' }, ...over.metadata },
        spec,
      } as NodeClaim);
      await run(100);
      // May be gone again already: a launch can fail for good.
      return (await get(nodeClaims, name)) as NodeClaim;
    },
    /** The claim's machine joins as a Node of the claim's name, ready unless said. */
    async join(name = 'a', over: DeepPartial<Node> = {}): Promise<Node> {
      const providerID = (await claim(name)).status?.providerID ?? '';
      const taints = [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }];
      const joined = await apply(resources.nodes, {
        ...over,
        metadata: { name, ...over.metadata },
        spec: { providerID, taints, ...over.spec },
        status: {
          capacity: { cpu: '4', memory: '8Gi' },
          allocatable: { cpu: '3900m', memory: '7Gi' },
          conditions: readiness('True'),
          ...over.status,
        },
      });
      await run(100);
      // The API server taints every new Node; the cluster's own controllers take that away once it is ready.
      const { spec } = await node(name);
      const kept = spec?.taints?.filter(({ key }) => key !== 'node.kubernetes.io/not-ready') ?? [];
      await apply(resources.nodes, { metadata: { name }, spec: { taints: kept } });
      await run(100);
      return joined;
    },
    /** A claim that has come all the way, with its node. */
    async makeMachine(name = 'a', over: DeepPartial<NodeClaim> = {}): Promise<void> {
      await this.makeClaim(name, over);
      await this.join(name, { metadata: { labels: { 'karpenter.kwok.sh/kwoknodeclass': 'default' } } });
      await run(1_000);
      if ((await this.condition('Initialized', name))?.status !== 'True') throw new Error(`${name} is not initialized`);
    },
    async setReadiness(status: 'True' | 'False' | 'Unknown', name = 'a'): Promise<void> {
      await apply(resources.nodes, { metadata: { name }, status: { conditions: readiness(status) } });
      await run(100);
    },
    /** A pod that runs on a node. */
    async runPod(name: string, over: PodParts = {}, nodeName = 'a'): Promise<Pod> {
      const pod = {
        ...over,
        metadata: { name, namespace: 'default', ...over.metadata },
        spec: { nodeName, containers: [{ name: 'main', image: 'example.com/main' }], ...over.spec },
        status: {
          phase: 'Running',
          startTime: bench.nowPlus(0),
          conditions: [{ type: 'Ready', status: 'True' }],
          ...over.status,
        },
      };
      return apply(resources.pods, pod as DeepPartial<Pod>);
    },
    async pod(name: string): Promise<Pod | undefined> {
      return get(resources.pods, name, 'default');
    },
    isTerminating: async (name: string) =>
      (await get(resources.pods, name, 'default'))?.metadata.deletionTimestamp !== undefined,
    /** The kubelet has ended the pod. */
    async endPod(name: string): Promise<void> {
      try {
        await kube.delete(resources.pods, { name, namespace: 'default' }, { gracePeriodSeconds: 0 });
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) throw error;
      }
      await run(0);
    },
    eventsOf: (reason: string) => bench.events.filter((event) => event.reason === reason),
  };
}

const readiness = (status: string) => [
  { type: 'Ready', status, reason: 'KubeletReady', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
];
