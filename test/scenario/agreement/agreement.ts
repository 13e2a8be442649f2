// Plans a random cluster from outside, as `kerf plan` does, then lets the controllers and the scheduler of the embedded
// cluster work on it in virtual time, and says where the two differ.
import { label } from '../../../src/api/index.ts';
import { completeSnapshot } from '../../../src/cli/plan/complete.ts';
import { collectSnapshot } from '../../../src/cli/snapshot/cluster.ts';
import { nodePools } from '../../../src/controllers/index.ts';
import { type Plan, planSnapshot, type Reason } from '../../../src/core/index.ts';
import { resources } from '../../../src/ports/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';
import { create, type RandomCluster } from './random-cluster.ts';

export interface Agreement {
  /** At the end of the controller's first pass: NodeClaims that the plan does not have, or has and they are not there. */
  firstPass: string[];
  /** Once nothing changes any more: pods that wait although they were planned, or the other way round. */
  settled: string[];
  /** What a plan of the settled cluster would still do. */
  atRest: string[];
  /** Limits that are exceeded at the end. */
  exceeded: string[];
  /**
   * Some pool's limit kept a pod from its node, at first or in the end (a plan may use a limit up to the last cpu): then it
   * matters which pods kube-scheduler puts on the nodes there are.
   */
  isLimited: boolean;
  /** A spread over zones keeps a planned pod waiting: kube-scheduler, which knows fewer zones, may let it in. */
  isSpread: boolean;
}

/** Batching ends after at most ten seconds. */
const firstPassMs = 11_000;
const settledMs = 180_000;

export async function compare(seed: number, cluster: RandomCluster): Promise<Agreement> {
  const scenario = await openScenario({ seed, idle: true });
  try {
    await create(scenario, cluster);
    await scenario.run(3_000);
    const plan = await planOf(scenario);
    await scenario.restart();
    const endMs = scenario.clock.now() + firstPassMs;
    while ((await scenario.claims()).length === 0 && scenario.clock.now() < endMs) await scenario.run(500);
    const firstPass = await afterFirstPass(scenario, plan);
    await scenario.run(settledMs);
    const last = await planOf(scenario);
    return {
      firstPass,
      settled: await waitingBeside(scenario, plan),
      atRest: [...last.newNodes.map(({ name }) => `launches ${name}`), ...(await waitingBeside(scenario, last))],
      exceeded: await exceededLimits(scenario),
      isLimited: [plan, last].some((each) => hasReason(each, ({ code }) => code === 'LimitsExceeded')),
      isSpread: hasReason(plan, ({ message }) => message.includes(`for topology spread, key=${label.zone}`)),
    };
  } finally {
    await scenario.close();
  }
}

const hasReason = ({ unschedulable }: Plan, isIt: (reason: Reason) => boolean): boolean =>
  unschedulable.some(({ reasons }) => reasons.some(isIt));

async function exceededLimits(scenario: Scenario): Promise<string[]> {
  const nodes = await scenario.nodes();
  return (await scenario.list(nodePools)).flatMap(({ metadata, spec }) => {
    const own = nodes.filter(({ metadata: { labels } }) => labels?.[label.nodePool] === metadata.name);
    const cpu = own.reduce((sum, { status }) => sum + Number(status?.capacity?.['cpu'] ?? 0), 0);
    const { limits = {} } = spec;
    return [
      ...(cpu > Number(limits['cpu'] ?? Number.POSITIVE_INFINITY) ? [`${metadata.name}: cpu ${cpu}`] : []),
      ...(own.length > Number(limits['nodes'] ?? Number.POSITIVE_INFINITY)
        ? [`${metadata.name}: ${own.length} nodes`]
        : []),
    ];
  });
}

async function planOf(scenario: Scenario): Promise<Plan> {
  const { snapshot } = await collectSnapshot(scenario.kube, scenario.clock.now());
  const completed = await completeSnapshot(snapshot, { settings: {} });
  return planSnapshot(completed.snapshot);
}

async function afterFirstPass(scenario: Scenario, plan: Plan): Promise<string[]> {
  const made = (await scenario.claims()).map(({ metadata, spec }) => {
    const types = spec.requirements.find(({ key }) => key === label.instanceType)?.values ?? [];
    return `${metadata.labels?.[label.nodePool]}: ${[...types].sort().join()}`;
  });
  const planned = plan.newNodes.map(
    ({ nodePool, instanceTypes }) => `${nodePool}: ${[...instanceTypes].sort().join()}`,
  );
  return difference('node', planned, made);
}

/** By workload: names of pods are as good as any other of their Deployment. */
async function waitingBeside(scenario: Scenario, plan: Plan): Promise<string[]> {
  const pods = (await scenario.list(resources.pods)).filter(({ spec }) => !spec?.nodeName);
  const appOf = (pod: string): string => pod.split('/')[1]?.split('-').slice(0, 2).join('-') ?? pod;
  return difference(
    'waiting pod',
    plan.unschedulable.map(({ pod }) => appOf(pod)),
    pods.map(({ metadata }) => appOf(`${metadata.namespace}/${metadata.name}`)),
  );
}

/** As multisets: what only the plan has, and what only the cluster has. */
function difference(what: string, planned: readonly string[], found: readonly string[]): string[] {
  const balance = new Map<string, number>();
  for (const each of planned) balance.set(each, (balance.get(each) ?? 0) + 1);
  for (const each of found) balance.set(each, (balance.get(each) ?? 0) - 1);
  return [...balance].flatMap(([each, count]) =>
    count === 0
      ? []
      : [
          `${Math.abs(count)} ${what}${Math.abs(count) > 1 ? 's' : ''} only ${count > 0 ? 'planned' : 'in the cluster'}: ${each.slice(0, 120)}`,
        ],
  );
}
