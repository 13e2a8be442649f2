// Controllers that ignore a rule, made from ours by lying to them: what they read of the API server has the rule taken out.
// The judge reads the truth, so it must object.
import { annotation } from '../../../../src/api/index.ts';
import type { Kube, KubeObject, Resource, WatchEvent } from '../../../../src/ports/index.ts';

type Change = (object: KubeObject) => KubeObject | undefined;

/** Objects of the resource reach the controllers changed, or not at all. */
function reading(plural: string, change: Change): (kube: Kube) => Kube {
  const isMeant = (resource: Resource): boolean => resource.plural === plural;
  return (kube) => ({
    ...kube,
    get: async (resource, ref, options) => {
      const object = await kube.get(resource, ref, options);
      return isMeant(resource) ? ((change(object) ?? object) as typeof object) : object;
    },
    list: async (resource, options) => {
      const list = await kube.list(resource, options);
      if (!isMeant(resource)) return list;
      return { ...list, items: list.items.flatMap((item) => (change(item) as typeof item | undefined) ?? []) };
    },
    watch: <T extends KubeObject>(...[resource, options]: Parameters<Kube['watch']>) => {
      const events = kube.watch(resource, options) as AsyncIterable<WatchEvent<T>>;
      return isMeant(resource) ? changed(events, change) : events;
    },
  });
}

async function* changed<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
  change: Change,
): AsyncGenerator<WatchEvent<T>> {
  for await (const event of events) {
    if (event.type === 'BOOKMARK') yield event;
    else {
      const object = change(event.object) as T | undefined;
      if (object !== undefined) yield { ...event, object };
    }
  }
}

type Pool = KubeObject & { spec: { disruption?: object; limits?: object } };

const unprotected: Change = (object) => {
  const { [annotation.doNotDisrupt]: _said, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
};

/** By the rule that is ignored; each with words of the judge's objection. */
export const lies: readonly { ignored: string; lie: (kube: Kube) => Kube; objection: RegExp }[] = [
  {
    ignored: 'disruption budgets',
    lie: reading('nodepools', (pool) => {
      const { spec, ...rest } = pool as Pool;
      return { ...rest, spec: { ...spec, disruption: { ...spec.disruption, budgets: [{ nodes: '100%' }] } } };
    }),
    objection: /more than the budget/,
  },
  {
    ignored: 'limits of NodePools',
    lie: reading('nodepools', (pool) => {
      const { spec, ...rest } = pool as Pool;
      const { limits: _limits, ...others } = spec;
      return { ...rest, spec: others };
    }),
    objection: /exceeds the limits/,
  },
  { ignored: 'do-not-disrupt on pods', lie: reading('pods', unprotected), objection: /do-not-disrupt/ },
  { ignored: 'do-not-disrupt on nodes', lie: reading('nodes', unprotected), objection: /the node says do-not-disrupt/ },
  {
    ignored: 'PodDisruptionBudgets',
    lie: reading('poddisruptionbudgets', () => undefined),
    objection: /PodDisruptionBudget .* keeps pod/,
  },
  {
    ignored: 'how large nodes are',
    lie: reading('nodes', (node) => {
      const { status, ...rest } = node as KubeObject & { status?: object };
      const allocatable = { cpu: '64', memory: '256Gi', pods: '110' };
      return { ...rest, status: { ...status, allocatable } } as KubeObject;
    }),
    objection: /no place for its pods/,
  },
];
