// Which of the planned launches begin at once. Launches that keep failing come one at a time and then twice as many each
// time (see LaunchPace); and of a large burst where nothing was launched lately, the first go ahead: a shortage then costs
// a handful of claims, not hundreds. Held-back launches are planned anew as soon as one that went ahead is answered.
import type { InstanceTypeSpec, PlannedNode } from '../../core/index.ts';
import type { ControllerContext } from '../context.ts';
import { PlannedOfferings } from './planned-offerings.ts';

/** So many unproven launches of a pool begin at once, and so many if its last launch failed. */
const aheadAtOnce = { usual: 32, failing: 4 };
/** A launch that takes longer to fail than this does not hold back the others. */
const answerMs = 5_000;

type TypesOf = (pool: string) => readonly InstanceTypeSpec[];

export interface Admitted {
  /** Begin now. */
  now: PlannedNode[];
  /** Begin when one of the first is launched, or none is answered in time. */
  next: PlannedNode[];
  /** Wait until what failed before works again. */
  held: PlannedNode[];
}

export function admitted(
  { clock, ledger }: ControllerContext,
  planned: readonly PlannedNode[],
  typesOf: TypesOf,
): Admitted {
  const { pace } = ledger;
  const nowMs = clock.elapsed();
  const offerings = new PlannedOfferings();
  const result: Admitted = { now: [], next: [], held: [] };
  const unproven = new Map<string, number>();
  for (const node of planned) {
    const most = pace.isFailing(node.nodePool) ? aheadAtOnce.failing : aheadAtOnce.usual;
    const isBurst = planned.length > most;
    const keys = pace.hasFailures || isBurst ? offerings.of(node, typesOf(node.nodePool)) : [];
    if (pace.isTroubled(keys, nowMs)) {
      const hasRoom = pace.hasRoom(node.nodePool, node.instanceTypes, nowMs);
      if (hasRoom) pace.begin(node.name, node.nodePool, node.instanceTypes);
      result[hasRoom ? 'now' : 'held'].push(node);
    } else if (isBurst && !pace.isProven(keys, nowMs)) {
      const count = (unproven.get(node.nodePool) ?? 0) + 1;
      unproven.set(node.nodePool, count);
      result[count > most ? 'next' : 'now'].push(node);
    } else result.now.push(node);
  }
  return result;
}

/** After the first of a burst have begun: whether the others may follow. */
export async function mayFollow({ clock, ledger }: ControllerContext): Promise<boolean> {
  const answer = Promise.withResolvers<boolean>();
  const stop = ledger.pace.onAnswer((isLaunched) => answer.resolve(isLaunched));
  const timer = clock.after(answerMs, () => answer.resolve(true));
  try {
    return await answer.promise;
  } finally {
    stop();
    timer.dispose();
  }
}
