// Alternatives in requests, attributes that devices must not share, and taints of devices: one test per rule.
import { describe, expect, test } from 'vitest';
import type { InstanceTypeSpec, Plan, SnapshotObject } from '../index.ts';
import {
  expectOnNode,
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  object,
} from '../testing/builders.testing.ts';
import {
  brings,
  claim,
  device,
  deviceClass,
  type Fields,
  planned,
  reason,
  request,
  slice,
  user,
} from './devices.testing.ts';

const model = (name: string): Fields => ({ attributes: { model: { string: name } } });
const wanting = (name: string, more: Fields = {}): Fields => ({
  deviceClassName: 'gpu',
  selectors: [{ cel: { expression: `model=${name}` } }],
  ...more,
});
const oneOf = (...ways: Fields[]): Fields => ({
  name: 'r',
  firstAvailable: ways.map((way, at) => ({ name: `way-${at}`, ...way })),
});
const models = (...names: string[]): SnapshotObject =>
  slice('shelf', { allNodes: true, devices: names.map((name, at) => device(`d${at}`, model(name))) });

describe('a list of alternatives', () => {
  const item = user('a', 'c');

  test('is met by its first entry that is available', () => {
    const own = claim('c', [oneOf(wanting('x'), wanting('y'))]);
    expectScheduled(planned([models('y'), deviceClass(), own, item]), item);
    expectScheduled(planned([models('x'), deviceClass(), own, item]), item);
    expectUnscheduled(planned([models('z'), deviceClass(), own, item]), item);
  });

  test('takes the earlier entry where both are available, so that the later one stays free', () => {
    const items = [user('a', 'c'), user('b', 'only-y')];
    const result = planned([
      models('x', 'y'),
      deviceClass(),
      claim('c', [oneOf(wanting('x'), wanting('y'))]),
      claim('only-y', [request(wanting('y'))]),
      ...items,
    ]);
    for (const each of items) expectScheduled(result, each);
  });

  test('gives its wish up where another request of the claim needs the device', () => {
    const own = claim('c', [oneOf(wanting('x'), wanting('y')), request(wanting('x'), 's')]);
    expectScheduled(planned([models('x', 'y'), deviceClass(), own, item]), item);
    expectUnscheduled(planned([models('x'), deviceClass(), own, item]), item);
  });

  test('may ask for several devices in one entry and for fewer in the next', () => {
    const own = claim('c', [oneOf(wanting('x', { count: 2 }), wanting('y'))]);
    expectScheduled(planned([models('x', 'y'), deviceClass(), own, item]), item);
    expectUnscheduled(planned([models('x'), deviceClass(), own, item]), item);
  });

  test('counts with its largest entry against the most devices of a claim', () => {
    const own = claim('c', [oneOf(wanting('x'), wanting('y', { count: 33 }))]);
    expect(reason(planned([models('x'), deviceClass(), own, item]), item)).toContain('asks for 33 devices');
  });

  test('is held to a constraint that names the request, or one of its entries', () => {
    const rack = (name: string, at: string): Fields =>
      device(`${name}-${at}`, { attributes: { model: { string: name }, rack: { string: at } } });
    const shelf = slice('shelf', { allNodes: true, devices: [rack('x', 'r0'), rack('y', 'r1'), rack('z', 'r1')] });
    const requests = [oneOf(wanting('x'), wanting('y')), request(wanting('z'), 's')];
    const common = (...names: string[]) => ({
      constraints: [{ matchAttribute: 'gpu.example.com/rack', requests: names }],
    });
    const withX = user('b', 'x');
    const place = (constraint: Fields): Plan =>
      planned([
        shelf,
        deviceClass(),
        claim('c', requests, constraint),
        claim('x', [request(wanting('x'))]),
        item,
        withX,
      ]);
    // Held to the rack of z, the request takes y, and x is left for the other pod.
    for (const each of [item, withX]) expectScheduled(place(common('r', 's')), each);
    for (const each of [item, withX]) expectScheduled(place(common('r/way-0', 's')), each);
    expectUnscheduled(place(common('r/way-1', 's')), withX);
  });

  test('is looked for on every type of a new node', () => {
    const type = (name: string, ...own: string[]): InstanceTypeSpec =>
      instanceType({
        name,
        cpu: '16',
        memory: '64Gi',
        price: 1,
        dynamicResources: brings(own.map((each, at) => device(`d${at}`, model(each)))),
      });
    const own = claim('c', [oneOf(wanting('x'), wanting('y', { count: 2 }))]);
    const types = [type('one-x', 'x'), type('one-y', 'y'), type('two-y', 'y', 'y'), type('one-z', 'z')];
    const result = planned([deviceClass(), own, item], { types });
    expect([...newNodeOf(result, item).instanceTypes].sort()).toEqual(['one-x', 'two-y']);
  });
});

test('devices of a distinct attribute all have another value of it', () => {
  const item = user('a', 'c');
  const own = claim('c', [request({ count: 2 })], { constraints: [{ distinctAttribute: 'gpu.example.com/model' }] });
  expectScheduled(planned([models('x', 'x', 'y'), deviceClass(), own, item]), item);
  expectUnscheduled(planned([models('x', 'x'), deviceClass(), own, item]), item);
});

describe('a tainted device', () => {
  const item = user('a', 'c');
  const tainted = (effect: string, value?: string): SnapshotObject =>
    slice('shelf', { allNodes: true, devices: [device('d', { taints: [{ key: 'broken', effect, value }] })] });
  const tolerating = (...tolerations: Fields[]): SnapshotObject => claim('c', [request({ tolerations })]);

  test.each(['NoSchedule', 'NoExecute'])('with %s is for requests that tolerate it', (effect) => {
    expectUnscheduled(planned([tainted(effect), deviceClass(), claim('c'), item]), item);
    for (const toleration of [
      { operator: 'Exists' },
      { key: 'broken', operator: 'Exists' },
      { key: 'broken', operator: 'Exists', effect },
      { key: 'broken', value: 'yes' },
    ])
      expectScheduled(planned([tainted(effect, 'yes'), deviceClass(), tolerating(toleration), item]), item);
    for (const toleration of [
      { key: 'other', operator: 'Exists' },
      { key: 'broken', operator: 'Exists', effect: 'Other' },
      { key: 'broken', value: 'no' },
      {},
    ])
      expectUnscheduled(planned([tainted(effect, 'yes'), deviceClass(), tolerating(toleration), item]), item);
  });

  test('with another effect is for all', () => {
    expectScheduled(planned([tainted('None'), deviceClass(), claim('c'), item]), item);
  });

  test('fails a request for all devices', () => {
    const all = claim('c', [request({ allocationMode: 'All' })]);
    expectUnscheduled(planned([tainted('NoSchedule'), deviceClass(), all, item]), item);
  });

  test.each([
    ['its driver', { driver: 'gpu.example.com' }, true],
    ['its pool', { driver: 'gpu.example.com', pool: 'n' }, true],
    ['itself', { pool: 'n', device: 'd' }, true],
    ['nothing, which means all', {}, true],
    ['another pool', { pool: 'm' }, false],
    ['another device of its pool', { pool: 'n', device: 'e' }, false],
  ])('may be tainted by a rule that names %s', (_, deviceSelector, isTainted) => {
    const rule = object('resource.k8s.io/v1', 'DeviceTaintRule', 'rule', {
      spec: { deviceSelector, taint: { key: 'broken', effect: 'NoExecute' } },
    });
    const local = slice('n', { nodeName: 'n', owner: 'n', devices: [device('d')] });
    const result = planned([node({ name: 'n' }), local, deviceClass(), claim('c'), rule, item]);
    if (isTainted) expectUnscheduled(result, item);
    else expectOnNode(result, 'n', item);
  });
});
