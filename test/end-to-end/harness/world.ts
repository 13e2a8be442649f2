// A cluster for the scenarios of one file: a real control plane, our CRDs as `kerf crds` prints them, a node class, and
// `kerf controller` running. Each scenario works in a room of its own (room.ts), so that they can run at the same time.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { runKerf } from '../../cli/run-kerf.ts';
import type { ControlPlane } from '../../setup/control-plane.ts';
import { Supervisor } from '../../setup/supervisor.ts';
import { useControlPlane } from '../../setup/use-control-plane.ts';
import { Api, all } from './api.ts';
import { type ControllerOptions, ControllerProcess } from './controller-process.ts';
import { Room } from './room.ts';

export interface WorldOptions extends ControllerOptions {
  /** Without a controller: the scenarios start theirs with `start`. */
  idle?: boolean;
}

export interface World {
  api: Api;
  /** The controller started last. */
  controller(): ControllerProcess;
  cluster(): ControlPlane;
  /** Names must be those of a namespace, and differ between the scenarios of a file. */
  room(name: string): Promise<Room>;
  /** One more controller process, with the file's options unless others are given. Returns when it is ready. */
  start(options?: ControllerOptions): Promise<ControllerProcess>;
}

/** Call at the top of a test file; use the result inside its tests. */
export function useWorld(given: WorldOptions = {}): World {
  // One process leads anyway; on a machine that stands still for seconds it must not lose a lease over it.
  const flags = { ...(given.idle === true ? {} : { 'disable-leader-election': true as const }), ...given.flags };
  const options = { ...given, flags };
  const cluster = useControlPlane({ controllerManager: true, scheduler: true });
  const api = new Api(cluster);
  let supervisor: Supervisor | undefined;
  let failed = false;
  const processes: ControllerProcess[] = [];
  const controller = (): ControllerProcess => {
    const last = processes.at(-1);
    if (last === undefined) throw new Error('no controller is running: start one with world.start()');
    return last;
  };
  const start = async (wanted: ControllerOptions = options): Promise<ControllerProcess> => {
    supervisor ??= new Supervisor('controllers');
    const process = await ControllerProcess.start(supervisor, cluster().kubeconfig, wanted);
    processes.push(process);
    await process.ready();
    return process;
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
    if (options.idle !== true) await (await start()).leading();
  });
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      failed = true;
    });
  });
  afterAll(async () => {
    if (failed && supervisor !== undefined) console.error(`logs of the controllers: ${supervisor.keepLogs()}`);
    const ended = processes.filter(({ exit }) => exit !== undefined && !/^(SIGKILL|exit code 0)$/.test(exit));
    await supervisor?.end();
    for (const { exit } of ended) throw new Error(`a controller ended by itself: ${exit}`);
  });
  const room = async (name: string): Promise<Room> => {
    await api.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const made = new Room(name, api, controller);
    // Pods are refused until their namespace has its service account.
    await made.until('the service account is there', () => api.get(serviceAccounts, 'default', name));
    return made;
  };
  return { api, controller, cluster, room, start };
}

const serviceAccounts = { ...all.pods, plural: 'serviceaccounts', kind: 'ServiceAccount' };
