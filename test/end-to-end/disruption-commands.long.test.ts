// Commands on their way: replacements that do not come or do not get ready, interruptions, and a controller that is
// killed in the middle. One scenario after the other where the controller is killed.
import { describe, expect, test } from 'vitest';
import { all } from './harness/api.ts';
import { drift, isTainted, keeps, nameOf, othersThan, patience, settledNode } from './harness/leaving.ts';
import { inValues, ofType } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();

/** A node class of the room's own, so that its faults are no one else's. */
async function nodeClass(room: Room, faults: object | null): Promise<{ nodeClassRef: object }> {
  const ref = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: room.name };
  if ((await room.api.find(all.nodeClasses, room.name)) !== undefined) {
    await room.api.patch(all.nodeClasses, room.name, { spec: { faults } });
    return { nodeClassRef: ref };
  }
  const spec = faults === null ? {} : { faults };
  await room.apply({
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: room.name },
    spec,
  });
  return { nodeClassRef: ref };
}

/** A pool with a node class of its own and one node with one pod of `web`. */
async function oneNode(name: string, parts: { spec?: object; requirements?: object[] } = {}) {
  const room = await world.room(name);
  const pool = await room.pool({ ...parts, template: await nodeClass(room, null) });
  await room.deployment('web');
  await room.runs('web', 1);
  return { room, pool, node: await settledNode(room) };
}

const tainted = (room: Room, node: string, is: boolean): Promise<void> =>
  room.until(
    `${node} is ${is ? '' : 'not '}tainted`,
    async () => expect(isTainted(await room.api.get(all.nodes, node))).toBe(is),
    patience,
  );
const replacementOf = (room: Room, node: string) =>
  room.until(
    'a replacement is asked for',
    async () => {
      const others = (await room.claims()).filter(({ status }) => status?.nodeName !== node);
      expect(others).toHaveLength(1);
      return nameOf(others[0] ?? { metadata: {} });
    },
    patience,
  );

describe.concurrent('a replacement', () => {
  test('whose node never appears leaves the old node in place; when it is given up, everything is as before', async () => {
    const { room, pool, node } = await oneNode('never-registers');
    await nodeClass(room, { registration: { percent: 100 } });
    await drift(room, pool);
    await tainted(room, nameOf(node), true);
    const replacement = await replacementOf(room, nameOf(node));
    await room.stays('the old node is there', 20, async () => {
      expect((await room.api.get(all.nodes, nameOf(node))).metadata.deletionTimestamp).toBeUndefined();
    });
    await setBudgetZero(room, pool);
    await room.api.remove(all.nodeClaims, replacement);
    await tainted(room, nameOf(node), false);
    await keeps(room, node, 15);
    await room.runs('web', 1);
  });

  test('that does not get ready is waited for, and the old node goes once it is', async () => {
    const { room, pool, node } = await oneNode('never-initialises');
    const startupTaints = [{ key: 'example.com/agent', effect: 'NoSchedule' }];
    await room.api.patch(all.nodePools, pool, { spec: { template: { spec: { startupTaints } } } });
    await tainted(room, nameOf(node), true);
    const fresh = await room.until(
      'the new node is there',
      async () => {
        const others = (await room.nodes()).filter((each) => nameOf(each) !== nameOf(node));
        expect(others.map((each) => each.metadata.labels?.['karpenter.sh/registered'])).toEqual(['true']);
        return nameOf(others[0] ?? { metadata: {} });
      },
      patience,
    );
    await room.stays('the old node is there', 20, async () => {
      expect((await room.api.get(all.nodes, nameOf(node))).metadata.deletionTimestamp).toBeUndefined();
    });
    const taints = ((await room.api.get(all.nodes, fresh)).spec?.taints ?? []).filter(
      ({ key }) => key !== 'example.com/agent',
    );
    await room.api.patch(all.nodes, fresh, { spec: { taints } });
    await othersThan(room, [node]);
    await room.runs('web', 1);
  });

  test('that the cloud has no capacity for leaves the old node in place and unmarked', async () => {
    const { room, pool, node } = await oneNode('no-capacity');
    await nodeClass(room, { insufficientCapacity: [{}] });
    await drift(room, pool);
    await room.until(
      'a launch failed',
      async () => {
        const failed = (await room.api.list(all.events)).filter(
          ({ reason, involvedObject }) =>
            reason === 'InsufficientCapacityError' && involvedObject.name.startsWith('no-capacity'),
        );
        expect(failed.length).toBeGreaterThan(0);
      },
      patience,
    );
    await setBudgetZero(room, pool);
    await tainted(room, nameOf(node), false);
    await room.until('no claim is left over', async () => expect(await room.claims()).toHaveLength(1), patience);
    await keeps(room, node, 15);
  });

  test('is not asked for twice while a command waits for it', async () => {
    const { room, pool, node } = await oneNode('once-only');
    await nodeClass(room, { launch: { delay: '25s' } });
    await drift(room, pool);
    await room.until(
      'the old node is gone',
      async () => expect((await room.nodes()).map(nameOf)).not.toContain(nameOf(node)),
      patience,
    );
    // A command may carry pods of other rooms along and be given up with them: each asks for one claim here.
    const lines = world.controller().output().split('\n');
    const commands = lines.filter((line) => /"disrupting node\(s\)"/.test(line) && line.includes(nameOf(node)));
    const made = lines.filter((line) => line.includes('"created nodeclaim"') && line.includes(`"${room.name}"`));
    expect(commands.length).toBeGreaterThan(0);
    expect(made).toHaveLength(1 + commands.length);
    await room.runs('web', 1);
  });
});

test.concurrent('a spot machine that is taken back while its pool is consolidated: its pods run on, nothing is left over', async () => {
  const types = ofType('c-2x-amd64-linux', 'c-8x-amd64-linux');
  const { room, node } = await oneNode('interrupted', {
    spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    requirements: [types, inValues('karpenter.sh/capacity-type', 'spot')],
  });
  await room.api.remove(all.nodeClaims, (await room.claims()).map(nameOf)[0] ?? '');
  await room.api.patch(all.nodes, nameOf(node), { metadata: { annotations: { 'kwok.x-k8s.io/node': 'gone' } } });
  await othersThan(room, [node]);
  await room.runs('web', 1);
});

describe('a controller that is killed', () => {
  test('while a replacement is on its way: the next one finishes, and no mark or claim is left over', async () => {
    // What the first process asked for is one too many afterwards: consolidation takes it away again.
    const { room, pool, node } = await oneNode('killed-waiting', {
      spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
    });
    await nodeClass(room, { launch: { delay: '8s' } });
    await drift(room, pool);
    await tainted(room, nameOf(node), true);
    await world.controller().kill();
    await nodeClass(room, null);
    await world.start();
    await othersThan(room, [node]);
    await room.runs('web', 1);
    await room.until('one claim is left', async () => expect(await room.claims()).toHaveLength(1), patience);
  });

  test('while a node drains: the next one goes on', async () => {
    const { room, pool, node } = await oneNode('killed-draining');
    await room.budget('web', { maxUnavailable: 0 });
    await room.api.remove(all.nodes, nameOf(node));
    await tainted(room, nameOf(node), true);
    await world.controller().kill();
    await room.api.remove(all.podDisruptionBudgets, 'web', room.name);
    await world.start();
    await othersThan(room, [node]);
    await room.runs('web', 1);
    expect(pool).toBe(room.name);
  });
});

function setBudgetZero(room: Room, pool: string): Promise<unknown> {
  return room.api.patch(all.nodePools, pool, { spec: { disruption: { budgets: [{ nodes: '0' }] } } });
}
