// Lines around a place in bytes: a sign may reach over a few of them, because terminals, mails and YAML wrap.
import { cleanContinuation, timeIn } from './clean.ts';

/** Between text and bytes; the inner rooms have no TextDecoder, so the edge brings one. */
export interface Codec {
  encode(text: string): Uint8Array;
  decode(bytes: Uint8Array): string;
}

/** How far a wrapped sign reaches. */
export const linesBefore = 3;
export const linesAfter = 4;

/** Longer lines are shown in part. */
const shownChars = 400;

export interface Wrapped {
  before: string[];
  own: string;
  after: string[];
  /** A line ends inside a word: the width of a terminal broke it. */
  isCut: boolean;
}

/** Narrower terminals are rare, and short lines end where their sentence does. */
const narrowest = 60;

export function wrappedLines(codec: Codec, buffer: Uint8Array, lineStart: number, end: number, raw: string): Wrapped {
  const above = linesAbove(codec, buffer, lineStart, linesBefore);
  const below = linesBelow(codec, buffer, end, linesAfter);
  const lines = [...above, raw, ...below];
  const isCut = lines.some(
    (line, index) => line.length >= narrowest && /\w$/.test(line) && /^\w/.test(lines[index + 1] ?? ''),
  );
  return {
    before: above.map(cleanContinuation),
    own: cleanContinuation(raw),
    after: below.map(cleanContinuation),
    isCut,
  };
}

export function lineEnd(buffer: Uint8Array, from: number): number {
  const end = buffer.indexOf(10, from);
  return end < 0 ? buffer.length : end;
}

export function linesAbove(codec: Codec, buffer: Uint8Array, lineStart: number, count: number): string[] {
  const lines: string[] = [];
  let end = lineStart - 1;
  while (end > 0 && lines.length < count) {
    const start = buffer.lastIndexOf(10, end - 1) + 1;
    lines.unshift(codec.decode(buffer.subarray(Math.max(start, end - 1_000), end)));
    end = start - 1;
  }
  return lines;
}

export function linesBelow(codec: Codec, buffer: Uint8Array, end: number, count: number): string[] {
  const lines: string[] = [];
  let start = end + 1;
  while (start < buffer.length && lines.length < count) {
    const next = lineEnd(buffer, start);
    lines.push(codec.decode(buffer.subarray(start, Math.min(next, start + 1_000))));
    start = next + 1;
  }
  return lines;
}

/** The first match that touches the stretch between `from` and `to`. */
export function firstTouching(pattern: RegExp, text: string, from: number, to: number): RegExpExecArray | undefined {
  const everywhere = new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`);
  for (let tries = 0; tries < 8; tries += 1) {
    const match = everywhere.exec(text);
    if (match === null) return undefined;
    if (match.index < to && match.index + match[0].length > from) return match;
    everywhere.lastIndex = match.index + 1;
  }
  return undefined;
}

export function shorten(raw: string, matched: string): string {
  const text = raw.trim();
  if (text.length <= shownChars) return text;
  const at = Math.max(0, text.indexOf(matched.slice(0, 30)));
  const start = Math.max(0, at - 80);
  return `${start > 0 ? '…' : ''}${text.slice(start, start + shownChars)}…`;
}

export function lastTimeIn(codec: Codec, buffer: Uint8Array): number | undefined {
  const tail = codec.decode(buffer.subarray(Math.max(0, buffer.length - 16_384)));
  let last: number | undefined;
  for (const line of tail.split('\n')) {
    const time = timeIn(line);
    if (time !== undefined && (last === undefined || time > last)) last = time;
  }
  return last;
}
