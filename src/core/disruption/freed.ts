// The cluster as it would be if no pod kept its node: without annotations that forbid it and without pod disruption
// budgets. Asked about nodes that such pods keep, it says what else would be in the way.

import { annotation } from '../../api/names.ts';
import type { Pod } from '../kube/objects.ts';
import type { Snapshot, SnapshotObject } from '../snapshot.ts';

/** The same snapshot if no pod keeps its node. */
export function withoutPodBlockers(snapshot: Snapshot): Snapshot {
  const { items } = snapshot.objects;
  const isKept = ({ kind }: SnapshotObject): boolean => kind !== 'PodDisruptionBudget';
  if (items.every((object) => isKept(object) && !isGuarded(object))) return snapshot;
  const freed = items.filter(isKept).map((object) => (isGuarded(object) ? unguarded(object) : object));
  return { ...snapshot, objects: { ...snapshot.objects, items: freed } };
}

function isGuarded(object: SnapshotObject): boolean {
  return object.kind === 'Pod' && (object as Pod).metadata.annotations?.[annotation.doNotDisrupt] !== undefined;
}

function unguarded(object: SnapshotObject): SnapshotObject {
  const { [annotation.doNotDisrupt]: _, ...annotations } = (object as Pod).metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
}
