// Why nodes go: empty, underutilized, drifted, expired; what comes in their place, and which events follow.
import { describe, expect, test } from 'vitest';
import { all } from './harness/api.ts';
import {
  apart,
  claimBecomes,
  drift,
  keeps,
  nameOf,
  othersThan,
  patience,
  protect,
  reported,
  settledNode,
  settledNodes,
} from './harness/leaving.ts';
import { inValues, ofType } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld();
const quickly = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };
const small = 'c-2x-amd64-linux';
const large = 'c-8x-amd64-linux';
const onDemand = inValues('karpenter.sh/capacity-type', 'on-demand');

describe.concurrent('emptiness', () => {
  test('takes all empty nodes of a pool at once where the budget allows', async () => {
    const room = await world.room('all-empty');
    const pool = await room.pool({ spec: { disruption: { ...quickly, consolidateAfter: '30s' } } });
    await room.deployment('web', { replicas: 3, spec: apart('web') });
    await room.runs('web', 3);
    await settledNodes(room, 3);
    await room.scale('web', 0);
    await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]), patience);
    const commands = world
      .controller()
      .logs()
      .filter((line) => line.message === 'disrupting node(s)' && String(line['command']).includes(`[${pool}]`));
    expect(commands.map((line) => line['disrupted-node-count'])).toEqual([3]);
  });

  test('waits for consolidateAfter, and marks the claim when it is over', async () => {
    const room = await world.room('consolidate-after');
    await room.pool({ spec: { disruption: { ...quickly, consolidateAfter: '90s' } } });
    await room.deployment('web');
    await room.runs('web', 1);
    const node = await settledNode(room);
    await room.scale('web', 0);
    await keeps(room, node, 60);
    await claimBecomes(room, 'Consolidatable', 'Consolidatable');
    await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]), patience);
  });

  test('never comes to a pool that says Never', async () => {
    const room = await world.room('never');
    await room.pool();
    await room.deployment('web');
    await room.runs('web', 1);
    const node = await settledNode(room);
    await room.scale('web', 0);
    await reported(room, nameOf(node), 'Unconsolidatable', /NodePool "never" has consolidation disabled/);
    await keeps(room, node);
  });

  test('leaves a node alone that a pending pod is nominated for or bound to meanwhile', async () => {
    const room = await world.room('used-again');
    await room.pool({ spec: { disruption: { ...quickly, consolidateAfter: '20s' } } });
    await room.deployment('web');
    await room.runs('web', 1);
    const node = await settledNode(room);
    await room.scale('web', 0);
    await claimBecomes(room, 'Consolidatable', 'Consolidatable');
    await room.pod('late');
    await protect(room, 'late', 'true');
    await room.runs('late', 1);
    expect((await room.pods('late'))[0]?.spec?.nodeName).toBe(nameOf(node));
    await keeps(room, node);
  });
});

describe.concurrent('consolidation', () => {
  test('removes a node whose pods fit on another', async () => {
    const room = await world.room('fit-elsewhere');
    await room.pool({ spec: { disruption: { ...quickly, consolidateAfter: '20s' } }, requirements: [ofType(small)] });
    await room.deployment('big', { replicas: 2, cpu: '1100m' });
    await room.runs('big', 2);
    const [first, second] = await settledNodes(room, 2);
    const cordon = (node: typeof first, unschedulable: boolean) =>
      room.api.patch(all.nodes, nameOf(node ?? { metadata: {} }), { spec: { unschedulable } });
    await cordon(second, true);
    await room.deployment('one');
    await room.runs('one', 1);
    await cordon(second, false);
    await cordon(first, true);
    await room.deployment('two');
    await room.runs('two', 1);
    await cordon(first, false);
    await room.scale('big', 0);
    await room.until('one node is left', async () => expect(await room.nodes()).toHaveLength(1), patience);
    await room.runs('one', 1);
    await room.runs('two', 1);
  });

  test('replaces a node by a cheaper one that holds its pods', async () => {
    const room = await world.room('cheaper');
    await room.pool({ spec: { disruption: quickly }, requirements: [ofType(small, large), onDemand] });
    await room.deployment('web', { cpu: '6' });
    await room.runs('web', 1);
    const old = await settledNode(room);
    await room.deployment('web', { cpu: '500m' });
    const [fresh] = await othersThan(room, [old]);
    expect(fresh?.metadata.labels?.['node.kubernetes.io/instance-type']).toBe(small);
    await room.runs('web', 1);
  });

  test('leaves a node alone while a pod on it is protected, and takes it when it is not', async () => {
    const room = await world.room('unprotected');
    await room.pool({ spec: { disruption: quickly }, requirements: [ofType(small, large), onDemand] });
    await room.deployment('web', { cpu: '6' });
    await room.runs('web', 1);
    const old = await settledNode(room);
    await room.deployment('other');
    const [pod] = await room.runs('other', 1);
    await protect(room, nameOf(pod ?? { metadata: {} }), 'true');
    await room.scale('web', 0);
    await reported(room, nameOf(old), 'DisruptionBlocked', /Pod has "karpenter\.sh\/do-not-disrupt" annotation/);
    await keeps(room, old, 20);
    await protect(room, nameOf(pod ?? { metadata: {} }), null);
    await othersThan(room, [old]);
    await room.runs('other', 1);
  });

  test('under WhenEmpty leaves a node alone that is not empty, and says so', async () => {
    const room = await world.room('when-empty');
    await room.pool({
      spec: { disruption: { ...quickly, consolidationPolicy: 'WhenEmpty' } },
      requirements: [ofType(small, large), onDemand],
    });
    await room.deployment('web', { cpu: '6' });
    await room.runs('web', 1);
    const node = await settledNode(room);
    await room.pod('other');
    await room.runs('other', 1);
    await room.scale('web', 0);
    const text = /NodePool "when-empty" has consolidation policy WhenEmpty, but node is not empty/;
    await reported(room, nameOf(node), 'Unconsolidatable', text);
    await keeps(room, node);
  });

  test('under Balanced replaces an oversized node and tells the score', async () => {
    const room = await world.room('balanced');
    const pool = await room.pool({
      spec: { disruption: { ...quickly, consolidationPolicy: 'Balanced' } },
      requirements: [ofType(small, large), onDemand],
    });
    await room.deployment('web', { cpu: '6' });
    await room.runs('web', 1);
    const old = await settledNode(room);
    await room.deployment('web', { cpu: '500m' });
    await othersThan(room, [old]);
    const approved = (await room.api.list(all.events)).filter(
      ({ reason, involvedObject }) => reason === 'ConsolidationApproved' && involvedObject.name.includes(pool),
    );
    expect(approved.map(({ message }) => message).join('\n')).toMatch(/score \d+\.\d\d >= threshold 0\.50 \(k: 2, /);
  });

  test('keeps a node when cheaper types would not satisfy minValues', async () => {
    const room = await world.room('min-values');
    await room.pool({
      spec: { disruption: quickly },
      requirements: [{ ...ofType(small, 'c-4x-amd64-linux', 'm-4x-amd64-linux', large), minValues: 3 }, onDemand],
    });
    await room.deployment('web', { cpu: '3' });
    await room.runs('web', 1);
    const node = await settledNode(room);
    await room.pod('other');
    await room.runs('other', 1);
    await room.scale('web', 0);
    await reported(room, nameOf(node), 'Unconsolidatable', /Filtering by price: minValues requirement is not met/);
    await keeps(room, node);
  });

  test('does not exchange one spot node for another without its gate', async () => {
    const room = await world.room('spot-to-spot');
    await room.pool({
      spec: { disruption: quickly },
      requirements: [ofType(small, large), inValues('karpenter.sh/capacity-type', 'spot')],
    });
    await room.deployment('web', { cpu: '6' });
    await room.runs('web', 1);
    const node = await settledNode(room);
    await room.pod('other');
    await room.runs('other', 1);
    await room.scale('web', 0);
    await reported(
      room,
      nameOf(node),
      'Unconsolidatable',
      /SpotToSpotConsolidation is disabled, can't replace a spot node/,
    );
    await keeps(room, node);
  });
});

describe.concurrent('drift', () => {
  test('is a changed template, and works where consolidation never does', async () => {
    const room = await world.room('drift-template');
    const pool = await room.pool();
    await room.deployment('web');
    await room.runs('web', 1);
    const old = await settledNode(room);
    await drift(room, pool);
    await claimBecomes(room, 'Drifted', 'NodePoolDrifted');
    await othersThan(room, [old]);
    await room.runs('web', 1);
  });

  test('is a requirement the node no longer satisfies; as many nodes come as its pods need', async () => {
    const room = await world.room('drift-requirements');
    const pool = await room.pool({ requirements: [ofType(large)] });
    await room.deployment('web', { replicas: 3, cpu: '1500m' });
    await room.runs('web', 3);
    const old = await settledNode(room);
    await room.api.patch(all.nodePools, pool, { spec: { template: { spec: { requirements: [ofType(small)] } } } });
    const fresh = await othersThan(room, [old], 3);
    for (const node of fresh) expect(node.metadata.labels?.['node.kubernetes.io/instance-type']).toBe(small);
    await room.runs('web', 3);
  });

  test('of a node without pods needs no replacement', async () => {
    const room = await world.room('drift-empty');
    const pool = await room.pool();
    await room.deployment('web');
    await room.runs('web', 1);
    await settledNode(room);
    await room.scale('web', 0);
    await drift(room, pool);
    await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]), patience);
    await room.until('no claim is left', async () => expect(await room.claims()).toEqual([]));
  });
});

test.concurrent('a node that expires goes whatever the budget says, and its pods get another', async () => {
  const room = await world.room('expires');
  await room.pool({
    spec: { disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '0' }] } },
    template: { expireAfter: '60s' },
  });
  await room.deployment('web');
  await room.runs('web', 1);
  const [old] = await room.initializedNodes();
  await room.until(
    'another node holds the pod',
    async () => {
      const [pod] = await room.ready('web');
      expect(pod?.spec?.nodeName).toBeDefined();
      expect(pod?.spec?.nodeName).not.toBe(nameOf(old ?? { metadata: {} }));
    },
    patience,
  );
});
