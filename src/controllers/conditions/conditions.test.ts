import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { conditionControllers } from './kinds.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench({ controllers: conditionControllers });
  // Timestamps have whole seconds; so that durations are exact, the clock stands at one.
  await bench.run(1_000 - (bench.clock.now() % 1_000));
});
afterEach(() => bench.close());

const says = (status: string, reason = 'R', message = '') =>
  bench.apply<NodeClaim>(nodeClaims, {
    metadata: { name: 'c' },
    status: {
      conditions: [{ type: 'Launched', status, reason, message, lastTransitionTime: formatTime(bench.clock.now()) }],
    },
  } as never);
const machine = (finalizers: string[] = []) =>
  bench.machine('default', 'c', { node: false, conditions: {}, claim: { metadata: { finalizers } } });
const count = (kind: string, labels: Record<string, string>) =>
  bench.metrics.value(`operator_${kind}status_condition_count`, labels);

describe('a condition', () => {
  test('is counted with its status, under the name of its kind and under the older name', async () => {
    await machine();
    await says('Unknown', 'Waiting');
    await bench.run(100);
    expect(
      count('nodeclaim_', {
        name: 'c',
        namespace: '',
        type: 'Launched',
        status: 'Unknown',
        reason: 'Waiting',
        karpenter_sh_nodepool: 'default',
        karpenter_kwok_sh_kwoknodeclass: 'default',
      }),
    ).toBe(1);
    expect(
      count('', { group: 'karpenter.sh', kind: 'NodeClaim', name: 'c', type: 'Launched', status: 'Unknown' }),
    ).toBe(1);
  });

  test('that changes leaves no series of what it said before', async () => {
    await machine();
    await says('Unknown', 'Waiting');
    await bench.run(100);
    await says('True', 'Launched');
    await bench.run(100);
    expect(
      bench.metrics.series('operator_nodeclaim_status_condition_count').map(({ labels }) => labels['status']),
    ).toEqual(['True']);
    expect(bench.metrics.series('operator_status_condition_count')).toHaveLength(1);
  });

  test('that changes is reported as an event, a count, and how long it had lasted', async () => {
    await machine();
    await says('Unknown', 'Waiting');
    await bench.run(90_000);
    await says('True', 'Launched', 'all is well');
    await bench.run(100);
    expect(bench.events).toEqual([
      expect.objectContaining({
        subject: expect.objectContaining({ apiVersion: 'karpenter.sh/v1', kind: 'NodeClaim', name: 'c' }),
        type: 'Normal',
        reason: 'Launched',
        message:
          'Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched, Message: all is well',
      }),
    ]);
    expect(
      bench.metrics.value('operator_nodeclaim_status_condition_transitions_total', {
        type: 'Launched',
        status: 'True',
        reason: 'Launched',
      }),
    ).toBe(1);
    expect(
      bench.metrics.value('operator_nodeclaim_status_condition_transition_seconds', {
        type: 'Launched',
        status: 'Unknown',
      }),
    ).toBe(90);
  });

  test('that comes to a new object was unknown since that was made', async () => {
    await machine();
    await bench.run(30_000);
    await says('True', 'Launched');
    await bench.run(100);
    expect(bench.events.map(({ message }) => message)).toEqual([
      'Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched',
    ]);
    const lasted = { type: 'Launched', status: 'Unknown' };
    expect(bench.metrics.value('operator_nodeclaim_status_condition_transition_seconds', lasted)).toBe(30);
  });

  test('without a message is reported without one', async () => {
    await machine();
    await says('Unknown');
    await bench.run(100);
    await says('False', 'Broken');
    await bench.run(100);
    expect(bench.events[0]?.message).toBe(
      'Status condition transitioned, Type: Launched, Status: Unknown -> False, Reason: Broken',
    );
  });

  test('that keeps its status while its reason changes is not a transition', async () => {
    await machine();
    await says('Unknown', 'First');
    await bench.run(100);
    await says('Unknown', 'Second');
    await bench.run(100);
    expect(bench.events).toEqual([]);
    expect(count('nodeclaim_', { type: 'Launched', reason: 'First' })).toBeUndefined();
    expect(count('nodeclaim_', { type: 'Launched', reason: 'Second' })).toBe(1);
  });

  test('shows for how long it has had its status at the moment it is asked', async () => {
    await machine();
    await says('Unknown');
    await bench.run(65_000);
    expect(
      bench.metrics.value('operator_nodeclaim_status_condition_current_status_seconds', { name: 'c' }),
    ).toBeCloseTo(65, 1);
  });
});

describe('an object on its way out', () => {
  test('shows for how long, and how long it took when it is gone, with its finalizers', async () => {
    await machine(['example.com/a', 'example.com/b']);
    await says('True');
    await bench.run(100);
    await bench.remove(nodeClaims, 'c');
    await bench.run(30_000);
    expect(bench.metrics.value('operator_nodeclaim_termination_current_time_seconds', { name: 'c' })).toBeGreaterThan(
      19,
    );
    await bench.apply(nodeClaims, { metadata: { name: 'c', finalizers: ['example.com/b'] } });
    await bench.run(100);
    await bench.apply(nodeClaims, { metadata: { name: 'c', finalizers: [] } }).catch(() => undefined);
    await bench.run(100);
    const finalized = bench.events.filter(({ reason }) => reason === 'Finalized').map(({ message }) => message);
    expect(finalized).toEqual(['Finalized example.com/a', 'Finalized example.com/b']);
    expect(bench.metrics.value('operator_nodeclaim_termination_duration_seconds')).toBeGreaterThanOrEqual(30);
    expect(bench.metrics.series('operator_nodeclaim_termination_current_time_seconds')).toEqual([]);
    expect(bench.metrics.series('operator_nodeclaim_status_condition_count')).toEqual([]);
    expect(bench.metrics.series('operator_nodeclaim_status_condition_current_status_seconds')).toEqual([]);
  });

  test('a finalizer taken off an object that stays is not reported', async () => {
    await machine(['example.com/a']);
    await bench.run(100);
    await bench.apply(nodeClaims, { metadata: { name: 'c', finalizers: [] } });
    await bench.run(100);
    expect(bench.events).toEqual([]);
  });
});

test('Nodes are reported with their pool and whether they are initialized, and only under their own name', async () => {
  await bench.machine('default', 'n');
  await bench.run(100);
  expect(
    count('node_', { name: 'n', type: 'Ready', karpenter_sh_nodepool: 'default', karpenter_sh_initialized: 'true' }),
  ).toBe(1);
  expect(count('', { kind: 'Node' })).toBeUndefined();
  await bench.apply<Node>(resources.nodes, {
    metadata: { name: 'n', labels: { 'karpenter.sh/initialized': null } },
  } as never);
  await bench.run(100);
  expect(
    bench.metrics
      .series('operator_node_status_condition_count')
      .map(({ labels }) => labels['karpenter_sh_initialized']),
  ).toEqual(['']);
});

test('node classes are reported under the name of their kind', async () => {
  await bench.nodeClass();
  await bench.run(100);
  expect(count('kwoknodeclass_', { name: 'default', type: 'Ready', status: 'True' })).toBe(1);
});
