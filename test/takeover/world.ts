// A cluster in which Karpenter itself and Kerf take turns: a real control plane, kubelets that belong to neither, and both
// programs as processes that are started and stopped.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { runKerf } from '../cli/run-kerf.ts';
import { Api, all } from '../end-to-end/harness/api.ts';
import { ApiProxy } from '../end-to-end/harness/api-proxy.ts';
import { ControllerProcess } from '../end-to-end/harness/controller-process.ts';
import { useKubelets } from '../end-to-end/harness/kubelets.ts';
import { Room } from '../end-to-end/harness/room.ts';
import type { ControlPlane } from '../setup/control-plane.ts';
import { freePort } from '../setup/free-port.ts';
import { type PeerVersion, providePeerRelease } from '../setup/peer.ts';
import { type RunningProgram, Supervisor } from '../setup/supervisor.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

export const gates = 'NodeOverlay=true,StaticCapacity=true';

export interface Peer {
  output(): string;
  stop(): Promise<void>;
}

export interface TakeoverWorld {
  api: Api;
  cluster(): ControlPlane;
  proxy(): ApiProxy;
  room(name: string): Promise<Room>;
  startPeer(version: PeerVersion, env?: Record<string, string>): Promise<Peer>;
  startKerf(flags?: Record<string, string | boolean>): Promise<ControllerProcess>;
}

export function useTakeoverWorld(): TakeoverWorld {
  const cluster = useControlPlane({ controllerManager: true, scheduler: true });
  useKubelets(cluster);
  const api = new Api(cluster);
  let supervisor: Supervisor | undefined;
  let proxy: ApiProxy | undefined;
  let failed = false;
  let started = 0;
  const own = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('started by beforeAll: use it inside a test');
    return value;
  };
  beforeAll(async () => {
    const crds = await runKerf(['crds']);
    await cluster().kubectl(['apply', '--server-side', '-f', '-'], { stdin: crds.out });
    await api.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
    await api.apply({
      apiVersion: 'karpenter.kwok.sh/v1alpha1',
      kind: 'KWOKNodeClass',
      metadata: { name: 'default' },
      spec: {},
    });
    supervisor = new Supervisor('takeover');
    proxy = await ApiProxy.start(cluster());
  });
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      failed = true;
    });
  });
  afterAll(async () => {
    if (failed) console.error(`logs of both: ${supervisor?.keepLogs()}`);
    await supervisor?.end();
    await proxy?.stop();
  });
  const lease = ['--leader-election-namespace=kube-system'];
  return {
    api,
    cluster,
    proxy: () => own(proxy),
    async room(name) {
      await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      const room = new Room(name, api, () => ({ logs: () => [] }));
      const accounts = { ...all.pods, plural: 'serviceaccounts', kind: 'ServiceAccount' };
      await room.until('the service account is there', () => api.get(accounts, 'default', name));
      return room;
    },
    async startPeer(version, env = {}) {
      const begin = async (): Promise<RunningProgram> => {
        started += 1;
        const health = await freePort();
        const program = await own(supervisor).start({
          name: `karpenter-${started}`,
          program: await providePeerRelease(version, (line) => console.error(line)),
          args: [
            ...lease,
            `--metrics-port=${await freePort()}`,
            `--health-probe-port=${health}`,
            `--feature-gates=${gates}`,
          ],
          env: {
            KUBECONFIG: cluster().kubeconfig,
            SYSTEM_NAMESPACE: 'kube-system',
            KUBERNETES_MIN_VERSION: '1.19.0-0',
            ...env,
          },
        });
        let exit: string | undefined;
        void program.exited.then((reason) => {
          exit = reason;
        });
        for (const endMs = Date.now() + 60_000; ; await sleep(200)) {
          const isReady = await fetch(`http://127.0.0.1:${health}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          );
          if (isReady) return program;
          if (exit !== undefined || Date.now() > endMs)
            throw new Error(`Karpenter is not ready (${exit}):\n${outputOf(program).slice(-3_000)}`);
        }
      };
      const outputOf = ({ logFile }: RunningProgram): string => readFileSync(logFile, 'utf8');
      let program = await begin();
      let isStopping = false;
      // As its Deployment would: it ends when a machine is too busy to renew its lease in time.
      const supervised = (async () => {
        for (;;) {
          await program.exited;
          if (isStopping) return;
          program = await begin();
        }
      })();
      supervised.catch(() => {}); // Shown by `stop`.
      return {
        output: () => outputOf(program),
        stop: async () => {
          isStopping = true;
          await own(supervisor).stop(program, 20_000);
          await supervised;
        },
      };
    },
    async startKerf(flags = {}) {
      const kerf = await ControllerProcess.start(own(supervisor), own(proxy).kubeconfig, {
        flags: { 'fake-kubelets': false, 'feature-gates': gates, ...flags },
      });
      await kerf.ready();
      return kerf;
    },
  };
}
