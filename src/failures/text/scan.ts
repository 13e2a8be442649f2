// Looks for the signs of every failure in texts of any size, as bytes come in: memory is bounded by the chunk, whatever the
// file. A sign may reach over a few lines, because terminals, mails and YAML wrap; it must touch the line with its literal.
//
// What a text yields: for each sign its first places, how often it stands there, and whether a milestone came after the
// last one (then the trouble is over and nothing is reported).
import type { Failure, FailureId, Milestone, ObjectRef, Sighting, Sign, TextKind } from '../failure.ts';
import { cleanText, stampIn, timeIn } from './clean.ts';
import { Keywords } from './keywords.ts';
import {
  type Codec,
  firstTouching,
  lastTimeIn,
  lineEnd,
  linesAbove,
  linesAfter,
  linesBefore,
  linesBelow,
  shorten,
  type Wrapped,
  wrappedLines,
} from './lines.ts';
import { marks, milestones } from './milestones.ts';

/** Places kept per sign and text; more add nothing for a reader. */
const keptPlaces = 3;
/** From here on only some of a sign's hits are looked at: a log that repeats one error a million times. */
const sampleAfter = 200;
/** Bytes looked at around a hit in a very long line. */
const reach = 4_000;
/** Longest stretch without a line break that is taken as one line. */
const longestLine = 1 << 20;
/** A log this short may have ended before it could say whose it is. */
const shortLog = 50;
const ownName = /karpenter|kerf/i;

interface Target {
  id?: FailureId;
  sign: Sign;
  milestone?: Milestone;
}

interface Progress {
  count: number;
  tried: number;
  places: Sighting[];
  lastAt: number;
  lastTimeMs?: number;
  /** Of the first and the last line, by whatever clock the text has. */
  firstStamp?: number;
  lastStamp?: number;
}

export interface TextSource {
  source: string;
  kind: TextKind;
  about?: ObjectRef;
  /** When the text was written, for texts that carry no times of their own (an Event's message). */
  timeMs?: number;
  /** Lines above the first line of what is pushed. */
  lineOffset?: number;
}

export class TextScanner {
  private readonly codec: Codec;
  private readonly keywords: Keywords;
  private readonly targets: Target[] = [];
  /** For each literal the targets that it may begin. */
  private readonly targetsOf: number[][] = [];

  constructor(catalogue: readonly Failure[], codec: Codec) {
    this.codec = codec;
    const literals = new Map<string, number[]>();
    const add = (target: Target): void => {
      const index = this.targets.push(target) - 1;
      for (const word of target.sign.words) {
        const known = literals.get(word);
        if (known === undefined) literals.set(word, [index]);
        else known.push(index);
      }
    };
    for (const { id, signs = [] } of catalogue) for (const sign of signs) add({ id, sign });
    for (const [milestone, { words, pattern }] of Object.entries(milestones))
      add({ sign: { words, pattern }, milestone: milestone as Milestone });
    this.keywords = new Keywords([...literals.keys()]);
    this.targetsOf.push(...literals.values());
  }

  open(source: TextSource): TextStream {
    return new TextStream(source, {
      codec: this.codec,
      keywords: this.keywords,
      targets: this.targets,
      targetsOf: this.targetsOf,
    });
  }

  /** A text that is at hand as a whole. */
  scan(source: TextSource, text: string): ScannedText {
    const stream = this.open(source);
    stream.push(this.codec.encode(text));
    return stream.end();
  }
}

export interface ScannedText {
  sightings: readonly Sighting[];
  /** The last instant that the text names, in milliseconds. */
  lastTimeMs?: number;
  lines: number;
  /** What came right in it, and when last. */
  milestones: readonly { milestone: Milestone; timeMs: number | undefined }[];
}

interface SeenLines {
  buffer: Uint8Array;
  from: number;
  end: number;
  raw: string;
  line: string;
  wrapped(): Wrapped;
}

interface Compiled {
  codec: Codec;
  keywords: Keywords;
  targets: readonly Target[];
  targetsOf: readonly number[][];
}

export class TextStream {
  private readonly source: TextSource;
  private readonly compiled: Compiled;
  private readonly progress = new Map<number, Progress>();
  private buffer = new Uint8Array(0);
  /** Where the part that was not scanned yet begins; lines before it are kept for wrapped signs. */
  private from = 0;
  /** Line number (from 1) of `#from`. */
  private line: number;
  private seen: SeenLines | undefined;
  /** Marks that were seen: once says it all. */
  private readonly done: Uint8Array;

  constructor(source: TextSource, compiled: Compiled) {
    this.source = source;
    this.done = new Uint8Array(compiled.targets.length);
    this.compiled = compiled;
    this.line = 1 + (source.lineOffset ?? 0);
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const joined = new Uint8Array(this.buffer.length + chunk.length);
    joined.set(this.buffer);
    joined.set(chunk, this.buffer.length);
    this.buffer = joined;
    let to = this.buffer.length;
    // The last lines wait for those that may follow.
    for (let lines = 0; lines <= linesAfter && to > 0; lines += 1) to = this.buffer.lastIndexOf(10, to - 1);
    if (to + 1 > this.from) this.scanTo(to + 1);
    else if (this.buffer.length - this.from > longestLine) this.scanTo(this.buffer.length);
  }

  end(): ScannedText {
    this.scanTo(this.buffer.length);
    const lastTimeMs = lastTimeIn(this.compiled.codec, this.buffer) ?? this.source.timeMs;
    const lines = this.line;
    return {
      sightings: this.sightings(lastTimeMs),
      milestones: this.milestones(),
      lines,
      ...(lastTimeMs === undefined ? {} : { lastTimeMs }),
    };
  }

  private milestones(): { milestone: Milestone; timeMs: number | undefined }[] {
    return [...this.progress].flatMap(([index, { count, lastTimeMs }]) => {
      const milestone = this.compiled.targets[index]?.milestone;
      return milestone === undefined || count === 0 ? [] : [{ milestone, timeMs: lastTimeMs }];
    });
  }

  private scanTo(to: number): void {
    const buffer = this.buffer;
    const hits: { target: number; position: number }[] = [];
    this.compiled.keywords.scan(buffer, this.from, to, (literal, position) => {
      for (const target of this.compiled.targetsOf[literal] ?? [])
        if (this.done[target] === 0) hits.push({ target, position });
    });
    let line = this.line;
    let counted = this.from;
    const seen = new Set<number>();
    let seenAt = -1;
    for (const { target, position } of hits) {
      for (let next = buffer.indexOf(10, counted); next >= 0 && next < position; next = buffer.indexOf(10, counted)) {
        line += 1;
        counted = next + 1;
      }
      // One look per sign and line; again where the line is very long.
      if (counted !== seenAt || position - counted > reach) seen.clear();
      seenAt = counted;
      if (seen.has(target)) continue;
      seen.add(target);
      this.look(target, position, counted, line);
    }
    for (let next = buffer.indexOf(10, counted); next >= 0 && next < to; next = buffer.indexOf(10, counted)) {
      line += 1;
      counted = next + 1;
    }
    this.line = line;
    this.keep(to);
  }

  /** Lets go of what was scanned, but for the lines a wrapped sign may begin in. */
  private keep(to: number): void {
    let start = to;
    for (let lines = 0; lines <= linesBefore && start > 1; lines += 1)
      start = this.buffer.lastIndexOf(10, start - 2) + 1;
    start = Math.max(start, to - 4 * reach, 0);
    this.buffer = this.buffer.slice(start);
    this.from = to - start;
  }

  private look(index: number, position: number, lineStart: number, line: number): void {
    const target = this.compiled.targets[index] as Target;
    const { sign } = target;
    if (sign.where !== undefined && !sign.where.includes(this.source.kind)) return;
    let progress = this.progress.get(index);
    if (progress === undefined) {
      progress = { count: 0, tried: 0, places: [], lastAt: -1 };
      this.progress.set(index, progress);
    }
    progress.tried += 1;
    const isSampled = progress.count > sampleAfter && progress.tried % 16 !== 0;
    if (isSampled) {
      progress.count += 1;
      progress.lastAt = line;
      return;
    }
    const found = this.match(sign, position, lineStart);
    if (found === undefined) return;
    progress.count += 1;
    progress.lastAt = line;
    if (target.milestone !== undefined && marks.has(target.milestone)) this.done[index] = 1;
    const timeMs = timeIn(found.raw) ?? this.source.timeMs;
    if (timeMs !== undefined) progress.lastTimeMs = timeMs;
    if (sign.orLastsMs !== undefined) {
      const stamp = stampIn(found.raw);
      if (stamp !== undefined) {
        progress.firstStamp ??= stamp;
        progress.lastStamp = stamp;
      }
    }
    if (target.id === undefined || progress.places.length >= keptPlaces) return;
    const { source, kind, about } = this.source;
    progress.places.push({
      id: target.id,
      sign,
      kind,
      source,
      ...(kind === 'object' ? {} : { line }),
      text: shorten(found.raw, found.match[0]),
      groups: found.match.groups ?? {},
      around: found.around,
      ...(timeMs === undefined ? {} : { timeMs }),
      count: 1,
      ...(about === undefined ? {} : { about }),
    });
  }

  private match(
    sign: Sign,
    position: number,
    lineStart: number,
  ): { match: RegExpExecArray; raw: string; around: string } | undefined {
    const seen = this.linesAt(position, lineStart);
    const direct = sign.pattern.exec(seen.line);
    if (direct !== null) {
      const refused = sign.unless?.test(seen.line) === true;
      return refused ? undefined : { match: direct, raw: seen.raw, around: this.around(lineStart, seen.end) };
    }
    // Wrapped: the lines around, the match touching this one; a terminal wraps inside words.
    const { before, own, after, isCut } = seen.wrapped();
    for (const glue of isCut ? [' ', ''] : [' ']) {
      const above = before.join(glue);
      const joined = [above, own, after.join(glue)].join(glue);
      const from = above.length + glue.length;
      const match = firstTouching(sign.pattern, joined, from, from + own.length);
      if (match !== undefined)
        return sign.unless?.test(match[0]) === true ? undefined : { match, raw: seen.raw, around: joined };
    }
    return undefined;
  }

  /** The text at a hit, read once for all signs that look at it. */
  private linesAt(position: number, lineStart: number): SeenLines {
    const buffer = this.buffer;
    const from = Math.max(lineStart, position - reach);
    if (this.seen?.from === from && this.seen.buffer === buffer) return this.seen;
    const { codec } = this.compiled;
    const end = lineEnd(buffer, position);
    const raw = codec.decode(buffer.subarray(from, Math.min(end, position + reach)));
    let wrapped: Wrapped | undefined;
    this.seen = {
      buffer,
      from,
      end,
      raw,
      line: cleanText(raw),
      wrapped: () => (wrapped ??= wrappedLines(codec, buffer, lineStart, end, raw)),
    };
    return this.seen;
  }

  private around(lineStart: number, end: number): string {
    const above = linesAbove(this.compiled.codec, this.buffer, lineStart, linesBefore);
    const below = linesBelow(this.compiled.codec, this.buffer, end, linesAfter);
    const own = this.compiled.codec.decode(this.buffer.subarray(lineStart, Math.min(end, lineStart + 2 * reach)));
    return cleanText([...above, own, ...below].join(' '));
  }

  private sightings(endMs: number | undefined): Sighting[] {
    const reached = new Map<Milestone, number>();
    for (const [index, { lastAt, count }] of this.progress) {
      const milestone = this.compiled.targets[index]?.milestone;
      if (milestone !== undefined && count > 0) reached.set(milestone, lastAt);
    }
    return [...this.progress].flatMap(([index, progress]) => {
      const { count, places, lastAt, lastTimeMs } = progress;
      const { sign } = this.compiled.targets[index] as Target;
      if (count < (sign.atLeast ?? 1) && !hasLasted(sign, progress)) return [];
      if (sign.ownLog === true && !this.isOwn(reached)) return [];
      if (sign.beside !== undefined && !reached.has(sign.beside)) return [];
      if (sign.until?.some((milestone) => (reached.get(milestone) ?? -1) > lastAt) === true) return [];
      if (this.source.kind === 'log' && isSilent(sign, lastTimeMs, endMs)) return [];
      return places.map((place) => ({
        ...place,
        count,
        ...(lastTimeMs === undefined ? {} : { timeMs: Math.max(place.timeMs ?? lastTimeMs, lastTimeMs) }),
      }));
    });
  }

  /** The autoscaler's own log, by what it says; one that ends in its first line may say it by its name alone. */
  private isOwn(reached: ReadonlyMap<Milestone, number>): boolean {
    const { kind, source } = this.source;
    if (reached.has('autoscaler')) return true;
    if (reached.has('otherComponent')) return false;
    return kind !== 'log' || (this.line < shortLog && ownName.test(source));
  }
}

function hasLasted({ orLastsMs }: Sign, { firstStamp, lastStamp }: Progress): boolean {
  return (
    orLastsMs !== undefined &&
    firstStamp !== undefined &&
    lastStamp !== undefined &&
    lastStamp - firstStamp >= orLastsMs
  );
}

/** The text went on for longer than it takes to say it again. */
const isSilent = ({ repeatsWithinMs }: Sign, lastMs: number | undefined, endMs: number | undefined): boolean =>
  repeatsWithinMs !== undefined && lastMs !== undefined && endMs !== undefined && endMs - lastMs > repeatsWithinMs;
