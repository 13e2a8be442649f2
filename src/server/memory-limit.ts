// Keeps the process small. V8 lets its heap grow to several times of what lives on it before it looks for garbage; a
// process that plans in bursts and idles in between would keep the size of its largest burst.
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock, Timer } from '../base/index.ts';

/** The heap may grow by this much over what lives before old garbage is looked for. */
const growingPercent = 20;
const lookEveryMs = 30_000;
/** Of MEMORY_LIMIT: above this share garbage is collected at once. */
const softShare = 0.9;

/** New objects get this much room; V8 would take eight times as much, and a process that always does something keeps it. */
const mostYoungBytes = 16 * 2 ** 20;
/** A first listing can double the room several times a second. */
const lookAtYoungEveryMs = 100;

/** A quiet process that holds this much more than after its last collection has garbage worth the tenth of a second it takes. */
const grownShare = 1.1;
const lookForQuietEveryMs = 10_000;
/** A collection stops everything for about a millisecond per MiB: of larger heaps it is left to V8, which does it in steps. */
const mostCollectedBytes = 256 * 2 ** 20;
/** Of the time between two looks: who computes less is quiet. */
const quietShare = 0.05;

export interface MemoryParts {
  clock: Clock;
  usedBytes?: () => number;
  /** Which share of the time the event loop was busy since it was last asked. */
  busyShare?: () => number;
  residentBytes?: () => number;
  youngBytes?: () => number;
  collect?: () => void;
  setFlags?: (flags: string) => void;
}

export function growSlowly({ clock, youngBytes = newSpaceBytes, setFlags = setFlagsFromString }: MemoryParts): Timer {
  setFlags(`--heap-growing-percent=${growingPercent}`);
  let mayGrow = true;
  const look = (): void => {
    if (youngBytes() < mostYoungBytes !== mayGrow) {
      mayGrow = !mayGrow;
      // There is no flag for the limit that works once the process runs; a space that grows by a factor of one does not.
      setFlags(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
    }
    timer = clock.after(lookAtYoungEveryMs, look);
  };
  let timer = clock.after(lookAtYoungEveryMs, look);
  return { dispose: () => timer.dispose() };
}

function newSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}

/** Collects garbage whenever the process comes near the limit; a limit of 0 or less is none. */
export function watchMemory(limitBytes: number, parts: MemoryParts): Timer {
  const { clock, residentBytes = () => process.memoryUsage.rss(), collect = collector() } = parts;
  if (limitBytes <= 0) return { dispose: () => {} };
  const look = (): void => {
    if (residentBytes() > limitBytes * softShare) collect();
    timer = clock.after(lookEveryMs, look);
  };
  let timer = clock.after(lookEveryMs, look);
  return { dispose: () => timer.dispose() };
}

/**
 * Collects what a burst left behind once it is over: V8 looks for old garbage when it needs room, and a process that has
 * become quiet needs none for a long time.
 */
export function collectWhenQuiet(parts: MemoryParts): Timer {
  const { clock, usedBytes = heapBytes, busyShare = loopShare(), collect = collector() } = parts;
  let leastBytes = 0;
  const look = (): void => {
    timer = clock.after(lookForQuietEveryMs, look);
    const bytes = usedBytes();
    if (busyShare() > quietShare || bytes < leastBytes * grownShare || bytes > mostCollectedBytes) return;
    collect();
    leastBytes = usedBytes();
  };
  let timer = clock.after(lookForQuietEveryMs, look);
  return { dispose: () => timer.dispose() };
}

const heapBytes = (): number => process.memoryUsage().heapUsed;

function loopShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => collect();
}
