// The embedded cluster as one API server on a store that can be restored from a backup: watches break off, resource versions
// go back, and what was written since never happened. Everything in a history talks to it through one `kube`.
import type { NodeClaim } from '../../../src/api/index.ts';
import type { Clock } from '../../../src/base/index.ts';
import { type Kube, KubeError, type KubeObject, type Node, type WatchEvent } from '../../../src/ports/index.ts';
import { type ClusterOptions, createCluster, type EmbeddedCluster, SimKube } from '../../../src/sim/index.ts';

type JsonObject = Parameters<EmbeddedCluster['machinery']['store']['put']>[1];
type Backup = NonNullable<ClusterOptions['state']>;

export class RestorableCluster {
  readonly kube: Kube;
  private readonly clock: Clock;
  private readonly seed: number;
  private cluster: EmbeddedCluster;
  private current: SimKube;
  private cutting = new AbortController();

  private constructor(clock: Clock, seed: number, cluster: EmbeddedCluster) {
    this.clock = clock;
    this.seed = seed;
    this.cluster = cluster;
    this.current = new SimKube(cluster.machinery);
    this.kube = {
      get: (resource, ref, options) => this.current.get(resource, ref, options),
      list: (resource, options) => this.current.list(resource, options),
      watch: <T extends KubeObject>(...[resource, options]: Parameters<Kube['watch']>) => {
        const cut = this.cutting.signal;
        const signal = options?.signal === undefined ? cut : AbortSignal.any([options.signal as AbortSignal, cut]);
        return this.current.watch(resource, { ...options, signal }) as AsyncIterable<WatchEvent<T>>;
      },
      create: (resource, object, options) => this.current.create(resource, object, options),
      replace: (resource, object, options) => this.current.replace(resource, object, options),
      patch: (resource, ref, patch, options) => this.current.patch(resource, ref, patch, options),
      delete: (resource, ref, options) => this.current.delete(resource, ref, options),
      evict: (ref, options) => this.current.evict(ref, options),
      bind: (ref, node, options) => this.current.bind(ref, node, options),
    };
  }

  static async open(clock: Clock, seed: number): Promise<RestorableCluster> {
    return new RestorableCluster(clock, seed, await createCluster({ clock, seed }));
  }

  backup(): Backup {
    return this.cluster.machinery.store.state();
  }

  async restore(backup: Backup): Promise<void> {
    const old = this.cluster;
    // Names are drawn anew: what was lost does not come back under the name of something else.
    const { drawn } = old.machinery.store.state();
    this.cluster = await createCluster({ clock: this.clock, seed: this.seed, state: { ...backup, drawn } });
    this.current = new SimKube(this.cluster.machinery);
    this.cutting.abort(new KubeError({ status: 0, reason: 'Transport', message: 'the connection was closed' }));
    this.cutting = new AbortController();
    await old.stop();
  }

  /** What is stored, read without a request. */
  claims(): NodeClaim[] {
    return this.stored<NodeClaim>('nodeclaims.karpenter.sh');
  }

  nodes(): Node[] {
    return this.stored<Node>('nodes');
  }

  /** Changes a stored object past its schema, as another version of the definition would have let someone do. */
  rewrite(id: string, name: string, change: (object: JsonObject) => JsonObject): void {
    const { store } = this.cluster.machinery;
    const object = store.collection(id).objects.get(name);
    if (object === undefined) return;
    const changed = change(object);
    if (JSON.stringify(changed) === JSON.stringify(object)) return;
    const { generation = 1 } = object.metadata as { generation?: number };
    store.put(id, { ...changed, metadata: { ...(changed['metadata'] as JsonObject), generation: generation + 1 } });
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  private stored<T>(id: string): T[] {
    return [...this.cluster.machinery.store.collection(id).objects.values()] as unknown as T[];
  }
}
