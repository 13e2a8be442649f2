import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createIdentity } from './identity.ts';
import { openJournal } from './journal.ts';
import { Store } from './store.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-journal-'));
  file = join(folder, 'state');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const object = (name: string, data = '') => ({ metadata: { name }, data });
const open = async (): Promise<{ store: Store; close(): Promise<void> }> => {
  const store = new Store({ identity: createIdentity(1) });
  const journal = await openJournal(file, store);
  return { store, close: () => journal.close() };
};
const names = (store: Store): string[] =>
  Array.from(store.collection('c').objects.values(), ({ metadata }) => metadata.name);

test('a reopened cluster has its objects, goes on counting, and has forgotten its history', async () => {
  const first = await open();
  first.store.put('c', object('a'));
  first.store.remove('c', first.store.put('c', object('b')));
  first.store.put('c', object('c'));
  const { revision } = first.store;
  const uid = first.store.identity.uid();
  first.store.put('c', { ...object('d'), uid });
  await first.close();
  const second = await open();
  expect(names(second.store)).toEqual(['a', 'c', 'd']);
  expect(second.store.revision).toBe(revision + 1);
  expect(second.store.collection('c').oldest).toBe(second.store.revision);
  expect(second.store.identity.uid()).not.toBe(uid);
  await second.close();
});

test('a line cut off in the middle is dropped, what came before it stays', async () => {
  const first = await open();
  first.store.put('c', object('a'));
  await first.close();
  appendFileSync(file, '{"c":"c","k":"half","r":9,"o":{"metad');
  const second = await open();
  expect(names(second.store)).toEqual(['a']);
  second.store.put('c', object('b'));
  await second.close();
  const third = await open();
  expect(names(third.store)).toEqual(['a', 'b']);
  await third.close();
});

test('a file that is something else is refused, and left alone', async () => {
  writeFileSync(file, 'apiVersion: v1\nkind: Pod\n');
  await expect(open()).rejects.toThrow(/cannot read the state file .*line 1/);
  expect(readFileSync(file, 'utf8')).toBe('apiVersion: v1\nkind: Pod\n');
});

test('a file that is mostly history is compacted while work goes on', async () => {
  const { store, close } = await open();
  const data = 'x'.repeat(1_000_000);
  for (let round = 0; round < 30; round += 1) {
    store.put('c', object('same', `${round}${data}`));
    store.put('c', object(`other-${round}`));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await close();
  expect(statSync(file).size).toBeLessThan(20_000_000);
  const second = await open();
  expect(names(second.store)).toHaveLength(31);
  expect(String(second.store.collection('c').objects.get('same')?.['data']).startsWith('29')).toBe(true);
  await second.close();
});

test('the change that sets off a compaction is not lost in it', async () => {
  const first = await open();
  for (let index = 0; index < 12; index += 1) first.store.put('c', object(`o${index}`, 'x'.repeat(1_000_000)));
  await first.close();
  const second = await open();
  expect(names(second.store)).toHaveLength(12);
  await second.close();
});

test('a last line that lacks only its end is kept, and the next one does not run into it', async () => {
  const first = await open();
  first.store.put('c', object('a'));
  await first.close();
  truncateSync(file, statSync(file).size - 1);
  for (const name of ['b', 'c']) {
    const next = await open();
    next.store.put('c', object(name));
    await next.close();
  }
  const last = await open();
  expect(names(last.store)).toEqual(['a', 'b', 'c']);
  await last.close();
});

/** What a cluster does, one change after the other, forever: step `index` of it. */
const keys = 600;
const isDeletion = (index: number): boolean => index % 7 === 3;
const stateAfter = (steps: number): Map<string, number> => {
  const state = new Map<string, number>();
  for (let index = 0; index < steps; index += 1) {
    if (isDeletion(index)) state.delete(`o${index % keys}`);
    else state.set(`o${index % keys}`, index);
  }
  return state;
};
const worker = `
  import { Store } from ${JSON.stringify(fileURLToPath(new URL('./store.ts', import.meta.url)))};
  import { createIdentity } from ${JSON.stringify(fileURLToPath(new URL('./identity.ts', import.meta.url)))};
  import { openJournal } from ${JSON.stringify(fileURLToPath(new URL('./journal.ts', import.meta.url)))};
  import { writeSync } from 'node:fs';
  const isDeletion = ${isDeletion};
  const store = new Store({ identity: createIdentity(1) });
  await openJournal(process.argv[1], store);
  for (let index = Number(process.argv[2]); ; index += 1) {
    const name = 'o' + (index % ${keys});
    const known = store.collection('c').objects.get(name);
    if (!isDeletion(index)) store.put('c', { metadata: { name }, index, filler: 'y'.repeat(5000) });
    else if (known !== undefined) store.remove('c', known);
    writeSync(1, index + '\\n');
    if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
  }`;

test('a process killed at any moment, again and again, loses nothing it has acknowledged', async () => {
  let done = 0;
  for (let round = 0; round < 4; round += 1) {
    const args = ['--input-type=module-typescript', '-e', worker, '--', file, String(done)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    // It dies without warning, before, while or after the file is compacted.
    const enough = 5 * (800 + Math.random() * 1_600);
    let acknowledged = '';
    child.stdout.on('data', (chunk: Buffer) => {
      acknowledged += chunk.toString();
      if (acknowledged.length > enough) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.once('close', resolve));
    const reported = Number(acknowledged.slice(0, acknowledged.lastIndexOf('\n')).split('\n').at(-1)) + 1;
    expect(reported).toBeGreaterThan(done);
    const { store, close } = await open();
    const kept = new Map(
      Array.from(store.collection('c').objects.values(), ({ metadata, ...rest }) => [metadata.name, rest['index']]),
    );
    await close();
    // What was under way when it died may be there as well: a change whose line or whose acknowledgement was cut off.
    const same = [reported, reported + 1, reported + 2].find((steps) => isDeepStrictEqual(stateAfter(steps), kept));
    expect(same, `after ${reported} acknowledged changes`).toBeDefined();
    done = same ?? reported;
  }
  // The file was compacted in between: more was written than is there.
  expect(statSync(file).size).toBeLessThan(done * 5_000);
});
