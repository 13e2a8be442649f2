// Asserted behaviour of disruption as stories in virtual time: the whole cluster, all controllers.
import { afterEach, describe, expect, test } from 'vitest';
import { annotation } from '../../../src/api/index.ts';
import { nodePools } from '../../../src/controllers/index.ts';
import { type Node, resources } from '../../../src/ports/index.ts';
import { kwokNodeClasses } from '../../../src/sim/index.ts';
import { disorder } from '../harness/order.ts';
import { openScenario, type Scenario, type ScenarioOptions } from '../harness/scenario.ts';
import { smallCatalogue } from './model/world.ts';

const namespace = 'default';
const minute = 60_000;
const everything = [{ nodes: '100%' }];
const apart = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  },
};

let scenario: Scenario;
afterEach(() => scenario.close());

/** A cluster whose pool lets everything be disrupted, with `pods` pods on nodes of their own. */
async function cluster(pods: number, disruption: object = {}, options: ScenarioOptions & { template?: object } = {}) {
  const { template = {}, ...rest } = options;
  scenario = await openScenario({ bootTime: '20s', catalogue: smallCatalogue, ...rest });
  const settings = { consolidateAfter: 'Never', budgets: everything, ...disruption };
  await scenario.pool('default', { disruption: settings }, template);
  await scenario.deployment('web', pods, apart);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === pods);
  await scenario.until('all nodes are ready', async () => (await disorder(scenario, pods)).length === 0);
  return names(await scenario.nodes());
}

const names = (nodes: readonly Node[]): string[] => nodes.map(({ metadata }) => metadata.name ?? '').sort();
const editPool = (spec: object) =>
  scenario.kube.patch(nodePools, { name: 'default' }, { type: 'merge', body: { spec } });
const drift = (revision = '1') => editPool({ template: { metadata: { labels: { revision } } } });
const setFaults = (faults: object | null) =>
  scenario.kube.patch(kwokNodeClasses, { name: 'default' }, { type: 'merge', body: { spec: { faults } } });
const annotatePod = (name: string, value: string | null) =>
  scenario.kube.patch(
    resources.pods,
    { name, namespace },
    { type: 'merge', body: { metadata: { annotations: { [annotation.doNotDisrupt]: value } } } },
  );
const tainted = async (): Promise<string[]> =>
  names(
    (await scenario.nodes()).filter(({ spec }) => spec?.taints?.some(({ key }) => key === 'karpenter.sh/disrupted')),
  );
const isWell = (pods: number) => async (): Promise<boolean> => (await disorder(scenario, pods)).length === 0;
const commands = (): string[] =>
  scenario.log.lines
    .filter(({ message }) => message === 'disrupting node(s)')
    .map(({ fields }) => `${fields['reason']} ${fields['decision']} ${fields['disrupted-node-count']}`);
const budgetOf = (app: string, spec: object) =>
  scenario.kube.create(resources.podDisruptionBudgets, {
    metadata: { name: app, namespace },
    spec: { selector: { matchLabels: { app } }, ...spec },
  });

describe('a replace command', () => {
  test('is not doubled by the provisioner while its replacement is launched and boots', async () => {
    await cluster(1, {}, { bootTime: '90s' });
    await setFaults({ launch: { delay: '30s' } });
    await drift();
    let most = 0;
    for (let second = 0; second < 300; second += 5) {
      await scenario.run(5_000);
      most = Math.max(most, (await scenario.claims()).length);
    }
    expect(most).toBe(2);
    expect(commands()).toEqual(['drifted replace 1']);
    expect(await disorder(scenario, 1)).toEqual([]);
  });

  test('does not wait for the one before it: several run at the same time', async () => {
    const before = await cluster(3, {}, { bootTime: '3m' });
    await drift();
    await scenario.run(minute);
    expect(await tainted()).toEqual(before);
    expect(await scenario.claims()).toHaveLength(6);
    await scenario.until('all nodes are others', isWell(3));
    expect(names(await scenario.nodes()).some((name) => before.includes(name))).toBe(false);
  });

  test('starts although pods of a deleted node are on their way to a node that is not ready yet', async () => {
    const [first = ''] = await cluster(1, {}, { bootTime: '3m' });
    await scenario.deployment('other', 1, {}, { cpu: '7' });
    await scenario.until('both run', async () => (await scenario.readyPods()).length === 2);
    const [second = ''] = names(await scenario.nodes()).filter((name) => name !== first);
    // Allows nothing now, but is not made to: the pod counts as one that will move.
    await budgetOf('web', { minAvailable: 1 });
    await scenario.kube.delete(resources.nodes, { name: first });
    await scenario.run(30_000);
    expect(await scenario.claims()).toHaveLength(3);
    await drift();
    await scenario.run(30_000);
    expect(await tainted()).toEqual([first, second].sort());
  });

  test('is given up when the launch fails: the taint goes, the node stays', async () => {
    const before = await cluster(1);
    await setFaults({ insufficientCapacity: [{}] });
    await drift();
    await scenario.until('a launch failed', async () => scenario.eventsOf('InsufficientCapacityError').length > 0);
    await editPool({ disruption: { budgets: [{ nodes: '0' }] } });
    await scenario.run(30_000);
    expect(await tainted()).toEqual([]);
    expect(names(await scenario.nodes())).toEqual(before);
    expect(await disorder(scenario, 1)).toEqual([]);
  });

  test('is given up after ten minutes when its replacement never registers', async () => {
    const before = await cluster(1);
    await setFaults({ registration: { percent: 100 } });
    await drift();
    await scenario.run(9 * minute);
    expect(await tainted()).toEqual(before);
    await editPool({ disruption: { budgets: [{ nodes: '0' }] } });
    await scenario.run(2 * minute);
    expect(await tainted()).toEqual([]);
    expect(scenario.metrics.value('karpenter_voluntary_disruption_queue_failures_total')).toBe(1);
    // The claim that never became a node is given up by liveness.
    await scenario.until('one claim is left', isWell(1), 20 * minute);
    expect(names(await scenario.nodes())).toEqual(before);
  });

  test('is given up after ten minutes when its replacement never gets ready, and what came stays', async () => {
    const before = await cluster(1);
    await editPool({ template: { spec: { startupTaints: [{ key: 'example.com/agent', effect: 'NoSchedule' }] } } });
    await scenario.run(9 * minute);
    expect(await tainted()).toEqual(before);
    await editPool({ disruption: { budgets: [{ nodes: '0' }] } });
    await scenario.run(2 * minute);
    expect(await tainted()).toEqual([]);
    expect(await scenario.nodes()).toHaveLength(2);
    expect(await scenario.readyPods('web')).toHaveLength(1);
  });

  test('that a process left behind is tidied up by the next, and begun anew', async () => {
    const before = await cluster(1, {}, { bootTime: '2m' });
    await drift();
    await scenario.until('the node is tainted', async () => (await tainted()).length === 1);
    scenario.process.kill();
    await editPool({ disruption: { budgets: [{ nodes: '0' }] } });
    await scenario.run(5_000);
    expect(await tainted()).toEqual(before);
    await scenario.restart();
    await scenario.run(15_000);
    expect(await tainted()).toEqual([]);
    await editPool({ disruption: { budgets: everything, consolidateAfter: '0s' } });
    await scenario.until('the node is another', async () => !names(await scenario.nodes()).includes(before[0] ?? ''));
    await scenario.until('all is well', isWell(1));
  });
});

describe('between deciding and acting', () => {
  /** Two nodes with a small pod each that would fit on one; decides within ten seconds, acts fifteen later. */
  const decided = async (): Promise<void> => {
    scenario = await openScenario({ bootTime: '5s', catalogue: smallCatalogue });
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }];
    await scenario.pool('default', { disruption: { consolidateAfter: '0s', budgets: everything } }, { requirements });
    await scenario.deployment('web', 1, {}, { cpu: '6' });
    await scenario.until('the pod runs', async () => (await scenario.readyPods('web')).length === 1);
    await scenario.deployment('small', 1, { terminationGracePeriodSeconds: 0 }, { cpu: '100m' });
    await scenario.until('both run', async () => (await scenario.readyPods()).length === 2);
    await scenario.scale('web', 0);
    await scenario.until(
      'replacing the node is considered',
      async () => scenario.eventsOf('ConsolidationCandidate').length > 0,
      2 * minute,
    );
    expect(commands()).toEqual([]);
  };

  test('nothing happens: the node is replaced', async () => {
    await decided();
    await scenario.run(16_000);
    expect(commands()).toEqual(['underutilized replace 1']);
  });

  test('a pod that comes to say do-not-disrupt cancels', async () => {
    await decided();
    const [pod] = await scenario.readyPods('small');
    await annotatePod(pod?.metadata.name ?? '', 'true');
    await scenario.run(2 * minute);
    expect(commands()).toEqual([]);
    expect(scenario.eventsOf('ConsolidationRejected')[0]?.message).toMatch(/reason: churn/);
  });

  test('a PodDisruptionBudget that blocks cancels', async () => {
    await decided();
    await budgetOf('small', { maxUnavailable: 0 });
    await scenario.run(2 * minute);
    expect(commands()).toEqual([]);
  });

  test('a budget that is closed cancels', async () => {
    await decided();
    await editPool({ disruption: { budgets: [{ nodes: '0' }] } });
    await scenario.run(2 * minute);
    expect(commands()).toEqual([]);
    expect(scenario.eventsOf('ConsolidationRejected')[0]?.message).toMatch(/reason: budget/);
  });
});

describe('budgets', () => {
  test('count a node that someone deleted, until it is gone', async () => {
    const [first = '', second = ''] = await cluster(2, { budgets: [{ nodes: '1' }] });
    const [pod] = (await scenario.readyPods('web')).filter(({ spec }) => spec?.nodeName === first);
    await annotatePod(pod?.metadata.name ?? '', 'true');
    await scenario.kube.delete(resources.nodes, { name: first });
    await scenario.run(minute);
    await drift();
    await scenario.run(3 * minute);
    expect(await tainted()).toEqual([first]);
    await annotatePod(pod?.metadata.name ?? '', null);
    await scenario.until('the second goes too', async () => !names(await scenario.nodes()).includes(second));
  });

  test('count a node that is not ready', async () => {
    const [first = ''] = await cluster(2, { budgets: [{ nodes: '1' }] });
    const body = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
    await scenario.kube.patch(resources.nodes, { name: first }, { type: 'strategic', body }, { subresource: 'status' });
    await drift();
    await scenario.run(3 * minute);
    expect(await tainted()).toEqual([]);
  });

  test('on schedule block while they are active, and only then', async () => {
    // From the fifth to the tenth minute of every quarter of an hour.
    const before = await cluster(1, {
      budgets: [...everything, { nodes: '0', schedule: '5,20,35,50 * * * *', duration: '5m' }],
    });
    const intoWindow = (offsetMs: number): number => (scenario.clock.now() - offsetMs) % (15 * minute);
    await scenario.run(15 * minute - intoWindow(5.5 * minute));
    await drift();
    await scenario.run(4 * minute);
    expect(names(await scenario.nodes())).toEqual(before);
    await scenario.run(3 * minute);
    expect(names(await scenario.nodes())).not.toEqual(before);
  });

  test('do not limit expiration', async () => {
    const before = await cluster(2, { budgets: [{ nodes: '0' }] }, { template: { expireAfter: '10m' } });
    await scenario.run(12 * minute);
    await scenario.until('all is well', isWell(2));
    expect(names(await scenario.nodes()).some((name) => before.includes(name))).toBe(false);
  });
});

describe('drift', () => {
  test('of a node with a protected pod waits for no longer than the termination grace period', async () => {
    const [before = ''] = await cluster(1, {}, { template: { terminationGracePeriod: '5m' } });
    const [pod] = await scenario.readyPods('web');
    await annotatePod(pod?.metadata.name ?? '', 'true');
    await drift();
    await scenario.run(4 * minute);
    expect((await scenario.readyPods('web')).map(({ metadata }) => metadata.name)).toContain(pod?.metadata.name);
    expect(await tainted()).toEqual([before]);
    await scenario.until('the node is gone', async () => !names(await scenario.nodes()).includes(before), 4 * minute);
    await scenario.until('all is well', isWell(1));
  });

  test('of an empty node is the business of emptiness, where that is allowed', async () => {
    await cluster(1, { consolidateAfter: '1m' });
    await scenario.scale('web', 0);
    await drift();
    await editPool({ disruption: { budgets: [{ nodes: '100%' }, { nodes: '0', reasons: ['Drifted'] }] } });
    await scenario.until('no node is left', async () => (await scenario.nodes()).length === 0);
    expect(commands()).toEqual(['empty delete 1']);
  });

  test('of a static pool is an exchange one for one, within the budget', async () => {
    scenario = await openScenario({
      bootTime: '20s',
      catalogue: smallCatalogue,
      settings: { featureGates: { StaticCapacity: true } },
    });
    const requirements = [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['c-2x-amd64-linux'] }];
    const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '1' }] };
    await scenario.pool('default', { replicas: 3, disruption }, { requirements });
    await scenario.until(
      'three nodes',
      async () => (await disorder(scenario, 0)).length === 0 && (await scenario.nodes()).length === 3,
    );
    const before = names(await scenario.nodes());
    await drift();
    let most = 0;
    await scenario.until('all nodes are others', async () => {
      const nodes = await scenario.nodes();
      most = Math.max(most, nodes.length);
      const left = nodes.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      expect(left.length).toBeGreaterThanOrEqual(3);
      return !names(nodes).some((name) => before.includes(name));
    });
    expect(most).toBe(4);
    await scenario.run(5 * minute);
    expect(await scenario.nodes()).toHaveLength(3);
  });
});

test('a waiting pod that fits an empty node keeps it', async () => {
  await cluster(1, { consolidateAfter: '1m' });
  const [node] = await scenario.nodes();
  await scenario.scale('web', 0);
  await scenario.until(
    'the node is consolidatable',
    async () =>
      (await scenario.claims())[0]?.status?.conditions?.some(({ type }) => type === 'Consolidatable') === true,
  );
  await scenario.run(5_000);
  await scenario.deployment('late', 1, {}, { cpu: '100m' });
  await scenario.run(45_000);
  expect(names(await scenario.nodes())).toEqual([node?.metadata.name]);
  expect((await scenario.readyPods('late'))[0]?.spec?.nodeName).toBe(node?.metadata.name);
});

test('nodes whose pods are drained keep to PodDisruptionBudgets, one pod at a time', async () => {
  const before = await cluster(3);
  await budgetOf('web', { maxUnavailable: 1 });
  await drift();
  let least = 3;
  await scenario.until('all nodes are others', async () => {
    least = Math.min(least, (await scenario.readyPods('web')).length);
    return !names(await scenario.nodes()).some((name) => before.includes(name));
  });
  expect(least).toBe(2);
  await scenario.until('all is well', isWell(3));
});
