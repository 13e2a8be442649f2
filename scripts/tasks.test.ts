// Which failures count (a suite on real processes runs the files that failed once more, and says so), and how many run at
// a time.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lanesFor, runTasks, type Task } from './tasks.ts';

let folder: string;
let lines: string[];

/** Writes the report of a run of `a` and `b` with two tests each, in which `b` fails as often as it was asked to. */
const program = `
const fs = require('node:fs');
const [calls, failures, ...args] = process.argv.slice(1);
fs.appendFileSync(calls, args.filter((arg) => !arg.startsWith('--')).join(' ') + '\\n');
const runs = fs.readFileSync(calls, 'utf8').split('\\n').length - 1;
const asked = args.filter((arg) => !arg.startsWith('--'));
const files = asked.length > 0 ? asked : ['a', 'b'];
const fails = (file) => file === 'b' && runs <= Number(failures);
const testResults = files.map((name) => ({
  name: process.cwd() + '/' + name,
  status: fails(name) ? 'failed' : 'passed',
  assertionResults: [{ status: 'passed' }, { status: fails(name) ? 'failed' : 'passed' }],
}));
const count = (status) => testResults.flatMap((file) => file.assertionResults).filter((it) => it.status === status).length;
fs.writeFileSync(args.at(-1).replace('--outputFile.json=', ''), JSON.stringify({
  testResults, numPassedTests: count('passed'), numFailedTests: count('failed'), numPendingTests: 0, numTodoTests: 0,
  numTotalTests: 2 * files.length,
}));
process.exitCode = count('failed') > 0 ? 1 : 0;
`;

const calls = (): string => join(folder, 'calls');
const suite = (failures: number, secondTry: boolean): Task => ({
  name: 'fake suite',
  command: [process.execPath, '-e', program, '--', calls(), String(failures)],
  countsTests: true,
  secondTry,
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-tasks-test-'));
  lines = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('a file that passes at its second try counts as passed, once, and is named at the end', async () => {
  writeFileSync(calls(), '');
  expect(await runTasks([suite(1, true)])).toBe(true);
  expect(readFileSync(calls(), 'utf8')).toBe('\nb\n');
  expect(lines.join('\n')).toContain('TRIED TWICE: fake suite: b');
  expect(lines.at(-1)).toBe('4 passed, 0 failed');
});

test('a file that fails twice fails', async () => {
  writeFileSync(calls(), '');
  expect(await runTasks([suite(2, true)])).toBe(false);
  expect(lines.at(-1)).toBe('3 passed, 1 failed');
});

test('a suite without a second try fails at the first', async () => {
  writeFileSync(calls(), '');
  expect(await runTasks([suite(1, false)])).toBe(false);
  expect(readFileSync(calls(), 'utf8')).toBe('\n');
  expect(lines.at(-1)).toBe('3 passed, 1 failed');
});

/** Ends well once as many of its kind are under way as it was asked to wait for. */
const companion = `
const fs = require('node:fs');
const [folder, own, together] = process.argv.slice(1);
fs.writeFileSync(folder + '/started-' + own, '');
const since = Date.now();
const look = () => {
  if (fs.readdirSync(folder).filter((name) => name.startsWith('started-')).length >= Number(together)) return;
  if (Date.now() - since > 60_000) process.exit(1);
  setTimeout(look, 20);
};
look();
`;

test('as many run at a time as there are lanes, and one beside them', { timeout: 90_000 }, async () => {
  const tasks = ['a', 'b', 'c', 'd'].map(
    (name): Task => ({
      name,
      command: [process.execPath, '-e', companion, '--', folder, name, '4'],
      beside: name === 'd',
    }),
  );
  expect(await runTasks(tasks, [], 3)).toBe(true);
});

test('a small machine has two lanes', () => {
  expect([lanesFor(4 * 2 ** 30), lanesFor(8 * 2 ** 30)]).toEqual([2, 3]);
});
