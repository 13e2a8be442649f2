// A real Kubernetes control plane for one test: etcd, kube-apiserver and, if asked, controller manager and scheduler.
// On loopback with free ports, in a temporary folder, several at a time. Whatever happens to the process that started it,
// nothing is left behind (see supervisor.ts). There are no kubelets: nodes are objects, and stay as Ready as a test says.
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Certificate, CertificateRequest } from './control-plane/certificates.ts';
import {
  apiServerFlags,
  type ControlPlaneOptions,
  controllerManagerFlags,
  etcdFlags,
  type Ports,
  schedulerFlags,
} from './control-plane/component-flags.ts';
import { type ClusterFiles, writeClusterFiles } from './control-plane/files.ts';
import { type Programs, provideControlPlane } from './control-plane/programs.ts';
import { freePort } from './free-port.ts';
import { type Output, runProgram } from './run-program.ts';
import { type RunningProgram, Supervisor } from './supervisor.ts';

export type { ControlPlaneOptions } from './control-plane/component-flags.ts';

export interface ApiAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

export type Component = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

/** How long a component may take on a machine with everything else running at once. */
const startTimeoutMs = 90_000;

export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const programs = await provideControlPlane((line) => console.error(`control plane: ${line}`));
  // A port chosen free may be taken a moment later by another rig: the second choice is as good.
  for (let attempt = 1; ; attempt += 1) {
    const ports = { api: await freePort(), etcd: await freePort(), etcdPeer: await freePort() };
    const cluster = new ControlPlane(programs, ports, options);
    try {
      await cluster.startAll();
      return cluster;
    } catch (error) {
      const kept = cluster.keepLogs();
      await cluster.stop();
      if (attempt < 3 && /address already in use/.test(String(error))) continue;
      throw new Error(`${error instanceof Error ? error.message : String(error)}\nall logs: ${kept}`, { cause: error });
    }
  }
}

export class ControlPlane {
  readonly url: string;
  readonly ca: string;
  readonly caFile: string;
  readonly token: string;
  /** Path of a kubeconfig whose user is in system:masters. */
  readonly kubeconfig: string;
  /** The cluster's temporary folder; `logs` is inside. */
  readonly folder: string;
  readonly logs: string;
  readonly supervisorPid: number;
  private readonly programs: Programs;
  private readonly ports: Ports;
  private readonly options: ControlPlaneOptions;
  private readonly files: ClusterFiles;
  private readonly supervisor: Supervisor;
  private readonly running = new Map<Component, RunningProgram>();
  private readonly agent: Agent;
  private stopped = false;

  constructor(programs: Programs, ports: Ports, options: ControlPlaneOptions) {
    this.programs = programs;
    this.ports = ports;
    this.options = options;
    this.supervisor = new Supervisor('cluster');
    this.supervisorPid = this.supervisor.pid;
    this.folder = this.supervisor.folder;
    this.logs = this.supervisor.logs;
    this.url = `https://127.0.0.1:${ports.api}`;
    this.files = writeClusterFiles(this.folder, this.url);
    this.ca = this.files.ca;
    this.caFile = this.files.caFile;
    this.token = this.files.token;
    this.kubeconfig = this.files.kubeconfig;
    this.agent = new Agent({ connect: { ca: this.ca } });
  }

  /** Used by startControlPlane. */
  async startAll(): Promise<void> {
    await this.startEtcd();
    await this.startApiServer();
    await this.startOthers();
  }

  private async startEtcd(): Promise<void> {
    await this.start('etcd', etcdFlags(this.files, this.ports));
    // The API server gives up after twenty seconds without its storage, which a busy machine may take to start it.
    await this.waitFor('etcd', '/health', async (path) => {
      const answer = await request(`http://127.0.0.1:${this.ports.etcd}${path}`);
      await answer.body.dump();
      return answer.statusCode;
    });
  }

  private async startOthers(): Promise<void> {
    const { controllerManager, scheduler } = this.options;
    if (controllerManager) {
      await this.start('kube-controller-manager', controllerManagerFlags(this.files, this.options));
    }
    if (scheduler) await this.start('kube-scheduler', schedulerFlags(this.files, this.options));
    // Pods are refused until the controller manager has made their namespace's service account.
    if (controllerManager) {
      await this.waitFor('kube-controller-manager', '/api/v1/namespaces/default/serviceaccounts/default');
    }
  }

  async startApiServer(): Promise<void> {
    await this.start('kube-apiserver', apiServerFlags(this.files, this.ports, this.options));
    await this.waitFor('kube-apiserver', '/readyz');
    await this.waitFor('kube-apiserver', '/api/v1/namespaces/default');
  }

  /** An outage. `graceMs: 0` is a crash; the default lets it close its connections first. */
  async stopApiServer(graceMs = 3000): Promise<void> {
    await this.end('kube-apiserver', graceMs);
  }

  /** Same address, same data. */
  async restartApiServer(graceMs?: number): Promise<void> {
    await this.stopApiServer(graceMs);
    await this.startApiServer();
  }

  /** What etcd holds at this moment, for `restore`. Storage is away for as long as copying takes. */
  async backUp(): Promise<string> {
    const copy = join(this.folder, `etcd-backup-${Date.now()}`);
    await this.end('etcd');
    cpSync(this.files.etcdData, copy, { recursive: true });
    await this.startEtcd();
    return copy;
  }

  /** Everything stored since is lost, and resource versions go back, as after a disaster. */
  async restore(backup: string): Promise<void> {
    const others = [...this.running.keys()].filter((name) => name !== 'etcd');
    for (const name of [...others, 'etcd'] as const) await this.end(name);
    rmSync(this.files.etcdData, { recursive: true });
    cpSync(backup, this.files.etcdData, { recursive: true });
    await this.startEtcd();
    await this.startApiServer();
    await this.startOthers();
  }

  kubectl(args: string[], { stdin }: { stdin?: string } = {}): Promise<Output> {
    return runProgram(this.programs.kubectl, ['--kubeconfig', this.kubeconfig, ...args], {
      env: { ...process.env, KUBECACHEDIR: join(this.folder, 'kubectl-cache') },
      ...(stdin === undefined ? {} : { stdin }),
    });
  }

  /** One plain request as the administrator; every status is an answer, not an exception. */
  /** As the administrator, or as whoever has the token. */
  async request(
    method: string,
    path: string,
    body?: unknown,
    contentType = 'application/json',
    token = this.token,
  ): Promise<ApiAnswer> {
    const answer = await request(`${this.url}${path}`, {
      method,
      dispatcher: this.agent,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': contentType },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const isJson = String(answer.headers['content-type'] ?? '').startsWith('application/json');
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  }

  /** A client certificate the API server accepts: `commonName` is the user, `organizations` its groups. */
  issueCertificate(request: CertificateRequest): Certificate {
    return this.files.issue(request);
  }

  pidOf(component: Component): number | undefined {
    return this.running.get(component)?.pid;
  }

  /** Copies the components' logs to where they survive `stop`, and says where. */
  keepLogs(): string {
    return this.supervisor.keepLogs();
  }

  /** Resolves when no process and no file is left. Stopping twice is harmless. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await this.agent.destroy();
    await this.supervisor.end();
  }

  private async end(name: Component, graceMs = 0): Promise<void> {
    const running = this.running.get(name);
    if (running !== undefined) await this.supervisor.stop(running, graceMs);
    this.running.delete(name);
  }

  private async start(name: Component, args: string[]): Promise<void> {
    this.running.set(name, await this.supervisor.start({ name, program: this.programs[name], args }));
  }

  private async waitFor(
    name: Component,
    path: string,
    ask = async (asked: string): Promise<number> => (await this.request('GET', asked)).status,
  ): Promise<void> {
    const running = this.running.get(name);
    if (running === undefined) return;
    let exit: string | undefined;
    void running.exited.then((reason) => {
      exit = reason;
    });
    const deadline = Date.now() + startTimeoutMs;
    let last = 'no answer';
    while (Date.now() < deadline) {
      if (exit !== undefined) throw new Error(`${name} ended (${exit}) while starting:\n${tailOf(running.logFile)}`);
      try {
        const status = await ask(path);
        if (status === 200) return;
        last = `status ${status}`;
      } catch (error) {
        last = String(error);
      }
      await sleep(50);
    }
    throw new Error(
      `${name}: ${path} not there after ${startTimeoutMs / 1000} s (${last}):\n${tailOf(running.logFile)}`,
    );
  }
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
}
