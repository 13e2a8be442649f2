// Notices what no event of the watch announces and what does not count as news: prices, offerings that are back, pauses that
// end, conditions of claims. The same snapshot gives the same verdicts, so every few minutes the snapshot is compared with
// the one before, and only another one counts as a change. Of what the passing of time alone decides, the end of a pod's
// protection counts, too; the rest is left to the age that the model allows verdicts to have.
import { type AbortSignalLike, inSlices, isEqual, parseTime, type Sliced } from '../base/index.ts';
import type { Snapshot, SnapshotObject } from '../core/index.ts';
import { doNotDisruptEndsMs } from '../state/index.ts';
import type { ControllerContext } from './context.ts';
import { instanceTypesOfPools, snapshotFor } from './planning.ts';

const everyMs = 300_000;
/** Objects compared between two turns of others. */
const objectsPerTurn = 256;

export class InputWatch {
  private readonly context: ControllerContext;
  private seen: Snapshot | undefined;

  constructor(context: ControllerContext) {
    this.context = context;
  }

  async run(signal: AbortSignalLike): Promise<void> {
    const { clock, log } = this.context;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => log.error('cannot compare snapshots', error));
      await clock.sleep(everyMs, signal).catch(() => {});
    }
  }

  /** Looks once, and tells the model if decisions would look at something else than the last time. */
  async look(): Promise<void> {
    const { clock, cluster } = this.context;
    if (!cluster.synced) return;
    const snapshot = snapshotFor(this.context, await instanceTypesOfPools(this.context));
    const before = this.seen;
    this.seen = snapshot;
    if (before !== undefined && !(await inSlices(clock, isSame(before, snapshot)))) cluster.changed();
  }
}

function* isSame(before: Snapshot, now: Snapshot): Sliced<boolean> {
  const { time: then = '', objects: had, ...rest } = before;
  const { time = '', objects: has, ...others } = now;
  const [fromMs, toMs] = [parseTime(then) ?? 0, parseTime(time) ?? 0];
  if (had.items.length !== has.items.length || !isEqual(rest, others)) return false;
  for (const [index, object] of has.items.entries()) {
    if (index % objectsPerTurn === 0) yield;
    if (!isSameObject(had.items[index] as SnapshotObject, object) || endsBetween(object, fromMs, toMs)) return false;
  }
  return true;
}

/** A new version of an object may say nothing new. */
function isSameObject(before: SnapshotObject, now: SnapshotObject): boolean {
  if (before === now) return true;
  const withoutVersion = ({ metadata, ...rest }: SnapshotObject) => ({
    ...rest,
    metadata: { ...metadata, resourceVersion: undefined, managedFields: undefined },
  });
  return isEqual(withoutVersion(before), withoutVersion(now));
}

/** A pod that do-not-disrupt protected for a while, and does so no longer. */
function endsBetween(object: SnapshotObject, fromMs: number, toMs: number): boolean {
  if (object.kind !== 'Pod') return false;
  const endsMs = doNotDisruptEndsMs(object);
  return endsMs > fromMs && endsMs <= toMs;
}
