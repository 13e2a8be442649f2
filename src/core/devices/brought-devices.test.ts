// Devices that new nodes bring, as the rules about them are written: one test per rule.
import { describe, expect, test } from 'vitest';
import { annotation, label } from '../../api/names.ts';
import type { DynamicResources, InstanceTypeSpec, Plan, SnapshotObject } from '../index.ts';
import {
  expectOnNode,
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  nodeClaim,
  pod,
  valuesOf,
} from '../testing/builders.testing.ts';
import {
  brings,
  claim,
  device,
  deviceClass,
  type Fields,
  gpus,
  planned,
  reason,
  request,
  slice,
  user,
} from './devices.testing.ts';

const type = (name: string, dynamicResources?: DynamicResources, cpu = '16'): InstanceTypeSpec =>
  instanceType({ name, cpu, memory: '64Gi', price: 1, ...(dynamicResources ? { dynamicResources } : {}) });
const bare = type('bare');
const one = type('one', brings(gpus(1)));
const four = type('four', brings(gpus(4)));
const typesFor = (result: Plan, item: SnapshotObject): string[] => [...newNodeOf(result, item).instanceTypes].sort();
const asking = (cpu: string, name: string, ...claims: string[]): SnapshotObject =>
  pod({ name, cpu, spec: { resourceClaims: (user(name, ...claims)['spec'] as Fields)['resourceClaims'] } });
const inZoneOnly = (item: SnapshotObject, zone: string): SnapshotObject => ({
  ...item,
  spec: { ...(item['spec'] as Fields), nodeSelector: { [label.zone]: zone } },
});
const of = (kind: string, more: Fields = {}): Fields => ({ attributes: { kind: { string: kind }, ...more } });
const wanting = (kind: string): Fields => ({ selectors: [{ cel: { expression: `kind=${kind}` } }] });
const inZone = (zone: string): Fields => ({
  nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: label.zone, operator: 'In', values: [zone] }] }] },
});

describe('devices that types bring', () => {
  test('serve pods on new nodes of these types, and types that cannot allocate are pruned', () => {
    const item = user('a', 'c');
    const two = claim('c', [request({ count: 2 })]);
    const result = planned([deviceClass(), two, item], { types: [bare, one, four] });
    expect(typesFor(result, item)).toEqual(['four']);
    expect(newNodeOf(result, item).annotations).toMatchObject({ [annotation.requestedDraDrivers]: 'gpu.example.com' });
  });

  test('do not help pods that fit no type', () => {
    const item = asking('20', 'a', 'c');
    const result = planned([deviceClass(), claim('c'), item], { types: [bare, four] });
    expect(reason(result, item)).toContain('InsufficientResources');
  });

  test('are used where nothing is published; published devices are preferred', () => {
    const items = [user('a', 'c0'), user('b', 'c1')];
    const published = slice('net', { allNodes: true, devices: gpus(1) });
    const objects = [published, deviceClass(), claim('c0'), claim('c1'), ...items];
    const alone = planned(
      objects.filter((item) => item !== items[1]),
      { types: [bare, four] },
    );
    expect(typesFor(alone, items[0] as SnapshotObject)).toEqual(['bare', 'four']);
    const both = planned(objects, { types: [bare, four] });
    expect(both.newNodes.map(({ instanceTypes, pods }) => [instanceTypes, pods.length])).toEqual([[['four'], 2]]);
  });

  test('serve one claim each on a node, and those of another node are others', () => {
    const items = Array.from({ length: 5 }, (_, at) => user(`p${at}`, `c${at}`));
    const claims = items.map((_, at) => claim(`c${at}`));
    const result = planned([deviceClass(), ...claims, ...items], { types: [four] });
    expect(result.newNodes.map(({ pods }) => pods.length)).toEqual([4, 1]);
  });

  test('rule out types as pods come', () => {
    const items = [user('a', 'c0'), user('b', 'c1')];
    const objects = [deviceClass(), claim('c0'), claim('c1'), ...items];
    const result = planned(objects, { types: [one, four] });
    expect(result.newNodes).toHaveLength(1);
    expect(typesFor(result, items[0] as SnapshotObject)).toEqual(['four']);
  });

  test('are all taken by a request for all, which prunes types with more of them than a claim may have', () => {
    const every = claim('every', [request({ allocationMode: 'All' })]);
    const items = [asking('2', 'a', 'every'), user('b', 'c')];
    const many = type('many', brings(gpus(33)));
    const result = planned([deviceClass(), every, claim('c'), ...items], { types: [bare, four, many] });
    expect(typesFor(result, items[0] as SnapshotObject)).toEqual(['four']);
    expect(newNodeOf(result, items[0] as SnapshotObject).pods).toEqual(['default/a']);
  });

  test('are selected like published ones', () => {
    const item = user('a', 'c');
    const types = [type('x', brings([device('d', of('x'))])), type('y', brings([device('d', of('y'))]))];
    const result = planned([deviceClass(), claim('c', [request(wanting('y'))]), item], { types });
    expect(typesFor(result, item)).toEqual(['y']);
  });

  test('share counters of their pool, node by node and type by type', () => {
    const part = (slots: string): Fields => ({
      consumesCounters: [{ counterSet: 'whole', counters: { slots: { value: slots } } }],
    });
    const declared = brings([device('a', part('2')), device('b', part('2')), device('c', part('2'))]);
    const counted = (slots: string): DynamicResources => ({
      resourceSliceTemplates: [
        ...(declared.resourceSliceTemplates ?? []),
        {
          driver: 'gpu.example.com',
          pool: { name: 'own' },
          sharedCounters: [{ name: 'whole', counters: { slots: { value: slots } } }],
        },
      ],
    });
    const items = Array.from({ length: 3 }, (_, at) => user(`p${at}`, `c${at}`));
    const claims = items.map((_, at) => claim(`c${at}`));
    const types = [type('small', counted('2')), type('large', counted('4'))];
    const result = planned([deviceClass(), ...claims, ...items], { types });
    expect(result.newNodes.map(({ pods, instanceTypes }) => [pods.length, [...instanceTypes].sort()])).toEqual([
      [2, ['large']],
      [1, ['large', 'small']],
    ]);
  });

  test('give out parts of their capacity if they are shared', () => {
    const shared = brings([device('d', { allowMultipleAllocations: true, capacity: { memory: { value: '10Gi' } } })]);
    const items = Array.from({ length: 3 }, (_, at) => user(`p${at}`, `c${at}`));
    const claims = items.map((_, at) => claim(`c${at}`, [request({ capacity: { requests: { memory: '4Gi' } } })]));
    const result = planned([deviceClass(), ...claims, ...items], { types: [type('t', shared)] });
    expect(result.newNodes.map(({ pods }) => pods.length)).toEqual([2, 1]);
  });
});

describe('a claim allocated with devices that a node brings', () => {
  test('binds later pods to that node', () => {
    const items = [user('a', 'shared'), user('b', 'shared')];
    const result = planned([deviceClass(), claim('shared'), ...items], { types: [four] });
    expect(newNodeOf(result, items[0] as SnapshotObject).pods).toEqual(['default/a', 'default/b']);
  });

  test('leaves pods that do not fit there without a place', () => {
    const items = [asking('12', 'a', 'shared'), asking('8', 'b', 'shared')];
    const result = planned([deviceClass(), claim('shared'), ...items], { types: [four] });
    expectScheduled(result, items[0] as SnapshotObject);
    expect(reason(result, items[1] as SnapshotObject)).toContain('allocated where the node is not');
  });
});

describe('published devices that only some types of a node need', () => {
  // Type near has a GPU that goes with a published network card, type whole has one with a card of its own.
  const root = (value: string): Fields => ({ root: { string: value } });
  const near = type('near', brings([device('gpu', of('gpu', root('r1')))]), '4');
  const whole = type('whole', brings([device('gpu', of('gpu', root('r2'))), device('nic', of('nic', root('r2')))]));
  const published = (parts: Fields): SnapshotObject =>
    slice('net', { devices: [device('nic', of('nic', root('r1')))], ...parts });
  const pair = claim('pair', [request(wanting('gpu'), 'gpu'), request(wanting('nic'), 'nic')], {
    constraints: [{ matchAttribute: 'gpu.example.com/root' }],
  });
  const lonely = claim('lonely', [
    request({ selectors: [{ cel: { expression: 'kind=nic' } }, { cel: { expression: 'root=r1' } }] }),
  ]);
  const first = inZoneOnly(asking('3', 'first', 'pair'), 'zone-1');
  const anywhere = asking('3', 'first', 'pair');
  const last = inZoneOnly(asking('500m', 'last', 'lonely'), 'zone-2');
  const objects = [published({ allNodes: true }), deviceClass(), pair, lonely, first, last];

  test('are reserved for it, because it might become one of them', () => {
    const result = planned(objects, { types: [near, whole] });
    expect(typesFor(result, first)).toEqual(['near', 'whole']);
    expectUnscheduled(result, last);
  });

  test('are free again once these types are pruned', () => {
    const between = inZoneOnly(pod({ name: 'between', cpu: '2' }), 'zone-1');
    const result = planned([...objects, between], { types: [near, whole] });
    expect(typesFor(result, first)).toEqual(['whole']);
    expectScheduled(result, last);
  });

  test('are free for its other types', () => {
    const beside = inZoneOnly(last, 'zone-1');
    const result = planned([...objects.filter((item) => item !== last), beside], { types: [near, whole] });
    expect(newNodeOf(result, first).pods).toEqual(['default/first', 'default/last']);
    expect(typesFor(result, first)).toEqual(['whole']);
  });

  test('say where it is; a type that would need it elsewhere than the types before is pruned', () => {
    const far = type('far', brings([device('gpu', of('gpu', root('r3')))]));
    const other = slice('other', { devices: [device('nic', of('nic', root('r3')))], ...inZone('zone-2') });
    const parts = [published(inZone('zone-1')), other, deviceClass(), pair, anywhere];
    const result = planned(parts, { types: [near, far, whole] });
    expect(typesFor(result, anywhere)).toEqual(['near', 'whole']);
    expect(valuesOf(newNodeOf(result, anywhere), label.zone)).toEqual(['zone-1']);
    const turned = planned(parts, { types: [far, near, whole] });
    expect(typesFor(turned, anywhere)).toEqual(['far', 'whole']);
    expect(valuesOf(newNodeOf(turned, anywhere), label.zone)).toEqual(['zone-2']);
  });

  test('are passed over where the type cannot be', () => {
    const local = {
      ...near,
      offerings: near.offerings.filter(({ requirements }) => requirements[0]?.values?.[0] !== 'zone-1'),
    };
    const twin = slice('twin', { devices: [device('nic', of('nic', root('r1')))], ...inZone('zone-3') });
    const result = planned([published(inZone('zone-1')), twin, deviceClass(), pair, anywhere], { types: [local] });
    expect(valuesOf(newNodeOf(result, anywhere), label.zone)).toEqual(['zone-3']);
  });

  test('name their drivers on the claim as long as a type that needs them is left', () => {
    const foreign = { ...published({ allNodes: true }) };
    Object.assign(foreign['spec'] as object, { driver: 'nic.example.com' });
    const wide = { constraints: [{ matchAttribute: 'root' }] };
    const either = claim('pair', [request(wanting('gpu'), 'gpu'), request(wanting('nic'), 'nic')], wide);
    const driversOf = (result: Plan): string | undefined =>
      newNodeOf(result, anywhere).annotations[annotation.requestedDraDrivers];
    const parts = [foreign, deviceClass(), either, first];
    expect(driversOf(planned(parts, { types: [near, whole] }))).toBe('gpu.example.com,nic.example.com');
    expect(driversOf(planned(parts, { types: [whole] }))).toBe('gpu.example.com');
  });
});

describe('attributes whose values are not known yet', () => {
  const attribute = 'example.com/root';
  const id = (name: string): { driver: string; pool: string; device: string } => ({
    driver: 'gpu.example.com',
    pool: 'own',
    device: name,
  });
  const bound = (...pairs: string[][]): Partial<DynamicResources> => ({
    attributeBindings: pairs.map((names) => ({ attribute, devices: names.map(id) })),
  });
  const devices = [device('g0', of('gpu')), device('g1', of('gpu')), device('n0', of('nic'))];
  const pair = claim('pair', [request(wanting('gpu'), 'gpu'), request(wanting('nic'), 'nic')], {
    constraints: [{ matchAttribute: attribute }],
  });
  const item = user('a', 'pair');
  const kept = (types: InstanceTypeSpec[], own = pair): string[] => {
    const result = planned([deviceClass(), own, item], { types });
    return result.newNodes.flatMap(({ instanceTypes }) => instanceTypes).sort();
  };

  test('match where the provider binds devices, and the search goes back where it must', () => {
    expect(kept([type('t', brings(devices, bound(['g1', 'n0'])))])).toEqual(['t']);
    expect(kept([type('t', brings(devices))])).toEqual([]);
  });

  test('are bound type by type', () => {
    const types = [type('x', brings(devices, bound(['g0', 'g1']))), type('y', brings(devices, bound(['g0', 'n0'])))];
    expect(kept(types)).toEqual(['y']);
  });

  test('are bound through other devices, and not by a binding of one device', () => {
    expect(kept([type('t', brings(devices.slice(1), bound(['g1', 'g0'], ['g0', 'n0'])))])).toEqual(['t']);
    expect(kept([type('t', brings(devices, bound(['g0'], ['n0'])))])).toEqual([]);
  });

  test('do not match known ones within one constraint', () => {
    const known = { [attribute]: { string: 'r' } };
    const mixed = [device('g0', of('gpu', known)), device('n0', of('nic'))];
    expect(kept([type('t', brings(mixed, bound(['g0', 'n0'])))])).toEqual([]);
    const both = [device('g0', of('gpu', known)), device('n0', of('nic', known))];
    expect(kept([type('t', brings(both, bound(['g0', 'n0'])))])).toEqual(['t']);
  });
});

describe('nodes on their way', () => {
  const machine = (name: string, labels: Record<string, string> = {}): SnapshotObject[] => [
    nodeClaim(name, { labels: { [label.instanceType]: 'four', ...labels } }),
    node({
      name,
      providerID: `test:///${name}`,
      labels: { [label.nodePool]: 'default', [label.instanceType]: 'four', [label.registered]: 'true', ...labels },
    }),
  ];
  const items = Array.from({ length: 5 }, (_, at) => asking('100m', `p${at}`, `c${at}`));
  const claims = items.map((_, at) => claim(`c${at}`));

  test('have the devices of their type until they are initialized', () => {
    const result = planned([...machine('n'), deviceClass(), ...claims, ...items], { types: [four] });
    expectOnNode(result, 'n', ...items.slice(0, 4));
    expect(newNodeOf(result, items[4] as SnapshotObject).pods).toEqual(['default/p4']);
  });

  test('have them before they are registered too', () => {
    const result = planned([...machine('n').slice(0, 1), deviceClass(), ...claims, ...items], { types: [four] });
    expectOnNode(result, 'n', ...items.slice(0, 4));
  });

  test('have what is published once they are', () => {
    const ready = machine('n', { [label.initialized]: 'true' });
    const result = planned([...ready, deviceClass(), claims[0] as SnapshotObject, items[0] as SnapshotObject], {
      types: [four],
    });
    expect(result.existingNodes).toEqual([]);
    expect(newNodeOf(result, items[0] as SnapshotObject).instanceTypes).toEqual(['four']);
  });

  test('keep the pods that share a claim to themselves', () => {
    const sharing = [asking('3', 'a', 'shared'), asking('2', 'b', 'shared')];
    const result = planned([...machine('n'), deviceClass(), claim('shared'), ...sharing], { types: [four] });
    expectOnNode(result, 'n', sharing[0] as SnapshotObject);
    expectUnscheduled(result, sharing[1] as SnapshotObject);
  });
});
