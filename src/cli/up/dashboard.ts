// The dashboard of the embedded cluster: the same page as everywhere, with the player.
import type { Kube } from '../../ports/index.ts';
import { RealClock } from '../../runtime/index.ts';
import { type DashboardServer, serveDashboard, WhatIfs } from '../../server/index.ts';
import { findingsIn } from '../validate/findings-in.ts';
import { version } from '../version.ts';
import type { Controllers } from './controllers.ts';
import { upPlayer } from './player.ts';
import type { ScaledClock } from './scaled-clock.ts';

export interface UpDashboardOptions extends Controllers {
  kube: Kube;
  clock: ScaledClock;
  host: string;
  port: number;
}

export function serveUpDashboard(options: UpDashboardOptions): Promise<DashboardServer> {
  const { assembly, decisions, live, kube, clock, host, port } = options;
  const { context } = assembly;
  const real = new RealClock();
  const player = upPlayer({ kube, clock, decisions });
  return serveDashboard({
    context,
    live,
    decisions,
    info: { mode: 'up', cluster: 'simulated', build: version, notVisible: () => [], player },
    real,
    host,
    port,
    whatIfs: new WhatIfs({ context, live, real, validate: findingsIn }),
  });
}
