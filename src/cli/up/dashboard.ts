// The dashboard of the embedded cluster: the same page as everywhere, with the player.
import type { Clock } from '../../base/index.ts';
import { findAccess, KubeClient } from '../../kube/index.ts';
import { type Kube, resources } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import {
  type AnswerParts,
  type DashboardInfo,
  type DashboardServer,
  serveDashboard,
  Usage,
  WhatIfs,
} from '../../server/index.ts';
import type { KwokCloud } from '../../sim/index.ts';
import { examination } from '../doctor/examine.ts';
import { comparedDay } from '../replay/play-other-day.ts';
import { findingsIn } from '../validate/findings-in.ts';
import { version } from '../version.ts';
import type { Controllers } from './controllers.ts';
import { Past } from './past.ts';
import { upPlayer } from './player.ts';
import type { ScaledClock } from './scaled-clock.ts';

export interface UpDashboardOptions extends Controllers {
  kube: Kube;
  clock: ScaledClock;
  cloud: KwokCloud;
  host: string;
  port: number;
  /** Of its own API, which serves what nodes use as a metrics server would. */
  kubeconfig: string;
}

export async function serveUpDashboard(options: UpDashboardOptions): Promise<DashboardServer> {
  const { assembly, decisions, live, kube, clock, host, port, publishNow, recording } = options;
  const { context } = assembly;
  const real = new RealClock();
  // The controllers run in this process: no pod of theirs has a log.
  const examined = {
    get: kube.get.bind(kube),
    list: kube.list.bind(kube),
    podLog: async () => '',
  };
  const access = await findAccess({ clock: real, env: {}, kubeconfig: options.kubeconfig });
  const usage = new Usage(
    new KubeClient({ access, clock: real, userAgent: `kerf/${version}`, rateLimit: { qps: 5, burst: 10 } }),
    real,
  );
  const past = new Past({ recording, clock, real });
  const player = upPlayer({
    kube,
    clock,
    real,
    decisions,
    past,
    info: () => info,
    strike: (faults) => options.cloud.strike(faults),
    async rest() {
      if (clock.paused) await settled(kube, real);
      await publishNow();
    },
  });
  const info: DashboardInfo = { mode: 'up', cluster: 'simulated', build: version, notVisible: () => [], player };
  const kept = past.kept === undefined ? {} : { kept: past.kept };
  const parts: AnswerParts = {
    context,
    live,
    decisions,
    info,
    usage: () => usage.read(),
    ...kept,
    findings: examination(
      async () => ({ kube: examined, close: async () => {}, nowMs: clock.now() }),
      // No account stands behind a simulated cluster.
      { env: {} },
    ),
  };
  const day = recording === undefined ? {} : { day: comparedDay(recording.file, () => recording.written()) };
  const whatIfs = new WhatIfs({ context, live, real, validate: findingsIn, ...day });
  const now = { parts, whatIfs };
  return serveDashboard({ ...parts, real, host, port, whatIfs, scene: () => past.scene() ?? now });
}

const lookMs = 100;
/** So long without a write, and what was under way when time stopped is done. */
const quietLooks = 3;
const mostLooks = 50;

/** Time stands still, but work that was under way goes on until it waits for time. Resolves when writes have ended. */
async function settled(kube: Kube, real: Clock): Promise<void> {
  let version = '';
  let quiet = 0;
  for (let looks = 0; looks < mostLooks && quiet < quietLooks; looks++) {
    const { resourceVersion } = await kube.list(resources.namespaces, { limit: 1 });
    quiet = resourceVersion === version ? quiet + 1 : 0;
    version = resourceVersion;
    await real.sleep(lookMs);
  }
}
