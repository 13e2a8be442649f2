import { expect, test } from 'vitest';
import { annotation, label } from '../api/names.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  nodeClaim,
  nodePool,
  object,
  plan,
  pod,
  pods,
  reasonsOf,
  requirement,
} from './testing/builders.testing.ts';

const flexible = (minValues: number) =>
  nodePool({ requirements: [requirement(label.instanceType, 'Exists', undefined, minValues)] });

test('minValues is met by distinct values over the types that are left', () => {
  const small = pod({ cpu: '1' });
  const large = pod({ cpu: '7' });
  expectScheduled(plan([flexible(4), small]), small);
  expect(reasonsOf(plan([flexible(3), large]), large)[0]).toMatchObject({
    code: 'MinValuesUnsatisfied',
    keys: [label.instanceType],
  });
});

test('of several minValues on one key the largest counts', () => {
  const pool = nodePool({
    requirements: [
      requirement(label.instanceType, 'Exists', undefined, 1),
      requirement(label.instanceType, 'NotIn', ['c16'], 4),
    ],
  });
  const waiting = pod();
  expect(reasonsOf(plan([pool, waiting]), waiting)[0]?.code).toBe('NoInstanceTypes');
});

test('a pool that cannot meet minValues at all leaves its pods without instance types', () => {
  const waiting = pod();
  const reasons = reasonsOf(plan([flexible(5), waiting]), waiting);
  expect(reasons.map((reason) => reason.code)).toEqual(['NoInstanceTypes', 'MinValuesUnsatisfied']);
});

test('a comparison with minValues counts concrete values of the types in range', () => {
  const types = ['2', '4', '6'].map((size) =>
    instanceType({ name: `t${size}`, requirements: [requirement('example.com/size', 'In', [size])] }),
  );
  const above = (bound: string, minValues: number) =>
    nodePool({ requirements: [requirement('example.com/size', 'Gt', [bound], minValues)] });
  const waiting = pod();
  expectScheduled(plan([above('2', 2), waiting], { types }), waiting);
  expectUnscheduled(plan([above('4', 2), waiting], { types }), waiting);
});

test('under BestEffort minValues is lowered to what is there, in the heavier pool first', () => {
  const heavy = nodePool({
    name: 'heavy',
    weight: 10,
    requirements: [requirement(label.instanceType, 'Exists', undefined, 3)],
  });
  const large = pod({ cpu: '7' });
  const settings = { minValuesPolicy: 'BestEffort' as const };
  const planned = newNodeOf(plan([heavy, nodePool(), large], { settings }), large);
  expect(planned.nodePool).toBe('heavy');
  expect(planned.annotations[annotation.minValuesRelaxed]).toBe('true');
  expect(planned.requirements).toContainEqual({ key: label.instanceType, operator: 'Exists', minValues: 2 });
});

test('nothing is cut from a list of 600 types, and nothing above is kept', () => {
  const types = Array.from({ length: 601 }, (_, index) => instanceType({ name: `t${index}`, price: index + 1 }));
  const [planned] = plan([nodePool(), pod()], { types }).newNodes;
  expect(planned?.instanceTypes).toHaveLength(600);
  expect(planned?.instanceTypes).not.toContain('t600');
});

test('minValues lost by cutting the list of types makes the pod fail', () => {
  const waiting = pod();
  const [reason] = reasonsOf(plan([flexible(3), waiting], { settings: { maxInstanceTypes: 2 } }), waiting);
  expect(reason).toMatchObject({ code: 'MinValuesUnsatisfied', keys: [label.instanceType] });
  expect(reason?.message).toContain('pod didn’t schedule because NodePool couldn’t meet minValues requirements');
});

test('limits already exceeded allow nothing, an exact fit is allowed', () => {
  const waiting = pod({ cpu: '1' });
  const types = [instanceType({ cpu: '4' })];
  expect(reasonsOf(plan([nodePool({ limits: { cpu: '3' } }), waiting], { types }), waiting)[0]).toMatchObject({
    code: 'LimitsExceeded',
    message: 'all available instance types exceed limits for nodepool (NodePool=default)',
  });
  expectScheduled(plan([nodePool({ limits: { cpu: '4' } }), waiting], { types }), waiting);
});

test('as many nodes as limits allow are planned, each charged with its largest candidate', () => {
  const types = [instanceType({ cpu: '4', pods: '1' })];
  expect(plan([nodePool({ limits: { cpu: '10' } }), ...pods(5)], { types }).newNodes).toHaveLength(2);
  expect(plan([nodePool({ limits: { cpu: '17' } }), ...pods(2, { cpu: '15' })]).newNodes).toHaveLength(1);
});

test('limits of named devices count', () => {
  const types = [instanceType({ capacity: { 'a.com/gpu': '2' }, pods: '1' })];
  const gpu = pods(3, { requests: { 'a.com/gpu': '1' } });
  expect(plan([nodePool({ limits: { 'a.com/gpu': '4' } }), ...gpu], { types }).newNodes).toHaveLength(2);
});

test('existing nodes of the pool use up its limits, also the number of nodes', () => {
  const busy = object('v1', 'Node', 'n', {
    metadata: { labels: { [label.nodePool]: 'default' } },
    spec: {},
    status: { capacity: { cpu: '4' }, allocatable: { cpu: '0', pods: '0' } },
  });
  const waiting = pod({ cpu: '1' });
  const types = [instanceType({ cpu: '4' })];
  expectUnscheduled(plan([nodePool({ limits: { cpu: '7' } }), busy, waiting], { types }), waiting);
  expectScheduled(plan([nodePool({ limits: { cpu: '8' } }), busy, waiting], { types }), waiting);
  expect(reasonsOf(plan([nodePool({ limits: { nodes: '1' } }), busy, waiting], { types }), waiting)[0]?.message).toBe(
    'node limits have been exhausted for nodepool (NodePool=default)',
  );
});

test('a second plan counts the claims of the first against limits, joined or not', () => {
  const types = [instanceType({ cpu: '4' })];
  const busy = nodeClaim('default-1', { status: { allocatable: { cpu: '0', pods: '0' }, capacity: { cpu: '4' } } });
  const waiting = pod({ cpu: '1' });
  expect(reasonsOf(plan([nodePool({ limits: { cpu: '7' } }), busy, waiting], { types }), waiting)[0]?.code).toBe(
    'LimitsExceeded',
  );
  expectScheduled(plan([nodePool({ limits: { cpu: '8' } }), busy, waiting], { types }), waiting);
});

test('what limits leave is said with planned nodes as the cheapest type they may become', () => {
  const types = ['2', '16', '32'].map((cpu) => instanceType({ name: `t${cpu}`, cpu, pods: '1' }));
  const giant = pod({ name: 'giant', cpu: '30' });
  const done = plan([nodePool({ limits: { cpu: '20' } }), pod({ name: 'small', cpu: '1' }), giant], { types });
  expect(reasonsOf(done, giant)[0]?.message).toContain('left=cpu 18)');
});
