// What keeps nodes where they are: budgets, whole or by reason or by schedule; pods and nodes that say do-not-disrupt;
// PodDisruptionBudgets; and what gets past them.
import { describe, expect, test } from 'vitest';
import { all } from './harness/api.ts';
import {
  apart,
  drift,
  isTainted,
  keeps,
  nameOf,
  othersThan,
  patience,
  protect,
  reported,
  setBudgets,
  settledNode,
  settledNodes,
} from './harness/leaving.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();

/** A pool with these budgets and one node with one pod of `web`. */
async function oneNode(name: string, disruption: object = {}, template: object = {}) {
  const room = await world.room(name);
  const pool = await room.pool({ spec: { disruption: { consolidateAfter: 'Never', ...disruption } }, template });
  await room.deployment('web');
  const [pod] = await room.runs('web', 1);
  return { room, pool, pod: nameOf(pod ?? { metadata: {} }), node: await settledNode(room) };
}

describe.concurrent('a budget', () => {
  test('of zero blocks drift and says so', async () => {
    const { room, pool, node } = await oneNode('budget-drift', { budgets: [{ nodes: '0' }] });
    await drift(room, pool);
    await reported(room, pool, 'DisruptionBlocked', /No allowed disruptions for disruption reason Drifted/);
    await keeps(room, node);
    await setBudgets(room, pool, [{ nodes: '1' }]);
    await othersThan(room, [node]);
  });

  test('for one reason leaves the others alone', async () => {
    const budgets = [{ nodes: '100%' }, { nodes: '0', reasons: ['Drifted'] }];
    const { room, pool, node } = await oneNode('budget-reason', { consolidateAfter: '0s', budgets });
    await drift(room, pool);
    await keeps(room, node);
    await room.scale('web', 0);
    await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]), patience);
  });

  test('on schedule blocks within its time', async () => {
    const budgets = [{ nodes: '0', schedule: '* * * * *', duration: '10m' }];
    const { room, pool, node } = await oneNode('budget-schedule', { budgets });
    await drift(room, pool);
    await keeps(room, node);
  });

  test('on schedule does not block outside its time', async () => {
    // Half a year away from now, whenever now is.
    const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
    const budgets = [{ nodes: '100%' }, { nodes: '0', schedule: `0 0 1 ${month} *`, duration: '10m' }];
    const { room, pool, node } = await oneNode('budget-off-schedule', { budgets });
    await drift(room, pool);
    await othersThan(room, [node]);
  });

  test('of one lets drifted nodes go one after the other', async () => {
    const room = await world.room('budget-one');
    const pool = await room.pool({ spec: { disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '1' }] } } });
    await room.deployment('web', { replicas: 3, spec: apart('web') });
    await room.runs('web', 3);
    const old = await settledNodes(room, 3);
    await drift(room, pool);
    const names = old.map(nameOf);
    let most = 0;
    await room.until(
      'every old node is gone',
      async () => {
        const nodes = await room.nodes();
        const out = nodes.filter(
          (node) => names.includes(nameOf(node)) && (isTainted(node) || node.metadata.deletionTimestamp !== undefined),
        );
        most = Math.max(most, out.length);
        expect(nodes.filter((node) => names.includes(nameOf(node)))).toEqual([]);
      },
      patience,
    );
    expect(most).toBe(1);
    await room.runs('web', 3);
  });

  test('does not hold up someone who deletes the node', async () => {
    const { room, node } = await oneNode('budget-by-hand', { budgets: [{ nodes: '0' }] });
    await room.api.remove(all.nodes, nameOf(node));
    await othersThan(room, [node]);
    await room.runs('web', 1);
  });
});

describe.concurrent('do-not-disrupt', () => {
  test('on a pod keeps its node, until it is taken off', async () => {
    const { room, pool, pod, node } = await oneNode('pod-true');
    await protect(room, pod, 'true');
    await drift(room, pool);
    await reported(
      room,
      nameOf(node),
      'DisruptionBlocked',
      /Pod has "karpenter\.sh\/do-not-disrupt" annotation \(Pod=pod-true\//,
    );
    await keeps(room, node);
    await protect(room, pod, null);
    await othersThan(room, [node]);
  });

  test('for a while keeps the node that long', async () => {
    const { room, pool, pod, node } = await oneNode('pod-duration');
    await protect(room, pod, '90s');
    await drift(room, pool);
    await keeps(room, node, 30);
    await othersThan(room, [node]);
  });

  test('that cannot be read protects nothing', async () => {
    const { room, pool, pod, node } = await oneNode('pod-nonsense');
    await protect(room, pod, 'always');
    await drift(room, pool);
    await othersThan(room, [node]);
  });

  test('on a node keeps it, whatever the reason', async () => {
    const { room, pool, node } = await oneNode('node-true', {}, { terminationGracePeriod: '30s' });
    const annotate = (value: string | null) =>
      room.api.patch(all.nodes, nameOf(node), { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': value } } });
    await annotate('true');
    await drift(room, pool);
    const text = /Disruption is blocked through the "karpenter\.sh\/do-not-disrupt" annotation/;
    await reported(room, nameOf(node), 'DisruptionBlocked', text);
    await keeps(room, node);
    await annotate(null);
    await othersThan(room, [node]);
  });

  test('on a pod gives way to drift where the claim has a termination grace period', async () => {
    const { room, pool, pod, node } = await oneNode('pod-deadline', {}, { terminationGracePeriod: '20s' });
    await protect(room, pod, 'true');
    await drift(room, pool);
    await othersThan(room, [node]);
    await room.runs('web', 1);
  });
});

describe.concurrent('a PodDisruptionBudget', () => {
  test('that allows nothing keeps the node and is named', async () => {
    const { room, pool, node } = await oneNode('pdb-zero');
    await room.budget('web', { maxUnavailable: 0 });
    await drift(room, pool);
    await reported(
      room,
      nameOf(node),
      'DisruptionBlocked',
      /Pdb prevents pod evictions \(PodDisruptionBudget=\[pdb-zero\/web\]\)/,
    );
    await keeps(room, node);
    await room.api.remove(all.podDisruptionBudgets, 'web', room.name);
    await othersThan(room, [node]);
  });

  test('about pods that are not healthy keeps them, unless it always allows those', async () => {
    const room = await world.room('pdb-unhealthy');
    const pool = await room.pool();
    await room.deployment('web', { spec: { readinessGates: [{ conditionType: 'example.com/never' }] } });
    const node = await settledNode(room);
    await room.budget('web', { minAvailable: 1 });
    await drift(room, pool);
    await reported(room, nameOf(node), 'DisruptionBlocked', /Pdb prevents pod evictions/);
    await keeps(room, node, 20);
    await room.budget('web', { minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    await othersThan(room, [node]);
  });

  test('beside another about the same pod keeps the node', async () => {
    const { room, pool, node } = await oneNode('pdb-two');
    await room.budget('web', { maxUnavailable: 1 });
    await room.apply({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'second', namespace: room.name },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await drift(room, pool);
    await reported(room, nameOf(node), 'DisruptionBlocked', /Eviction does not support multiple PDBs/);
    await keeps(room, node, 20);
  });

  test('is kept to while a node drains', async () => {
    const room: Room = await world.room('pdb-drain');
    const pool = await room.pool();
    await room.deployment('web', { replicas: 4 });
    await room.runs('web', 4);
    const node = await settledNode(room);
    await room.budget('web', { maxUnavailable: 1 });
    await drift(room, pool);
    let least = 4;
    await room.until(
      'the old node is gone',
      async () => {
        least = Math.min(least, (await room.ready('web')).length);
        expect((await room.nodes()).map(nameOf)).not.toContain(nameOf(node));
      },
      patience,
    );
    expect(least).toBeGreaterThanOrEqual(3);
    await room.runs('web', 4);
  });
});
