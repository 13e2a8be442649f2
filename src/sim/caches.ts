// One watch per resource for all that plays a part in a cluster: scheduler, workload controllers and fake kubelets share
// these caches. Written over the Kube port, so they follow the embedded cluster and a real API server alike.
import type { Clock } from '../base/index.ts';
import type { Kube, KubeObject, Pod, Resource } from '../ports/index.ts';
import { type Indexer, Reflector } from '../runtime/index.ts';

export interface CachesOptions {
  kube: Kube;
  clock: Clock;
  /** Uniform in [0, 1): spreads reconnections. */
  random: () => number;
  /** Called when a watch fails and will be tried again. */
  onFailure?: (error: unknown, retryInMs: number) => void;
}

/** Every cache files its objects under the uid of the controller that owns them; pods also under node and namespace. */
const indexers: Readonly<Record<string, Indexer<KubeObject>>> = {
  owner: ({ metadata }) => metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid,
  node: (object) => (object as Pod).spec?.nodeName,
  namespace: ({ metadata }) => metadata.namespace,
};
const { owner } = indexers as { owner: Indexer<KubeObject> };

export class Caches {
  private readonly options: CachesOptions;
  private readonly reflectors = new Map<string, Reflector<KubeObject>>();
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>[] = [];

  constructor(options: CachesOptions) {
    this.options = options;
  }

  /** The cache of a resource, made and started when first asked for. */
  of<T extends KubeObject>(resource: Resource<T>): Reflector<T> {
    const key = `${resource.plural}.${resource.group}`;
    let reflector = this.reflectors.get(key);
    if (reflector === undefined) {
      const { kube, clock, random, onFailure } = this.options;
      reflector = new Reflector<KubeObject>({
        kube,
        clock,
        resource,
        random,
        ...(onFailure === undefined ? {} : { onFailure }),
        indexers: resource.kind === 'Pod' ? indexers : { owner },
      });
      this.reflectors.set(key, reflector);
      this.running.push(reflector.run(this.stopping.signal));
    }
    // A reflector is made for one resource, whose type the key stands for.
    return reflector as unknown as Reflector<T>;
  }

  async whenSynced(): Promise<void> {
    await Promise.all([...this.reflectors.values()].map((reflector) => reflector.whenSynced()));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }
}
