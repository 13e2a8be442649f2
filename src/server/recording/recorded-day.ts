// A recording to look things up in: the cluster as it was at any moment, what a decision looked at, and the decision made
// again. Reads on from where it is; going back reads from the beginning, because each look is written as what changed.
import { type Clock, parseTime } from '../../base/index.ts';
import type { Snapshot } from '../../core/index.ts';
import type { Decision } from '../../ports/index.ts';
import { answerTo } from './answers.ts';
import { readRecording } from './read-recording.ts';
import type { LookLine, PassLine, RecordingLine } from './recording-lines.ts';
import { SnapshotsAgain } from './snapshot-changes.ts';

export interface DayBounds {
  fromMs: number;
  toMs: number;
  /** Newest record of each, in the order they were made. */
  decisions: Map<string, Decision>;
}

/** What a decision was, made again. */
export interface MadeAgain {
  isEqual: boolean;
  decided: unknown;
  replayed: unknown;
}

type Seen = PassLine | LookLine;
const isLook = (line: RecordingLine): line is Seen => line.kind === 'Pass' || line.kind === 'Look';
const timeOf = ({ time }: Seen): number => parseTime(time) ?? 0;

export class RecordedDay {
  private readonly file: string;
  private readonly clock: Clock;
  private lines: AsyncGenerator<RecordingLine> | undefined;
  private again = new SnapshotsAgain();
  /** Read, and not yet part of what is shown: it belongs to the look that follows. */
  private ahead: RecordingLine[] = [];
  private shown: { atMs: number; snapshot: Snapshot } | undefined;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(file: string, clock: Clock) {
    this.file = file;
    this.clock = clock;
  }

  /** From the beginning of the file to its end, which may be further away than the last time. */
  async bounds(): Promise<DayBounds> {
    await this.tail;
    this.lines = undefined;
    const found: DayBounds = { fromMs: Number.POSITIVE_INFINITY, toMs: 0, decisions: new Map() };
    for await (const line of readRecording(this.file, () => {})) {
      if (line.kind === 'Decision') found.decisions.set(line.id, line);
      if (!isLook(line)) continue;
      found.fromMs = Math.min(found.fromMs, timeOf(line));
      found.toMs = Math.max(found.toMs, timeOf(line));
    }
    return found;
  }

  /** The last look at or before this moment, else the first. One question after the other. */
  at(ms: number): Promise<Snapshot | undefined> {
    const asked = this.tail.then(() => this.readTo(ms));
    this.tail = asked.catch(() => undefined);
    return asked;
  }

  /** What the pass of this snapshot looked at. */
  async snapshotOf(id: string): Promise<{ snapshot: Snapshot; pass: PassLine } | undefined> {
    const again = new SnapshotsAgain();
    for await (const line of readRecording(this.file, () => {})) {
      if (line.kind === 'Look') again.snapshotOf(line);
      else if (line.kind !== 'Pass') again.take(line);
      else {
        const snapshot = again.snapshotOf(line);
        if (line.snapshot === id) return { snapshot, pass: line };
      }
    }
    return undefined;
  }

  async madeAgain(id: string): Promise<MadeAgain | undefined> {
    const found = await this.snapshotOf(id);
    if (found === undefined) return undefined;
    const { snapshot, pass } = found;
    const replayed = await answerTo(this.clock, pass.question, snapshot);
    return { isEqual: JSON.stringify(replayed) === JSON.stringify(pass.result), decided: pass.result, replayed };
  }

  private async readTo(ms: number): Promise<Snapshot | undefined> {
    if (this.lines === undefined || (this.shown !== undefined && ms < this.shown.atMs)) this.restart();
    for (;;) {
      const last = this.ahead.at(-1);
      if (last !== undefined && isLook(last)) {
        // The first is shown also to who asks for what was before.
        if (timeOf(last) > ms && this.shown !== undefined) break;
        for (const line of this.ahead) if (!isLook(line)) this.again.take(line);
        this.shown = { atMs: timeOf(last), snapshot: this.again.snapshotOf(last) };
        this.ahead = [];
      }
      const next = await this.lines?.next();
      if (next === undefined || next.done === true) break;
      this.ahead.push(next.value);
    }
    return this.shown?.snapshot;
  }

  private restart(): void {
    this.lines = readRecording(this.file, () => {});
    this.again = new SnapshotsAgain();
    this.ahead = [];
    this.shown = undefined;
  }
}
