// Fake kubelets of their own, outside the controller: they go on when it is killed, and what they write is not its work.
import { afterAll, beforeAll } from 'vitest';
import { findAccess, KubeClient } from '../../../src/kube/index.ts';
import { RealClock } from '../../../src/runtime/index.ts';
import { type FakeKubelets, startFakeKubelets } from '../../../src/sim/index.ts';
import type { ControlPlane } from '../../setup/control-plane.ts';

/** Call at the top of a test file; start its controllers without `fake-kubelets`. */
export function useKubelets(cluster: () => ControlPlane): void {
  let kube: KubeClient | undefined;
  let kubelets: FakeKubelets | undefined;
  beforeAll(async () => {
    const clock = new RealClock();
    const access = await findAccess({ clock, env: {}, kubeconfig: cluster().kubeconfig });
    kube = new KubeClient({ access, clock, userAgent: 'kubelets', rateLimit: { qps: 0, burst: 0 } });
    // A server that is away is asked again; scenarios notice if their pods do not run.
    kubelets = startFakeKubelets(kube, clock, { startMs: { least: 50, most: 200 }, onFailure: () => {} });
    await kubelets.whenSynced();
  });
  afterAll(async () => {
    await kubelets?.stop();
    await kube?.close();
  });
}
