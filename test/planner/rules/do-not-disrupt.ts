// The do-not-disrupt annotation on pods: `true` protects for good, a positive Go duration since the pod's start.
import { annotation } from '../../../src/api/index.ts';
import type { Pod } from './objects.ts';

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001, ns: 0.000001 };

function durationMs(text: string): number | undefined {
  if (!/^[+-]?(\d+(\.\d+)?(h|ms|us|ns|m|s))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, value, , unit] of text.matchAll(/(\d+(\.\d+)?)(h|ms|us|ns|m|s)/g)) {
    total += Number(value) * (unitMs[unit ?? ''] ?? 0);
  }
  return text.startsWith('-') ? -total : total;
}

export function isProtected(pod: Pod, nowMs: number): boolean {
  const value = pod.metadata.annotations?.[annotation.doNotDisrupt];
  if (value === undefined) return false;
  if (value === 'true') return true;
  const duration = durationMs(value);
  if (duration === undefined || duration <= 0) return false;
  const start = pod.status?.startTime;
  return start === undefined || nowMs < Date.parse(start) + duration;
}
