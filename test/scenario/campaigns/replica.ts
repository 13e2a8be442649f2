// One replica of the controller as `kerf controller` wires it: the admission gate, the fence of the lease, the election and
// every controller, over an API server and a cloud that it sees through its own eyes.

import { instanceGarbageCollectionController } from '../../../src/aws-controllers/garbage-collection/controller.ts';
import type { Clock } from '../../../src/base/index.ts';
import { controllersOf } from '../../../src/controllers/index.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../../../src/controllers/testing/records.testing.ts';
import { type Cloud, cloudWith, type Kube, type KubeObject, type WatchEvent } from '../../../src/ports/index.ts';
import { fencedKube, LeaderElection, Manager, ServerTime } from '../../../src/runtime/index.ts';
import { assemble, parseSettings } from '../../../src/server/index.ts';
import { Life } from '../harness/mortal.ts';
import { CloudDoor } from './cloud-door.ts';
import type { Judge } from './judge.ts';
import { LyingKube } from './lying-kube.ts';
import type { MachineRoom } from './machine-room.ts';
import { ReplicaClock } from './replica-clock.ts';

export interface Surroundings {
  clock: Clock;
  kube: Kube;
  room: MachineRoom;
  judge: Judge;
  random: () => number;
}

const lease = { name: 'karpenter-leader-election', namespace: 'kube-system' };

export class Replica {
  readonly name: string;
  readonly clock: ReplicaClock;
  readonly view: LyingKube;
  readonly door: CloudDoor;
  readonly election: LeaderElection;
  readonly log = recordedLog();
  readonly events = recordedEvents();
  readonly metrics = recordedMetrics();
  /** Why it ended; undefined while it runs. */
  outcome: string | undefined;
  private readonly life = new Life();
  private readonly stopping = new AbortController();

  /** `before` is the process in whose place this one starts: its machine's clock and network stay as they are. */
  constructor(name: string, world: Surroundings, before?: Replica) {
    this.name = name;
    this.clock = new ReplicaClock(world.clock, before?.clock);
    this.view = before?.view ?? new LyingKube(world.clock);
    this.door = before?.door ?? new CloudDoor(world.room, world.clock, world.random);
    const clock = this.life.clock(this.clock);
    const seen = this.life.kube(this.view.kube(world.judge.between(name, world.kube)));
    const electionKube = this.awake(this.life.kube(this.view.kube(world.kube)));
    this.election = new LeaderElection({ kube: electionKube, clock, lease, identity: name, random: world.random });
    const kube = this.awake(fencedKube(seen, { isLeader: () => this.election.isLeader() }));
    const cloud = this.awakeCloud(this.door.cloud((providerID) => world.judge.terminates(name, providerID)));
    const time = new ServerTime(clock);
    this.view.onServerTime = (serverMs) => time.heard(serverMs);
    const { caches, always, leading } = assemble({
      time,
      kube,
      cloud,
      clock,
      log: this.log,
      metrics: this.metrics,
      recorder: this.events,
      random: world.random,
      settings: { ...parseSettings({}, {}).settings, disableClusterStateObservability: true },
      controllers: (context, objects) => {
        const { controllers, loops } = controllersOf(context, objects);
        return { controllers: [...controllers, instanceGarbageCollectionController(context)], loops };
      },
    });
    void new Manager({ clock, caches, always, leading, election: this.election }).run(this.stopping.signal).then(
      ({ outcome }) => this.end(outcome),
      (error: unknown) => this.end(String(error)),
    );
  }

  /** As SIGKILL. */
  kill(): void {
    this.end('killed');
  }

  /** As SIGTERM; it takes its time. */
  stop(): void {
    this.stopping.abort();
  }

  private end(outcome: string): void {
    this.outcome ??= outcome;
    this.life.end();
  }

  /** A process that stands still asks nothing and hears no answer. */
  private readonly whileAwake = async <T>(ask: () => Promise<T>): Promise<T> => {
    const { clock } = this;
    if (clock.isFrozen) await clock.awake();
    try {
      return await ask();
    } finally {
      if (clock.isFrozen) await clock.awake();
    }
  };

  private awake(kube: Kube): Kube {
    const call = this.whileAwake;
    return {
      get: (resource, ref, options) => call(() => kube.get(resource, ref, options)),
      list: (resource, options) => call(() => kube.list(resource, options)),
      watch: <T extends KubeObject>(...[resource, options]: Parameters<Kube['watch']>) =>
        this.watched(kube.watch(resource, options)) as AsyncIterable<WatchEvent<T>>,
      create: (resource, object, options) => call(() => kube.create(resource, object, options)),
      replace: (resource, object, options) => call(() => kube.replace(resource, object, options)),
      patch: (resource, ref, patch, options) => call(() => kube.patch(resource, ref, patch, options)),
      delete: (resource, ref, options) => call(() => kube.delete(resource, ref, options)),
      evict: (ref, options) => call(() => kube.evict(ref, options)),
      bind: (ref, node, options) => call(() => kube.bind(ref, node, options)),
    };
  }

  private awakeCloud(cloud: Cloud): Cloud {
    const call = this.whileAwake;
    return cloudWith(cloud, {
      create: (claim, options) => call(() => cloud.create(claim, options)),
      delete: (claim, options) => call(() => cloud.delete(claim, options)),
      get: (providerID, options) => call(() => cloud.get(providerID, options)),
      list: (options) => call(() => cloud.list(options)),
    });
  }

  private async *watched<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const event of events) {
      if (this.clock.isFrozen) await this.clock.awake();
      yield event;
    }
  }
}
