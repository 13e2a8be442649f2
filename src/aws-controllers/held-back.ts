// What is said when EC2 announces the end of more instances than are given up at once.
import type { NodeClaim } from '../api/index.ts';
import { aboutClaim, type ControllerContext } from '../controllers/index.ts';

/** On each NodeClaim that waits for its turn, and once in the log; `what` completes "EC2 reports instances as". */
export function tellHeldBack(
  { log, recorder }: Pick<ControllerContext, 'log' | 'recorder'>,
  heldBack: readonly NodeClaim[],
  total: number,
  what: string,
): void {
  if (heldBack.length === 0) return;
  log.error(
    'EC2 announces the end of more instances than are replaced at once',
    `${heldBack.length} of ${total} wait; EC2 reports them as ${what}`,
  );
  const message = `EC2 reports ${heldBack.length} more of ${total} instances as ${what} than are replaced at once; they are looked at again in a minute`;
  for (const claim of heldBack)
    recorder.publish({ subject: aboutClaim(claim), type: 'Warning', reason: 'InterruptionHeldBack', message });
}
