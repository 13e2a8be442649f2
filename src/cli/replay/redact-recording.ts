// A recording for others to read: every snapshot redacted as `kerf snapshot --redact` does, with the same word for the same
// name all through, and every answer given again about what is left, so that `kerf replay` finds it equal. Decisions keep
// their codes, figures and order; their messages, which may name anything, go.
import type { FileHandle } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import { type Clock, inSlices } from '../../base/index.ts';
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import type { Decision } from '../../ports/index.ts';
import {
  answerTo,
  type PassLine,
  type RecordingLine,
  readRecording,
  SnapshotChanges,
  SnapshotsAgain,
  snapshotId,
} from '../../server/index.ts';
import { fillWhole } from '../output/index.ts';
import { Redactor, redactWith } from '../snapshot/redact.ts';

export interface Redacted {
  passes: number;
  decisions: number;
}

export async function redactRecording(clock: Clock, from: string, to: string): Promise<Redacted> {
  const done: Redacted = { passes: 0, decisions: 0 };
  await fillWhole(to, (file) => redactInto(file, clock, from, done), 0o600);
  return done;
}

async function redactInto(file: FileHandle, clock: Clock, from: string, done: Redacted): Promise<void> {
  const gzip = createGzip();
  const written = (async () => {
    for await (const chunk of gzip) await file.write(chunk as Buffer);
  })();
  // Awaited below; a disk that is full meanwhile is reported there.
  written.catch(() => {});
  const write = (line: RecordingLine): void => void gzip.write(`${JSON.stringify(line)}\n`);
  const redactor = new Redactor();
  const known = new WeakMap<SnapshotObject, SnapshotObject>();
  const again = new SnapshotsAgain();
  const changes = new SnapshotChanges();
  const ids = new Map<string, string>();
  for await (const line of readRecording(from, () => {})) {
    if (line.kind === 'Recording' || line.kind === 'Missed') write(line);
    else if (line.kind === 'Decision') {
      done.decisions += 1;
      write(redactedDecision(line, redactor, ids));
    } else if (line.kind === 'Look') {
      const snapshot = redactWith(redactor, again.snapshotOf(line), known);
      const changed = await inSlices(clock, changes.next(snapshot, write));
      write({ kind: 'Look', time: line.time, ...changed });
    } else if (line.kind !== 'Pass') again.take(line);
    else {
      const snapshot = redactWith(redactor, again.snapshotOf(line), known);
      done.passes += 1;
      const id = await snapshotId(clock, snapshot);
      ids.set(line.snapshot, id);
      write(await passAgain(clock, line, snapshot, changes, { id, redactor, write }));
    }
  }
  gzip.end();
  await written;
}

async function passAgain(
  clock: Clock,
  { time, question }: PassLine,
  snapshot: Snapshot,
  changes: SnapshotChanges,
  { id, redactor, write }: { id: string; redactor: Redactor; write: (line: RecordingLine) => void },
): Promise<PassLine> {
  const parts = await inSlices(clock, changes.next(snapshot, write));
  const asked =
    question.what === 'plan'
      ? question
      : { ...question, nodeClaims: question.nodeClaims.map((name) => redactor.name(name)) };
  return {
    kind: 'Pass',
    time,
    snapshot: id,
    question: asked,
    ...parts,
    result: await answerTo(clock, asked, snapshot),
  };
}

function redactedDecision(decision: Decision, redactor: Redactor, ids: ReadonlyMap<string, string>): Decision {
  const { objects, reasons, pods, snapshot, outcome } = decision;
  const isConfiguration = (kind: string): boolean => kind === 'NodePool' || kind.endsWith('NodeClass');
  const key = (text: string): string =>
    text
      .split('/')
      .map((part) => redactor.name(part))
      .join('/');
  return {
    ...decision,
    objects: objects.map((each) => ({
      ...each,
      name: isConfiguration(each.kind) ? each.name : redactor.name(each.name),
      ...(each.namespace !== undefined && { namespace: redactor.name(each.namespace) }),
    })),
    reasons: reasons.map(({ code }) => ({ code, message: code })),
    ...(pods !== undefined && { pods: { ...pods, names: pods.names.map(key) } }),
    ...(outcome !== undefined && { outcome: withoutMessage(outcome) }),
    ...(snapshot !== undefined && { snapshot: ids.get(snapshot) ?? snapshot }),
  };
}

function withoutMessage(outcome: NonNullable<Decision['outcome']>): NonNullable<Decision['outcome']> {
  const { state, seconds } = outcome;
  return { state, ...(seconds !== undefined && { seconds }) };
}
