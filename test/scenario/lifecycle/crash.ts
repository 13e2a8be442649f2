// The same story again and again, with our controllers killed at another write each time and started anew: whatever they
// were in the middle of, the cluster must come to the same rest, with nothing left over, and no one's budget broken on
// the way.
import { resources } from '../../../src/ports/index.ts';
import { genericCatalogue } from '../../../src/sim/index.ts';
import { disorder } from '../harness/order.ts';
import { type Moment, openScenario, type Scenario } from '../harness/scenario.ts';

export interface Story {
  name: string;
  /** Brings the cluster to where the story begins; no one is killed here. */
  prepare?(scenario: Scenario): Promise<void>;
  /** What someone does to the cluster; what follows from it is the story. */
  begin(scenario: Scenario): Promise<void>;
  /** What runs when it is over. */
  pods: number;
  nodes: number;
  /** Pods that a disruption budget keeps ready all the while. */
  keeps?: number;
  /** How long it may take after the restart. */
  limitMs: number;
}

/** What the stories do not speak of is left out, because they are played hundreds of times. */
const stage = {
  bootTime: '5s',
  settings: { disableClusterStateObservability: true },
  catalogue: genericCatalogue().filter(({ name }) => /^[cs]-[124]x-amd64-linux$/.test(name)),
};
const lookEveryMs = 5_000;

export const scaleUp = (pods: number): Story => ({
  name: `${pods} pods come, each to a node of its own`,
  async begin(scenario) {
    await scenario.pool();
    await scenario.deployment('web', pods, apart);
  },
  pods,
  nodes: pods,
  limitMs: 300_000,
});

export const nodesGo = (pods: number): Story => ({
  name: `${pods} nodes are deleted under a disruption budget`,
  async prepare(scenario) {
    await scenario.pool();
    await scenario.deployment('web', pods, apart);
    await scenario.kube.create(resources.podDisruptionBudgets, {
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable: '20%', selector: { matchLabels: { app: 'web' } } },
    });
    await everyPodReady(scenario, pods);
    await scenario.run(10_000);
  },
  async begin(scenario) {
    for (const { metadata } of await scenario.nodes()) {
      await scenario.kube.delete(resources.nodes, { name: metadata.name ?? '' });
    }
  },
  pods,
  nodes: pods,
  // A share of pods that may be missing is rounded up.
  keeps: pods - Math.ceil(pods * 0.2),
  limitMs: 900_000,
});

export const scaleDown = (pods: number): Story => ({
  name: `${pods} nodes are no longer needed`,
  async prepare(scenario) {
    await scenario.pool('default', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } });
    await scenario.deployment('web', pods, apart);
    await everyPodReady(scenario, pods);
    await scenario.run(30_000);
  },
  begin: (scenario) => scenario.scale('web', 0),
  pods: 0,
  nodes: 0,
  limitMs: 600_000,
});

const everyPodReady = (scenario: Scenario, pods: number): Promise<void> =>
  scenario.until('every pod is ready', async () => (await scenario.readyPods('web')).length === pods);

/** No two pods on one node, while there are nodes available. */
const apart = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ],
};

/** How many writes our controllers make when no one kills them. */
export async function writesOf(story: Story): Promise<number> {
  const scenario = await openScenario(stage);
  try {
    await story.prepare?.(scenario);
    const before = scenario.process.life.writeCount;
    await story.begin(scenario);
    await rest(scenario, story);
    return scenario.process.life.writeCount - before;
  } finally {
    await scenario.close();
  }
}

/** Plays the story with a kill at the nth write of it; returns what went wrong. */
export async function killedAt(story: Story, write: number): Promise<string[]> {
  const scenario = await openScenario(stage);
  try {
    await story.prepare?.(scenario);
    const broken = watchBudget(scenario, story);
    const { life } = scenario.process;
    life.endWithWrite(life.writeCount + write);
    await story.begin(scenario);
    await scenario.until('the controllers are killed', async () => life.isOver, story.limitMs).catch(() => {});
    return await startedAnew(scenario, story, broken);
  } finally {
    await scenario.close();
  }
}

/** What a process that starts makes of the world right after each write of the story; returns what went wrong where. */
export async function killedAtEveryWrite(story: Story): Promise<{ writes: number; problems: string[] }> {
  const moments = await momentsAfterWrites(story);
  const problems: string[] = [];
  for (const [index, moment] of moments.entries())
    for (const problem of await resumedFrom(story, moment)) problems.push(`killed at write ${index + 1}: ${problem}`);
  return { writes: moments.length, problems };
}

/** Plays the story once, with no one killed, and keeps the world as it was right after each write. */
async function momentsAfterWrites(story: Story): Promise<Moment[]> {
  const scenario = await openScenario(stage);
  try {
    await story.prepare?.(scenario);
    const moments: Moment[] = [];
    scenario.process.life.onWritten = () => moments.push(scenario.moment());
    await story.begin(scenario);
    await rest(scenario, story);
    return moments;
  } finally {
    await scenario.close();
  }
}

/** Goes on from a moment, with our controllers (and everybody else) started anew; returns what went wrong. */
async function resumedFrom(story: Story, from: Moment): Promise<string[]> {
  const scenario = await openScenario({ ...stage, from });
  try {
    return await startedAnew(scenario, story, watchBudget(scenario, story));
  } finally {
    await scenario.close();
  }
}

async function startedAnew(scenario: Scenario, story: Story, broken: readonly string[]): Promise<string[]> {
  // As long as a pod takes to be started again.
  await scenario.run(2_000);
  await scenario.restart();
  await rest(scenario, story);
  const problems = await disorder(scenario, story.pods, story.nodes);
  scenario.process.kill();
  return [...problems, ...broken, ...scenario.failures.map(String)];
}

/** Plays the story while a share of our controllers' calls fails; returns what went wrong. */
export async function withFailures(story: Story, failureRate: number, seed: number): Promise<string[]> {
  const scenario = await openScenario({ ...stage, failureRate, seed });
  try {
    await story.prepare?.(scenario);
    const broken = watchBudget(scenario, story);
    await story.begin(scenario);
    await rest(scenario, story);
    return [...(await disorder(scenario, story.pods, story.nodes)), ...broken, ...scenario.failures.map(String)];
  } finally {
    await scenario.close();
  }
}

async function rest(scenario: Scenario, story: Story): Promise<void> {
  const endMs = scenario.clock.now() + story.limitMs;
  while ((await disorder(scenario, story.pods, story.nodes)).length > 0 && scenario.clock.now() < endMs)
    await scenario.run(lookEveryMs);
}

/** From now on every moment with fewer ready pods than the story's budget keeps is added to the result. */
function watchBudget({ clock, kube }: Scenario, { keeps = 0 }: Story): readonly string[] {
  const broken: string[] = [];
  const ready = new Set<string>();
  const watch = async (): Promise<void> => {
    const { items, resourceVersion } = await kube.list(resources.pods);
    const note = (name: string, isReady: boolean): unknown => (isReady ? ready.add(name) : ready.delete(name));
    for (const pod of items) note(pod.metadata.name ?? '', isReadyPod(pod));
    for await (const event of kube.watch(resources.pods, { resourceVersion })) {
      if (event.type === 'BOOKMARK') continue;
      note(event.object.metadata.name ?? '', event.type !== 'DELETED' && isReadyPod(event.object));
      if (ready.size < keeps) broken.push(`at ${clock.now()} only ${ready.size} pods are ready, not ${keeps}`);
    }
  };
  if (keeps > 0) watch().catch((error: unknown) => broken.push(`the watch of pods ended: ${String(error)}`));
  return broken;
}

const isReadyPod = ({ metadata, status }: Awaited<ReturnType<Scenario['readyPods']>>[number]): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
