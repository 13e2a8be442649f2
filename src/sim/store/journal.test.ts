import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

test('a process killed at any moment loses nothing it has acknowledged', async () => {
  const program = `
    import { Store } from ${JSON.stringify(fileURLToPath(new URL('./store.ts', import.meta.url)))};
    import { createIdentity } from ${JSON.stringify(fileURLToPath(new URL('./identity.ts', import.meta.url)))};
    import { openJournal } from ${JSON.stringify(fileURLToPath(new URL('./journal.ts', import.meta.url)))};
    import { writeSync } from 'node:fs';
    const store = new Store({ identity: createIdentity(1) });
    await openJournal(${JSON.stringify(file)}, store);
    for (let index = 0; ; index += 1) {
      store.put('c', { metadata: { name: 'o' + index }, data: 'y'.repeat(5000) });
      writeSync(1, index + '\\n');
      if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let acknowledged = '';
  child.stdout.on('data', (chunk: Buffer) => {
    acknowledged += chunk.toString();
    // The first lines prove that it runs; then it dies without warning.
    if (acknowledged.length > 3_000) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  const lines = acknowledged.split('\n').filter((line) => /^\d+$/.test(line));
  const { store, close } = await open();
  const kept = new Set(names(store));
  // The last line may itself be cut off.
  for (const line of lines.slice(0, -1)) expect(kept.has(`o${line}`)).toBe(true);
  expect(lines.length).toBeGreaterThan(100);
  await close();
});
