// The past of the embedded cluster, from its recording: what is shown instead of now while someone has gone back in time. The
// cluster itself goes on meanwhile.
import type { Clock } from '../../base/index.ts';
import { type AnswerParts, ApiError, type Kept, RecordedDay, type Scene, WhatIfs } from '../../server/index.ts';
import { keptIn, openRecording, partsOf, type RecordedView } from '../replay/recorded-view.ts';
import { findingsIn } from '../validate/findings-in.ts';
import type { Controllers } from './controllers.ts';

export class Past {
  readonly kept: Kept | undefined;
  private readonly recording: Controllers['recording'];
  private readonly clock: Clock;
  private readonly real: Clock;
  private readonly startedMs: number;
  private view: RecordedView | undefined;
  private ending: AbortController | undefined;
  private shown: Scene | undefined;
  private tail: Promise<void> = Promise.resolve();

  constructor({ recording, clock, real }: { recording: Controllers['recording']; clock: Clock; real: Clock }) {
    this.recording = recording;
    this.clock = clock;
    this.real = real;
    this.startedMs = clock.now();
    this.kept = recording === undefined ? undefined : keptIn(new RecordedDay(recording.file, real));
  }

  /** Undefined: now is shown. */
  scene(): Scene | undefined {
    return this.shown;
  }

  bounds(): { recorded?: { fromMs: number; toMs: number }; isPast?: boolean } {
    if (this.recording === undefined) return {};
    const fromMs = this.view?.bounds().fromMs ?? this.startedMs;
    return { recorded: { fromMs, toMs: this.clock.now() }, ...(this.shown !== undefined && { isPast: true }) };
  }

  /** Shows the cluster as it was. One after the other: a slider that is dragged asks again before the first answer. */
  seek(ms: number, info: AnswerParts['info'], decisions: Controllers['decisions']): Promise<void> {
    const sought = this.tail.then(() => this.show(ms, info, decisions));
    this.tail = sought.catch(() => undefined);
    return sought;
  }

  private async show(ms: number, info: AnswerParts['info'], decisions: Controllers['decisions']): Promise<void> {
    if (this.recording === undefined) {
      throw new ApiError(409, 'NotRecorded', 'the past is not recorded', 'start with --record FILE');
    }
    await this.recording.written();
    if (this.view === undefined) await this.open(this.recording.file);
    else if (ms > this.view.bounds().toMs) await this.view.extend();
    const { view } = this;
    if (view === undefined) return;
    await view.seek(ms);
    const { context, live } = view;
    this.shown ??= {
      parts: { ...partsOf(view, info), decisions },
      whatIfs: new WhatIfs({ context, live, real: this.real, validate: findingsIn }),
    };
  }

  async now(): Promise<void> {
    await this.tail;
    this.shown = undefined;
    this.ending?.abort();
    this.ending = undefined;
    this.view = undefined;
  }

  private async open(file: string): Promise<void> {
    const view = await openRecording(file);
    const ending = new AbortController();
    void view.run(ending.signal).catch(() => undefined);
    while (!view.context.cluster.synced) await this.real.sleep(20);
    this.view = view;
    this.ending = ending;
  }
}
