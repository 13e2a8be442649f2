// What a node came instead of. A replacement carries the shapes of the nodes it replaces, and what those had come instead
// of, for a day: bringing one of them back would be going in circles, paid with everybody's pods. Kept as an annotation
// of the NodeClaim, so that it outlives the process.

import { annotation } from '../../api/names.ts';
import { formatTime, parseTime } from '../../base/index.ts';
import type { Member } from './fleet.ts';

export interface Ancestor {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly replacedMs: number;
}

/** A shape may come back after this long. */
const memoryMs = 24 * 3_600_000;
/** Annotations are small; the newest ancestors matter most. */
const mostAncestors = 16;

/** Shapes that may not come back for these nodes. */
export function ancestorsOf(members: readonly Member[], nowMs: number): Ancestor[] {
  return members.flatMap(({ machine }) =>
    (machine.claim?.metadata.annotations?.[annotation.replaces] ?? '').split(',').flatMap((text) => {
      const [instanceType = '', zone = '', capacityType = '', time = ''] = text.split('/');
      const replacedMs = parseTime(time);
      if (replacedMs === undefined || nowMs - replacedMs > memoryMs) return [];
      return [{ instanceType, zone, capacityType, replacedMs }];
    }),
  );
}

/** What the replacement of these nodes has to remember. */
export function ancestryText(members: readonly Member[], nowMs: number): string {
  const own = members.map(
    ({ instanceType = '', zone = '', capacityType = '' }): Ancestor => ({
      instanceType,
      zone,
      capacityType,
      replacedMs: nowMs,
    }),
  );
  const texts = [...own, ...ancestorsOf(members, nowMs)].map(
    (each) => `${each.instanceType}/${each.zone}/${each.capacityType}/${formatTime(each.replacedMs)}`,
  );
  return [...new Set(texts)].slice(0, mostAncestors).join(',');
}
