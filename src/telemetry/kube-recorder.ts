// The Recorder port on the Kubernetes API: core/v1 Events written in the background, deduplicated and rate limited.
// A repeat outside the dedupe time is a new Event object, as users of `kubectl describe` are used to from this component.
import type { Clock } from '../base/index.ts';
import type { Kube, KubeObject, Log, RecordedEvent, Recorder, Resource } from '../ports/index.ts';

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
/** Expired keys are forgotten this often; looking at all of them for every event would be a burst's whole work. */
const sweepEveryMs = 60_000;

export function kubeRecorder(kube: Kube, clock: Clock, log: Log): Recorder {
  const until = new Map<string, number>();
  const buckets = new Map<string, { tokens: number; at: number }>();
  const queue: EventObject[] = [];
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

  const send = async (): Promise<void> => {
    sending = true;
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      try {
        await kube.create(events, event);
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
