// Asks the real kube-scheduler where a pod may go. A scheduler only ever names one node, so it is asked again with a
// preference for the nodes not named yet: it filters as always, but scores nothing else (see `schedulerRig`). What it never
// names, although preferred, is not feasible.

import type { KubeClient } from '../../../src/kube/index.ts';
import type { KubeObject, Pod, PodDisruptionBudget, Resource } from '../../../src/ports/index.ts';
import { resources } from '../../../src/ports/index.ts';
import { keyOf, RealClock, Reflector } from '../../../src/runtime/index.ts';
import { hostname, type World } from './world.ts';

export interface Verdict {
  feasible: string[];
  /** What the scheduler says about a pod that fits nowhere. */
  message: string | undefined;
}

type Decision = { node: string } | { message: string };

export class RealScheduler {
  private readonly kube: KubeClient;
  private readonly pods: Reflector<Pod>;
  private readonly ending = new AbortController();
  private readonly running: Promise<void>;
  private probes = 0;

  constructor(kube: KubeClient) {
    this.kube = kube;
    this.pods = new Reflector<Pod>({ kube, clock: new RealClock(), resource: resources.pods });
    this.running = this.pods.run(this.ending.signal);
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.running;
  }

  /** Puts the world in place of whatever was there. */
  async build(world: World, budgets: readonly PodDisruptionBudget[] = []): Promise<void> {
    await this.clear();
    const kube = this.kube;
    const all = <T extends KubeObject>(resource: Resource<T>, objects: readonly T[]): Promise<unknown> =>
      Promise.all(objects.map((object) => kube.create(resource, object)));
    await Promise.all([
      all(resources.nodes, world.nodes),
      all(resources.storageClasses, world.storageClasses),
      all(resources.csiNodes, world.csiNodes),
      all(resources.persistentVolumes, world.volumes),
      all(resources.persistentVolumeClaims, world.claims),
      all(resources.podDisruptionBudgets, budgets),
    ]);
    for (const { metadata, status } of budgets) {
      const ref = { name: metadata.name ?? '', namespace: metadata.namespace ?? '' };
      const body = { status };
      await kube.patch(resources.podDisruptionBudgets, ref, { type: 'merge', body }, { subresource: 'status' });
    }
    for (const { metadata, spec } of world.claims) {
      if (spec?.volumeName === undefined) continue;
      const { name = '', namespace = '' } = metadata;
      const body = { status: { phase: 'Bound' } };
      const ref = { name, namespace };
      await kube.patch(resources.persistentVolumeClaims, ref, { type: 'merge', body }, { subresource: 'status' });
    }
    for (const { pod, fate } of world.running) {
      await kube.create(resources.pods, pod);
      const { name = '', namespace = '' } = pod.metadata;
      if (fate === 'going') await kube.delete(resources.pods, { name, namespace });
      if (fate === 'ended') {
        const body = { status: { phase: 'Succeeded' } };
        await kube.patch(resources.pods, { name, namespace }, { type: 'merge', body }, { subresource: 'status' });
      }
    }
    // The scheduler watches each kind on its own; there is no sign that it has seen all.
    await new Promise((resolve) => setTimeout(resolve, 400));
  }

  async ask(pod: Pod, nodes: readonly { name: string; host: string | undefined }[]): Promise<Verdict> {
    const feasible = new Set<string>();
    for (;;) {
      const unknown = nodes.filter(({ name, host }) => host !== undefined && !feasible.has(name));
      const decision = await this.probe(
        pod,
        unknown.map(({ host }) => host as string),
      );
      if ('message' in decision) return { feasible: [...feasible].sort(), message: decision.message };
      const isNew = !feasible.has(decision.node);
      feasible.add(decision.node);
      // Preferred nodes come first: one we knew, or one that cannot be preferred, means that no preferred one is left.
      const wasPreferred = unknown.some(({ name }) => name === decision.node);
      if (!isNew || !wasPreferred || unknown.length === 1)
        return { feasible: [...feasible].sort(), message: undefined };
    }
  }

  /** What the scheduler says and does about a pod that fits nowhere as things are. */
  async contest(pod: Pod): Promise<{ victims: string[]; node: string | undefined; message: string }> {
    const { name = '', namespace = '' } = pod.metadata;
    const decided = this.decision(`${namespace}/${name}`);
    await this.kube.create(resources.pods, pod);
    const decision = await decided;
    const { status } = await this.kube.get(resources.pods, { name, namespace });
    const victims = async (): Promise<string[]> =>
      (await this.kube.list(resources.pods)).items
        .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
        .map(({ metadata }) => metadata.name ?? '')
        .sort();
    // Victims are deleted after the pod was nominated for their node.
    if (status?.nominatedNodeName) {
      for (let look = 0; look < 100 && (await victims()).length === 0; look++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    const result = {
      victims: await victims(),
      node: 'node' in decision ? decision.node : status?.nominatedNodeName,
      message: 'message' in decision ? decision.message : '',
    };
    await this.kube.delete(resources.pods, { name, namespace }, { gracePeriodSeconds: 0 });
    return result;
  }

  private async probe(pod: Pod, preferredHosts: readonly string[]): Promise<Decision> {
    const name = `probe-${this.probes++}`;
    const { namespace = '' } = pod.metadata;
    const asked = {
      ...pod,
      metadata: { ...pod.metadata, name },
      spec: { ...pod.spec, ...preferring(pod, preferredHosts) },
    } as Pod;
    const decided = this.decision(`${namespace}/${name}`);
    await this.kube.create(resources.pods, asked);
    const decision = await decided;
    await this.kube.delete(resources.pods, { name, namespace }, { gracePeriodSeconds: 0 });
    return decision;
  }

  private decision(key: string): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        subscription.dispose();
        reject(new Error(`no word from the scheduler about ${key} within 20 s`));
      }, 20_000);
      const finish = (decision: Decision): void => {
        clearTimeout(timer);
        subscription.dispose();
        resolve(decision);
      };
      const subscription = this.pods.subscribe(({ kind, object }) => {
        if (kind === 'deleted' || keyOf(object) !== key) return;
        if (object.spec?.nodeName) finish({ node: object.spec.nodeName });
        const condition = object.status?.conditions?.find(({ type }) => type === 'PodScheduled');
        if (condition?.status === 'False') finish({ message: condition.message ?? '' });
      });
    });
  }

  private async clear(): Promise<void> {
    const kube = this.kube;
    const kinds: readonly Resource[] = [
      resources.pods,
      resources.persistentVolumeClaims,
      resources.nodes,
      resources.persistentVolumes,
      resources.storageClasses,
      resources.csiNodes,
      resources.podDisruptionBudgets,
    ];
    for (const resource of kinds) {
      const { items } = await kube.list(resource);
      await Promise.all(
        items.map(({ metadata: { name = '', namespace } }) =>
          kube.delete(resource, namespace === undefined ? { name } : { name, namespace }, { gracePeriodSeconds: 0 }),
        ),
      );
    }
  }
}

/** The earlier in the list, the more preferred; preference is all this scheduler scores. */
function preferring(pod: Pod, hosts: readonly string[]): object {
  const { affinity } = pod.spec ?? {};
  const wishes = hosts.map((host, index) => ({
    weight: 100 - index * 10,
    preference: { matchExpressions: [{ key: hostname, operator: 'In', values: [host] }] },
  }));
  if (wishes.length === 0) return {};
  const nodeAffinity = { ...affinity?.nodeAffinity, preferredDuringSchedulingIgnoredDuringExecution: wishes };
  return { affinity: { ...affinity, nodeAffinity } };
}
