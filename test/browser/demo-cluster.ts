// `kerf up --demo` in a process of its own, as the browser suites look at it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, vi } from 'vitest';
import { freePort } from '../setup/free-port.ts';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
/** A busy machine slows the cluster's time down, and everything else. */
export const patience = { timeout: 90_000, interval: 200 };

export class DemoCluster {
  /** What it printed since it was last started. */
  output = '';
  url = '';
  private child: ChildProcess | undefined;
  private port = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), 'kerf-dashboard-'));

  /** Resolves once its page is served; a second start takes the same port. */
  async start(): Promise<void> {
    this.output = '';
    this.port ||= await freePort();
    const ports = ['--port', String(this.port), '--dashboard-port', String(this.port + 1)];
    const record = ['--record', join(this.folder, 'day.gz')];
    this.child = spawn(process.execPath, [kerf, 'up', '--demo', '--speed', '5', ...ports, ...record]);
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => void (this.output += text));
    this.url = await vi.waitFor(() => {
      const found = /^Dashboard (http:\S+)/.exec(this.output)?.[1];
      if (found === undefined) throw new Error(`not listening yet: ${this.output}`);
      return found;
    }, patience);
  }

  /** Resolves once it has this many nodes. */
  async grown(nodes: number): Promise<void> {
    await vi.waitFor(async () => {
      const { totals } = await this.read<{ totals: { nodes: number } }>('nodes');
      expect(totals.nodes).toBeGreaterThanOrEqual(nodes);
    }, patience);
  }

  async read<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}/kerf/v1/${path}`)).json()) as T;
  }

  /** What the buttons of the player send. */
  async play(order: object): Promise<void> {
    const body = JSON.stringify(order);
    const headers = { 'Content-Type': 'application/json' };
    const { status } = await fetch(`${this.url}/kerf/v1/player`, { method: 'POST', headers, body });
    expect(status).toBe(202);
  }

  /** Whatever was done or failed to be done before: it runs, in the present, without faults. */
  async calm(): Promise<void> {
    const { faults } = await this.read<{ faults: string[] }>('info');
    await this.play({ story: null });
    await this.play({ seek: null });
    for (const fault of faults) await this.play({ fault, on: false });
    await this.play({ speed: 5 });
    await this.play({ paused: false });
  }

  kill(): void {
    this.child?.kill('SIGKILL');
  }

  end(): void {
    this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
