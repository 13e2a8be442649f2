// A cluster with several replicas of the controller, each with its own view, drawn from a seed and run in virtual time. A
// replica that ended is started again, as a kubelet does.
import { setImmediate as settle } from 'node:timers/promises';
import { type Random, seeded } from '../../../bench/workloads/random.ts';
import { customResourceDefinition, kinds } from '../../../src/api/index.ts';
import { VirtualClock } from '../../../src/base/index.ts';
import { nodeClaims, nodePools } from '../../../src/controllers/index.ts';
import { type Resource, resources } from '../../../src/ports/index.ts';
import { type Behaviour, kwokNodeClasses, startBehaviour } from '../../../src/sim/index.ts';
import { smallCatalogue } from '../disruption/model/world.ts';
import { nodeClassRef } from '../harness/scenario.ts';
import { Judge } from './judge.ts';
import { MachineRoom } from './machine-room.ts';
import { Replica } from './replica.ts';
import { RestorableCluster } from './restorable-cluster.ts';

export const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};
const namespace = 'default';
/** A kubelet starts a container that ended after a moment. */
const restartMs = 5_000;

export interface WorldOptions {
  replicas?: number;
  bootMs?: number;
  /** Of the only pool; nothing but its owner ends a node unless given otherwise. */
  pool?: { disruption?: object; template?: object };
}

export class World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly cluster: RestorableCluster;
  readonly room: MachineRoom;
  readonly judge: Judge;
  readonly replicas: Replica[] = [];
  /** What happened, in order. */
  readonly story: string[] = [];
  readonly failures: string[] = [];
  /** Claims that another version has written to, by uid. */
  marked: ReadonlySet<string> = new Set();
  private behaviour: Behaviour;
  private isClosing = false;
  private births = 0;

  private constructor(
    clock: VirtualClock,
    cluster: RestorableCluster,
    random: Random,
    { bootMs, hasReasons }: { bootMs: number; hasReasons: boolean },
  ) {
    this.clock = clock;
    this.cluster = cluster;
    this.random = random;
    this.room = new MachineRoom({ kube: cluster.kube, clock, catalogue: smallCatalogue, bootMs });
    this.judge = new Judge({
      clock,
      claims: () => cluster.claims(),
      nodes: () => cluster.nodes(),
      isRunning: (providerID) => this.room.machines.get(providerID)?.isTerminated === false,
      hasReasons,
    });
    this.behaviour = this.behave();
  }

  /** Scheduler, workload controllers and kubelets. */
  private behave(): Behaviour {
    const { clock, cluster, random } = this;
    return startBehaviour(cluster.kube, clock, {
      random: () => random.next(),
      kubelets: { heartbeatMs: 0 },
      onFailure: () => {},
    });
  }

  /** As in a disaster: everything of the control plane starts anew on what the backup has. Our replicas live on. */
  async restore(backup: ReturnType<RestorableCluster['backup']>): Promise<void> {
    const stopped = this.behaviour.stop();
    await this.cluster.restore(backup);
    await this.run(2_000);
    await stopped;
    this.behaviour = this.behave();
  }

  static async open(seed: number, { replicas = 2, bootMs = 5_000, pool = {} }: WorldOptions = {}): Promise<World> {
    const clock = new VirtualClock({ settle: () => settle() });
    const cluster = await RestorableCluster.open(clock, seed);
    const hasReasons = pool.disruption !== undefined || pool.template !== undefined;
    const world = new World(clock, cluster, seeded(seed * 7_919 + 31), { bootMs, hasReasons });
    for (const kind of kinds) await cluster.kube.create(definitions, customResourceDefinition(kind));
    await clock.runFor(1_000);
    await cluster.kube.create(kwokNodeClasses, { metadata: { name: 'default' }, spec: {} });
    await cluster.kube.create(nodePools, {
      metadata: { name: 'default' },
      spec: {
        template: { spec: { nodeClassRef, requirements: [], expireAfter: 'Never', ...pool.template } },
        disruption: { consolidateAfter: 'Never', ...pool.disruption },
      },
    });
    for (let index = 0; index < replicas; index += 1) world.bear(index);
    await clock.runFor(2_000);
    return world;
  }

  tell(what: string): void {
    this.story.push(`${new Date(this.clock.now()).toISOString().slice(11, 23)} ${what}`);
  }

  /** The replica that leads by its own account. */
  leader(): Replica | undefined {
    return this.replicas.find(({ election, outcome }) => outcome === undefined && election.isLeader());
  }

  run(ms: number): Promise<void> {
    return this.clock.runFor(ms);
  }

  async deployment(app: string, replicas: number): Promise<void> {
    const apart = { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' };
    await this.cluster.kube.create(resources.deployments, {
      metadata: { name: app, namespace },
      spec: {
        replicas,
        selector: { matchLabels: { app } },
        template: {
          metadata: { labels: { app } },
          spec: {
            containers: [{ name: 'main', image: 'example.com/main', resources: { requests: { cpu: '500m' } } }],
            affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
          },
        },
      },
    });
  }

  async scale(app: string, replicas: number): Promise<void> {
    const patch = { type: 'merge', body: { spec: { replicas } } } as const;
    await this.cluster.kube.patch(resources.deployments, { name: app, namespace }, patch);
  }

  /** The owner of a claim deletes it. */
  async deleteClaim(name: string): Promise<void> {
    await this.cluster.kube.delete(nodeClaims, { name });
  }

  /** Someone changes an annotation of everything, so that controllers look at it again. */
  async touch(): Promise<void> {
    const body = { metadata: { annotations: { 'example.com/touched': String(this.clock.now()) } } };
    for (const { metadata } of this.cluster.claims())
      await this.cluster.kube.patch(nodeClaims, { name: metadata.name ?? '' }, { type: 'merge', body });
    for (const { metadata } of this.cluster.nodes())
      await this.cluster.kube.patch(resources.nodes, { name: metadata.name ?? '' }, { type: 'merge', body });
  }

  /** What must hold at rest: each pod runs, each machine has its claim and each claim its machine. */
  async disorder(pods: number): Promise<string[]> {
    const problems: string[] = [];
    const { items } = await this.cluster.kube.list(resources.pods);
    const running = items.filter(({ status }) => status?.phase === 'Running').length;
    if (running !== pods) problems.push(`${running} of ${pods} pods run`);
    const claimed = new Set(this.cluster.claims().map(({ status }) => status?.providerID));
    for (const { instance } of this.room.alive())
      if (!claimed.has(instance.providerID)) problems.push(`machine ${instance.providerID} has no claim`);
    const alive = new Set(this.room.alive().map(({ instance }) => instance.providerID));
    for (const { metadata, status } of this.cluster.claims())
      if (!alive.has(status?.providerID ?? '')) problems.push(`NodeClaim ${metadata.name} has no machine`);
    return problems;
  }

  /** Waits until all is in order, or objects; returns how long it took. */
  async comesToRest(pods: number, limitMs: number): Promise<number> {
    const startMs = this.clock.now();
    let problems: string[] = [];
    while (this.clock.now() < startMs + limitMs && this.judge.violations.length === 0) {
      await this.run(5_000);
      problems = await this.disorder(pods);
      if (problems.length === 0) break;
    }
    this.judge.violations.push(...problems.map((problem) => `at rest: ${problem}`));
    return this.clock.now() - startMs;
  }

  async close(): Promise<void> {
    this.isClosing = true;
    for (const replica of this.replicas) replica.kill();
    this.room.close();
    const stopped = this.behaviour.stop();
    await this.clock.runFor(2_000);
    await stopped;
    await this.cluster.stop();
  }

  private bear(index: number): void {
    const { clock, room, judge, random } = this;
    const name = `replica-${index}-${(this.births += 1)}`;
    const around = { clock, kube: this.cluster.kube, room, judge, random: () => random.next() };
    const replica = new Replica(name, around, this.replicas[index]);
    this.replicas[index] = replica;
    const look = (): void => {
      if (this.isClosing) return;
      if (replica.outcome === undefined) {
        clock.after(1_000, look);
        return;
      }
      this.tell(`${name} ended: ${replica.outcome}`);
      if (!/^(killed|lost|stopped)$/.test(replica.outcome)) this.failures.push(`${name}: ${replica.outcome}`);
      clock.after(restartMs, () => {
        if (!this.isClosing) this.bear(index);
      });
    };
    look();
  }
}
