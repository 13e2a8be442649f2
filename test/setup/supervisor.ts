// Programs that must not outlive the test that wanted them. Each rig has one supervisor process (supervisor-process.ts)
// that owns its programs and its temporary folder; the pipe to it is the leash. Several rigs live side by side.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';
import type { Command, Event } from './supervisor-process.ts';

export interface ProgramStart {
  name: string;
  program: string;
  args: string[];
  env?: Record<string, string>;
}

/** Started without waiting for it to be useful; `exited` resolves with the reason when it ends. */
export interface RunningProgram {
  name: string;
  pid: number;
  logFile: string;
  exited: Promise<string>;
}

const ownerFile = 'supervisor.json';

export class Supervisor {
  /** Private to this rig; removed when it ends. */
  readonly folder: string;
  readonly logs: string;
  readonly pid: number;
  private readonly process: ChildProcessByStdio<Writable, Readable, null>;
  private readonly waiting = new Map<string, { started: (pid: number) => void; failed: (error: Error) => void }>();
  private readonly exits = new Map<string, (reason: string) => void>();
  private readonly ended: Promise<void>;

  constructor(kind: string) {
    removeAbandoned(kind);
    this.folder = mkdtempSync(join(tmpdir(), `kerf-${kind}-`));
    this.logs = join(this.folder, 'logs');
    mkdirSync(this.logs);
    const script = fileURLToPath(new URL('./supervisor-process.ts', import.meta.url));
    // Its own session: Ctrl-C in a terminal reaches the owner only, and the owner's end reaches the supervisor.
    this.process = spawn(process.execPath, [script, this.folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    });
    this.pid = this.process.pid ?? -1;
    writeFileSync(join(this.folder, ownerFile), JSON.stringify(identityOf(this.pid)));
    this.ended = new Promise((resolve) => {
      this.process.on('exit', () => {
        for (const { failed } of this.waiting.values()) failed(new Error(`the supervisor of ${kind} ended`));
        resolve();
      });
    });
    this.process.stdin.on('error', () => {});
    createInterface({ input: this.process.stdout }).on('line', (line) => this.onEvent(JSON.parse(line) as Event));
    // A test that forgets to stop its rig may still end; the closing pipe then does the stopping.
    this.process.unref();
    (this.process.stdin as Socket).unref();
    (this.process.stdout as Socket).unref();
  }

  start({ name, program, args, env = {} }: ProgramStart): Promise<RunningProgram> {
    const logFile = join(this.logs, `${name}.log`);
    const exited = new Promise<string>((resolve) => this.exits.set(name, resolve));
    const started = new Promise<RunningProgram>((resolve, reject) => {
      this.waiting.set(name, {
        started: (pid) => resolve({ name, pid, logFile, exited }),
        failed: (cause) => reject(new Error(`cannot start ${name} (${program}): ${cause.message}`, { cause })),
      });
      this.send({ do: 'start', name, program, args, env, logFile });
    });
    return this.awake(started);
  }

  /** SIGTERM, then SIGKILL after the grace; zero grace means SIGKILL at once. */
  async stop(running: RunningProgram, graceMs: number): Promise<void> {
    this.send({ do: 'stop', name: running.name, graceMs });
    await this.awake(running.exited);
  }

  /** Kills everything, removes the folder; resolves when nothing is left. */
  async end(): Promise<void> {
    this.process.stdin.end();
    await this.awake(this.ended);
  }

  /** Copies the logs to where they survive the end of the rig, and says where. */
  keepLogs(): string {
    const kept = join(tmpdir(), `kerf-logs-${basename(this.folder)}`);
    cpSync(this.logs, kept, { recursive: true });
    return kept;
  }

  /** Keeps this process running until the promise settles; idle, the supervisor does not. */
  private async awake<T>(promise: Promise<T>): Promise<T> {
    const alive = setInterval(() => {}, 60_000);
    try {
      return await promise;
    } finally {
      clearInterval(alive);
    }
  }

  private send(command: Command): void {
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
  }

  private onEvent(event: Event): void {
    const waiting = this.waiting.get(event.name);
    if (event.event === 'started') {
      waiting?.started(event.pid);
      this.waiting.delete(event.name);
    } else if (event.event === 'failed') {
      waiting?.failed(new Error(event.message));
      this.waiting.delete(event.name);
    } else {
      this.exits.get(event.name)?.(event.signal ?? `exit code ${event.code}`);
    }
  }
}

/** Folders whose supervisor was killed itself and so could not remove them. */
function removeAbandoned(kind: string): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(`kerf-${kind}-`)) continue;
    const folder = join(tmpdir(), name);
    try {
      const owner = JSON.parse(readFileSync(join(folder, ownerFile), 'utf8')) as ProcessIdentity;
      if (!isAlive(owner)) rmSync(folder, { recursive: true, force: true });
    } catch {
      // No readable owner: it is being created or removed by someone else right now.
    }
  }
}
