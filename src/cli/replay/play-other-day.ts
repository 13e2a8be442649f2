// Plays a recording's pods twice, as it was and with a change, and adds up what its own nodes cost.
import { readFile } from 'node:fs/promises';
import type { NodePool } from '../../api/index.ts';
import { formatTime, KerfError, messageOf, parseTime } from '../../base/index.ts';
import { Round, type Snapshot } from '../../core/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { type DayCompared, readManifests, readRecording, SnapshotsAgain } from '../../server/index.ts';
import { type DayChange, OtherDay } from './other-day.ts';
import type { OtherDayReport } from './other-day-page.ts';

const hourMs = 3_600_000;

export async function poolsIn(files: readonly string[]): Promise<NodePool[]> {
  const pools: NodePool[] = [];
  for (const file of files) {
    try {
      for (const object of readManifests(await readFile(file, 'utf8'))) {
        if (object.kind === 'NodePool') pools.push(object as unknown as NodePool);
        else throw new Error(`it holds a ${object.kind}; only NodePools can be tried`);
      }
    } catch (error) {
      throw new KerfError('FileUnreadable', `--with ${file}: ${messageOf(error)}`, { cause: error, subject: file });
    }
  }
  return pools;
}

/** For the page: the day of this recording with other NodePools, beside the day with its own. */
export function comparedDay(
  file: string,
  ready?: () => Promise<void>,
): (pools: readonly NodePool[], goOn: () => void) => Promise<DayCompared> {
  return async (pools, goOn) => {
    await ready?.();
    const change = { pools, without: new Set<never>() };
    const { from, to, before, after } = await playOtherDay(file, change, 'with the change', goOn);
    return { from, to, before, after };
  };
}

export async function playOtherDay(
  file: string,
  change: DayChange,
  name: string,
  onProgress: (text: string) => void,
): Promise<OtherDayReport> {
  const clock = new RealClock();
  const before = new OtherDay(clock, { pools: [], without: new Set() });
  const after = new OtherDay(clock, change);
  const again = new SnapshotsAgain();
  const own = new RecordedCost();
  let passes = 0;
  for await (const line of readRecording(file, () => {})) {
    if (line.kind === 'Objects' || line.kind === 'InstanceTypes') again.take(line);
    if (line.kind === 'Look') again.snapshotOf(line);
    if (line.kind !== 'Pass') continue;
    const snapshot = again.snapshotOf(line);
    onProgress(`pass ${++passes}, ${line.time}`);
    own.take(snapshot);
    await before.take(snapshot);
    await after.take(snapshot);
  }
  if (passes === 0) throw new KerfError('RecordingUnreadable', `${file} holds no pass, so there is no day to compare`);
  return {
    apiVersion: 'kerf/v1',
    kind: 'OtherDay',
    from: formatTime(own.fromMs),
    to: formatTime(own.toMs),
    change: name,
    recordedDollars: own.dollars,
    before: before.total(),
    after: after.total(),
  };
}

/** Nodes of the recording, by their prices, from pass to pass. */
class RecordedCost {
  fromMs = Number.NaN;
  toMs = Number.NaN;
  dollars = 0;
  private pricePerHour = 0;

  take(snapshot: Snapshot): void {
    const atMs = parseTime(snapshot.time ?? '') ?? this.toMs;
    if (Number.isNaN(this.fromMs)) this.fromMs = atMs;
    else this.dollars += (this.pricePerHour * Math.max(0, atMs - this.toMs)) / hourMs;
    this.toMs = atMs;
    const { fleet } = Round.of(snapshot);
    this.pricePerHour = fleet.members
      .filter(({ machine }) => machine.claim !== undefined)
      .reduce((sum, { price }) => sum + price, 0);
  }
}
