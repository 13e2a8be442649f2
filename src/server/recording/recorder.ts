// Writes a recording while decisions are made: JSON lines, compressed, each pass complete on disk before the next, so that
// a process that is killed leaves everything up to its last pass. Bounded on disk (the part before is kept, older ones are
// not) and in memory (passes that come faster than they are written are counted, not kept). Never in the way: decisions
// do not wait for it, and what cannot be written ends the recording with one line in the log.
import { createWriteStream, type WriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { type Clock, formatTime, inSlices } from '../../base/index.ts';
import type { DecisionRecording } from '../../controllers/index.ts';
import type { Plan, Snapshot } from '../../core/index.ts';
import type { Decision, Log } from '../../ports/index.ts';
import type { DecisionRing } from '../../telemetry/index.ts';
import { snapshotId } from '../snapshot-id.ts';
import { answerTo, planResult } from './answers.ts';
import type { Question, RecordingLine } from './recording-lines.ts';
import { SnapshotChanges } from './snapshot-changes.ts';

export interface RecorderOptions {
  file: string;
  /** Compressed, per part; there are at most two. */
  mostBytes?: number;
  clock: Clock;
  log: Log;
  version: string;
  decisions: DecisionRing;
}

const defaultMostBytes = 256 * 1024 * 1024;
const mostWaiting = 16;

interface Part {
  gzip: Gzip;
  stream: WriteStream;
  changes: SnapshotChanges;
  bytes: number;
}

export class DecisionRecorder implements DecisionRecording {
  private readonly options: RecorderOptions;
  private readonly unsubscribe: () => void;
  private part: Part | undefined;
  private tail: Promise<void> = Promise.resolve();
  private waiting = 0;
  private missed = 0;
  private failed = false;

  constructor(options: RecorderOptions) {
    this.options = options;
    this.unsubscribe = options.decisions.subscribe((decision) => this.decided(decision));
  }

  plan(snapshot: Snapshot, plan: Plan): void {
    this.enqueue(() => this.write(snapshot, { what: 'plan' }, async () => planResult(plan)));
  }

  move(snapshot: Snapshot, reason: string, nodeClaims: readonly string[]): void {
    const question: Question = { what: 'move', reason, nodeClaims };
    this.enqueue(() => this.write(snapshot, question, () => answerTo(this.options.clock, question, snapshot)));
  }

  /** For the eye: what is there between passes. */
  look(snapshot: Snapshot): void {
    this.enqueue(async () => {
      const { clock } = this.options;
      const part = await this.open();
      const changes = await inSlices(
        clock,
        part.changes.next(snapshot, (line) => this.line(part, line)),
      );
      this.line(part, { kind: 'Look', time: snapshot.time ?? formatTime(clock.now()), ...changes });
      await flushed(part.gzip);
    });
  }

  /** Resolves once everything up to now is written. */
  written(): Promise<void> {
    return this.tail;
  }

  /** Ends the file. */
  async close(): Promise<void> {
    this.unsubscribe();
    await this.written();
    await this.endPart();
  }

  private decided(decision: Decision): void {
    this.enqueue(async () => this.line(await this.open(), decision));
  }

  /** One after the other: each pass is written as what changed since the one before. */
  private enqueue(work: () => Promise<void>): void {
    if (this.failed) return;
    if (this.waiting >= mostWaiting) {
      this.missed += 1;
      return;
    }
    this.waiting += 1;
    this.tail = this.tail
      .then(() => (this.failed ? undefined : work()))
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.waiting -= 1;
      });
  }

  private fail(error: unknown): void {
    if (this.failed) return;
    this.failed = true;
    const { log, file } = this.options;
    log.error('cannot go on recording decisions', error, { file });
    this.part?.gzip.destroy();
    this.part?.stream.destroy();
    this.part = undefined;
  }

  private async write(snapshot: Snapshot, question: Question, answer: () => Promise<object>): Promise<void> {
    const { clock, mostBytes = defaultMostBytes } = this.options;
    const part = await this.open();
    if (this.missed > 0) this.line(part, { kind: 'Missed', passes: this.missed });
    this.missed = 0;
    const changes = await inSlices(
      clock,
      part.changes.next(snapshot, (line) => this.line(part, line)),
    );
    const id = await snapshotId(clock, snapshot);
    const time = snapshot.time ?? formatTime(clock.now());
    this.line(part, { kind: 'Pass', time, snapshot: id, question, ...changes, result: await answer() });
    await flushed(part.gzip);
    if (part.bytes > mostBytes) await this.endPart();
  }

  private line({ gzip }: Part, line: RecordingLine): void {
    gzip.write(`${JSON.stringify(line)}\n`);
  }

  private async open(): Promise<Part> {
    if (this.part !== undefined) return this.part;
    const { file, clock, version } = this.options;
    // What an earlier process, or the part before, has left.
    await rename(file, `${file}.1`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const stream = createWriteStream(file, { mode: 0o600 });
    const gzip = createGzip({ level: 6 });
    for (const each of [stream, gzip]) each.on('error', (error: unknown) => this.fail(error));
    gzip.pipe(stream);
    const part = { gzip, stream, changes: new SnapshotChanges(), bytes: 0 };
    gzip.on('data', ({ length }: Buffer) => void (part.bytes += length));
    this.part = part;
    this.line(part, { apiVersion: 'kerf/v1', kind: 'Recording', time: formatTime(clock.now()), version });
    return part;
  }

  private async endPart(): Promise<void> {
    const { part } = this;
    this.part = undefined;
    if (part === undefined) return;
    const ended = new Promise<void>((resolve) => {
      part.stream.on('close', () => resolve());
    });
    part.gzip.end();
    await ended;
  }
}

function flushed(gzip: Gzip): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      gzip.off('close', done);
      resolve();
    };
    gzip.on('close', done);
    gzip.flush(constants.Z_SYNC_FLUSH, done);
  });
}
