// The overlays in force, and the provider seen through them: whoever asks for instance types gets them corrected. A pool
// that was not looked at yet has none, so that no one plans with figures that are about to change.
import { label, type NodePool } from '../../api/index.ts';
import { applyOverlays, type InstanceTypeSpec, type Overlay, type ProviderFacts } from '../../core/index.ts';
import { type Cloud, CloudError, cloudWith } from '../../ports/index.ts';

interface View {
  source: readonly InstanceTypeSpec[];
  overlays: readonly Overlay[];
  labels: Readonly<Record<string, string>> | undefined;
  types: readonly InstanceTypeSpec[];
}

export class OverlayStore {
  private readonly facts: ProviderFacts;
  private overlays: readonly Overlay[] = [];
  private evaluated: ReadonlySet<string> = new Set();
  private readonly listeners: (() => void)[] = [];
  private readonly views = new Map<string, View>();
  /** As launches that probe see the pools. */
  private readonly probingViews = new Map<string, View>();

  constructor(facts: ProviderFacts) {
    this.facts = facts;
  }

  /** `listener` is called when other overlays, or overlays of other pools, are in force. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Replaces everything: these overlays, none of which conflict, for pools that were looked at. */
  set(overlays: readonly Overlay[], pools: ReadonlySet<string>): void {
    const isNews = textOf(this.overlays, this.evaluated) !== textOf(overlays, pools);
    this.overlays = overlays;
    this.evaluated = pools;
    for (const views of [this.views, this.probingViews])
      for (const pool of views.keys()) if (!pools.has(pool)) views.delete(pool);
    if (isNews) for (const listener of this.listeners) listener();
  }

  /** The pool's types, corrected; the same array while nothing changed. */
  see(pool: NodePool, source: readonly InstanceTypeSpec[], { probing = false } = {}): readonly InstanceTypeSpec[] {
    const name = pool.metadata.name ?? '';
    const views = probing ? this.probingViews : this.views;
    const { overlays } = this;
    if (!this.evaluated.has(name))
      throw new CloudError('unevaluatedNodePool', `nodepool "${name}" is awaiting evaluation`);
    const { labels } = pool.spec.template.metadata ?? {};
    const view = views.get(name);
    if (view?.source === source && view.overlays === overlays && view.labels === labels) return view.types;
    const offered = { nodePool: name, labels: labels ?? {}, items: source };
    const types = applyOverlays(overlays, [offered], this.facts).items[0] ?? source;
    views.set(name, { source, overlays, labels, types });
    return types;
  }
}

const textOf = (overlays: readonly Overlay[], pools: ReadonlySet<string>): string =>
  JSON.stringify([overlays, [...pools].sort()]);

/** Machines are launched by the corrected figures, too: otherwise one would be launched that no one planned with. */
export function overlaidCloud(
  cloud: Cloud,
  store: OverlayStore,
  poolNamed: (name: string) => NodePool | undefined,
): Cloud {
  const create: Cloud['create'] = async (claim, options = {}) => {
    const pool = poolNamed(claim.metadata.labels?.[label.nodePool] ?? '');
    if (pool === undefined) return cloud.create(claim, options);
    const asking = { probing: options.probing ?? false };
    const instanceTypes = store.see(pool, await cloud.instanceTypes(pool, asking), asking);
    return cloud.create(claim, { ...options, instanceTypes });
  };
  return cloudWith(cloud, {
    create,
    instanceTypes: async (pool, options = {}) =>
      store.see(pool, await cloud.instanceTypes(pool, options), { probing: options.probing ?? false }),
  });
}
