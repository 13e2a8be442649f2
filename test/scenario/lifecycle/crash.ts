// The same story again and again, with our controllers killed at another write each time and started anew: whatever they
// were in the middle of, the cluster must come to the same rest, with nothing left over.
import { resources } from '../../../src/ports/index.ts';
import { disorder } from '../harness/order.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

export interface Story {
  name: string;
  /** Brings the cluster to where the story begins; nobody is killed here. */
  prepare?(scenario: Scenario): Promise<void>;
  /** What somebody does to the cluster; what follows from it is the story. */
  begin(scenario: Scenario): Promise<void>;
  /** Pods that run when it is over. */
  pods: number;
  /** How long it may take after the restart. */
  limitMs: number;
}

const bootTime = '5s';

export const scaleUp = (pods: number): Story => ({
  name: `${pods} pods come, each to a node of its own`,
  async begin(scenario) {
    await scenario.pool();
    await scenario.deployment('web', pods, apart);
  },
  pods,
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
    await scenario.until('every pod is ready', async () => (await scenario.readyPods('web')).length === pods);
    await scenario.run(10_000);
  },
  async begin(scenario) {
    for (const { metadata } of await scenario.nodes()) {
      await scenario.kube.delete(resources.nodes, { name: metadata.name ?? '' });
    }
  },
  pods,
  limitMs: 900_000,
});

/** No two pods on one node, while there are nodes to be had. */
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

/** How many writes our controllers make when nobody kills them. */
export async function writesOf(story: Story): Promise<number> {
  const scenario = await openScenario({ bootTime });
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

/** Plays the story with a kill at the nth write of it; returns what is out of order at the end. */
export async function killedAt(story: Story, write: number): Promise<string[]> {
  const scenario = await openScenario({ bootTime });
  try {
    await story.prepare?.(scenario);
    const { life } = scenario.process;
    life.endWithWrite(life.writeCount + write);
    await story.begin(scenario);
    await scenario.until('the controllers are killed', async () => life.isOver, story.limitMs).catch(() => {});
    // As long as a pod takes to be started again.
    await scenario.run(2_000);
    await scenario.restart();
    await rest(scenario, story);
    const problems = await disorder(scenario, story.pods);
    return [...problems, ...scenario.failures.map(String)];
  } finally {
    await scenario.close();
  }
}

/** Plays the story while a share of our controllers' calls fails; returns what is out of order at the end. */
export async function withFailures(story: Story, failureRate: number, seed: number): Promise<string[]> {
  const scenario = await openScenario({ bootTime, failureRate, seed });
  try {
    await story.prepare?.(scenario);
    await story.begin(scenario);
    await rest(scenario, story);
    return [...(await disorder(scenario, story.pods)), ...scenario.failures.map(String)];
  } finally {
    await scenario.close();
  }
}

async function rest(scenario: Scenario, story: Story): Promise<void> {
  const isAtRest = async (): Promise<boolean> => (await disorder(scenario, story.pods)).length === 0;
  await scenario.until(`${story.name}, and all is well`, isAtRest, story.limitMs).catch(() => {});
}
