import { afterEach, expect, test } from 'vitest';
import { formatTime } from '../../../src/base/index.ts';
import { resources } from '../../../src/ports/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
afterEach(() => scenario.close());

const breakNode = (name: string, type = 'Ready', status = 'False') => {
  const now = formatTime(scenario.clock.now());
  const condition = { type, status, reason: 'Broken', message: '', lastTransitionTime: now };
  return scenario.kube.patch(
    resources.nodes,
    { name },
    { type: 'strategic', body: { status: { conditions: [condition] } } },
    { subresource: 'status' },
  );
};

const onePodPerNode = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ],
};

async function fiveNodes(gates: object, more: { legacyNodeRepair?: boolean } = {}): Promise<string> {
  scenario = await openScenario({ settings: { featureGates: gates as Record<string, boolean>, ...more } });
  await scenario.pool();
  await scenario.deployment('web', 5, onePodPerNode);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 5);
  return (await scenario.nodes())[0]?.metadata.name ?? '';
}

test('a node that stays broken is replaced after ten minutes, and its pods run elsewhere', async () => {
  const name = await fiveNodes({ NodeRepair: true });
  await breakNode(name);
  await scenario.run(590_000);
  expect(await scenario.find(resources.nodes, name)).toBeDefined();
  await scenario.until('the node is gone', async () => (await scenario.find(resources.nodes, name)) === undefined);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 5);
  expect(scenario.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'unhealthy' })).toBe(1);
});

test('the replacement is there before the broken node drains', async () => {
  const name = await fiveNodes({ NodeRepair: true });
  await breakNode(name, 'KWOKUnhealthy', 'True');
  let mostNodes = 0;
  await scenario.until('the node is gone', async () => {
    mostNodes = Math.max(mostNodes, (await scenario.nodes()).length);
    return (await scenario.find(resources.nodes, name)) === undefined;
  });
  expect(mostNodes).toBe(6);
  const decided = { reason: 'unhealthy', decision: 'replace' };
  expect(scenario.metrics.value('karpenter_voluntary_disruption_decisions_total', decided)).toBe(1);
});

test('with legacy-node-repair the broken node goes first', async () => {
  const name = await fiveNodes({ NodeRepair: true }, { legacyNodeRepair: true });
  await breakNode(name);
  await scenario.run(590_000);
  await scenario.until('the node is gone', async () => (await scenario.find(resources.nodes, name)) === undefined);
  expect(scenario.metrics.value('karpenter_voluntary_disruption_decisions_total', { reason: 'unhealthy' }) ?? 0).toBe(
    0,
  );
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 5);
});

test('a node that a reboot may cure is rebooted, keeps its claim and takes pods again; the third time it is replaced', async () => {
  const name = await fiveNodes({ NodeRepair: true });
  const uid = (await scenario.find(resources.nodes, name))?.metadata.uid;
  for (let count = 1; count <= 2; count += 1) {
    await breakNode(name, 'KWOKRebootRequired', 'True');
    await scenario.until(
      `reboot ${count} is over`,
      async () => scenario.metrics.value('karpenter_nodes_reboots_total', { result: 'succeeded' }) === count,
    );
    await breakNode(name, 'KWOKRebootRequired', 'False');
    await scenario.until('the node takes pods again', async () => {
      const node = await scenario.find(resources.nodes, name);
      return node?.metadata.labels?.['karpenter.sh/initialized'] === 'true' && (node.spec?.taints ?? []).length === 0;
    });
  }
  expect((await scenario.find(resources.nodes, name))?.metadata.uid).toBe(uid);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 5);
  await breakNode(name, 'KWOKRebootRequired', 'True');
  await scenario.until('the node is gone', async () => (await scenario.find(resources.nodes, name)) === undefined);
  const decided = (decision: string) =>
    scenario.metrics.value('karpenter_voluntary_disruption_decisions_total', { reason: 'unhealthy', decision });
  expect(decided('reboot')).toBe(2);
  await scenario.until('all pods run', async () => (await scenario.readyPods('web')).length === 5);
});

test('without its gate a broken node stays', async () => {
  const name = await fiveNodes({});
  await breakNode(name);
  await scenario.run(1_200_000);
  expect(await scenario.find(resources.nodes, name)).toBeDefined();
});
