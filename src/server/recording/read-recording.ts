// Reads a recording line by line. One that was cut off, because its process was killed or the file was copied while it
// grew, is readable up to the cut.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { constants, createGunzip } from 'node:zlib';
import { KerfError, messageOf } from '../../base/index.ts';
import type { HeaderLine, RecordingLine } from './recording-lines.ts';

const kinds = new Set(['Recording', 'Objects', 'InstanceTypes', 'Pass', 'Look', 'Missed', 'Decision']);

/** Ends at a cut, after a call of `onCut`. Throws for what is not a recording. */
export async function* readRecording(file: string, onCut: () => void): AsyncGenerator<RecordingLine> {
  const problem: { error?: unknown } = {};
  const raw = createReadStream(file);
  const unzipped = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const lines = createInterface({ input: unzipped, crlfDelay: Number.POSITIVE_INFINITY });
  for (const stream of [raw, unzipped]) {
    stream.on('error', (error: unknown) => {
      problem.error ??= error;
      lines.close();
    });
  }
  raw.pipe(unzipped);
  let count = 0;
  let pending: string | undefined;
  const texts = lines[Symbol.asyncIterator]();
  for (;;) {
    // An error of the file is one of the lines too; what was read before it counts.
    const next = await texts.next().catch((error: unknown) => {
      problem.error ??= error;
      return { done: true, value: undefined } as const;
    });
    if (next.done === true) break;
    if (pending !== undefined) yield parsed(file, pending, ++count);
    pending = next.value;
  }
  if (count === 0 && (pending === undefined || problem.error !== undefined)) {
    throw unreadable(file, problem.error === undefined ? 'it is empty' : messageOf(problem.error));
  }
  if (problem.error !== undefined) onCut();
  if (pending === undefined) return;
  // The last line may be half of one.
  try {
    yield parsed(file, pending, ++count);
  } catch (error) {
    if (count === 1) throw error;
    onCut();
  }
}

function parsed(file: string, text: string, number: number): RecordingLine {
  let line: RecordingLine | undefined;
  try {
    line = JSON.parse(text) as RecordingLine;
  } catch {
    throw unreadable(file, `line ${number} is not JSON`);
  }
  if (number === 1) checkHeader(file, line as HeaderLine);
  else if (!kinds.has(line.kind))
    throw unreadable(file, `line ${number} is a ${String(line.kind)}, which is not known`);
  return line;
}

function checkHeader(file: string, { apiVersion, kind }: Partial<HeaderLine>): void {
  if (apiVersion === 'kerf/v1' && kind === 'Recording') return;
  throw unreadable(file, 'it does not begin with kerf/v1 Recording');
}

function unreadable(file: string, why: string): KerfError {
  return new KerfError(
    'RecordingUnreadable',
    `${file} cannot be read as a recording: ${why}; make one with kerf controller --record or kerf up --record`,
    { subject: file },
  );
}
