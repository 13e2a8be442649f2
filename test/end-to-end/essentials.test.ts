// A representative dozen of every kind of scenario, for each run of the tests; the full lists are in *.long.test.ts.
import { describe, expect, test } from 'vitest';
import { claimScenarios } from './claims.ts';
import { all, conditionOf } from './harness/api.ts';
import { nodeClassRef, ofType } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld({ flags: { 'feature-gates': 'StaticCapacity=true' } });

// By itself: nominations are reported at a limited rate, and the others below would use it up.
test('a pod names the claim it was planned for', async () => {
  const room = await world.room('nominated');
  await room.pool();
  await room.pod('one');
  await room.runs('one', 1);
  const [claim] = await room.claims();
  await room.until('it is notified', async () => {
    const [event] = await room.events('Nominated', 'one');
    expect(event).toMatchObject({ type: 'Normal', source: { component: 'karpenter' } });
    expect(event?.message).toMatch(new RegExp(`^Pod should schedule on: nodeclaim/${claim?.metadata.name}`));
  });
});

claimScenarios(world);

describe.concurrent('pods and nodes', () => {
  test('a Deployment gets a node, and the node goes when the Deployment does', async () => {
    const room = await world.room('first');
    await room.pool({
      spec: { disruption: { consolidateAfter: '0s' } },
      requirements: [ofType('c-4x-amd64-linux', 'm-4x-amd64-linux')],
    });
    await room.deployment('web', { replicas: 3, cpu: '500m' });
    await room.runs('web', 3);
    const nodes = await room.initializedNodes();
    expect(nodes.map(({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type'])).toEqual([
      'c-4x-amd64-linux',
    ]);
    await room.scale('web', 0);
    await room.until('no node and no claim is left', async () => {
      expect(await room.nodes()).toEqual([]);
      expect(await room.claims()).toEqual([]);
    });
  });

  test('a deleted node drains by its budget while its pods get another, and goes', async () => {
    const room = await world.room('drained');
    await room.pool();
    await room.deployment('web', { replicas: 3 });
    await room.budget('web', { maxUnavailable: 1 });
    await room.runs('web', 3);
    const [node] = await room.nodes();
    await world.api.remove(all.nodes, node?.metadata.name ?? '');
    let least = 3;
    await room.until('the node is gone', async () => {
      least = Math.min(least, (await room.ready('web')).length);
      expect(await world.api.find(all.nodes, node?.metadata.name ?? '')).toBeUndefined();
    });
    expect(least).toBeGreaterThanOrEqual(2);
    await room.runs('web', 3);
    expect(await room.claims()).toHaveLength(1);
  });

  test('a deadline ends the wait for a protected pod', async () => {
    const room = await world.room('deadline');
    await room.pool({ template: { terminationGracePeriod: '10s' } });
    await room.pod('guarded', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    await room.runs('guarded', 1);
    const [claim] = await room.claims();
    await world.api.remove(all.nodeClaims, claim?.metadata.name ?? '');
    await room.until('the claim is gone', async () => expect(await room.claims()).toEqual([]));
    await room.until('the pod was notified', async () => {
      const [event] = await room.events('Disrupted', 'guarded');
      expect(event?.message ?? '').toMatch(/^Deleting the pod to accommodate the terminationTime/);
    });
  });

  test('nodes of an old template are replaced', async () => {
    const room = await world.room('old-template');
    await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    const [old] = await room.claims();
    await world.api.patch(all.nodePools, room.name, {
      spec: { template: { metadata: { annotations: { version: 'two' } } } },
    });
    await room.until('the old claim is gone', async () =>
      expect(await world.api.find(all.nodeClaims, old?.metadata.name ?? '')).toBeUndefined(),
    );
    await room.runs('web', 2);
    expect((await room.claims()).map(({ metadata }) => metadata.annotations?.['version'])).toEqual(['two']);
  });
});

describe.concurrent('pools', () => {
  test('a pool without its node class says so, and works once it is there', async () => {
    const room = await world.room('classless');
    await room.pool({ unready: true, template: { nodeClassRef: { ...nodeClassRef, name: 'coming' } } });
    await room.until('it says so', async () => {
      const pool = await world.api.get(all.nodePools, room.name);
      expect(conditionOf(pool, 'NodeClassReady')).toMatchObject({ status: 'False', reason: 'NodeClassNotFound' });
    });
    await room.pod('one');
    await world.api.apply({
      apiVersion: 'karpenter.kwok.sh/v1alpha1',
      kind: 'KWOKNodeClass',
      metadata: { name: 'coming' },
      spec: {},
    });
    await room.runs('one', 1);
  });

  test('a static pool has the nodes kubectl scale asks for', async () => {
    const room = await world.room('replicas');
    await room.pool({ requirements: [ofType('c-2x-amd64-linux')], spec: { replicas: 2 } });
    await room.until('two nodes', async () => expect(await room.initializedNodes()).toHaveLength(2));
    await world.api.kubectl('scale', 'nodepool', room.name, '--replicas=1');
    await room.until('one node', async () => expect(await room.nodes()).toHaveLength(1));
  });

  test('a limit on nodes holds', async () => {
    const room = await world.room('limited');
    await room.pool({ requirements: [ofType('c-2x-amd64-linux')], spec: { weight: 100, limits: { nodes: '1' } } });
    await room.deployment('web', { replicas: 2, cpu: '1' });
    await room.until('the pod left over is notified', async () => {
      const messages = (await room.events('FailedScheduling')).map(({ message }) => message).join('\n');
      expect(messages).toContain('node limits have been exhausted for nodepool (NodePool=limited)');
    });
    await room.until('the other runs', async () => expect(await room.ready('web')).toHaveLength(1));
    expect(await room.claims()).toHaveLength(1);
  });
});

// After the scenarios above, which gave it something to count.
test('metrics count what happened', async () => {
  const metrics = await world.controller().metrics();
  const atLeastOne: [string, Record<string, string>][] = [
    ['karpenter_nodeclaims_created_total', { nodepool: 'first', reason: 'provisioned', min_values_relaxed: 'false' }],
    ['karpenter_nodeclaims_terminated_total', { nodepool: 'drained' }],
    ['karpenter_nodeclaims_disrupted_total', { nodepool: 'first', reason: 'empty' }],
    ['karpenter_nodes_created_total', { nodepool: 'first' }],
    ['karpenter_nodes_terminated_total', { nodepool: 'drained' }],
    ['karpenter_nodes_drained_total', { nodepool: 'drained' }],
    ['karpenter_pods_eviction_requests_total', { code: '200' }],
    ['karpenter_pods_drained_total', {}],
    ['karpenter_voluntary_disruption_decisions_total', { decision: 'delete', reason: 'empty' }],
    ['karpenter_scheduler_scheduling_duration_seconds_count', { controller: 'provisioner' }],
    ['karpenter_pods_startup_duration_seconds_count', {}],
    ['karpenter_cluster_state_synced', {}],
  ];
  for (const [name, labels] of atLeastOne) expect(metrics.sum(name, labels), name).toBeGreaterThan(0);
});
