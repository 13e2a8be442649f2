// `kerf controller` as a process of its own: started, asked, stopped and killed as an operator (or an accident) would.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../setup/free-port.ts';
import type { RunningProgram, Supervisor } from '../../setup/supervisor.ts';
import { MetricsPage } from './metrics-page.ts';

export interface ControllerOptions {
  /** Flags by name without dashes; `true` for a flag without a value, `false` to leave out one that is given otherwise. */
  flags?: Record<string, string | boolean>;
  env?: Record<string, string>;
}

export interface LogLine {
  level: string;
  message: string;
  time: string;
  controller?: string;
  error?: string;
  [field: string]: unknown;
}

const kerf = resolve(import.meta.dirname, '../../../bin/kerf');
let started = 0;

export class ControllerProcess {
  private readonly supervisor: Supervisor;
  private readonly program: RunningProgram;
  private readonly ports: { metrics: number; health: number };
  /** Why it ended; undefined while it runs. */
  exit: string | undefined;

  private constructor(supervisor: Supervisor, program: RunningProgram, ports: { metrics: number; health: number }) {
    this.supervisor = supervisor;
    this.program = program;
    this.ports = ports;
    void program.exited.then((reason) => {
      this.exit = reason;
    });
  }

  /** With the simulated provider and its kubelets. Returns at once; `ready` waits until it is. */
  static async start(supervisor: Supervisor, kubeconfig: string, options: ControllerOptions = {}) {
    const ports = { metrics: await freePort(), health: await freePort() };
    const flags: Record<string, string | boolean> = {
      provider: 'kwok',
      'fake-kubelets': true,
      kubeconfig,
      'metrics-port': String(ports.metrics),
      'health-probe-port': String(ports.health),
      'leader-election-namespace': 'kube-system',
      ...options.flags,
    };
    const args = Object.entries(flags).flatMap(([name, value]) => {
      if (typeof value === 'string') return [`--${name}`, value];
      return value ? [`--${name}`] : [];
    });
    started += 1;
    const program = await supervisor.start({
      name: `controller-${started}`,
      program: process.execPath,
      args: [kerf, 'controller', ...args],
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    return new ControllerProcess(supervisor, program, ports);
  }

  get metricsPort(): number {
    return this.ports.metrics;
  }

  get pid(): number {
    return this.program.pid;
  }

  /** Everything it wrote, to both outputs. */
  output(): string {
    return readFileSync(this.program.logFile, 'utf8');
  }

  logs(): LogLine[] {
    return this.output()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  async metrics(): Promise<MetricsPage> {
    return new MetricsPage(await (await fetch(`http://127.0.0.1:${this.ports.metrics}/metrics`)).text());
  }

  /** Any page of the metrics port. */
  page(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.ports.metrics}${path}`);
  }

  /** Status of /healthz or /readyz; undefined while no one listens. */
  async probe(path: string): Promise<number | undefined> {
    try {
      return (await fetch(`http://127.0.0.1:${this.ports.health}${path}`)).status;
    } catch {
      return undefined;
    }
  }

  /** Waits until it is ready to serve, not until it leads. */
  async ready(seconds = 90): Promise<void> {
    for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await sleep(100)) {
      if (this.exit !== undefined)
        throw new Error(`the controller ended (${this.exit}):\n${this.output().slice(-5_000)}`);
      if ((await this.probe('/readyz')) === 200) return;
    }
    throw new Error(`the controller is not ready after ${seconds} s:\n${this.output().slice(-5_000)}`);
  }

  /** Waits until it has acquired the lease (or needs none) and says so. */
  async leading(seconds = 90): Promise<void> {
    for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await sleep(100)) {
      if (this.exit !== undefined)
        throw new Error(`the controller ended (${this.exit}):\n${this.output().slice(-5_000)}`);
      if (this.logs().some(({ message }) => message === 'leading')) return;
    }
    throw new Error(`the controller does not lead after ${seconds} s:\n${this.output().slice(-5_000)}`);
  }

  /** SIGTERM, as a kubelet does; resolves with why it ended once it did. */
  async terminate(): Promise<string> {
    await this.supervisor.stop(this.program, 30_000);
    return this.program.exited;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.supervisor.stop(this.program, 0);
  }

  exited(): Promise<string> {
    return this.program.exited;
  }
}
