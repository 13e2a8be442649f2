// One run of the model: a small cluster drawn from a seed, events and clock steps in any order, our controllers killed
// and the API server failing on the way; then peace, and what must hold afterwards. Same seed, same run.
import { seeded } from '../../../../bench/workloads/random.ts';
import type { Kube } from '../../../../src/ports/index.ts';
import { resources } from '../../../../src/ports/index.ts';
import { disorder } from '../../harness/order.ts';
import { openScenario, type Scenario } from '../../harness/scenario.ts';
import { Judge } from './judge.ts';
import { hasDisruptedTaint, isMarked } from './observation.ts';
import { makePeace, smallCatalogue, World } from './world.ts';

export interface RunResult {
  seed: number;
  violations: string[];
  seen: Judge['seen'];
  /** What happened, in order. */
  story: string[];
}

export interface RunOptions {
  steps?: number;
  /** What our controllers are made to believe: a controller that ignores a rule, to see that the judge does not. */
  lie?: (kube: Kube) => Kube;
}

const stepsMs = [0, 200, 1_000, 5_000, 11_000, 16_000, 16_000, 25_000, 40_000, 120_000];
const restMs = 1_800_000;
/** Well within what the judge remembers: pods are bound without anybody telling it. */
const lookEveryMs = 1_000;

export async function run(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const random = seeded(seed * 7_919 + 13);
  const bench: { judge?: Judge } = {};
  const lie = options.lie ?? ((kube: Kube) => kube);
  const scenario = await openScenario({
    seed,
    bootTime: random.pick(['0s', '5s', '40s']),
    catalogue: smallCatalogue,
    settings: { disableClusterStateObservability: true, featureGates: { SpotToSpotConsolidation: random.chance(0.5) } },
    idle: true,
    between: (kube) => lie(bench.judge?.between(kube) ?? kube),
    onLog: (message, fields) => bench.judge?.onLog(message, fields),
  });
  const judge = new Judge(scenario.kube, scenario.clock, smallCatalogue);
  bench.judge = judge;
  const { violations, seen } = judge;
  const story: string[] = [];
  const tell = (what: string): void =>
    void story.push(`${new Date(scenario.clock.now()).toISOString().slice(11, 23)} ${what}`);
  try {
    await scenario.restart();
    const world = new World(scenario, random);
    await world.begin();
    await scenario.run(random.pick([1_000, 20_000, 60_000, 60_000]));
    for (let step = 0; step < (options.steps ?? 12); step += 1) {
      await judge.look();
      tell(random.chance(0.15) ? await disturb(scenario, judge, random) : await world.event());
      await judge.look();
      await watched(scenario, judge, random.pick(stepsMs));
      if (violations.length > 0) break;
    }
    if (violations.length === 0) {
      tell('peace');
      await rest(scenario, judge, tell);
    }
    violations.push(...scenario.failures.map(String));
  } catch (error) {
    violations.push(String(error));
  } finally {
    await scenario.close();
  }
  return { seed, violations, seen, story };
}

/** Lets time pass while the judge looks on, so that it remembers what there was a moment ago. */
async function watched(scenario: Scenario, judge: Judge, ms: number): Promise<void> {
  let leftMs = ms;
  do {
    await scenario.run(Math.min(lookEveryMs, leftMs));
    await judge.look();
    leftMs -= lookEveryMs;
  } while (leftMs > 0);
}

/** What happens to our own process, and to its connection. */
async function disturb(scenario: Scenario, judge: Judge, random: ReturnType<typeof seeded>): Promise<string> {
  const { weather } = scenario;
  if (scenario.process.life.isOver) {
    await bringBack(scenario);
    return 'the controllers are back';
  }
  switch (random.below(5)) {
    case 0: {
      const { life } = scenario.process;
      const writes = random.between(1, 12);
      life.endWithWrite(life.writeCount + writes);
      life.signal.addEventListener('abort', () => judge.processDied(), { once: true });
      return `the controllers will die at their write number ${writes} from now`;
    }
    case 1:
      scenario.process.kill();
      judge.processDied();
      return 'the controllers die';
    case 2:
      weather.become({ failureRate: 0.2, mostDelayMs: 400 });
      return 'storm';
    case 3:
      weather.become({ failureRate: 0, mostDelayMs: random.pick([0, 300]) });
      return 'the storm is over';
    default:
      weather.cutWatches();
      return 'watches are cut';
  }
}

/** A new process takes a moment to begin; by then the last calls of the dead one have arrived. */
async function bringBack(scenario: Scenario): Promise<void> {
  await scenario.run(2_000);
  await scenario.restart();
}

/** Brings back what is needed for everything to come to rest, and waits until it does. */
async function rest(scenario: Scenario, judge: Judge, tell: (what: string) => void): Promise<void> {
  scenario.weather.become({ failureRate: 0, mostDelayMs: 0 });
  await judge.look();
  await makePeace(scenario);
  await judge.look();
  // A death that was due at a later write is called off by dying now.
  if (!scenario.process.life.isOver) scenario.process.kill();
  judge.processDied();
  await bringBack(scenario);
  const endMs = scenario.clock.now() + restMs;
  let problems: string[] = [];
  while (scenario.clock.now() < endMs) {
    await watched(scenario, judge, 30_000);
    problems = await unrest(scenario, judge);
    if (problems.length === 0 || judge.violations.length > 0) break;
  }
  tell(
    `after ${(scenario.clock.now() - endMs + restMs) / 1000} s: ${problems.length === 0 ? 'all is well' : 'not at rest'}`,
  );
  judge.violations.push(...problems.map((problem) => `at rest: ${problem}`));
}

/** Out of order, or left behind by a command that is over. */
async function unrest(scenario: Scenario, judge: Judge): Promise<string[]> {
  const pods = (await scenario.list(resources.pods)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const problems = await disorder(scenario, pods.length);
  const { nodes, claims } = await judge.look();
  for (const node of nodes) {
    if (hasDisruptedTaint(node) && !judge.isInCommand(node.metadata.name ?? ''))
      problems.push(`${node.metadata.name} is still tainted`);
  }
  for (const claim of claims) {
    const name = claim.status?.nodeName ?? '';
    if (isMarked(claim) && !judge.isInCommand(name)) problems.push(`NodeClaim ${claim.metadata.name} is still marked`);
  }
  return problems;
}
