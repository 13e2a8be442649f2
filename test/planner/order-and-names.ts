// The same snapshot in another order, and under other names that sort the same way.
import type { Random } from '../../bench/workloads/random.ts';
import type { Snapshot } from '../../src/core/index.ts';

/** Objects, machines, pools' catalogues, types and offerings in another order. */
export function reordered(snapshot: Snapshot, random: Random): Snapshot {
  const { nodeState, instanceTypes, objects } = snapshot;
  return {
    ...snapshot,
    objects: { ...objects, items: random.shuffled(objects.items) },
    ...(nodeState === undefined ? {} : { nodeState: random.shuffled(nodeState) }),
    ...(instanceTypes === undefined
      ? {}
      : {
          instanceTypes: random.shuffled(instanceTypes).map((entry) => ({
            ...entry,
            items: random
              .shuffled(entry.items ?? [])
              .map((type) => ({ ...type, offerings: random.shuffled(type.offerings) })),
          })),
        }),
  };
}

/**
 * Names decide ties by their order and nothing else, so names changed alike must give the same plan under the new names. Works on text, because names occur everywhere: labels, references, uids, provider ids, messages.
 */
export function renamed<T>(document: T): T {
  const text = JSON.stringify(document).replace(/\b(pod|bound|node|claim|pool)-(?=\d)/g, '$1-x');
  return JSON.parse(text) as T;
}
