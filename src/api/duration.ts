// Durations in our objects are text that stays as it was written (`1h` never becomes `1h0m0s`); this reads them.
import { parseGoDuration } from '../base/index.ts';

/** Milliseconds; Infinity for `Never`; undefined if unset or unreadable. */
export function durationMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return text === 'Never' ? Number.POSITIVE_INFINITY : parseGoDuration(text);
}
