// The demo company on the embedded cluster with our controllers, in virtual time, looked at as its day goes by.
import { setImmediate as settle } from 'node:timers/promises';
import { parseTime, seededRandom, VirtualClock } from '../../../src/base/index.ts';
import { examination } from '../../../src/cli/doctor/examine.ts';
import { makeControllers } from '../../../src/cli/up/controllers.ts';
import { installDefaults, installDefinitions } from '../../../src/cli/up/default-objects.ts';
import { startDemo } from '../../../src/cli/up/demo/demo.ts';
import { isKubeError, type Pod, resources } from '../../../src/ports/index.ts';
import { parseSettings } from '../../../src/server/index.ts';
import {
  createCluster,
  genericCatalogue,
  KwokCloud,
  kwokProviderFacts,
  SimKube,
  startBehaviour,
} from '../../../src/sim/index.ts';
import { silentLog } from '../../../src/telemetry/index.ts';

/** Figures of the small catalogue: planning over EC2's takes longer, and nothing here depends on it. */
const catalogue = { catalogue: genericCatalogue(), facts: kwokProviderFacts() };

export interface Moment {
  hour: number;
  nodes: number;
  running: number;
  /** Age of the oldest pod without a node; training jobs have no nodes in this catalogue. */
  longestWaitMs: number;
  /** What `kerf doctor` says at this moment, above low. */
  findings: string[];
}

interface Finding {
  id: string;
  severity: string;
  summary: string;
  objects: { namespace?: string }[];
}

/** As `kerf doctor` looks at a live cluster; pods of simulated nodes write no logs. */
async function findingsIn(kube: SimKube, nowMs: number): Promise<string[]> {
  const look = { kube: Object.assign(kube, { podLog: async () => '' }), nowMs, close: async () => undefined };
  const { findings } = (await examination(async () => look, { env: {} })()) as { findings: Finding[] };
  return findings
    .filter(({ severity, objects }) => severity !== 'low' && !objects.some(({ namespace }) => namespace === 'ml'))
    .map(({ id, summary }) => `${id}: ${summary}`);
}

export interface Day {
  seed: number;
  /** How many hours of its day are played. */
  hours: number;
  dayMs: number;
}

/** Plays the company's day and looks at it at every hour of its own. */
export async function playDay({
  seed,
  hours,
  dayMs,
}: Day): Promise<{ moments: Moment[]; dump: string; failures: unknown[] }> {
  const clock = new VirtualClock({ settle });
  const cluster = await createCluster({ clock, seed });
  const kube = new SimKube(cluster.machinery);
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const random = seededRandom(seed);
  await installDefinitions(kube);
  await installDefaults(kube, { catalogue: 'generic', faults: undefined });
  const behaviour = startBehaviour(kube, clock, { random, onFailure });
  const cloud = new KwokCloud({ kube, clock, log: silentLog, random, ...catalogue });
  const stop = new AbortController();
  const { settings } = parseSettings({}, {});
  const about = { settings, catalogue: 'generic', act: true };
  const controllers = makeControllers({ kube, clock, cloud, log: silentLog, random, ...about }).run(stop.signal);
  const demo = await startDemo({ kube, clock, dayMs, onFailure });
  const moments: Moment[] = [];
  for (let hour = 1; hour <= hours; hour++) {
    await clock.runFor(dayMs / 24);
    const pods: Pod[] = [...behaviour.pods()];
    const findings = await findingsIn(kube, clock.now());
    moments.push({
      findings,
      hour: (8 + hour) % 24,
      nodes: [...behaviour.nodes()].length,
      running: pods.filter(({ status }) => status?.phase === 'Running').length,
      longestWaitMs: Math.max(
        0,
        ...pods
          .filter(({ metadata, spec }) => !spec?.nodeName && metadata.namespace !== 'ml')
          .map(({ metadata }) => clock.now() - (parseTime(metadata.creationTimestamp ?? '') ?? 0)),
      ),
    });
  }
  const lists = await Promise.all(
    // Some kinds are read where a cluster serves them; this one does not.
    Object.values(resources).map((resource) =>
      kube.list(resource as typeof resources.pods).catch((error: unknown) => {
        if (isKubeError(error, 'NotFound')) return { items: [] };
        throw error;
      }),
    ),
  );
  const dump = JSON.stringify(lists.map(({ items }) => items));
  demo.dispose();
  stop.abort();
  await Promise.race([Promise.all([controllers, behaviour.stop()]), clock.runFor(20_000)]);
  cloud.dispose();
  await cluster.stop();
  return { moments, dump, failures };
}
