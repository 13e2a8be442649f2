import { describe, expect, test } from 'vitest';
import { label } from '../../../api/names.ts';
import { planSnapshot, type Snapshot } from '../../../core/index.ts';
import {
  instanceType,
  nodeAffinity,
  nodePool,
  pod,
  requirement,
  snapshot,
  spread,
} from '../../../core/testing/builders.testing.ts';
import { confirmSuggestions } from './confirm-suggestions.ts';

const types = [instanceType({ name: 'm', cpu: '4' })];
const reasonsOf = (given: Snapshot) =>
  confirmSuggestions(planSnapshot(given), given, {}).unschedulable[0]?.reasons.map(
    ({ code, nodePool, suggestion }) => `${nodePool}: ${code}${suggestion === undefined ? '' : ' !'}`,
  );
const taints = [
  { key: 'a', effect: 'NoSchedule' },
  { key: 'b', effect: 'NoSchedule' },
];

test('a suggestion that works is kept', () => {
  expect(reasonsOf(snapshot([nodePool({ taints }), pod({ cpu: '1' })], { types }))).toEqual([
    'default: TaintNotTolerated !',
  ]);
});

test('suggestions that do not lead to a place are dropped; what is in the way is said all the same', () => {
  const gpu = pod({ requests: { 'a.com/gpu': '1' } });
  expect(reasonsOf(snapshot([nodePool({ taints }), gpu], { types }))).toEqual([
    'default: TaintNotTolerated',
    'default: InsufficientResources',
  ]);
});

test('what stands behind an obstacle is found, and all of it together is the suggestion', () => {
  const wish = pod({ cpu: '8', spec: { nodeSelector: { disk: 'nvme' } } });
  expect(reasonsOf(snapshot([nodePool({ taints, limits: { cpu: '2' } }), wish], { types }))).toEqual([
    'default: LimitsExceeded !',
    'default: TaintNotTolerated !',
    'default: RequirementsIncompatible !',
    'default: InsufficientResources !',
  ]);
});

test('a pool that can be opened comes before one that cannot', () => {
  const gpu = { ...types[0], name: 'g', capacity: { cpu: '4', memory: '8Gi', pods: '10', 'a.com/gpu': '1' } };
  const given = snapshot(
    [nodePool({ name: 'plain' }), nodePool({ name: 'gpu', taints }), pod({ requests: { 'a.com/gpu': '1' } })],
    {
      instanceTypes: [
        { nodePool: 'plain', items: types },
        { nodePool: 'gpu', items: [gpu as never] },
      ],
    },
  );
  expect(reasonsOf(given)).toEqual(['gpu: TaintNotTolerated !', 'plain: InsufficientResources']);
});

test('a pause is over once it is waited for', () => {
  const given = snapshot([nodePool(), pod({ cpu: '1' })], {
    types,
    poolState: [{ nodePool: 'default', pausedUntil: '2026-01-01T01:00:00Z' }],
  });
  expect(reasonsOf(given)).toEqual(['default: NodePoolPaused !']);
});

test('of several obstacles, only the smallest set whose removal is enough keeps its suggestions', () => {
  // Without its label the pod fits on the node that exists; the taints of the pool are not in its way then.
  const wish = pod({ cpu: '1', spec: { nodeSelector: { disk: 'nvme' } } });
  const room = { cpu: '8', memory: '16Gi', pods: '110' };
  const rack = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'rack' },
    status: { capacity: room, allocatable: room },
  };
  expect(reasonsOf(snapshot([nodePool({ taints }), wish, rack], { types }))).toEqual([
    'default: TaintNotTolerated',
    'default: RequirementsIncompatible !',
  ]);
});

test('a value that exists nowhere is not the end: what is behind it in the nearest pool is asked for too', () => {
  const wish = pod({ cpu: '1', spec: { nodeSelector: { 'topology.kubernetes.io/zone': 'moon-1a' } } });
  expect(reasonsOf(snapshot([nodePool({ taints }), wish], { types }))).toEqual([
    'undefined: UnknownValue !',
    'default: TaintNotTolerated !',
  ]);
});

test('a resource that a pool has nothing of is asked for by allowing other instance types, if there are any', () => {
  const gpu = {
    ...instanceType({ name: 'g', cpu: '4' }),
    capacity: { cpu: '4', memory: '8Gi', pods: '10', 'a.com/gpu': '1' },
  };
  const requirements = [requirement('node.kubernetes.io/instance-type', 'In', ['m'])];
  const given = snapshot([nodePool({ requirements }), pod({ requests: { 'a.com/gpu': '1' } })], {
    types: [...types, gpu],
  });
  const [reason] = confirmSuggestions(planSnapshot(given), given, {}).unschedulable[0]?.reasons ?? [];
  expect(reason?.suggestion).toBe('allow instance types with a.com/gpu in NodePool default');
});

test('a spread that asks for a zone in which nothing is available is what has to change', () => {
  // A NodePool that names a zone makes it one that pods spread over, whether or not a node can come there.
  const zone = 'topology.kubernetes.io/zone';
  const moon = nodePool({ name: 'moon', taints, requirements: [requirement(zone, 'In', ['moon-1a'])] });
  const spec = spread(zone, { app: 'a' });
  const many = Array.from({ length: 12 }, (_, at) => pod({ name: `p${at}`, cpu: '1', labels: { app: 'a' }, spec }));
  const given = snapshot([nodePool(), moon, ...many], { types });
  const [waiting] = confirmSuggestions(planSnapshot(given), given, {}).unschedulable;
  const own = waiting?.reasons.filter(({ nodePool: of }) => of === 'default').map(({ suggestion }) => suggestion);
  expect(own).toEqual([
    expect.stringMatching(
      /^relax the pod's topology rules over topology\.kubernetes\.io\/zone: they ask for .*moon-1a/,
    ),
  ]);
});

describe('a suggestion that offers a choice', () => {
  const suggestionsOf = (given: Snapshot) =>
    confirmSuggestions(planSnapshot(given), given, {}).unschedulable[0]?.reasons.flatMap(
      ({ suggestion }) => suggestion ?? [],
    );
  const arm = instanceType({ name: 'a', cpu: '4', arch: 'arm64' });
  const wantsArm = pod({ cpu: '1', spec: { nodeSelector: { 'kubernetes.io/arch': 'arm64' } } });
  const amdOnly = nodePool({ requirements: [requirement('kubernetes.io/arch', 'In', ['amd64'])] });

  test('keeps it where each part alone gives the pod a place', () => {
    expect(suggestionsOf(snapshot([amdOnly, wantsArm], { types: [...types, arm] }))).toEqual([
      "allow what the pod asks for in the requirements of NodePool default, or change the pod's node selector or affinity for kubernetes.io/arch",
    ]);
  });

  test('loses the part that does not help: the pool has no such instance type', () => {
    const given = snapshot([amdOnly, nodePool({ name: 'arm', limits: { cpu: '0' } }), wantsArm], {
      instanceTypes: [
        { nodePool: 'default', items: types },
        { nodePool: 'arm', items: [arm] },
      ],
    });
    expect(suggestionsOf(given)).toContain("change the pod's node selector or affinity for kubernetes.io/arch");
  });

  test('names the pod alone where the pool is not in the way', () => {
    const typeLabel = 'node.kubernetes.io/instance-type';
    const wish = pod({ cpu: '3', spec: { nodeSelector: { [typeLabel]: 's' } } });
    const given = snapshot([nodePool(), wish], { types: [...types, instanceType({ name: 's', cpu: '1' })] });
    expect(suggestionsOf(given)).toEqual([`allow other values for ${typeLabel} in the pod`]);
  });

  test('starts a pod to be near only where that gives the pod a place', () => {
    const near = (parts: Record<string, unknown>) => ({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: label.zone, labelSelector: { matchLabels: { app: 'db' } }, ...parts },
          ],
        },
      },
    });
    const both = `start a pod the affinity over ${label.zone} selects where this pod may run, or make the affinity preferred`;
    const waiting = (spec: ReturnType<typeof near>) => snapshot([nodePool(), pod({ cpu: '1', spec })], { types });
    expect(suggestionsOf(waiting(near({})))).toEqual([both]);
    // Which namespaces a selector selects is not known here.
    expect(suggestionsOf(waiting(near({ namespaceSelector: { matchLabels: { team: 'a' } } })))).toEqual([
      `make the affinity over ${label.zone} preferred`,
    ]);
    // Nor on which host it would start.
    expect(suggestionsOf(waiting(near({ topologyKey: label.hostname })))).toEqual([
      `make the affinity over ${label.hostname} preferred`,
    ]);
  });

  test('names only those existing values in which the pod has a place', () => {
    const zonal = ['zone-1', 'zone-2'].map((zone) =>
      instanceType({ name: zone, cpu: zone === 'zone-1' ? '1' : '4', zones: [zone] }),
    );
    const wish = pod({
      cpu: '2',
      spec: nodeAffinity([requirement(label.zone, 'In', ['zone-11', 'zone-22'])]),
    });
    expect(suggestionsOf(snapshot([nodePool(), wish], { types: zonal }))).toEqual([
      "ask for zone-2 in the pod's node selector or affinity for topology.kubernetes.io/zone",
    ]);
  });
});
