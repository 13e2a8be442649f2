// Events are kept for an hour after they were last written, as on the real server; otherwise a day of cluster life would
// be mostly events.
import type { Timer } from '../../base/index.ts';
import type { Machinery } from '../api/machinery.ts';
import { keyOf, type StoredObject } from '../store/stored-object.ts';

const lifetimeMs = 60 * 60 * 1000;

interface Due {
  atMs: number;
  key: string;
  /** Written again since: a later entry counts. */
  version: string;
}

export function runEventExpiry(machinery: Machinery): () => void {
  const { store, clock } = machinery;
  // Every entry waits equally long, so the queue is sorted by itself.
  let queue: Due[] = [];
  let done = 0;
  let timer: Timer | undefined;

  const expire = (): void => {
    timer = undefined;
    for (let due = queue[done]; due !== undefined && due.atMs <= clock.now(); due = queue[done]) {
      done += 1;
      const event = store.collection('events').objects.get(due.key);
      if (event?.metadata.resourceVersion === due.version) store.remove('events', event);
    }
    queue = queue.slice(done);
    done = 0;
    arm();
  };

  const arm = (): void => {
    const next = queue[done];
    if (timer === undefined && next !== undefined) timer = clock.after(next.atMs - clock.now(), expire);
  };

  const wait = ({ metadata }: StoredObject): void => {
    queue.push({
      atMs: clock.now() + lifetimeMs,
      key: keyOf(metadata.namespace, metadata.name),
      version: metadata.resourceVersion,
    });
    arm();
  };

  for (const event of store.collection('events').objects.values()) wait(event);
  const stopListening = store.listen((collection, _previous, object, deleted) => {
    if (collection === 'events' && !deleted) wait(object);
  });
  return () => {
    stopListening();
    timer?.dispose();
  };
}
