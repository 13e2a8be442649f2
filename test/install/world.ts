// A cluster to install into: a real control plane, the image of this checkout, a kubelet that runs it, and Helm.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { buildImage } from '../../scripts/image/build-image.ts';
import type { Resource } from '../../src/ports/index.ts';
import { crdChart, helm, kerfChart } from '../chart/helm.ts';
import { Api, all } from '../end-to-end/harness/api.ts';
import { Room } from '../end-to-end/harness/room.ts';
import { type ImageConfig, ImageReader } from '../release/image-root.ts';
import type { ControlPlane } from '../setup/control-plane.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { type RunningPod, TestKubelet } from './kubelet.ts';

export const namespace = 'kube-system';
/** The simulated cloud, whatever else a values file says: there is no EC2 here. */
export const simulated = ['--set', 'provider=kwok', '--set', 'kwok.fakeKubelets=true'];

export interface InstallWorld {
  api: Api;
  cluster(): ControlPlane;
  kubelet(): TestKubelet;
  image(): { root: string; config: ImageConfig };
  /** Helm with this cluster; what it printed. */
  helm(...args: string[]): Promise<string>;
  installCrds(...args: string[]): Promise<string>;
  /** `helm upgrade --install karpenter` of the chart, or of another one. */
  install(args: readonly string[], chart?: string): Promise<string>;
  /** Waits until this many pods of the release are ready and none is left over. */
  ready(count: number): Promise<RunningPod[]>;
  leader(): Promise<string | undefined>;
  room(name: string): Promise<Room>;
  until<T>(what: string, check: () => T | Promise<T>, seconds?: number): Promise<T>;
}

export function useInstallWorld(nodes?: readonly string[]): InstallWorld {
  const cluster = useControlPlane({ controllerManager: true, scheduler: true });
  const api = new Api(cluster);
  let folder = '';
  let kubelet: TestKubelet | undefined;
  let image: { root: string; config: ImageConfig } | undefined;
  let failed = false;
  const own = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('started by beforeAll: use it inside a test');
    return value;
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kerf-image-'));
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    const reader = new ImageReader((await buildImage([architecture], (line) => console.error(line))).entries);
    image = { root: join(folder, 'root'), config: reader.config(architecture) };
    reader.unpack(architecture, image.root);
    kubelet = await TestKubelet.start(cluster(), image, nodes);
  });
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      failed = true;
      console.error(`the kubelet's own problems: ${kubelet?.problems.slice(-5).join('\n')}`);
    });
  });
  afterAll(async () => {
    if (failed) console.error(`logs of the pods: ${kubelet?.keepLogs()}`);
    await kubelet?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const ask = async (...args: string[]): Promise<string> =>
    (await helm([...args, '--namespace', namespace], { kubeconfig: cluster().kubeconfig })).stdout;
  const until: InstallWorld['until'] = async (what, check, seconds = 90) => {
    for (const endMs = Date.now() + seconds * 1000; ; await sleep(200)) {
      try {
        return await check();
      } catch (error) {
        if (Date.now() < endMs) continue;
        const said = own(kubelet).allOutput().split('\n').slice(-15).join('\n');
        throw new Error(`after ${seconds} s still not: ${what}\n${String(error)}\n${said}`, { cause: error });
      }
    }
  };
  return {
    api,
    cluster,
    kubelet: () => own(kubelet),
    image: () => own(image),
    helm: ask,
    installCrds: (...args) => ask('upgrade', '--install', 'kerf-crd', crdChart, '--set', 'kwok.enabled=true', ...args),
    install: (args, chart = kerfChart) => ask('upgrade', '--install', 'karpenter', chart, ...args),
    ready: (count) =>
      until(`${count} pods of the release are ready`, async () => {
        const labels = 'app.kubernetes.io/instance=karpenter';
        const pods = await api.list(all.pods, { namespace, labels });
        const running = own(kubelet)
          .running()
          .filter(
            ({ readyMs, pod }) => readyMs !== undefined && pods.some((each) => each.metadata.uid === pod.metadata.uid),
          );
        if (pods.length !== count || running.length !== count)
          throw new Error(`${running.length} of ${pods.length} pods are ready`);
        return running;
      }),
    leader: async () => {
      const lease = await api.find(leases, 'karpenter-leader-election', namespace);
      return (lease?.spec?.holderIdentity ?? '') || undefined;
    },
    room: async (name) => {
      await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await until('the service account is there', () =>
        api.get({ ...all.pods, plural: 'serviceaccounts', kind: 'ServiceAccount' }, 'default', name),
      );
      return new Room(name, api, () => ({ logs: () => [] }));
    },
    until,
  };
}

interface Lease {
  metadata: { name: string; namespace?: string };
  spec?: { holderIdentity?: string; renewTime?: string };
}

const leases = {
  ...all.pods,
  group: 'coordination.k8s.io',
  plural: 'leases',
  kind: 'Lease',
} as unknown as Resource<Lease>;
