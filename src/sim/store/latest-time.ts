// The latest moment that a kept cluster speaks of, so that its time goes on from there and not from an earlier one: it may
// have run faster than the machine's. Leases of nodes are renewed all the time; without nodes, what happened last tells.
import { parseTime } from '../../base/index.ts';
import type { JsonObject } from '../json.ts';
import type { Store } from './store.ts';

/** Undefined if nothing is kept. */
export function latestTimeIn(store: Store): number | undefined {
  let latestMs: number | undefined;
  const see = (time: unknown): void => {
    const atMs = typeof time === 'string' ? parseTime(time) : undefined;
    if (atMs !== undefined && atMs > (latestMs ?? Number.NEGATIVE_INFINITY)) latestMs = atMs;
  };
  for (const [, { objects }] of store.collections()) {
    for (const object of objects.values()) {
      see(object.metadata['creationTimestamp']);
      see((object['spec'] as JsonObject | undefined)?.['renewTime']);
      see(object['lastTimestamp']);
    }
  }
  return latestMs;
}
