// The rules of cache-folder.ts: made once, complete or absent, never blocked by the dead.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheFolder, makeOnce } from '../setup/cache-folder.ts';
import { identityOf } from '../setup/process-identity.ts';

let cache = '';
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'kerf-cache-test-'));
});
afterEach(() => rmSync(cache, { recursive: true }));

const silent = (): void => {};
const making = (content: string, delayMs = 0) => ({
  folder: join(cache, 'thing-1'),
  progress: silent,
  pollMs: 5,
  make: async (work: string) => {
    await sleep(delayMs);
    writeFileSync(join(work, 'content'), content);
  },
});
const content = (): string => readFileSync(join(cache, 'thing-1', 'content'), 'utf8');

test('the cache lies where KERF_CACHE says, else under XDG_CACHE_HOME, else under the home folder', () => {
  expect(cacheFolder({ KERF_CACHE: '/a', XDG_CACHE_HOME: '/b' })).toBe('/a');
  expect(cacheFolder({ XDG_CACHE_HOME: '/b' })).toBe('/b/kerf');
  expect(cacheFolder({})).toMatch(/\/\.cache\/kerf$/);
});

test('a thing is made once and found ever after', async () => {
  await makeOnce(making('first'));
  await makeOnce(making('second'));
  expect(content()).toBe('first');
});

test('two that want it at once get one result, and nothing else is left in the cache', async () => {
  const makers = ['a', 'b', 'c'].map((name) => makeOnce(making(name, 30)));
  await Promise.all(makers);
  expect(['a', 'b', 'c']).toContain(content());
  expect(readdirSync(cache)).toEqual(['thing-1']);
});

test('a maker that fails leaves nothing, and the next one may try', async () => {
  const failing = { ...making(''), make: () => Promise.reject(new Error('no network')) };
  await expect(makeOnce(failing)).rejects.toThrow('no network');
  expect(readdirSync(cache)).toEqual([]);
  await makeOnce(making('later'));
  expect(content()).toBe('later');
});

test('the lock and the half-made folder of a killed maker are taken over', async () => {
  const killed = spawn('sleep', ['60']);
  const identity = identityOf(killed.pid ?? 0);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  writeFileSync(join(cache, 'thing-1.lock'), JSON.stringify(identity));
  mkdirSync(join(cache, `thing-1.making-${identity.pid}`));
  await makeOnce(making('fresh'));
  expect(content()).toBe('fresh');
  expect(readdirSync(cache)).toEqual(['thing-1']);
});

test('a lock whose process id now belongs to another process is stale', async () => {
  writeFileSync(join(cache, 'thing-1.lock'), JSON.stringify({ pid: process.ppid, startTime: '1' }));
  await makeOnce(making('fresh'));
  expect(content()).toBe('fresh');
});

test('a lock of a living maker is waited for, and the wait says for whom', async () => {
  const lines: string[] = [];
  writeFileSync(join(cache, 'thing-1.lock'), JSON.stringify(identityOf(process.ppid)));
  const waiting = makeOnce({ ...making('mine'), progress: (line) => lines.push(line) });
  await sleep(30);
  expect(existsSync(join(cache, 'thing-1'))).toBe(false);
  rmSync(join(cache, 'thing-1.lock'));
  await waiting;
  expect(lines).toEqual([expect.stringContaining(`waiting for process ${process.ppid}`)]);
});
