// A small cluster drawn from a seed, and everything that may happen to it: what users, clouds and machines do while our
// controllers work. One draw, one event.
import type { Random } from '../../../../bench/workloads/random.ts';
import { annotation, kwokNode, type NodePool } from '../../../../src/api/index.ts';
import { nodeClaims, nodePools } from '../../../../src/controllers/index.ts';
import type { InstanceTypeSpec } from '../../../../src/core/index.ts';
import { resources } from '../../../../src/ports/index.ts';
import { genericCatalogue, kwokNodeClasses } from '../../../../src/sim/index.ts';
import type { Scenario } from '../../harness/scenario.ts';
import { ignoreGone } from './judge.ts';

const namespace = 'default';
const apps = ['ant', 'bee', 'cat'] as const;
const poolNames = ['one', 'two'] as const;

/** Machines from one to eight CPUs: enough to have a choice, few enough to be quick. */
export const smallCatalogue: readonly InstanceTypeSpec[] = genericCatalogue().filter(({ name }) =>
  /^[cs]-[1248]x-amd64-linux$/.test(name),
);

const budgets = [
  undefined,
  [{ nodes: '100%' }],
  [{ nodes: '100%' }],
  [{ nodes: '1' }],
  [{ nodes: '50%' }],
  [{ nodes: '0' }],
  [{ nodes: '100%' }, { nodes: '0', reasons: ['Underutilized'] }],
  [{ nodes: '2' }, { nodes: '0', reasons: ['Drifted', 'Empty'] }],
  [{ nodes: '100%' }, { nodes: '0', schedule: '*/10 * * * *', duration: '4m' }],
];
const quietTimes = ['0s', '0s', '0s', '30s', '2m', 'Never'];
const policies = [...Array<string>(4).fill('WhenEmptyOrUnderutilized'), 'WhenEmpty', 'Balanced'];
const limits = [undefined, undefined, undefined, { cpu: '4' }, { nodes: '1' }, { cpu: '8', nodes: '2' }];

export class World {
  private readonly scenario: Scenario;
  private readonly random: Random;
  private pods = 0;
  private revision = 0;

  constructor(scenario: Scenario, random: Random) {
    this.scenario = scenario;
    this.random = random;
  }

  async begin(): Promise<void> {
    const { scenario, random } = this;
    for (const name of poolNames.slice(0, random.between(1, 2))) {
      await scenario.pool(name, { disruption: this.disruption(), ...this.limits() }, this.template());
    }
    for (const app of apps.slice(0, random.between(1, 3))) {
      const requests = { cpu: random.pick(['250m', '500m', '1', '1500m']), memory: random.pick(['64Mi', '1Gi']) };
      await scenario.deployment(app, random.between(1, 4), this.podSpec(app), requests);
    }
  }

  /** What the event was, for the story printed when a rule is broken. */
  async event(): Promise<string> {
    const { random } = this;
    const [, happen] = pickWeighted(random, this.events);
    return happen().catch((error: unknown) => {
      ignoreGone(error);
      return 'nothing, for it was gone';
    });
  }

  private readonly events: readonly (readonly [number, () => Promise<string>])[] = [
    [6, () => this.scale()],
    [2, () => this.lonePod()],
    [2, () => this.deletePod()],
    [3, () => this.changeBudgets()],
    [3, () => this.protectPod()],
    [2, () => this.protectNode()],
    [5, () => this.editPool()],
    [1, () => this.interrupt()],
    [1, () => this.toggleReady()],
    [2, () => this.deleteNode()],
    [1, () => this.changeCloud()],
  ];

  private disruption(): object {
    const { random } = this;
    const chosen = random.pick(budgets);
    return {
      consolidateAfter: random.pick(quietTimes),
      consolidationPolicy: random.pick(policies),
      ...(chosen === undefined ? {} : { budgets: chosen }),
    };
  }

  private limits(): object {
    const chosen = this.random.pick(limits);
    return chosen === undefined ? {} : { limits: chosen };
  }

  private template(): object {
    const { random } = this;
    return {
      ...(random.chance(0.3) ? { terminationGracePeriod: random.pick(['30s', '5m']) } : {}),
      ...(random.chance(0.15) ? { expireAfter: random.pick(['10m', '30m']) } : {}),
      ...(random.chance(0.3)
        ? { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }] }
        : {}),
    };
  }

  private podSpec(app: string): object {
    const { random } = this;
    const term = { labelSelector: { matchLabels: { app } }, topologyKey: 'kubernetes.io/hostname' };
    return {
      terminationGracePeriodSeconds: random.pick([0, 5, 60]),
      ...(random.chance(0.25)
        ? { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } }
        : {}),
    };
  }

  private async scale(): Promise<string> {
    const app = await this.anyOf(resources.deployments);
    const replicas = this.random.pick([0, 1, 1, 2, 4, 6]);
    if (app === undefined) return 'no deployment to scale';
    await this.scenario.scale(app, replicas);
    return `${app} is scaled to ${replicas}`;
  }

  private async lonePod(): Promise<string> {
    const { random } = this;
    const name = `lone-${++this.pods}`;
    const requests = { cpu: random.pick(['100m', '1', '2']) };
    await this.scenario.kube.create(resources.pods, {
      metadata: { name, namespace, labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 5,
        containers: [{ name: 'main', image: 'example.com/main', resources: { requests } }],
        ...(random.chance(0.3) ? { nodeSelector: { 'topology.kubernetes.io/zone': 'test-zone-a' } } : {}),
      },
    });
    return `pod ${name} comes`;
  }

  private async deletePod(): Promise<string> {
    const name = await this.anyOf(resources.pods);
    if (name === undefined) return 'no pod to delete';
    await this.scenario.kube.delete(resources.pods, { name, namespace });
    return `pod ${name} is deleted`;
  }

  private async changeBudgets(): Promise<string> {
    const { random } = this;
    const { kube, find } = this.scenario;
    const app = random.pick(apps);
    if ((await find(resources.podDisruptionBudgets, app, namespace)) !== undefined) {
      await kube.delete(resources.podDisruptionBudgets, { name: app, namespace });
      return `the PodDisruptionBudget of ${app} goes`;
    }
    const amount = random.pick([
      { maxUnavailable: 0 },
      { maxUnavailable: 1 },
      { minAvailable: 2 },
      { minAvailable: '50%' },
    ]);
    const policy = random.chance(0.3) ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {};
    await kube.create(resources.podDisruptionBudgets, {
      metadata: { name: app, namespace },
      spec: { ...amount, ...policy, selector: { matchLabels: { app } } },
    });
    return `${app} gets a PodDisruptionBudget ${JSON.stringify(amount)}`;
  }

  private async protectPod(): Promise<string> {
    const name = await this.anyOf(resources.pods);
    if (name === undefined) return 'no pod to protect';
    const value = this.random.pick(['true', 'true', '3m', 'false', null]);
    await this.annotate(resources.pods, { name, namespace }, value);
    return `pod ${name} says do-not-disrupt=${value}`;
  }

  private async protectNode(): Promise<string> {
    const name = await this.anyOf(resources.nodes);
    if (name === undefined) return 'no node to protect';
    const value = this.random.pick(['true', 'true', null]);
    await this.annotate(resources.nodes, { name }, value);
    return `node ${name} says do-not-disrupt=${value}`;
  }

  private annotate(
    resource: typeof resources.pods | typeof resources.nodes,
    ref: { name: string; namespace?: string },
    value: string | null,
  ) {
    const body = { metadata: { annotations: { [annotation.doNotDisrupt]: value } } };
    return this.scenario.kube.patch(resource as typeof resources.pods, ref, { type: 'merge', body });
  }

  private async editPool(): Promise<string> {
    const { random } = this;
    const name = await this.anyOf(nodePools);
    if (name === undefined) return 'no pool to edit';
    const spec = random.pick([
      { disruption: { budgets: random.pick(budgets) ?? [{ nodes: '10%' }] } },
      { disruption: { consolidateAfter: random.pick(quietTimes), consolidationPolicy: random.pick(policies) } },
      { limits: random.pick(limits) ?? null },
      { template: { metadata: { labels: { revision: String(++this.revision) } } } },
      { template: { metadata: { labels: { revision: String(++this.revision) } } } },
      {
        template: {
          spec: {
            requirements: [
              { key: 'karpenter.sh/capacity-type', operator: 'In', values: [random.pick(['spot', 'on-demand'])] },
            ],
          },
        },
      },
      { template: { spec: { terminationGracePeriod: random.pick(['30s', '5m', null]) } } },
    ]);
    await this.scenario.kube.patch(nodePools, { name }, { type: 'merge', body: { spec } });
    return `pool ${name} becomes ${JSON.stringify(spec)}`;
  }

  /** A machine is taken back: its claim is given up, and soon afterwards it is gone. */
  private async interrupt(): Promise<string> {
    const { kube, list } = this.scenario;
    const [claim] = this.random.shuffled(
      (await list(nodeClaims)).filter(({ status }) => status?.nodeName !== undefined),
    );
    if (claim === undefined) return 'no machine to take back';
    await kube.delete(nodeClaims, { name: claim.metadata.name ?? '' });
    const body = { metadata: { annotations: { [kwokNode.label]: 'gone' } } };
    await kube.patch(resources.nodes, { name: claim.status?.nodeName ?? '' }, { type: 'merge', body });
    return `machine ${claim.status?.nodeName} is taken back`;
  }

  private async toggleReady(): Promise<string> {
    const name = await this.anyOf(resources.nodes);
    if (name === undefined) return 'no node to lose';
    const status = this.random.pick(['True', 'Unknown', 'False']);
    await setReady(this.scenario, name, status);
    return `node ${name} is Ready=${status}`;
  }

  private async deleteNode(): Promise<string> {
    const name = await this.anyOf(resources.nodes);
    if (name === undefined) return 'no node to delete';
    await this.scenario.kube.delete(resources.nodes, { name });
    return `node ${name} is deleted by hand`;
  }

  private async changeCloud(): Promise<string> {
    const faults = this.random.pick([
      null,
      { registration: { percent: 100 } },
      { insufficientCapacity: [{ capacityTypes: ['spot'] }] },
      { launch: { delay: '90s' } },
    ]);
    await setFaults(this.scenario, faults);
    return `the cloud: ${JSON.stringify(faults)}`;
  }

  private async anyOf(
    resource: typeof resources.pods | typeof resources.nodes | typeof resources.deployments | typeof nodePools,
  ): Promise<string | undefined> {
    const objects = await this.scenario.list(resource as typeof resources.pods);
    return objects.length === 0 ? undefined : this.random.pick(objects).metadata.name;
  }
}

/** Everything that keeps pods or nodes where they are is taken away, and what is broken is fixed. */
export async function makePeace(scenario: Scenario): Promise<void> {
  const { kube, list } = scenario;
  await setFaults(scenario, null);
  for (const { metadata } of await list(resources.podDisruptionBudgets)) {
    await kube.delete(resources.podDisruptionBudgets, { name: metadata.name ?? '', namespace });
  }
  const unprotected = {
    type: 'merge',
    body: { metadata: { annotations: { [annotation.doNotDisrupt]: null } } },
  } as const;
  for (const { metadata } of await list(resources.pods)) {
    await kube.patch(resources.pods, { name: metadata.name ?? '', namespace }, unprotected);
  }
  for (const { metadata } of await list(resources.nodes)) {
    await kube.patch(resources.nodes, { name: metadata.name ?? '' }, unprotected);
    await setReady(scenario, metadata.name ?? '', 'True');
  }
  for (const { metadata } of await list<NodePool>(nodePools)) {
    await kube.patch(nodePools, { name: metadata.name ?? '' }, { type: 'merge', body: { spec: { limits: null } } });
  }
}

async function setFaults({ kube }: Scenario, faults: object | null): Promise<void> {
  await kube.patch(kwokNodeClasses, { name: 'default' }, { type: 'merge', body: { spec: { faults } } });
}

async function setReady({ kube, clock }: Scenario, name: string, status: string): Promise<void> {
  const lastTransitionTime = new Date(clock.now()).toISOString();
  const body = {
    status: { conditions: [{ type: 'Ready', status, reason: 'Model', message: '', lastTransitionTime }] },
  };
  await kube.patch(resources.nodes, { name }, { type: 'strategic', body }, { subresource: 'status' });
}

function pickWeighted<T extends readonly [number, unknown]>(random: Random, items: readonly T[]): T {
  let left = random.next() * items.reduce((sum, [weight]) => sum + weight, 0);
  for (const item of items) {
    left -= item[0];
    if (left < 0) return item;
  }
  return items.at(-1) as T;
}
