// Devices that pods ask for by the name of a resource: one test per rule.
import { describe, expect, test } from 'vitest';
import { annotation } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import {
  expectOnNode,
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  pod,
} from '../testing/builders.testing.ts';
import { brings, claim, deviceClass, type Fields, gpus, local, planned, request, user } from './devices.testing.ts';

const resource = 'example.com/gpu';
const implicit = 'deviceclass.resource.kubernetes.io/gpu';
const serving = (more: Fields = {}): SnapshotObject => {
  const own = deviceClass('gpu');
  return { ...own, spec: { ...(own['spec'] as Fields), extendedResourceName: resource, ...more } };
};
const asking = (name: string, count: number, by = resource): SnapshotObject =>
  pod({
    name,
    cpu: '1',
    spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1', [by]: String(count) } } }] },
  });
const type = (name: string, count: number) =>
  instanceType({
    name,
    cpu: '16',
    memory: '64Gi',
    price: count + 1,
    ...(count === 0 ? {} : { dynamicResources: brings(gpus(count)) }),
  });

describe('on nodes that exist', () => {
  test.each([resource, implicit])('devices that are published serve requests for %s, as many as there are', (by) => {
    const items = [asking('a', 1, by), asking('b', 1, by), asking('c', 1, by)];
    const result = planned([node({ name: 'n' }), local('n', 2), serving(), ...items]);
    expectOnNode(result, 'n', items[0] as SnapshotObject);
    expectOnNode(result, 'n', items[1] as SnapshotObject);
    expectUnscheduled(result, items[2] as SnapshotObject);
  });

  test('devices without a class of that resource serve nothing', () => {
    const item = asking('a', 1);
    expectUnscheduled(planned([node({ name: 'n' }), local('n', 2), deviceClass('gpu'), item]), item);
  });

  test('only devices that the class selects count', () => {
    const item = asking('a', 1);
    const picky = serving({ selectors: [{ cel: { expression: 'model=x' } }] });
    const shelf = (model: string) => local('n', 1, { attributes: { model: { string: model } } });
    expectOnNode(planned([node({ name: 'n' }), shelf('x'), picky, item]), 'n', item);
    expectUnscheduled(planned([node({ name: 'n' }), shelf('y'), picky, item]), item);
  });

  test('tainted devices do not count', () => {
    const item = asking('a', 1);
    const tainted = local('n', 1, { taints: [{ key: 'broken', effect: 'NoSchedule' }] });
    expectUnscheduled(planned([node({ name: 'n' }), tainted, serving(), item]), item);
  });

  const held = (annotations: Fields): SnapshotObject => {
    const own = claim('held', [request()], {
      status: {
        allocation: { devices: { results: [{ driver: 'gpu.example.com', pool: 'n', device: 'gpu-0' }] } },
        reservedFor: [{ resource: 'pods', name: 'other', uid: 'other' }],
      },
    });
    return { ...own, metadata: { ...own.metadata, annotations } };
  };

  test('devices held by a claim do not count, unless the claim was made for such a pod, whose request counts', () => {
    const item = asking('a', 1);
    const running: SnapshotObject = asking('running', 1);
    const bound = { ...running, spec: { ...(running['spec'] as Fields), nodeName: 'n' } } as SnapshotObject;
    const made = { 'resource.kubernetes.io/extended-resource-claim': 'true' };
    expectUnscheduled(planned([node({ name: 'n' }), local('n', 1), serving(), held({}), item]), item);
    expectUnscheduled(planned([node({ name: 'n' }), local('n', 1), serving(), held(made), bound, item]), item);
    expectOnNode(planned([node({ name: 'n' }), local('n', 2), serving(), held(made), bound, item]), 'n', item);
  });
});

describe('on new nodes', () => {
  const types = [type('bare', 0), type('one', 1), type('four', 4)];

  test('types that bring enough devices serve; the launch asks for the driver, not for the resource', () => {
    const item = asking('a', 2);
    const planned2 = newNodeOf(planned([serving(), item], { types }), item);
    expect(planned2.instanceTypes).toEqual(['four']);
    expect(planned2.requests).not.toHaveProperty([resource]);
    expect(planned2.annotations).toMatchObject({ [annotation.requestedDraDrivers]: 'gpu.example.com' });
  });

  test('a type that has the resource of its own is asked for it', () => {
    const item = asking('a', 1);
    const plugged = instanceType({ name: 'plugged', cpu: '16', memory: '64Gi', price: 1 });
    Object.assign(plugged.capacity, { [resource]: '1' });
    const result = newNodeOf(planned([serving(), item], { types: [plugged] }), item);
    expect(result.requests).toMatchObject({ [resource]: '1' });
  });

  test('with devices ignored they serve nothing', () => {
    const item = asking('a', 1);
    expectUnscheduled(planned([serving(), item], { types, settings: { ignoreDRARequests: true } }), item);
  });

  test('pods with claims and pods with requests share a cluster', () => {
    const items = [asking('a', 1), user('b', 'c')];
    const result = planned([serving(), claim('c'), ...items], { types: [type('one', 1)] });
    for (const item of items) expectScheduled(result, item);
  });
});
