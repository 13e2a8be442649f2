// A process of its own that starts the programs of one rig and outlives a crash of whoever asked for them.
// Commands come as JSON lines on standard input, events leave as JSON lines on standard output (see supervisor.ts).
//
// Promises:
// 1. When standard input ends, for whatever reason (a tidy stop, an exception, SIGKILL of the owner), every program is
//    killed in reverse order of starting, the rig's folder is removed, and this process exits.
// 2. If this process itself is killed, the kernel kills the programs (where `setpriv` exists); the folder is then
//    removed by the next rig that starts.
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, closeSync, openSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

export type Command =
  | { do: 'start'; name: string; program: string; args: string[]; env: Record<string, string>; logFile: string }
  | { do: 'stop'; name: string; graceMs: number };

export type Event =
  | { event: 'started'; name: string; pid: number }
  | { event: 'exited'; name: string; code: number | null; signal: string | null }
  | { event: 'failed'; name: string; message: string };

interface Running {
  child: ChildProcess;
  gone: Promise<void>;
}

const [folder = ''] = process.argv.slice(2);
const running = new Map<string, Running>();
const diesWithParent = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => exists(path));
let ending = false;

function start(command: Command & { do: 'start' }): void {
  const { name, program, args, env, logFile } = command;
  const log = openSync(logFile, 'a');
  const [file, argv] =
    diesWithParent === undefined ? [program, args] : [diesWithParent, ['--pdeathsig', 'KILL', '--', program, ...args]];
  const child = spawn(file, argv, { stdio: ['ignore', log, log], env: { ...process.env, ...env } });
  closeSync(log);
  const gone = new Promise<void>((resolve) => {
    child.on('error', (error) => {
      tell({ event: 'failed', name, message: error.message });
      resolve();
    });
    child.on('exit', (code, signal) => {
      if (running.get(name)?.child === child) running.delete(name);
      tell({ event: 'exited', name, code, signal });
      resolve();
    });
  });
  if (child.pid === undefined) return;
  running.set(name, { child, gone });
  tell({ event: 'started', name, pid: child.pid });
}

function stop({ name, graceMs }: Command & { do: 'stop' }): void {
  const found = running.get(name);
  if (found === undefined) {
    tell({ event: 'exited', name, code: null, signal: null });
    return;
  }
  found.child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
  const force = setTimeout(() => found.child.kill('SIGKILL'), graceMs);
  void found.gone.then(() => clearTimeout(force));
}

/** No grace: the data of a rig is thrown away, and an API server with open watches takes its time to leave politely. */
async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  for (const { child, gone } of [...running.values()].reverse()) {
    child.kill('SIGKILL');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exit(0);
}

function tell(event: Event): void {
  if (!ending) process.stdout.write(`${JSON.stringify(event)}\n`);
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}

// The owner may be gone while we still report: a broken pipe is then no news.
process.stdout.on('error', () => {});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
createInterface({ input: process.stdin })
  .on('line', (line) => {
    if (ending) return;
    const command = JSON.parse(line) as Command;
    if (command.do === 'start') start(command);
    else stop(command);
  })
  .on('close', () => void end());
