// The demo company on the embedded cluster with our controllers, in virtual time: hours in seconds, and the same to the
// byte from the same seed.
import { setImmediate as settle } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseTime, VirtualClock } from '../../../src/base/index.ts';
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

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 0x1_0000_0000;
  };
}

/** Figures of the small catalogue: planning over EC2's takes longer, and nothing here depends on it. */
const catalogue = { catalogue: genericCatalogue(), facts: kwokProviderFacts() };

interface Moment {
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

/** Runs the company, whose day is an hour long, and looks at it every two and a half minutes: an hour of its own. */
async function run(seed: number, hours: number): Promise<{ moments: Moment[]; dump: string; failures: unknown[] }> {
  const clock = new VirtualClock({ settle });
  const cluster = await createCluster({ clock, seed });
  const kube = new SimKube(cluster.machinery);
  const failures: unknown[] = [];
  const onFailure = (error: unknown): void => void failures.push(error);
  const random = seeded(seed);
  await installDefinitions(kube);
  await installDefaults(kube, { catalogue: 'generic', faults: undefined });
  const behaviour = startBehaviour(kube, clock, { random, onFailure });
  const cloud = new KwokCloud({ kube, clock, log: silentLog, random, ...catalogue });
  const stop = new AbortController();
  const { settings } = parseSettings({}, {});
  const about = { settings, catalogue: 'generic', act: true };
  const controllers = makeControllers({ kube, clock, cloud, log: silentLog, random, ...about }).run(stop.signal);
  const demo = await startDemo({ kube, clock, dayMs: 3_600_000, onFailure });
  const moments: Moment[] = [];
  for (let hour = 1; hour <= hours; hour++) {
    await clock.runFor(150_000);
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

test('the company gets the nodes it needs as its day goes by, and gives them back at night', async () => {
  const { moments, failures } = await run(1, 24);
  expect(failures).toEqual([]);
  const at = (hour: number): Moment =>
    moments.reduce((best, each) => (Math.abs(each.hour - hour) < Math.abs(best.hour - hour) ? each : best));
  // A cluster that scales all day is healthy.
  expect(moments.flatMap(({ findings }) => findings)).toEqual([]);
  expect(at(20).running).toBeGreaterThan(60);
  expect(at(20).nodes).toBeGreaterThan(at(4).nodes);
  expect(Math.max(...moments.map(({ longestWaitMs }) => longestWaitMs))).toBeLessThan(60_000);
}, 300_000);

test('the same seed gives the same cluster, to the byte', async () => {
  const [first, second] = [await run(7, 4), await run(7, 4)];
  expect(second.moments).toEqual(first.moments);
  expect(second.dump).toBe(first.dump);
}, 300_000);
