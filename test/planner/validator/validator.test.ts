import { describe, expect, test } from 'vitest';
import { diverse, existing, synthetic } from '../../../bench/workloads/snapshots.ts';
import type { Plan, Snapshot } from '../../../src/core/index.ts';
import { naivePlanDocument } from '../naive/as-plan.ts';
import { violations } from './index.ts';

const snapshot: Snapshot = diverse(30, synthetic(8));
const good: Plan = naivePlanDocument(snapshot);

/** The plan with its first new nodes changed. */
const changed = (change: (nodes: Plan['newNodes']) => void): Plan => {
  const copy = structuredClone(good);
  change(copy.newNodes);
  return copy;
};

const first = (nodes: Plan['newNodes'], index = 0): Plan['newNodes'][number] => {
  const node = nodes[index];
  if (node === undefined) throw new Error('the plan has too few nodes for this test');
  return node;
};

const fullest = (nodes: Plan['newNodes']): Plan['newNodes'][number] =>
  nodes.reduce((a, b) => (b.chosen.pricePerHour > a.chosen.pricePerHour ? b : a));

test('a plan that keeps the rules has no violations', () => {
  expect(violations(snapshot, good)).toEqual([]);
  const half = existing(40, 5);
  expect(violations(half, naivePlanDocument(half))).toEqual([]);
});

describe('the validator finds', () => {
  const cases: [string, (nodes: Plan['newNodes']) => void, RegExp][] = [
    ['a lost pod', (nodes) => void first(nodes).pods.pop(), /occurs 0 times/],
    ['a pod placed twice', (nodes) => first(nodes).pods.push(first(nodes, 1).pods[0] ?? ''), /occurs 2 times/],
    ['a pod that does not wait', (nodes) => first(nodes).pods.push('default/ghost'), /does not wait/],
    ['two nodes with one name', (nodes) => void (first(nodes).name = first(nodes, 1).name), /occurs twice/],
    ['an empty node', (nodes) => void nodes.push({ ...first(nodes), name: 'empty', pods: [] }), /has no pods/],
    ['an unknown NodePool', (nodes) => void (first(nodes).nodePool = 'gone'), /cannot launch nodes/],
    ['an unknown type', (nodes) => first(nodes).instanceTypes.push('fake-it-99'), /does not have/],
    ['dear types first', (nodes) => first(nodes).instanceTypes.reverse(), /stands after the dearer/],
    ['a type too small for the pods', (nodes) => void (fullest(nodes).instanceTypes = ['fake-it-0']), /too small/],
    ['an offering that does not exist', (nodes) => void (first(nodes).chosen.zone = 'moon'), /is not an offering/],
    ['a made-up price', (nodes) => void (first(nodes).chosen.pricePerHour = 0.01), /the cheapest/],
    ['wrong requests', (nodes) => void (first(nodes).requests['cpu'] = '1'), /requests are/],
    [
      'a host in the requirements',
      (nodes) => first(nodes).requirements.push({ key: 'kubernetes.io/hostname', operator: 'In', values: ['x'] }),
      /name a host/,
    ],
    [
      'requirements wider than the NodePool',
      (nodes) => void (first(nodes).requirements = []),
      /wider than the NodePool/,
    ],
    ['a missing annotation', (nodes) => void (first(nodes).annotations = {}), /annotation/],
  ];
  test.each(cases)('%s', (_name, change, message) => {
    expect(violations(snapshot, changed(change)).join('\n')).toMatch(message);
  });

  test('anti-affine pods on one node', () => {
    const plan = changed((nodes) => {
      const apart = nodes.filter(({ pods }) => pods.some((pod) => pod.includes('apart')));
      const [one, two] = [first(apart), first(apart, 1)];
      const moved = two.pods.filter((pod) => pod.includes('apart'));
      two.pods = two.pods.filter((pod) => !moved.includes(pod));
      one.pods.push(...moved);
      one.chosen.instanceType = 'fake-it-7';
    });
    expect(violations(snapshot, plan).join('\n')).toMatch(
      /refuses .*apart.*anti-affinity over kubernetes.io\/hostname/,
    );
  });

  test('prices that do not add up', () => {
    expect(violations(snapshot, { ...good, pricePerHour: 1 }).join('\n')).toMatch(/add up/);
  });

  test('a node fuller than it can be', () => {
    const half = existing(40, 2);
    const plan = naivePlanDocument(half);
    const everything = [...plan.existingNodes, ...plan.newNodes].flatMap(({ pods }) => pods);
    const packed = {
      ...plan,
      newNodes: [],
      pricePerHour: 0,
      existingNodes: [{ name: 'node-00000', pods: everything }],
    };
    expect(violations(half, packed).join('\n')).toMatch(/not enough cpu/);
  });
});
