// Runs a list of commands, some at a time and one beside them (two processors are the size of machine we plan for), shows
// one line each as it ends with the time it took, prints the output of those that failed, and closes with the plain line
// `N passed, N failed`.
// A task that runs vitest adds the number of its tests; every other task counts as one. Suites that drive real processes
// run files that failed once more and say so at the end.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import pc from 'picocolors';
import type { ComponentName } from '../test/setup/components.ts';

export interface Task {
  name: string;
  command: string[];
  /** A vitest run: its tests are counted one by one. */
  countsTests?: boolean;
  /** Tasks of a later stage start when all earlier ones have ended. */
  stage?: number;
  /** Needs nothing but processors: runs beside the others and gives way to them. */
  beside?: boolean;
  /** Real components without which it cannot run. */
  needs?: readonly ComponentName[];
  /** Real processes on a machine that does much else: what fails is run once more before it counts. */
  secondTry?: boolean;
}

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
}

interface VitestReport {
  testResults: { name: string; status: string; assertionResults: { status: string }[] }[];
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  numTotalTests: number;
}

/**
 * Suites on real components compute for a fifth to a third of their time, so two processors serve three of them. Each may
 * take a gigabyte or two.
 */
export function lanesFor(memoryBytes: number): number {
  return memoryBytes >= 7 * 2 ** 30 ? 3 : 2;
}

/** What this machine has, or the container that this process is in. */
const ownMemory = (): number => Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);

export async function runTasks(
  tasks: Task[],
  notes: string[] = [],
  lanes: number = lanesFor(ownMemory()),
): Promise<boolean> {
  const reports = mkdtempSync(join(tmpdir(), 'kerf-tasks-'));
  const total: Outcome = { passed: 0, failed: 0, skipped: 0 };
  const triedTwice: string[] = [];
  const add = (outcome: Outcome & { note?: string }): void => {
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    total.skipped += outcome.skipped;
    if (outcome.note !== undefined) triedTwice.push(outcome.note);
  };
  const stageOf = (task: Task): number => task.stage ?? 0;
  for (const stage of [...new Set(tasks.map(stageOf))].sort((left, right) => left - right)) {
    const waiting = tasks.filter((task) => stageOf(task) === stage);
    const lane = async (queue: Task[]): Promise<void> => {
      for (let task = queue.shift(); task !== undefined; task = queue.shift())
        add(await runWithSecondTry(task, reports));
    };
    // What needs nothing but processors takes what the others leave, and two more lanes of theirs once they have ended.
    const beside = waiting.filter((task) => task.beside).map(withoutHaste);
    const others = waiting.filter((task) => !task.beside);
    const othersThenBeside = async (): Promise<void> => {
      await lane(others);
      await lane(beside);
    };
    const more = Array.from({ length: lanes - 2 }, () => lane(others));
    await Promise.all([othersThenBeside(), othersThenBeside(), ...more, lane(beside)]);
  }
  rmSync(reports, { recursive: true, force: true });
  for (const note of [...triedTwice, ...notes]) console.log(pc.yellow(note));
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
  return total.failed === 0;
}

const withoutHaste = (task: Task): Task => ({ ...task, command: ['nice', '-n', '10', ...task.command] });

async function runWithSecondTry(task: Task, reports: string): Promise<Outcome & { note?: string }> {
  const report = join(reports, `${task.name.replaceAll(/\W+/g, '-')}.json`);
  const first = await runTask(task, report);
  if (first.failed === 0 || !task.secondTry) return first;
  const { failed, rest } = filesOf(report);
  const second = await runTask({ ...task, name: `${task.name}, again`, command: [...task.command, ...failed] }, report);
  const files = failed.length === 0 ? 'all files' : failed.join(', ');
  return {
    passed: rest.passed + second.passed,
    failed: second.failed,
    skipped: rest.skipped + second.skipped,
    note: `TRIED TWICE: ${task.name}: ${files}`,
  };
}

async function runTask(task: Task, report: string): Promise<Outcome> {
  const started = Date.now();
  const [program = '', ...args] = task.command;
  if (task.countsTests) {
    rmSync(report, { force: true });
    args.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`);
  }
  const { code, output } = await run(program, args);
  const seconds = `${((Date.now() - started) / 1000).toFixed(1)} s`.padStart(8);
  const outcome = task.countsTests
    ? readReport(report, code)
    : { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
  const count = task.countsTests ? `${outcome.passed} tests` : '';
  console.log(
    `${outcome.failed === 0 ? pc.green('ok  ') : pc.red('FAIL')} ${task.name.padEnd(28)} ${seconds}  ${pc.dim(count)}`,
  );
  if (outcome.failed > 0) console.log(output.replaceAll(/^/gm, '     '));
  return outcome;
}

function run(program: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, FORCE_COLOR: '0' },
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', (error) => resolve({ code: 1, output: `cannot start ${program}: ${error.message}` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}

function readReport(file: string, code: number): Outcome {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
    const skipped = report.numPendingTests + report.numTodoTests;
    // A suite that ran nothing, or that ended badly outside a test, is a failure, not a quiet success.
    const broken = report.numTotalTests === 0 || (code !== 0 && report.numFailedTests === 0) ? 1 : 0;
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken, skipped };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

/** The files that failed, and what the others counted. No file failed where the suite did not come to them: all run again. */
function filesOf(report: string): { failed: string[]; rest: Outcome } {
  const rest: Outcome = { passed: 0, failed: 0, skipped: 0 };
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
    const failed = testResults.filter(({ status }) => status !== 'passed').map(({ name }) => relative('.', name));
    if (failed.length === 0) return { failed, rest };
    for (const { status } of testResults.flatMap((file) => (file.status === 'passed' ? file.assertionResults : []))) {
      if (status === 'passed') rest.passed += 1;
      else rest.skipped += 1;
    }
    return { failed, rest };
  } catch {
    return { failed: [], rest };
  }
}
