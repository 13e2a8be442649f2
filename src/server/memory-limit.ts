// Keeps the process small. V8 lets its heap grow to several times of what lives on it before it looks for garbage; a
// process that plans in bursts and idles in between would keep the size of its largest burst.
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

export interface MemoryParts {
  clock: Clock;
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

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => collect();
}
