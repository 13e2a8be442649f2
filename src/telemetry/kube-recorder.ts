// The Recorder port on the Kubernetes API: core/v1 Events written in the background, deduplicated and rate limited.
// A repeat outside the dedupe time is counted on the Event that is there: `kubectl describe` then says how often and since when.
import type { Clock } from '../base/index.ts';
import {
  isKubeError,
  type Kube,
  type KubeObject,
  type Log,
  type RecordedEvent,
  type Recorder,
  type Resource,
} from '../ports/index.ts';

interface EventObject extends KubeObject {
  involvedObject: Record<string, unknown>;
  reason: string;
  message: string;
  type: string;
  source: { component: string };
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
  reportingComponent: string;
  reportingInstance: string;
}

const events: Resource<EventObject> = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };
const component = 'karpenter';
const defaultDedupeMs = 120_000;
/** Events wait here when the API is slow; beyond this the newest are dropped, because decisions must not wait for events. */
const queueLimit = 1_000;
/** Events that a repeat is counted on; those published longest ago are forgotten first. */
const rememberedLimit = 4_096;
/** Expired keys are forgotten this often; looking at all of them for every event would be a burst's whole work. */
const sweepEveryMs = 60_000;

export function kubeRecorder(kube: Kube, clock: Clock, log: Log): Recorder {
  const until = new Map<string, number>();
  const buckets = new Map<string, { tokens: number; at: number }>();
  const queue: EventObject[] = [];
  const written = new Map<string, { name: string; count: number }>();
  let sending = false;
  let counter = 0;
  let sweepAtMs = 0;

  const sweep = (now: number): void => {
    if (now < sweepAtMs) return;
    sweepAtMs = now + sweepEveryMs;
    for (const [key, end] of until) if (end <= now) until.delete(key);
  };

  const isRepeat = (event: RecordedEvent, now: number): boolean => {
    const { subject } = event;
    const values = event.dedupeValues ?? [
      subject.kind,
      subject.namespace ?? '',
      subject.name,
      subject.uid ?? '',
      event.message,
    ];
    const key = [event.reason.toLowerCase(), ...values].join('\u0000');
    if ((until.get(key) ?? 0) > now) return true;
    until.set(key, now + (event.dedupeMs ?? defaultDedupeMs));
    return false;
  };

  const isOverRate = (event: RecordedEvent, now: number): boolean => {
    const limit = event.rateLimit;
    if (limit === undefined) return false;
    const bucket = buckets.get(event.reason) ?? { tokens: limit.burst, at: now };
    bucket.tokens = Math.min(limit.burst, bucket.tokens + ((now - bucket.at) / 1000) * limit.perSecond);
    bucket.at = now;
    buckets.set(event.reason, bucket);
    if (bucket.tokens < 1) return true;
    bucket.tokens -= 1;
    return false;
  };

  const countRepeat = async (key: string, event: EventObject): Promise<boolean> => {
    const known = written.get(key);
    if (known === undefined) return false;
    const ref = { name: known.name, namespace: event.metadata.namespace ?? '' };
    const count = known.count + 1;
    try {
      await kube.patch(events, ref, { type: 'merge', body: { count, lastTimestamp: event.lastTimestamp } });
    } catch (error) {
      // Events do not live long; this one has to begin anew.
      if (isKubeError(error, 'NotFound')) return false;
      throw error;
    }
    written.delete(key);
    written.set(key, { name: known.name, count });
    return true;
  };

  const write = async (event: EventObject): Promise<void> => {
    const { apiVersion, kind, namespace, name, uid } = event.involvedObject;
    const key = JSON.stringify([apiVersion, kind, namespace, name, uid, event.type, event.reason, event.message]);
    if (await countRepeat(key, event)) return;
    await kube.create(events, event);
    written.delete(key);
    written.set(key, { name: event.metadata.name ?? '', count: 1 });
    for (const oldest of written.keys()) {
      if (written.size <= rememberedLimit) break;
      written.delete(oldest);
    }
  };

  const send = async (): Promise<void> => {
    sending = true;
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      try {
        await write(event);
      } catch (error) {
        log.debug('could not record event', { reason: event.reason, error: String(error) });
      }
    }
    sending = false;
  };

  return {
    publish(event) {
      const now = clock.now();
      sweep(now);
      if (isRepeat(event, now) || isOverRate(event, now) || queue.length >= queueLimit) return;
      counter += 1;
      queue.push(eventObject(event, now, counter));
      if (!sending) void send();
    },
  };
}

function eventObject(event: RecordedEvent, nowMs: number, counter: number): EventObject {
  const time = new Date(Math.floor(nowMs / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  const { subject } = event;
  const namespace = subject.namespace ?? 'default';
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${subject.name}.${(nowMs * 1000 + (counter % 1000)).toString(16)}`, namespace },
    involvedObject: { ...subject },
    reason: event.reason,
    message: event.message,
    type: event.type,
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    reportingComponent: component,
    reportingInstance: '',
  };
}
