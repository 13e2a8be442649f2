import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { atOnce } from '../../base/index.ts';
import type { InstanceTypeSpec, Plan, Snapshot, SnapshotObject } from '../../core/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { DecisionRing, silentLog } from '../../telemetry/index.ts';
import { readRecording } from './read-recording.ts';
import { DecisionRecorder } from './recorder.ts';
import type { PassLine, RecordingLine } from './recording-lines.ts';
import { SnapshotChanges, SnapshotsAgain } from './snapshot-changes.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-recording-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const object = (name: string, version: number): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', resourceVersion: String(version) },
});
const type = (name: string): InstanceTypeSpec => ({ name, requirements: [], capacity: {}, offerings: [] });

function snapshotWith(items: SnapshotObject[], more: Partial<Snapshot> = {}): Snapshot {
  return {
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    time: '2026-01-01T00:00:00Z',
    objects: { apiVersion: 'v1', kind: 'List', items },
    ...more,
  };
}
const plan: Plan = {
  apiVersion: 'kerf/v1',
  kind: 'Plan',
  solveMs: 1,
  pods: 0,
  pricePerHour: 0,
  newNodes: [],
  existingNodes: [],
  unschedulable: [],
};

test('snapshots made again from changes are the snapshots, their order included', () => {
  const known = new Map<string, SnapshotObject>();
  const objectOf = (name: string, version: number): SnapshotObject => {
    const key = `${name} ${version}`;
    const made = known.get(key) ?? object(name, version);
    known.set(key, made);
    return made;
  };
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const types = ['m', 'n', 'o'].map(type);
  const anyItems = fc
    .shuffledSubarray(names)
    .chain((own) =>
      fc
        .array(fc.nat(3), { minLength: own.length, maxLength: own.length })
        .map((versions) => own.map((name, index) => objectOf(name, versions[index] as number))),
    );
  const anySnapshot = fc.record({
    items: anyItems,
    offered: fc.option(fc.subarray(types), { nil: undefined }),
    nominated: fc.option(fc.boolean(), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(anySnapshot, { minLength: 1, maxLength: 8 }), (all) => {
      const changes = new SnapshotChanges();
      const again = new SnapshotsAgain();
      for (const { items, offered, nominated } of all) {
        const snapshot = snapshotWith(items, {
          ...(nominated !== undefined && { nodeState: [{ node: 'a', nominated }] }),
          ...(offered !== undefined && { instanceTypes: [{ nodePool: 'default', items: offered }] }),
        });
        const lines: RecordingLine[] = [];
        const parts = atOnce(changes.next(snapshot, (line) => void lines.push(line)));
        for (const line of lines) again.take(JSON.parse(JSON.stringify(line)) as RecordingLine);
        const pass = { kind: 'Pass', time: snapshot.time, ...parts } as PassLine;
        expect(again.snapshotOf(JSON.parse(JSON.stringify(pass)) as PassLine)).toEqual(snapshot);
        expect(again.snapshotOf({ kind: 'Pass', time: snapshot.time } as PassLine).objects.items).toEqual(items);
      }
    }),
    { seed: 11, numRuns: 300 },
  );
});

test('field owners and the copy that kubectl apply leaves are not written', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'secret', kept: 'yes' };
  const pod = { ...object('a', 1), metadata: { name: 'a', managedFields: [{}], annotations } };
  const lines: RecordingLine[] = [];
  atOnce(new SnapshotChanges().next(snapshotWith([pod]), (line) => void lines.push(line)));
  expect(lines).toMatchObject([{ kind: 'Objects', set: [{ metadata: { name: 'a', annotations: { kept: 'yes' } } }] }]);
  expect(JSON.stringify(lines)).not.toMatch(/secret|managedFields/);
});

async function linesOf(file: string): Promise<{ lines: RecordingLine[]; wasCut: boolean }> {
  const lines: RecordingLine[] = [];
  let wasCut = false;
  for await (const line of readRecording(file, () => (wasCut = true))) lines.push(line);
  return { lines, wasCut };
}

function recorderTo(name: string, mostBytes?: number) {
  const clock = new RealClock();
  const file = join(folder, name);
  const decisions = new DecisionRing(clock);
  const options = { file, clock, log: silentLog, version: '1', decisions };
  return { file, decisions, recorder: new DecisionRecorder({ ...options, ...(mostBytes && { mostBytes }) }) };
}

describe('a recording', () => {
  test('holds passes and decisions in their order', async () => {
    const { file, decisions, recorder } = recorderTo('order');
    recorder.plan(snapshotWith([object('a', 1)]), plan);
    decisions.add({ what: 'refuse', objects: [], reasons: [{ code: 'X', message: 'x' }] });
    recorder.plan(snapshotWith([object('a', 2)]), plan);
    await recorder.close();
    const { lines, wasCut } = await linesOf(file);
    expect(wasCut).toBe(false);
    expect(lines.map(({ kind }) => kind)).toEqual(['Recording', 'Objects', 'Pass', 'Decision', 'Objects', 'Pass']);
    expect(lines[2]).toMatchObject({ question: { what: 'plan' }, result: { pods: 0 } });
    expect(JSON.stringify(lines[2])).not.toContain('solveMs');
  });

  test('that was cut off anywhere is readable up to the cut', async () => {
    const { file, recorder } = recorderTo('cut');
    for (let version = 1; version <= 12; version++) recorder.plan(snapshotWith([object('a', version)]), plan);
    await recorder.close();
    const whole = readFileSync(file);
    const { lines: all } = await linesOf(file);
    let longest = 0;
    for (let length = 60; length < whole.length; length += 37) {
      const part = join(folder, 'part');
      writeFileSync(part, whole.subarray(0, length));
      const { lines } = await linesOf(part).catch(() => ({ lines: [] }));
      expect(lines).toEqual(all.slice(0, lines.length));
      expect(lines.length).toBeGreaterThanOrEqual(longest);
      longest = lines.length;
    }
    expect(longest).toBeGreaterThan(all.length / 2);
  });

  test('that has grown too large begins again with everything, and the part before is kept', async () => {
    const { file, recorder } = recorderTo('rotates', 10);
    recorder.plan(snapshotWith([object('a', 1), object('b', 1)]), plan);
    recorder.plan(snapshotWith([object('a', 1), object('b', 2)]), plan);
    await recorder.close();
    const parts = [await linesOf(`${file}.1`), await linesOf(file)];
    for (const { lines } of parts) {
      const set = lines.flatMap((line) => (line.kind === 'Objects' ? (line.set ?? []) : []));
      expect(set.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    }
  });

  test('that cannot be written ends with one line in the log and disturbs nothing else', async () => {
    const said: string[] = [];
    const log = { ...silentLog, error: (message: string) => void said.push(message) };
    const clock = new RealClock();
    const file = join(folder, 'no', 'such', 'folder');
    const recorder = new DecisionRecorder({ file, clock, log, version: '1', decisions: new DecisionRing(clock) });
    for (let version = 1; version <= 3; version++) recorder.plan(snapshotWith([object('a', version)]), plan);
    await recorder.close();
    expect(said).toEqual(['cannot go on recording decisions']);
  });

  test.each([
    ['nothing', Buffer.from('')],
    ['another text', Buffer.from('hello\n')],
  ])('that is %s is refused with what to do', async (name, content) => {
    const file = join(folder, name);
    writeFileSync(file, content);
    await expect(linesOf(file)).rejects.toThrow(/cannot be read as a recording: .*--record/);
  });
});
