// Keeps the process small. V8 lets its heap grow to several times of what lives on it before it looks for garbage; a
// process that plans in bursts and idles in between would keep the size of its largest burst.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock, Timer } from '../base/index.ts';

/** The heap may grow by this much over what lives before old garbage is looked for. */
const growingPercent = 50;
const lookEveryMs = 30_000;
/** Of MEMORY_LIMIT: above this share garbage is collected at once. */
const softShare = 0.9;

export function growSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`);
}

export interface MemoryParts {
  clock: Clock;
  residentBytes?: () => number;
  collect?: () => void;
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
