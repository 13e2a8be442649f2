// Recordings made by the recorder from real plans, replayed by the command.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NodePool } from '../../api/index.ts';
import { planSnapshot } from '../../core/index.ts';
import { nodePool, pods, sizes, snapshot } from '../../core/testing/builders.testing.ts';
import { RealClock } from '../../runtime/index.ts';
import { DecisionRecorder } from '../../server/index.ts';
import { DecisionRing, silentLog } from '../../telemetry/index.ts';
import { runCommand } from '../run-command.testing.ts';
import { version } from '../version.ts';
import { comparedDay } from './play-other-day.ts';
import { configure } from './replay.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-replay-'));
const file = join(folder, 'day.gz');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const clock = new RealClock();
  const decisions = new DecisionRing(clock);
  const recorder = new DecisionRecorder({ file, clock, log: silentLog, version, decisions });
  for (const count of [3, 8, 5]) {
    const looked = snapshot([nodePool({ name: 'default' }), ...pods(count, { cpu: '1' })], {
      instanceTypes: [{ nodePool: 'default', items: sizes }],
    });
    recorder.plan(looked, planSnapshot(looked));
  }
  const again = [...gone(await passes(recorder))];
  decisions.add({
    what: 'launch',
    objects: [{ kind: 'NodeClaim', name: 'default-abcde' }],
    reasons: [{ code: 'InsufficientResources', message: '8 pods fit on no node' }],
    chosen: { instanceType: 'c8', zone: 'zone-1', capacityType: 'spot', pricePerHour: 0.2 },
    alternatives: [{ instanceType: 'c16', pricePerHour: 0.5, because: 'price' }],
    snapshot: again[1] ?? '',
  });
  await recorder.close();
});

/** Names of the snapshots, once they are written. */
async function passes(recorder: DecisionRecorder): Promise<string> {
  await recorder.written();
  return gunzipSync(readFileSync(file), { finishFlush: 2 }).toString();
}
const gone = (text: string): string[] =>
  [...text.matchAll(/"snapshot":"(s-[0-9a-f]+)"/g)].map(([, id]) => id as string);

const lines = (): string[] => gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
function changed(name: string, change: (line: string) => string): string {
  const path = join(folder, name);
  writeFileSync(path, gzipSync(`${lines().map(change).join('\n')}\n`));
  return path;
}

test('decisions made again are the same, byte for byte', async () => {
  expect(await runCommand(configure, [file])).toEqual({
    code: 0,
    out: '3 answers, 1 decision: equal, byte for byte\n',
    err: '',
  });
});

test('the first difference is named, with what was decided and what is decided now', async () => {
  const other = changed('other', (line) =>
    line.replace(
      '"result":{"apiVersion":"kerf/v1","kind":"Plan","pods":8',
      '"result":{"apiVersion":"kerf/v1","kind":"Plan","pods":9',
    ),
  );
  const { code, out } = await runCommand(configure, [other]);
  expect(code).toBe(1);
  expect(out).toMatch(/^differs: plan of \S+, answer 2, snapshot s-[0-9a-f]{12}\n {2}first difference at pods\n/);
  expect(out).toContain('  decided:  9\n  replayed: 8\n');
});

test('one decision is printed with its alternatives and made again', async () => {
  const { code, out } = await runCommand(configure, [file, '--at', 'd-0001']);
  expect(code).toBe(0);
  expect(out).toContain('  instead of c16 $0.5000/h (+$0.3000)\n');
  expect(out).toMatch(/made again: equal, byte for byte\n$/);
  await expect(runCommand(configure, [file, '--at', 'd-0009'])).rejects.toThrow(
    /no decision d-0009 .*last one is d-0001/,
  );
});

test('one that was cut off is replayed up to the cut', async () => {
  const cut = join(folder, 'cut');
  const whole = readFileSync(file);
  writeFileSync(cut, whole.subarray(0, whole.length - 200));
  const { code, out, err } = await runCommand(configure, [cut]);
  expect(code).toBe(0);
  expect(out).toMatch(/^[123] answers?, 0 decisions: equal/);
  expect(err).toContain('cut off');
});

test('what is not a recording is refused', async () => {
  const text = join(folder, 'text');
  writeFileSync(text, 'hello');
  await expect(runCommand(configure, [text])).rejects.toThrow('cannot be read as a recording');
  await expect(runCommand(configure, [join(folder, 'absent')])).rejects.toThrow('cannot be read as a recording');
});

test('what the day would have cost is printed beside what it did', async () => {
  const { code, out } = await runCommand(configure, [file, '--without', 'consolidation', '-o', 'json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ kind: 'OtherDay', change: 'without consolidation' });
  const page = await runCommand(configure, [file, '--without', 'consolidation']);
  expect(page.out).toContain('Both are simulated');
  await expect(runCommand(configure, [file, '--without', 'spot', '--at', 'd-0001'])).rejects.toThrow('give one of');
});

test('two configurations stand side by side for the page, and it can be ended on the way', async () => {
  const pools = [nodePool({ name: 'default', limits: { cpu: '2' } })] as unknown as NodePool[];
  const { before, after } = await comparedDay(file)(pools, () => undefined);
  expect(before.launched).toBeGreaterThan(0);
  expect(after.podHoursWithoutPlace).toBeGreaterThanOrEqual(before.podHoursWithoutPlace);
  expect(after.mostNodes).toBeLessThanOrEqual(before.mostNodes);
  const cancel = (): void => {
    throw new Error('cancelled');
  };
  await expect(comparedDay(file)(pools, cancel)).rejects.toThrow('cancelled');
});

test('a NodePool to try must be one', async () => {
  const path = join(folder, 'pool.yaml');
  writeFileSync(path, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n');
  await expect(runCommand(configure, [file, '--with', path])).rejects.toThrow('only NodePools can be tried');
});

test('a redacted recording has no names of the owner, and is still equal when replayed', async () => {
  const to = join(folder, 'redacted');
  const { code } = await runCommand(configure, [file, '--redact', to]);
  expect(code).toBe(0);
  const text = gunzipSync(readFileSync(to)).toString();
  for (const own of ['pod-', 'default-abcde', 'pods fit on no node']) expect(text).not.toContain(own);
  expect(await runCommand(configure, [to])).toMatchObject({
    code: 0,
    out: '3 answers, 1 decision: equal, byte for byte\n',
  });
  await expect(runCommand(configure, [file, '--redact', file])).rejects.toThrow('is the recording itself');
});
