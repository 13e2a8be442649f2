// Dynamic resource allocation as its rules are written: one test per rule.
import { describe, expect, test } from 'vitest';
import { label } from '../../api/names.ts';
import type { SnapshotObject } from '../index.ts';
import {
  expectOnNode,
  expectScheduled,
  expectUnscheduled,
  newNodeOf,
  node,
  nodePool,
  plan,
  pod,
  valuesOf,
} from '../testing/builders.testing.ts';
import {
  claim,
  device,
  deviceClass,
  type Fields,
  gpus,
  local,
  planned,
  reason,
  request,
  type SliceParts,
  slice,
  user,
} from './devices.testing.ts';

describe('claims of a pod', () => {
  test('with devices ignored, pods with resource claims get no place', () => {
    const item = user('a', 'one');
    const result = plan([nodePool(), node({ name: 'n' }), local('n', 1), deviceClass(), claim('one'), item]);
    expect(reason(result, item)).toContain('DynamicResourcesUnsupported');
  });

  test('a claim that is not there leaves the pod waiting', () => {
    const item = user('a', 'missing');
    const result = planned([deviceClass(), item]);
    expect(reason(result, item)).toContain('resourceclaim "default/missing" not found');
  });

  test('a claim made from a template is found through the pod status; entries without a name are passed over', () => {
    const spec = {
      resourceClaims: [
        { name: 'x', resourceClaimTemplateName: 't' },
        { name: 'y', resourceClaimTemplateName: 't' },
      ],
    };
    const item = pod({ name: 'a', cpu: '1', spec });
    Object.assign(item['status'] as object, {
      resourceClaimStatuses: [{ name: 'x', resourceClaimName: 'one' }, { name: 'y' }],
    });
    expectOnNode(planned([node({ name: 'n' }), local('n', 1), deviceClass(), claim('one'), item]), 'n', item);
  });
});

describe('devices of nodes', () => {
  test('a device plugged into a node serves pods on that node only', () => {
    const item = user('a', 'one');
    const result = planned([
      node({ name: 'm' }),
      node({ name: 'n' }),
      local('n', 1),
      deviceClass(),
      claim('one'),
      item,
    ]);
    expectOnNode(result, 'n', item);
  });

  test('a device serves one claim at a time', () => {
    const items = [user('a', 'one'), user('b', 'two')];
    const result = planned([node({ name: 'n' }), local('n', 1), deviceClass(), claim('one'), claim('two'), ...items]);
    expect(result.existingNodes).toEqual([{ name: 'n', pods: ['default/a'] }]);
    expect(reason(result, items[1] as SnapshotObject)).toContain('DevicesUnavailable');
  });

  test('pods that share a claim run where its device is', () => {
    const items = [user('a', 'one'), user('b', 'one')];
    const result = planned([
      node({ name: 'm' }),
      node({ name: 'n' }),
      local('n', 1),
      deviceClass(),
      claim('one'),
      ...items,
    ]);
    expectOnNode(result, 'n', ...items);
  });

  test('slices of nodes that are not initialized, not known or leaving are left out', () => {
    const item = user('a', 'one');
    const objects = [node({ name: 'n' }), local('n', 1), deviceClass(), claim('one'), item];
    expectUnscheduled(planned(objects, { nodeState: [{ node: 'n', markedForDeletion: true }] }), item);
    expectUnscheduled(planned(objects.slice(1)), item);
  });

  test('new nodes cannot use devices that are plugged into other nodes', () => {
    const item = user('a', 'one');
    const result = planned([
      node({ name: 'n', allocatable: { cpu: '500m', memory: '8Gi', pods: '20' } }),
      local('n', 1),
      deviceClass(),
      claim('one'),
      item,
    ]);
    expect(result.newNodes).toEqual([]);
    expect(reason(result, item)).toContain('DevicesUnavailable');
  });
});

describe('devices on the network', () => {
  test('devices for all nodes serve new ones', () => {
    const item = user('a', 'one');
    const result = planned([slice('p', { allNodes: true, devices: gpus(1) }), deviceClass(), claim('one'), item]);
    expect(newNodeOf(result, item).annotations).toMatchObject({
      'karpenter.sh/requested-dra-drivers': 'gpu.example.com',
    });
  });

  test('devices for nodes with certain labels narrow the new node', () => {
    const nodeSelector = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: label.zone, operator: 'In', values: ['zone-2'] }] }],
    };
    const item = user('a', 'one');
    const result = planned([slice('p', { nodeSelector, devices: gpus(1) }), deviceClass(), claim('one'), item]);
    expect(valuesOf(newNodeOf(result, item), label.zone)).toEqual(['zone-2']);
  });

  test('devices can say for themselves where they are used', () => {
    const devices = [device('far', { nodeName: 'other' }), device('near', { allNodes: true })];
    const item = user('a', 'one');
    const result = planned([slice('p', { perDeviceNodeSelection: true, devices }), deviceClass(), claim('one'), item]);
    expectScheduled(result, item);
  });
});

describe('pools', () => {
  const everywhere = (name: string, more: SliceParts): SnapshotObject => slice(name, { allNodes: true, ...more });

  test('only the newest generation of a pool counts', () => {
    const item = user('a', 'one');
    const old = everywhere('s1', { devices: gpus(1), pool: { name: 'p', generation: 1 } });
    const now = everywhere('s2', { devices: [], pool: { name: 'p', generation: 2 } });
    expectUnscheduled(planned([old, now, deviceClass(), claim('one'), item]), item);
  });

  test('a request for all fails on an incomplete pool, one for a number passes it over', () => {
    const part = everywhere('s1', { devices: gpus(2), pool: { name: 'p', resourceSliceCount: 2 } });
    const all = user('a', 'one');
    const result = planned([part, deviceClass(), claim('one', [request({ allocationMode: 'All' })]), all]);
    expect(reason(result, all)).toContain('incomplete');
    const some = user('a', 'one');
    expectUnscheduled(planned([part, deviceClass(), claim('one'), some]), some);
    const whole = everywhere('s2', { devices: gpus(1), pool: { name: 'q' } });
    expectScheduled(planned([part, whole, deviceClass(), claim('one'), some]), some);
  });

  test.each([
    ['two devices of one name', { devices: [device('x'), device('x')] }],
    ['two counter sets of one name', { devices: gpus(1), sharedCounters: [{ name: 'c' }, { name: 'c' }] }],
    [
      'a counter no one has',
      { devices: gpus(1, { consumesCounters: [{ counterSet: 'c', counters: { slots: { value: '1' } } }] }) },
    ],
  ])('a pool with %s is invalid: skipped for a number, fatal for all', (_, parts) => {
    const invalid = everywhere('bad', parts);
    const good = everywhere('good', { devices: gpus(1) });
    const item = user('a', 'one');
    expectUnscheduled(planned([invalid, deviceClass(), claim('one'), item]), item);
    expectScheduled(planned([invalid, good, deviceClass(), claim('one'), item]), item);
    const all = claim('one', [request({ allocationMode: 'All' })]);
    expect(reason(planned([invalid, good, deviceClass(), all, item]), item)).toContain('invalid');
  });
});

describe('requests', () => {
  const models = (...names: string[]): SnapshotObject =>
    slice('p', {
      allNodes: true,
      devices: names.map((model, at) =>
        device(`d${at}`, { attributes: { model: { string: model }, rack: { string: `r${at % 2}` } } }),
      ),
    });
  const selecting = (expression: string): Fields => ({ selectors: [{ cel: { expression } }] });

  test('selectors of the class and of the request hold together', () => {
    const item = user('a', 'one');
    const objects = [models('x', 'y'), claim('one', [request(selecting('rack=r1'))]), item];
    expectScheduled(planned([deviceClass('gpu', ['model=y']), ...objects]), item);
    expectUnscheduled(planned([deviceClass('gpu', ['model=x']), ...objects]), item);
  });

  test('a selector that fails on a device ends the search', () => {
    const item = user('a', 'one');
    const own = claim('one', [request(selecting('none=x'))]);
    expect(reason(planned([models('x'), deviceClass(), own, item]), item)).toContain('no attribute none');
  });

  test('a number of devices is that many, or none', () => {
    const two = user('a', 'two');
    const objects = [models('x', 'x'), deviceClass()];
    expectScheduled(planned([...objects, claim('two', [request({ count: 2 })]), two]), two);
    expectUnscheduled(planned([...objects, claim('two', [request({ count: 3 })]), two]), two);
  });

  test('all means every device that matches, all of them free', () => {
    const items = [user('a', 'every'), user('b', 'one')];
    const every = claim('every', [request({ allocationMode: 'All', ...selecting('model=x') })]);
    const result = planned([
      models('x', 'y', 'x'),
      deviceClass(),
      every,
      claim('one', [request(selecting('model=x'))]),
      ...items,
    ]);
    expectScheduled(result, items[0] as SnapshotObject);
    expectUnscheduled(result, items[1] as SnapshotObject);
  });

  test.each([
    ['a request for nothing', claim('one', [{ name: 'r' }]), 'says what is asked for'],
    [
      'an alternative of a class that is not there',
      claim('one', [{ name: 'r', firstAvailable: [{ name: 's', deviceClassName: 'none' }] }]),
      'deviceclass "none" not found',
    ],
    ['a class that is not there', claim('one', [request({ deviceClassName: 'none' })]), 'deviceclass "none" not found'],
    ['a selector that is not CEL', claim('one', [request({ selectors: [{}] })]), 'only CEL selectors'],
    ['a selector that cannot be read', claim('one', [request(selecting('nonsense'))]), 'cannot read nonsense'],
    ['a constraint without an attribute', claim('one', [request()], { constraints: [{}] }), 'names no attribute'],
    ['more devices than the API allows', claim('one', [request({ count: 33 })]), 'asks for 33 devices'],
  ])('%s are an error', (_, own, message) => {
    const item = user('a', 'one');
    expect(reason(planned([models('x'), deviceClass(), own, item]), item)).toContain(message);
  });

  test('devices of a constraint have the attribute in common; the search goes back where it must', () => {
    const common = { constraints: [{ matchAttribute: 'gpu.example.com/rack' }] };
    const item = user('a', 'one');
    // d0 r0, d1 r1, d2 r0, d3 r1: the first two do not match, so the first choice is taken back.
    const own = claim('one', [request(selecting('model=x'), 'first'), request(selecting('model=y'), 'second')], common);
    expectScheduled(planned([models('x', 'y', 'y', 'x'), deviceClass(), own, item]), item);
    expectUnscheduled(planned([models('x', 'y'), deviceClass(), own, item]), item);
  });

  test('a device without the attribute satisfies no constraint on it', () => {
    const item = user('a', 'one');
    const own = claim('one', [request()], { constraints: [{ matchAttribute: 'gpu.example.com/none' }] });
    expectUnscheduled(planned([models('x'), deviceClass(), own, item]), item);
  });
});

describe('capacity', () => {
  const shared = (policy: Fields = {}): SnapshotObject =>
    slice('p', {
      allNodes: true,
      devices: [
        device('d', { allowMultipleAllocations: true, capacity: { memory: { value: '10Gi', requestPolicy: policy } } }),
      ],
    });
  const asking = (name: string, memory?: string): SnapshotObject =>
    claim(name, [request(memory === undefined ? {} : { capacity: { requests: { memory } } })]);
  const placed = (objects: SnapshotObject[]): number => {
    const items = [user('a', 'c0'), user('b', 'c1'), user('c', 'c2')];
    const result = planned([deviceClass(), ...objects, ...items]);
    return items.length - result.unschedulable.length;
  };

  test.each([
    ['until it is used up', {}, ['4Gi', '4Gi', '4Gi'], 2],
    ['and what is not asked for is all there is', {}, [undefined, '1Gi', '1Gi'], 1],
    ['or the default', { default: '2Gi' }, [undefined, '4Gi', '4Gi'], 3],
    ['rounded up to a valid value', { validValues: ['2Gi', '6Gi'] }, ['3Gi', '3Gi', '1Gi'], 2],
    ['rounded up to a step of the range', { validRange: { min: '1Gi', step: '3Gi' } }, ['2Gi', '2Gi', '2Gi'], 2],
    ['and no more than the range allows', { validRange: { max: '2Gi' } }, ['3Gi', '2Gi', '2Gi'], 2],
  ])('a shared device is given out %s', (_, policy, amounts, count) => {
    expect(placed([shared(policy), ...amounts.map((amount, at) => asking(`c${at}`, amount))])).toBe(count);
  });

  test('devices that share counters are available as far as the counters go', () => {
    const part = (slots: string): Fields => ({
      consumesCounters: [{ counterSet: 'whole', counters: { slots: { value: slots } } }],
    });
    const partitions = slice('p', {
      allNodes: true,
      sharedCounters: [{ name: 'whole', counters: { slots: { value: '4' } } }],
      devices: [device('big', part('3')), device('small-1', part('1')), device('small-2', part('1'))],
    });
    expect(placed([partitions, asking('c0'), asking('c1'), asking('c2')])).toBe(2);
  });
});

describe('claims that are allocated', () => {
  const allocation = (name: string, nodeSelector?: Fields): Fields => ({
    devices: { results: [{ driver: 'gpu.example.com', pool: 'n', device: name, request: 'r' }] },
    ...(nodeSelector ? { nodeSelector } : {}),
  });
  const onZone = (zone: string): Fields => ({
    nodeSelectorTerms: [{ matchExpressions: [{ key: label.zone, operator: 'In', values: [zone] }] }],
  });

  test('say where their pods run', () => {
    const item = user('a', 'one');
    const own = claim('one', [request()], { status: { allocation: allocation('gpu-0', onZone('zone-3')) } });
    expect(valuesOf(newNodeOf(planned([deviceClass(), own, item]), item), label.zone)).toEqual(['zone-3']);
  });

  test('hold their devices', () => {
    const item = user('a', 'two');
    const own = claim('one', [request()], { status: { allocation: allocation('gpu-0') } });
    expectUnscheduled(planned([node({ name: 'n' }), local('n', 1), deviceClass(), own, claim('two'), item]), item);
  });

  test('and reserved only by pods that are moved are allocated anew', () => {
    const moved = user('a', 'one');
    Object.assign(moved['spec'] as object, { nodeName: 'm' });
    const reservedFor = [{ resource: 'pods', name: 'a', uid: String(moved.metadata.uid) }];
    const status = {
      reservedFor,
      allocation: {
        ...allocation('gpu-0', onZone('zone-9')),
        devices: { results: [{ driver: 'gpu.example.com', pool: 'm', device: 'gpu-0' }] },
      },
    };
    const objects = [node({ name: 'm' }), node({ name: 'n' }), local('m', 1), local('n', 1), deviceClass(), moved];
    const nodeState = [{ node: 'm', markedForDeletion: true }, { node: 'n' }];
    expectOnNode(planned([...objects, claim('one', [request()], { status })], { nodeState }), 'n', moved);
    const others = { ...status, reservedFor: [...reservedFor, { resource: 'pods', name: 'z', uid: 'uid-z' }] };
    expectUnscheduled(planned([...objects, claim('one', [request()], { status: others })], { nodeState }), moved);
  });
});
