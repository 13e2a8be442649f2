// Events as the parts of a cluster write them about pods and nodes. Telling never fails and never waits.
import { type Clock, formatTime } from '../base/index.ts';
import type { Kube, KubeObject, Resource } from '../ports/index.ts';

interface EventObject extends KubeObject {
  involvedObject: object;
  reason: string;
  message: string;
  type: 'Normal' | 'Warning';
  source: { component: string };
  firstTimestamp: string;
  lastTimestamp: string;
  count: number;
  reportingComponent: string;
  reportingInstance: string;
}

export const events: Resource<EventObject> = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};

export interface Report {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

export type Tell = (resource: Resource, object: KubeObject, reported: Report) => void;

/** As the recorders of Kubernetes: so many events about one object, then one in five minutes. */
const burst = 25;
const refillMs = 300_000;
/** After so long without a report an object has its whole burst again, as one that was never reported on. */
const forgottenMs = burst * refillMs;
/** Objects whose events are counted; the one without a report for longest is forgotten. */
const mostCounted = 4_096;

/** `component` is who says it, as `kubectl describe` shows. */
export function eventTeller(kube: Kube, clock: Clock, component: string): Tell {
  let count = 0;
  const left = new Map<string, { events: number; sinceMs: number }>();
  const isTooMuch = (uid: string): boolean => {
    const nowMs = clock.now();
    const known = left.get(uid) ?? { events: burst, sinceMs: nowMs };
    const events = Math.min(burst, known.events + (nowMs - known.sinceMs) / refillMs);
    left.delete(uid);
    left.set(uid, { events: events < 1 ? events : events - 1, sinceMs: nowMs });
    // The longest without a report come first.
    for (const [oldest, { sinceMs }] of left) {
      if (left.size <= mostCounted && nowMs - sinceMs < forgottenMs) break;
      left.delete(oldest);
    }
    return events < 1;
  };
  return (resource, object, reported) => {
    if (isTooMuch(object.metadata.uid ?? '')) return;
    const { name = '', namespace = 'default', uid, resourceVersion } = object.metadata;
    const time = formatTime(clock.now());
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    const event: EventObject = {
      metadata: { name: `${name}.${clock.now().toString(16)}${(count++).toString(16)}`, namespace },
      involvedObject: { apiVersion, kind: resource.kind, name, namespace, uid, resourceVersion },
      ...reported,
      source: { component },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      reportingComponent: component,
      reportingInstance: '',
    };
    // What is reported is a courtesy: a namespace on its way out refuses it, and nothing depends on it.
    kube.create(events, event).catch(() => undefined);
  };
}
