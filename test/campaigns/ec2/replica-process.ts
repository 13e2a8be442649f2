// `kerf controller --provider aws` as one of several replicas: a process with its own door to the API server and its own
// AWS access key, by which the emulator tells replicas apart. One that ends is started again, as a kubelet does.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AwsCluster } from '../../ec2/aws-cluster.ts';
import { freePort } from '../../setup/free-port.ts';
import { ApiDoor } from './api-door.ts';

const kerf = resolve(import.meta.dirname, '../../../bin/kerf');
const restartMs = 2_000;

export interface ReplicaOptions {
  flags?: Record<string, string>;
  env?: Record<string, string>;
  /** One more door before the replica's own; returns its kubeconfig. */
  through?: (door: ApiDoor) => Promise<string>;
}

export class ReplicaProcess {
  readonly name: string;
  readonly accessKeyId: string;
  readonly door: ApiDoor;
  output = '';
  /** How often a process of this replica ended, by why. */
  readonly exits: string[] = [];
  metricsPort = 0;
  private readonly cluster: AwsCluster;
  private readonly folder: string;
  private readonly options: ReplicaOptions;
  private child: ChildProcess | undefined;
  private healthPort = 0;
  private kubeconfig = '';
  private isClosing = false;

  private constructor(name: string, cluster: AwsCluster, folder: string, door: ApiDoor, options: ReplicaOptions) {
    this.name = name;
    this.accessKeyId = `AKIA${name.toUpperCase()}`;
    this.cluster = cluster;
    this.folder = folder;
    this.door = door;
    this.options = options;
  }

  static async start(name: string, cluster: AwsCluster, options: ReplicaOptions = {}): Promise<ReplicaProcess> {
    const folder = mkdtempSync(join(tmpdir(), `kerf-replica-${name}-`));
    const door = await ApiDoor.open(cluster.controlPlane, cluster.token, join(folder, 'kubeconfig'));
    const replica = new ReplicaProcess(name, cluster, folder, door, options);
    replica.kubeconfig = (await options.through?.(door)) ?? door.kubeconfig;
    await replica.spawn();
    return replica;
  }

  get pid(): number | undefined {
    return this.child?.exitCode === null ? this.child.pid : undefined;
  }

  /** Whether it leads by its own account: the metric says so. */
  async isLeading(): Promise<boolean> {
    try {
      const page = await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`, { signal: AbortSignal.timeout(2_000) });
      return /^leader_election_master_status\{[^}]*\} 1$/m.test(await page.text());
    } catch {
      return false;
    }
  }

  async ready(seconds = 120): Promise<void> {
    for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await sleep(250)) {
      const answer = await fetch(`http://127.0.0.1:${this.healthPort}/readyz`).catch(() => undefined);
      if (answer?.ok === true) return;
    }
    throw new Error(`${this.name} is not ready after ${seconds} s:\n${this.output.slice(-4_000)}`);
  }

  signal(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(signal);
  }

  async close(): Promise<void> {
    this.isClosing = true;
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await ended;
    }
    await this.door.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async spawn(): Promise<void> {
    [this.metricsPort, this.healthPort] = [await freePort(), await freePort()];
    const flags = {
      kubeconfig: this.kubeconfig,
      'cluster-name': this.cluster.name,
      'interruption-queue': this.cluster.name,
      'metrics-port': String(this.metricsPort),
      'health-probe-port': String(this.healthPort),
      'leader-election-namespace': 'kube-system',
      'batch-max-duration': '3s',
      'log-level': 'debug',
      ...this.options.flags,
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
    const env = { ...this.cluster.environment(this.folder, this.accessKeyId), ...this.options.env };
    const child = spawn(process.execPath, [kerf, 'controller', ...args], { env });
    this.child = child;
    child.stdout.on('data', (text: Buffer) => this.keep(text.toString()));
    child.stderr.on('data', (text: Buffer) => this.keep(text.toString()));
    child.on('exit', (code, signal) => {
      this.exits.push(signal ?? `exit code ${code}`);
      if (!this.isClosing) setTimeout(() => !this.isClosing && void this.spawn(), restartMs).unref();
    });
  }

  private keep(text: string): void {
    this.output = (this.output + text).slice(-2_000_000);
  }
}
