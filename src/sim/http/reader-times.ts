// Ages that kubectl works out itself. Most come from the server, in Tables. Those of events and of a node's pods in
// `kubectl describe` and `kubectl events` are the difference between a time of the object and the clock of the machine that
// kubectl runs on; where the cluster's time passes faster than that, they would lie in the future. For these two commands,
// in answers that have no other use, times are shown so that the difference is the age in the cluster.
import type { IncomingMessage } from 'node:http';
import { formatMicroTime, formatTime, parseTime } from '../../base/index.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { StoredObject } from '../store/stored-object.ts';

const commands = ['kubectl describe', 'kubectl events'];
const eventTimes = ['firstTimestamp', 'lastTimestamp', 'eventTime'];
/** A difference that no age in seconds shows. */
const smallestMs = 1_000;

/** What the command of this request is shown of an object; undefined if that is the object as it is. */
export function shownToReader(
  { headers }: IncomingMessage,
  kind: string,
  aheadMs: () => number,
): ((object: StoredObject) => StoredObject) | undefined {
  const command = headers['kubectl-command'];
  if (typeof command !== 'string' || !commands.some((each) => command.startsWith(each))) return undefined;
  if (kind !== 'Event' && kind !== 'Pod') return undefined;
  return (object) => {
    const byMs = aheadMs();
    return Math.abs(byMs) < smallestMs ? object : earlier(object, byMs);
  };
}

function earlier(object: StoredObject, byMs: number): StoredObject {
  const { creationTimestamp } = object.metadata;
  const metadata = { ...object.metadata, creationTimestamp: moved(creationTimestamp, byMs) };
  if (object.kind !== 'Event') return { ...object, metadata } as StoredObject;
  const { series } = object;
  return {
    ...object,
    metadata,
    ...movedIn(object, eventTimes, byMs),
    ...(isObject(series) ? { series: { ...series, ...movedIn(series, ['lastObservedTime'], byMs) } } : {}),
  } as StoredObject;
}

function movedIn(object: JsonObject, keys: readonly string[], byMs: number): JsonObject {
  return Object.fromEntries(keys.filter((key) => key in object).map((key) => [key, moved(object[key], byMs)]));
}

function moved(time: unknown, byMs: number): unknown {
  const atMs = typeof time === 'string' ? parseTime(time) : undefined;
  if (atMs === undefined) return time;
  return String(time).includes('.') ? formatMicroTime(atMs - byMs) : formatTime(atMs - byMs);
}
