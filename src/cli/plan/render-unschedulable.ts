// Pods without a place, by workload and reason: why, in which pool, and what would help.
import type { Reason, UnschedulablePod } from '../../core/index.ts';
import type { Paint } from '../output/index.ts';
import { reasonLines } from './render-reasons.ts';
import { listWorkloads, type WorkloadNames } from './workload-names.ts';

/** Reasons shown in full; further ones are counted. */
const mostReasons = 20;

interface Complaint {
  reasons: Reason[];
  pods: string[];
}

export function renderUnschedulable(
  pods: readonly UnschedulablePod[],
  names: WorkloadNames,
  { paint, columns }: { paint: Paint; columns: number },
): string {
  const complaints = group(pods);
  const lines: string[] = [];
  for (const { reasons, pods: concerned } of complaints.slice(0, mostReasons)) {
    lines.push(`  ${paint.yellow(reasons[0]?.code ?? '')}: ${listWorkloads(names.count(concerned), 6)}`);
    lines.push(...reasonLines(reasons, { paint, columns, indent: 4 }));
  }
  if (complaints.length > mostReasons)
    lines.push(`  and ${complaints.length - mostReasons} more reasons; -o json has them all`);
  return lines.map((line) => `${line}\n`).join('');
}

/** Pods with the same story, most pods first. */
function group(pods: readonly UnschedulablePod[]): Complaint[] {
  const groups = new Map<string, Complaint>();
  for (const { pod, reasons } of pods) {
    const key = JSON.stringify(reasons);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { reasons, pods: [pod] });
    else known.pods.push(pod);
  }
  return [...groups.values()].sort((left, right) => right.pods.length - left.pods.length);
}
