// A small kubelet: two nodes that the autoscaler does not manage, whose pods of our image run as processes (pod-container.ts).
// Probes decide about Ready, SIGTERM and the grace period end a pod. Pods of other images are only said to run.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImageConfig } from '../release/image-root.ts';
import type { ControlPlane } from '../setup/control-plane.ts';
import { type RunningProgram, Supervisor } from '../setup/supervisor.ts';
import { type PodObject, type PreparedContainer, prepare } from './pod-container.ts';

export interface RunningPod {
  name: string;
  pod: PodObject;
  container: PreparedContainer;
  process: RunningProgram;
  startedMs: number;
  readyMs?: number;
  /** Why its process ended. */
  exit?: string;
}

const merge = 'application/merge-patch+json';

export class TestKubelet {
  /** By uid; pods that are gone stay, for what they wrote. */
  readonly pods = new Map<string, RunningPod>();
  private readonly cluster: ControlPlane;
  private readonly image: { root: string; config: ImageConfig };
  private readonly nodes: readonly string[];
  private readonly supervisor = new Supervisor('kubelet');
  private readonly seen = new Set<string>();
  private readonly ending = new AbortController();
  private loop: Promise<void> = Promise.resolve();
  /** Errors of the kubelet itself: a test that goes wrong shows them. */
  readonly problems: string[] = [];

  private constructor(cluster: ControlPlane, image: { root: string; config: ImageConfig }, nodes: readonly string[]) {
    this.cluster = cluster;
    this.image = image;
    this.nodes = nodes;
  }

  static async start(
    cluster: ControlPlane,
    image: { root: string; config: ImageConfig },
    nodes: readonly string[] = ['system-1', 'system-2'],
  ): Promise<TestKubelet> {
    const kubelet = new TestKubelet(cluster, image, nodes);
    for (const [at, name] of nodes.entries()) await kubelet.register(name, at);
    kubelet.loop = kubelet.run();
    return kubelet;
  }

  /** Pods whose process runs now. */
  running(): RunningPod[] {
    return [...this.pods.values()].filter(({ exit }) => exit === undefined);
  }

  output(pod: RunningPod): string {
    return readFileSync(pod.process.logFile, 'utf8');
  }

  allOutput(): string {
    return [...this.pods.values()].map((pod) => this.output(pod)).join('');
  }

  async metrics(pod: RunningPod): Promise<string> {
    return (await fetch(`http://127.0.0.1:${pod.container.portOf('http-metrics')}/metrics`)).text();
  }

  async stop(): Promise<void> {
    this.ending.abort();
    await this.loop;
    await this.supervisor.end();
  }

  keepLogs(): string {
    return this.supervisor.keepLogs();
  }

  private async register(name: string, at: number): Promise<void> {
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': `system-zone-${at + 1}`,
      role: 'system',
    };
    const amounts = { cpu: '8', memory: '16Gi', pods: '30' };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: {} };
    await this.cluster.request('POST', '/api/v1/nodes', node);
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: new Date() }];
    const status = { capacity: amounts, allocatable: amounts, conditions };
    await this.cluster.request('PATCH', `/api/v1/nodes/${name}/status`, { status }, merge);
    await this.heartbeat(name, true);
  }

  /** Without one the node would be taken for lost after a while. */
  private async heartbeat(name: string, isFirst = false): Promise<void> {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec };
    if (isFirst) await this.cluster.request('POST', leases, lease);
    else await this.cluster.request('PATCH', `${leases}/${name}`, { spec: { renewTime } }, merge);
  }

  private async run(): Promise<void> {
    for (let round = 0; !this.ending.signal.aborted; round += 1) {
      try {
        if (round % 25 === 24) for (const name of this.nodes) await this.heartbeat(name);
        for (const name of this.nodes) await this.lookAfter(name);
      } catch (error) {
        if (!this.ending.signal.aborted) this.problems.push(String(error));
      }
      await sleep(200, undefined, { signal: this.ending.signal }).catch(() => {});
    }
  }

  private async lookAfter(node: string): Promise<void> {
    const { body } = await this.cluster.request('GET', `/api/v1/pods?fieldSelector=spec.nodeName%3D${node}`);
    for (const pod of (body as { items?: PodObject[] }).items ?? []) {
      const { uid, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined)
        void this.end(pod).catch((error: unknown) => this.problems.push(String(error)));
      else if (!this.seen.has(uid)) {
        this.seen.add(uid);
        void this.begin(pod).catch((error: unknown) => this.problems.push(String(error)));
      } else await this.report(pod);
    }
  }

  private async begin(pod: PodObject): Promise<void> {
    if (!/^kerf[:@]/.test(pod.spec.containers[0]?.image ?? '')) return this.setStatus(pod, true);
    const { uid, name } = pod.metadata;
    const folder = join(this.supervisor.folder, uid);
    mkdirSync(folder);
    const container = await prepare(this.cluster, pod, this.image, folder);
    const process = await this.supervisor.start({ name: `${name}-${uid.slice(0, 6)}`, ...container });
    const running: RunningPod = { name, pod, container, process, startedMs: Date.now() };
    this.pods.set(uid, running);
    void process.exited.then((reason) => {
      running.exit = reason;
    });
    await this.setStatus(pod, false);
  }

  private async report(pod: PodObject): Promise<void> {
    const running = this.pods.get(pod.metadata.uid);
    if (running === undefined || running.readyMs !== undefined || running.exit !== undefined) return;
    const path = pod.spec.containers[0]?.readinessProbe?.httpGet;
    const isReady =
      path === undefined || (await answers(`http://127.0.0.1:${running.container.portOf(path.port)}${path.path}`));
    if (!isReady) return;
    running.readyMs = Date.now();
    await this.setStatus(pod, true);
  }

  /** Ended by its grace period; the object goes when the process has. */
  private async end(pod: PodObject): Promise<void> {
    const { uid, name, namespace, deletionGracePeriodSeconds = 30 } = pod.metadata;
    if (this.seen.has(`ending ${uid}`)) return;
    this.seen.add(`ending ${uid}`);
    const running = this.pods.get(uid);
    if (running !== undefined && running.exit === undefined)
      await this.supervisor.stop(running.process, deletionGracePeriodSeconds * 1000);
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    await this.cluster.request('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } });
  }

  private async setStatus(pod: PodObject, ready: boolean): Promise<void> {
    const { name, namespace } = pod.metadata;
    const at = new Date().toISOString().replace(/\.\d+/, '');
    const status = ready ? 'True' : 'False';
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status, lastTransitionTime: at }));
    const body = {
      status: {
        phase: 'Running',
        startTime: at,
        conditions: [...conditions, { type: 'PodScheduled', status: 'True', lastTransitionTime: at }],
        containerStatuses: pod.spec.containers.map((container) => ({
          name: container.name,
          image: container.image,
          imageID: '',
          ready,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: at } },
        })),
      },
    };
    await this.cluster.request('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}/status`, body, merge);
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false;
  }
}
