// One scenario's corner of the cluster: a namespace, pools whose nodes only its pods reach, and ways to look at them.
// Rooms share a cluster and run at the same time; none sees the pods or nodes of another.
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeClaim, NodePool } from '../../../src/api/index.ts';
import type { Node, Pod } from '../../../src/ports/index.ts';
import { type Api, all, conditionOf, type Manifest } from './api.ts';
import type { ControllerProcess, LogLine } from './controller-process.ts';
import {
  budgetManifest,
  type PodParts,
  type PoolParts,
  podManifest,
  poolManifest,
  workloadManifest,
} from './manifests.ts';
import { pictureOf } from './picture.ts';

/** On a machine with everything else running at once. */
const patienceSeconds = 120;
const pollMs = 250;

export class Room {
  readonly name: string;
  readonly api: Api;
  private readonly controller: () => Pick<ControllerProcess, 'logs'>;
  /** Pods no one else would bring back, by app. */
  private readonly lone = new Map<string, Manifest>();

  /** Made by `world.room`. */
  constructor(name: string, api: Api, controller: () => Pick<ControllerProcess, 'logs'>) {
    this.name = name;
    this.api = api;
    this.controller = controller;
  }

  apply(...manifests: Manifest[]): Promise<void> {
    return this.api.apply(...manifests);
  }

  /** A pool named after the room, or `<room>-<suffix>`; returns when it is Ready, unless it is not meant to be. */
  async pool(parts: PoolParts & { suffix?: string; unready?: true } = {}): Promise<string> {
    const name = parts.suffix === undefined ? this.name : `${this.name}-${parts.suffix}`;
    await this.apply(poolManifest(this.name, name, parts));
    if (parts.unready !== true) {
      await this.until(`NodePool ${name} is Ready`, async () => {
        const ready = conditionOf(await this.api.get(all.nodePools, name), 'Ready');
        if (ready?.status !== 'True') throw new Error(`Ready is ${JSON.stringify(ready)}`);
      });
    }
    return name;
  }

  /** A pod without an owner. */
  pod(name: string, parts: PodParts = {}): Promise<void> {
    const manifest = podManifest(this.name, name, parts);
    this.lone.set(name, manifest);
    return this.apply(manifest);
  }

  deployment(name: string, parts: PodParts & { replicas?: number; workload?: object } = {}): Promise<void> {
    return this.apply(workloadManifest('Deployment', this.name, name, parts));
  }

  statefulSet(name: string, parts: PodParts & { replicas?: number; workload?: object } = {}): Promise<void> {
    return this.apply(workloadManifest('StatefulSet', this.name, name, parts));
  }

  daemonSet(name: string, parts: PodParts & { workload?: object } = {}): Promise<void> {
    return this.apply(workloadManifest('DaemonSet', this.name, name, parts));
  }

  /** A PodDisruptionBudget for the pods of an app. */
  budget(app: string, spec: object): Promise<void> {
    return this.apply(budgetManifest(this.name, app, spec));
  }

  async scale(deployment: string, replicas: number): Promise<void> {
    await this.api.patch(all.deployments, deployment, { spec: { replicas } }, { namespace: this.name });
  }

  pods(app?: string): Promise<Pod[]> {
    return this.api.list(all.pods, { namespace: this.name, ...(app === undefined ? {} : { labels: `app=${app}` }) });
  }

  /** Pods that are ready and stay. */
  async ready(app?: string): Promise<Pod[]> {
    return (await this.pods(app)).filter(
      (pod) => pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True',
    );
  }

  nodes(pool?: string): Promise<Node[]> {
    return this.api.list(all.nodes, { labels: this.labels(pool) });
  }

  async initializedNodes(pool?: string): Promise<Node[]> {
    return (await this.nodes(pool)).filter(({ metadata }) => metadata.labels?.['karpenter.sh/initialized'] === 'true');
  }

  claims(pool?: string): Promise<NodeClaim[]> {
    return this.api.list(all.nodeClaims, { labels: this.labels(pool) });
  }

  pools(): Promise<NodePool[]> {
    return this.api.list(all.nodePools).then((pools) => pools.filter((pool) => roomOf(pool) === this.name));
  }

  /** Events about the room's pods, claims, nodes and pools, oldest first. */
  async events(reason?: string, about?: string) {
    const own = new Set(
      [...(await this.claims()), ...(await this.nodes()), ...(await this.pools())].map(({ metadata }) => metadata.name),
    );
    const isOwn = ({ namespace, name }: { namespace?: string; name: string }): boolean =>
      namespace === undefined ? own.has(name) || name === about : namespace === this.name;
    const wanted = (await this.api.list(all.events)).filter(
      (event) =>
        isOwn(event.involvedObject) &&
        (reason === undefined || event.reason === reason) &&
        (about === undefined || event.involvedObject.name === about),
    );
    return wanted.sort((one, other) =>
      (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? ''),
    );
  }

  /** Waits until `count` pods of an app are ready, and returns them. */
  async runs(app: string, count: number, seconds?: number): Promise<Pod[]> {
    return this.until(
      `${count} pods of ${app} run`,
      async () => {
        const ready = await this.ready(app);
        const there = (await this.pods(app)).length;
        // On a busy machine the controller manager may learn of a new pod before it learns that its node lost the taint
        // it came with, and evict the pod; an owner would bring it back.
        const lone = this.lone.get(app);
        if (there === 0 && lone !== undefined) await this.apply(lone);
        if (ready.length !== count || there !== count)
          throw new Error(`${ready.length} of ${there} pods of ${app} are ready`);
        return ready;
      },
      seconds,
    );
  }

  /** Waits until `check` does not throw, and returns what it returned; the failure shows the room. */
  async until<T>(what: string, check: () => T | Promise<T>, seconds = patienceSeconds): Promise<T> {
    const endMs = Date.now() + seconds * 1000;
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (Date.now() < endMs) {
          await sleep(pollMs);
          continue;
        }
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`after ${seconds} s still not: ${what}\n${why}\n${await this.picture()}`, { cause: error });
      }
    }
  }

  /** Fails at the first moment within `seconds` in which `check` throws: for what must not happen. */
  async stays(what: string, seconds: number, check: () => unknown): Promise<void> {
    for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await sleep(pollMs)) {
      try {
        await check();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`did not stay so: ${what}\n${why}\n${await this.picture()}`, { cause: error });
      }
    }
  }

  async picture(): Promise<string> {
    const isOwn = (line: LogLine): boolean => {
      const { namespace = this.name } = (line['Pod'] ?? {}) as { namespace?: string };
      return namespace === this.name && (line.level === 'ERROR' || JSON.stringify(line).includes(this.name));
    };
    const logs = this.controller().logs().filter(isOwn);
    // What is said again every ten seconds is shown once, where it was said last.
    const different = new Map(logs.map((line) => [JSON.stringify({ ...line, time: '' }), line]));
    return pictureOf({
      pools: await this.pools(),
      claims: await this.claims(),
      nodes: await this.nodes(),
      pods: await this.pods(),
      events: await this.events(),
      logs: [...different.values()],
    });
  }

  private labels(pool?: string): string {
    return pool === undefined ? `room=${this.name}` : `karpenter.sh/nodepool=${pool}`;
  }
}

/** Some scenarios make pools that lack what every pool has. */
const roomOf = ({ spec }: { spec?: { template?: NodePool['spec']['template'] } }): string | undefined =>
  spec?.template?.metadata?.labels?.['room'];
