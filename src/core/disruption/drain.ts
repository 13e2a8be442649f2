// What holds up a node that is being deleted: pods that may not be evicted, and when that ends. What would keep it from
// being chosen (budgets, quiet times) no longer matters, and is not said.

import { annotation } from '../../api/names.ts';
import { parseTime } from '../../base/index.ts';
import { isActive } from '../pods/pod-classes.ts';
import type { Fleet, Member } from './fleet.ts';

export interface DrainProblem {
  readonly code: string;
  readonly message: string;
  readonly pod?: string;
}

const mostNamed = 3;

/** Undefined while no one has deleted it; the first says how the drain stands. */
export function drainProblems(fleet: Fleet, { machine, pods }: Member): DrainProblem[] | undefined {
  const deleted = machine.claim?.metadata.deletionTimestamp ?? machine.node?.metadata.deletionTimestamp;
  if (deleted === undefined) return undefined;
  const blockers = [...fleet.podBlockers.of(pods)];
  if (blockers.length === 0) return [{ code: 'Leaving', message: leavingText(pods.filter(isActive).length) }];
  const causes = new Set(
    blockers.map(({ code, message, pod }) => {
      const budgets = /=\[(.*)\]\)$/.exec(message)?.[1];
      return code === 'PodDoNotDisrupt' || budgets === undefined ? `pod ${pod} (do-not-disrupt)` : `PDB ${budgets}`;
    }),
  );
  const named = [...causes].sort((left, right) => Number(right.startsWith('PDB')) - Number(left.startsWith('PDB')));
  const more = named.length > mostNamed ? ` and ${named.length - mostNamed} more` : '';
  const message = `drain blocked by ${named.slice(0, mostNamed).join(', ')}${more}; ${endText(machine)}`;
  return [{ code: 'DrainBlocked', message }, ...blockers];
}

function leavingText(pods: number): string {
  const left = pods === 0 ? '' : `; ${pods} ${pods === 1 ? 'pod is' : 'pods are'} still on it`;
  return `node is deleting or marked for deletion${left}`;
}

/** When the drain ends whatever its pods say. */
function endText({ claim, node }: Member['machine']): string {
  const forced = [claim, node].map((each) => each?.metadata.annotations?.[annotation.terminationTimestamp]);
  const until = forced.find((time) => time !== undefined && parseTime(time) !== undefined);
  if (until !== undefined) return `it ends at ${until} whatever they say (terminationGracePeriod)`;
  const period = claim?.spec?.terminationGracePeriod;
  return period
    ? `it ends ${period} after the deletion whatever they say (terminationGracePeriod)`
    : 'no terminationGracePeriod, so it waits for ever';
}
