import { describe, expect, test } from 'vitest';
import type { NodeClaim, NodePool } from '../api/index.ts';
import { VirtualClock } from '../base/index.ts';
import { isInitialized, isRegistered } from '../core/index.ts';
import type { Node, Pod } from '../ports/index.ts';
import { Cluster, isLeaving, LaunchLedger, takeSnapshot } from './index.ts';
import { capacityOf } from './machine.ts';

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

function claim(
  name: string,
  over: {
    providerID?: string;
    deleting?: boolean;
    conditions?: [string, string][];
    capacity?: Record<string, string>;
  } = {},
): NodeClaim {
  const { providerID, deleting, conditions = [], capacity } = over;
  return {
    metadata: {
      name,
      labels: { 'karpenter.sh/nodepool': 'default' },
      ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { requirements: [], nodeClassRef, expireAfter: '720h' },
    status: {
      ...(providerID === undefined ? {} : { providerID }),
      ...(capacity === undefined ? {} : { capacity }),
      conditions: conditions.map(([type, status]) => ({
        type,
        status,
        lastTransitionTime: '2026-01-01T00:00:00Z',
        reason: type,
        message: '',
      })),
    },
  } as NodeClaim;
}

function node(
  name: string,
  over: {
    providerID?: string;
    labels?: Record<string, string>;
    capacity?: Record<string, string>;
    deleting?: boolean;
  } = {},
): Node {
  return {
    metadata: {
      name,
      labels: over.labels ?? {},
      ...(over.deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: over.providerID === undefined ? {} : { providerID: over.providerID },
    status: over.capacity === undefined ? {} : { capacity: over.capacity },
  };
}

const pod = (name: string, nodeName?: string): Pod => ({
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
});

const managed = { 'karpenter.sh/nodepool': 'default', 'node.kubernetes.io/instance-type': 'c-1x' };

function cluster() {
  const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 1), settle: async () => {} });
  return { clock, cluster: new Cluster(clock) };
}

describe('joining Nodes and NodeClaims', () => {
  test('a Node and a NodeClaim with one provider id are one machine, whichever comes first', () => {
    const { cluster: state } = cluster();
    state.setClaim(claim('default-a', { providerID: 'kwok://a' }));
    state.setNode(node('a', { providerID: 'kwok://a', labels: managed }));
    state.setNode(node('b', { providerID: 'kwok://b', labels: managed }));
    state.setClaim(claim('default-b', { providerID: 'kwok://b' }));
    expect(state.machines.size).toBe(2);
    expect(state.machines.ofNode('a')).toBe(state.machines.ofClaim('default-a'));
    expect(state.machines.ofNode('b')).toBe(state.machines.ofClaim('default-b'));
  });

  test('an unmanaged Node without a provider id is keyed by its name', () => {
    const { cluster: state } = cluster();
    state.setNode(node('bare'));
    expect(state.machines.get('bare')?.node?.metadata.name).toBe('bare');
  });

  test('a Node with a NodePool label and no provider id is ignored until it has one', () => {
    const { cluster: state } = cluster();
    state.setNode(node('a', { labels: managed }));
    expect(state.machines.size).toBe(0);
    state.setNode(node('a', { labels: managed, providerID: 'kwok://a' }));
    expect(state.machines.ofNode('a')?.key).toBe('kwok://a');
  });

  test('a managed, uninitialized Node without an instance-type label is ignored until it has one', () => {
    const { cluster: state } = cluster();
    const labels = { 'karpenter.sh/nodepool': 'default' };
    state.setNode(node('a', { labels, providerID: 'kwok://a' }));
    expect(state.machines.size).toBe(0);
    state.setNode(node('a', { labels: managed, providerID: 'kwok://a' }));
    expect(state.machines.size).toBe(1);
  });

  test('a changed provider id moves the Node to another machine', () => {
    const { cluster: state } = cluster();
    state.setNode(node('a', { providerID: 'kwok://1' }));
    state.setNode(node('a', { providerID: 'kwok://2' }));
    expect([...state.machines.all()].map((machine) => machine.key)).toEqual(['kwok://2']);
  });

  test('the same name for a Node and a NodeClaim does not confuse', () => {
    const { cluster: state } = cluster();
    state.setNode(node('same', { providerID: 'kwok://1' }));
    state.setClaim(claim('same', { providerID: 'kwok://2' }));
    expect(state.machines.size).toBe(2);
    state.removeNode(node('same'));
    expect(state.machines.ofClaim('same')?.key).toBe('kwok://2');
  });

  test('a machine is gone when neither side is left', () => {
    const { cluster: state } = cluster();
    state.setClaim(claim('c', { providerID: 'kwok://1' }));
    state.setNode(node('n', { providerID: 'kwok://1', labels: managed }));
    state.removeNode(node('n'));
    expect(state.machines.size).toBe(1);
    state.removeClaim(claim('c'));
    expect(state.machines.size).toBe(0);
  });

  test('of several Nodes with one provider id the one that the claim names counts, else the first', () => {
    const { cluster: state } = cluster();
    const own = node('own', { providerID: 'kwok://1', labels: managed });
    const foreign = node('foreign', { providerID: 'kwok://1', labels: managed });
    const counts = (): string | undefined => state.machines.get('kwok://1')?.node?.metadata.name;
    state.setNode(own);
    state.setNode(foreign);
    expect(counts()).toBe('own');
    state.removeNode(own);
    expect(counts()).toBe('foreign');
    state.setNode(own);
    const named = claim('c', { providerID: 'kwok://1' });
    state.setClaim({ ...named, status: { ...named.status, nodeName: 'own' } });
    expect(counts()).toBe('own');
    state.setNode({ ...foreign });
    state.setNode({ ...own });
    expect(counts()).toBe('own');
    state.removeNode(foreign);
    state.removeNode(own);
    expect(counts()).toBeUndefined();
    state.removeClaim(named);
    expect(state.machines.size).toBe(0);
  });

  test('of several claims with one provider id the first counts, and another when that one is gone', () => {
    const { cluster: state } = cluster();
    const counts = (): string | undefined => state.machines.get('kwok://1')?.claim?.metadata.name;
    state.setClaim(claim('first', { providerID: 'kwok://1' }));
    state.setClaim(claim('second', { providerID: 'kwok://1' }));
    state.setClaim(claim('third', { providerID: 'kwok://1' }));
    expect(counts()).toBe('first');
    state.setClaim(claim('second', { providerID: 'kwok://2' }));
    state.removeClaim(claim('first'));
    expect(counts()).toBe('third');
    expect(state.machines.ofClaim('second')?.key).toBe('kwok://2');
  });

  test('a claim without a provider id is launching', () => {
    const { cluster: state } = cluster();
    state.setClaim(claim('c'));
    expect([...state.machines.launching()].map((each) => each.metadata.name)).toEqual(['c']);
    state.setClaim(claim('c', { providerID: 'kwok://1' }));
    expect(state.machines.launchingCount).toBe(0);
  });
});

describe('questions', () => {
  test('unmanaged nodes count as registered and initialized', () => {
    const { cluster: state } = cluster();
    state.setNode(node('bare'));
    const machine = state.machines.ofNode('bare');
    expect(machine && isRegistered(machine) && isInitialized(machine)).toBe(true);
  });

  test.each([
    [
      'its claim is deleting',
      claim('c', { providerID: 'p', deleting: true }),
      node('n', { providerID: 'p', labels: managed }),
      true,
    ],
    [
      'its instance is terminating',
      claim('c', { providerID: 'p', conditions: [['InstanceTerminating', 'True']] }),
      undefined,
      true,
    ],
    [
      'its Node is deleting while its claim is not',
      claim('c', { providerID: 'p' }),
      node('n', { providerID: 'p', labels: managed, deleting: true }),
      false,
    ],
    ['its Node is deleting and has no claim', undefined, node('n', { providerID: 'p', deleting: true }), true],
  ])('leaving when %s', (_, theClaim, theNode, expected) => {
    const { cluster: state } = cluster();
    if (theClaim !== undefined) state.setClaim(theClaim);
    if (theNode !== undefined) state.setNode(theNode);
    const machine = state.machines.get('p');
    expect(machine && isLeaving(machine)).toBe(expected);
  });

  test('capacity is the claim’s, filled by the node’s non-zero values, until the node is initialized', () => {
    const { cluster: state } = cluster();
    state.setClaim(claim('c', { providerID: 'p', capacity: { cpu: '4', gpu: '1' } }));
    state.setNode(node('n', { providerID: 'p', labels: managed, capacity: { cpu: '3900m', gpu: '0' } }));
    const machine = state.machines.get('p');
    expect(machine && capacityOf(machine)).toEqual({ cpu: '3900m', gpu: '1' });
    state.setNode(
      node('n', {
        providerID: 'p',
        labels: { ...managed, 'karpenter.sh/initialized': 'true' },
        capacity: { cpu: '3900m' },
      }),
    );
    expect(machine && capacityOf(machine)).toEqual({ cpu: '3900m' });
  });

  test('a nomination ends when its time is over', async () => {
    const { cluster: state, clock } = cluster();
    state.setNode(node('n', { providerID: 'p' }));
    state.nominate('p', 20_000);
    const machine = state.machines.get('p');
    expect(machine && state.isNominated(machine)).toBe(true);
    await clock.runFor(20_000);
    expect(machine && state.isNominated(machine)).toBe(false);
  });
});

describe('pods by node', () => {
  test('a pod is found on the node it is bound to, also when bound later or moved', () => {
    const { cluster: state } = cluster();
    state.setPod(pod('a'));
    state.setPod(pod('a', 'n1'));
    expect([...state.pods.on('n1')]).toHaveLength(1);
    state.setPod(pod('a', 'n2'));
    expect([...state.pods.on('n1')]).toHaveLength(0);
    expect([...state.pods.on('n2')]).toHaveLength(1);
    state.removePod(pod('a'));
    expect([...state.pods.on('n2')]).toHaveLength(0);
  });
});

describe('when verdicts must be looked at again', () => {
  test('binding or deleting a pod, a new node and a changed NodePool move the mark; a repeated object does not', () => {
    const { cluster: state } = cluster();
    const moves = (change: () => void): boolean => {
      const before = state.changedAt();
      change();
      return state.changedAt() > before;
    };
    expect(moves(() => state.setNode(node('n', { providerID: 'p' })))).toBe(true);
    expect(moves(() => state.setNode(node('n', { providerID: 'p' })))).toBe(false);
    expect(moves(() => state.setPod(pod('a')))).toBe(false);
    expect(moves(() => state.setPod(pod('a', 'n')))).toBe(true);
    expect(moves(() => state.removePod(pod('a', 'n')))).toBe(true);
    expect(moves(() => state.mark(['p'], true))).toBe(true);
  });

  test('what protects a node or its pods moves the mark when it comes and when it goes; heartbeats do not', () => {
    const { cluster: state } = cluster();
    const moves = (change: () => void): boolean => {
      const before = state.changedAt();
      change();
      return state.changedAt() > before;
    };
    const kept = { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } };
    const bare = node('n', { providerID: 'p' });
    const guarded = { ...bare, metadata: { ...bare.metadata, ...kept } };
    const tainted = { ...bare, spec: { ...bare.spec, taints: [{ key: 'k', effect: 'NoSchedule' }] } };
    const beating = { ...bare, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    state.setNode(bare);
    expect(moves(() => state.setNode(guarded))).toBe(true);
    expect(moves(() => state.setNode(tainted))).toBe(true);
    expect(moves(() => state.setNode(bare))).toBe(true);
    expect(moves(() => state.setNode(beating))).toBe(false);
    const bound = pod('a', 'n');
    state.setPod(bound);
    expect(moves(() => state.setPod({ ...bound, metadata: { ...bound.metadata, ...kept } }))).toBe(true);
    expect(moves(() => state.setPod(bound))).toBe(true);
    expect(moves(() => state.setPod({ ...bound, status: { phase: 'Running' } }))).toBe(false);
    expect(moves(() => state.setPod({ ...bound, status: { phase: 'Succeeded' } }))).toBe(true);
    const budget = (disruptionsAllowed: number) => ({
      metadata: { name: 'b', namespace: 'default', generation: 1 },
      status: { disruptionsAllowed },
    });
    expect(moves(() => state.setContext('PodDisruptionBudget', budget(0)))).toBe(true);
    expect(moves(() => state.setContext('PodDisruptionBudget', budget(0)))).toBe(false);
    expect(moves(() => state.setContext('PodDisruptionBudget', budget(1)))).toBe(true);
    expect(moves(() => state.setContext('PodDisruptionBudget', budget(2)))).toBe(false);
    expect(moves(() => state.removeContext('PodDisruptionBudget', budget(2)))).toBe(true);
  });

  test('the end of a protection that a pod has for a while moves the mark', async () => {
    const { cluster: state, clock } = cluster();
    const until = (name: string, duration: string): Pod => {
      const bound = pod(name, 'n');
      return {
        ...bound,
        metadata: { ...bound.metadata, annotations: { 'karpenter.sh/do-not-disrupt': duration } },
        status: { startTime: new Date(clock.now()).toISOString() },
      };
    };
    state.setPod(until('a', '40s'));
    state.setPod(until('b', '20s'));
    for (let end = 1; end <= 2; end++) {
      const before = state.changedAt();
      await clock.runFor(19_000);
      expect(state.changedAt()).toBe(before);
      await clock.runFor(1_000);
      expect(state.changedAt()).toBeGreaterThan(before);
    }
  });

  test('the end of a nomination moves the mark: it held back what may be disrupted now', async () => {
    const { cluster: state, clock } = cluster();
    state.setNode(node('n', { providerID: 'p' }));
    state.setNode(node('m', { providerID: 'q' }));
    state.nominate('p', 20_000);
    state.nominate('q', 40_000);
    let before = state.changedAt();
    await clock.runFor(19_000);
    expect(state.changedAt()).toBe(before);
    await clock.runFor(1_000);
    expect(state.changedAt()).toBeGreaterThan(before);
    before = state.changedAt();
    await clock.runFor(19_000);
    expect(state.changedAt()).toBe(before);
    await clock.runFor(1_000);
    expect(state.changedAt()).toBeGreaterThan(before);
  });

  test('a verdict is never older than an hour', async () => {
    const { cluster: state, clock } = cluster();
    const before = state.changedAt();
    await clock.runFor(3_599_000);
    expect(state.changedAt()).toBe(before);
    await clock.runFor(1_000);
    expect(state.changedAt()).toBeGreaterThan(before);
  });
});

test('a snapshot holds every object by reference and one entry per machine', () => {
  const { cluster: state, clock } = cluster();
  const bound = pod('a', 'n');
  state.setNode(node('n', { providerID: 'p' }));
  state.setClaim(claim('c', { providerID: 'q' }));
  state.setPod(bound);
  state.setPod(pod('placed'));
  const ledger = new LaunchLedger();
  ledger.add('default-x', 'default', ['default/placed'], []);
  const snapshot = takeSnapshot(state, {
    nowMs: clock.now(),
    settings: {},
    provider: { nodeClasses: [], wellKnownLabels: [] },
    instanceTypes: [],
    ledger,
  });
  expect(snapshot.objects.items).toContain(bound);
  expect(snapshot.objects.items.map((each) => each.metadata.name)).not.toContain('placed');
  expect(snapshot.nodeState).toEqual([
    { node: 'n', providerID: 'p', initialized: true, markedForDeletion: false, nominated: false },
    { nodeClaim: 'c', providerID: 'q', initialized: false, markedForDeletion: false, nominated: false },
  ]);
  expect(snapshot.time).toBe('2026-01-01T00:00:00Z');
});

describe('claims that are still being launched', () => {
  const type = (cpu: string) => ({ name: cpu, requirements: [], capacity: { cpu, memory: '8Gi' }, offerings: [] });

  test('hold back the largest machine each may become, per pool', () => {
    const ledger = new LaunchLedger();
    ledger.add('a', 'default', [], [type('4'), type('16')]);
    ledger.add('b', 'default', [], [type('2')]);
    ledger.add('c', 'other', [], [type('2')]);
    expect(ledger.heldBack('default')).toEqual({ nodes: '2', cpu: '18', memory: '16Gi' });
    ledger.settle('a');
    expect(ledger.heldBack('default')).toEqual({ nodes: '1', cpu: '2', memory: '8Gi' });
    expect(ledger.heldBack('unknown')).toBeUndefined();
  });

  test('count against the limits of their pool in the snapshot, beside the machines there are', () => {
    const { cluster: state, clock } = cluster();
    const pool = { metadata: { name: 'default' }, spec: { limits: { cpu: '20', nodes: '3' } } } as unknown as NodePool;
    state.setNodePool(pool);
    const ledger = new LaunchLedger();
    ledger.add('a', 'default', [], [type('16')]);
    const inputs = {
      nowMs: clock.now(),
      settings: {},
      provider: { nodeClasses: [], wellKnownLabels: [] },
      instanceTypes: [],
      ledger,
    };
    const { objects, poolState } = takeSnapshot(state, inputs);
    expect(poolState).toEqual([{ nodePool: 'default', inUse: { cpu: '16', nodes: '1' } }]);
    expect(objects.items[0]).toBe(pool);
  });

  test('pools that are paused say until when and why', () => {
    const { cluster: state, clock } = cluster();
    const pool = { metadata: { name: 'default', uid: 'u' }, spec: {} } as unknown as NodePool;
    state.setNodePool(pool);
    const failure = { kind: 'LaunchFailed', message: 'no subnet' };
    state.launchBackoff.failed('u', { ...failure, claimMs: clock.now() });
    state.launchBackoff.failed('u', { ...failure, claimMs: clock.now() + 1 });
    const provider = { nodeClasses: [], wellKnownLabels: [] };
    const { objects, poolState } = takeSnapshot(state, {
      nowMs: clock.now(),
      settings: {},
      provider,
      instanceTypes: [],
    });
    expect(poolState).toEqual([
      {
        nodePool: 'default',
        pausedUntil: '2026-01-01T00:00:15Z',
        pausedBecause: { code: 'LaunchFailed', message: 'no subnet' },
      },
    ]);
    expect(objects.items).toEqual([pool]);
  });

  test('hide their pods from the planner only until those are bound to a node that stays', () => {
    const { cluster: state, clock } = cluster();
    const ledger = new LaunchLedger();
    ledger.add('a', 'default', ['default/waiting', 'default/arrived', 'default/moving'], [type('4')]);
    state.setNode(node('stays', { providerID: 'p' }));
    state.setNode(node('leaves', { providerID: 'q' }));
    state.mark(['q'], true);
    state.setPod(pod('waiting'));
    state.setPod(pod('arrived', 'stays'));
    state.setPod(pod('moving', 'leaves'));
    const inputs = {
      nowMs: clock.now(),
      settings: {},
      provider: { nodeClasses: [], wellKnownLabels: [] },
      instanceTypes: [],
      ledger,
    };
    const names = takeSnapshot(state, inputs).objects.items.map(({ metadata }) => metadata.name);
    expect(names).toEqual(['stays', 'leaves', 'arrived']);
  });
});
