// Events outlive what they are about: a pod that waited for its network and runs now, a claim that launched on the next try.
// A text that is a field or event of an object counts only while the object is in trouble.
import type { Evidence } from './evidence.ts';
import type { Sighting } from './failure.ts';
import { at, listAt, textAt } from './fields.ts';
import { conditionOf, isDeleting, type Stored } from './objects.ts';

/** Events about something that is gone or was not collected count while they are this fresh: what lasts is reported again. */
const freshMs = 30 * 60_000;

/** What holds on is said again about every quarter of an hour, even of objects that are well: older events are history. */
const repeatedMs = 2 * 3_600_000;

export function isStillTrouble(sighting: Sighting, evidence: Evidence): boolean {
  const { about, timeMs, kind, sign } = sighting;
  if (kind === 'node') return sign.evenWhenWell === true || !isNodeWell(sighting.source, evidence);
  if (about === undefined || kind !== 'object') return true;
  const { objects, nowMs } = evidence;
  const stored = objects.find(about.kind, about.name, about.namespace ?? '');
  if (stored === undefined) return timeMs === undefined || nowMs === undefined || nowMs - timeMs <= freshMs;
  if (hasTurned(sighting.text, stored)) return false;
  if (sign.evenWhenWell !== true) return !isWell(stored);
  return timeMs === undefined || nowMs === undefined || nowMs - timeMs <= repeatedMs;
}

/** An event says what a condition became; the object says what it is now. */
function hasTurned(text: string, { object }: Stored): boolean {
  const [, type, became] = /Status condition transitioned, Type: (\w+), Status: \w+ -> (\w+)/.exec(text) ?? [];
  if (type === undefined) return false;
  const now = conditionOf(object, type);
  return now !== undefined && now.status !== became;
}

/** The machine whose text this is (`nodes/<instance id or node name>/…`) is a Ready node by now: its start came right. */
function isNodeWell(source: string, { objects }: Evidence): boolean {
  const [part, id = ''] = source.split('/');
  if (part !== 'nodes' || id === '') return false;
  const node =
    objects.find('Node', id) ??
    objects.of('Node').find(({ object }) => textAt(object, 'spec', 'providerID').endsWith(`/${id}`));
  return node !== undefined && isWell(node);
}

function isWell({ kind, object }: Stored): boolean {
  if (isDeleting(object)) return false;
  if (kind === 'Pod') return isPodWell(object);
  if (kind === 'Node') return conditionOf(object, 'Ready')?.status === 'True';
  if (kind === 'NodeClaim') return conditionOf(object, 'Initialized')?.status === 'True';
  if (kind === 'EC2NodeClass') return conditionOf(object, 'Ready')?.status === 'True';
  return false;
}

function isPodWell(pod: Stored['object']): boolean {
  const phase = textAt(pod, 'status', 'phase');
  if (phase === 'Succeeded') return true;
  const statuses = listAt(pod, 'status', 'containerStatuses');
  return phase === 'Running' && statuses.every((status) => at(status, 'ready') === true);
}
