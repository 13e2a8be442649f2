// When the loop looks, in which order it tries its methods, what it remembers and what it says.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { annotation, type NodeClaim } from '../../api/index.ts';
import { type Node, type Pod, type PodDisruptionBudget, type Resource, resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { type DisruptionBench, openDisruption, podOn, quiet } from './disruption-bench.testing.ts';

let at: DisruptionBench;
afterEach(async () => {
  at.stop();
  await at.bench.close();
});

const minute = 60_000;
const capacity = { cpu: '4', memory: '8Gi', pods: '20' };
const drifted = { ...quiet, conditions: { ...quiet.conditions, Drifted: 'True' } };
const pickyPod = (name: string, node: string) => {
  const pod = podOn(name, node);
  return { ...pod, spec: { ...pod.spec, nodeSelector: { only: 'here' } } };
};
const protect = (name: string) =>
  at.bench.apply<Pod>(resources.pods, {
    metadata: { name, namespace: 'default', annotations: { [annotation.doNotDisrupt]: 'true' } },
  });
const decisions = () =>
  at.bench.metrics.series('karpenter_voluntary_disruption_decisions_total').map(({ labels }) => labels['reason']);
const round = async (ms = 40_000): Promise<boolean> => {
  const acted = at.begin();
  await at.bench.run(ms);
  return acted;
};

describe('the loop', () => {
  /** When rounds began, in seconds; each does what the list says. */
  const times = async (outcomes: (boolean | Error)[], ms: number): Promise<number[]> => {
    const started = at.bench.clock.now();
    const seen: number[] = [];
    vi.spyOn(at.loop, 'round').mockImplementation(async () => {
      seen.push((at.bench.clock.now() - started) / 1000);
      const outcome = outcomes.shift() ?? false;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    });
    void at.loop.run(at.signal);
    await at.bench.run(ms);
    return seen;
  };

  test('looks every ten seconds, and at once after it acted', async () => {
    at = await openDisruption();
    expect(await times([false, true, false], 25_000)).toEqual([0, 10, 10, 20]);
  });

  test('waits longer and longer after errors', async () => {
    at = await openDisruption();
    const error = new Error('no answer');
    expect(await times([error, error, error, false], 15_000)).toEqual([0, 1, 3, 7]);
    expect(at.bench.log.lines.map(({ message }) => message)).toContain('disruption failed');
  });

  test('tries again after a second while the cluster is not known yet', async () => {
    at = await openDisruption();
    let isSynced = false;
    vi.spyOn(at.bench.context.cluster, 'synced', 'get').mockImplementation(() => isSynced);
    at.bench.clock.after(2_500, () => (isSynced = true));
    expect(await times([], 5_000)).toEqual([3]);
  });
});

test('a round long after the one before is worth a line in the log', async () => {
  at = await openDisruption();
  const late = () => at.bench.log.lines.filter(({ message }) => message === 'time between disruption runs').length;
  await round();
  await at.bench.run(14 * minute);
  await round();
  expect(late()).toBe(0);
  await at.bench.run(16 * minute);
  await round();
  expect(late()).toBe(1);
});

test('a search that runs out of time is counted', async () => {
  at = await openDisruption();
  const timeouts = () =>
    ['multi', 'single'].map((consolidation_type) =>
      at.bench.metrics.value('karpenter_voluntary_disruption_consolidation_timeouts_total', { consolidation_type }),
    );
  expect(timeouts()).toEqual([0, 0]);
  for (const name of ['a', 'b', 'c']) {
    await at.bench.machine('default', name, { ...quiet, capacity });
    await at.bench.apply(resources.pods, pickyPod(`p-${name}`, name));
  }
  const { clock } = at.bench.context;
  const elapsed = clock.elapsed.bind(clock);
  let asked = 0;
  // Every look at the clock costs a minute and a half.
  vi.spyOn(clock, 'elapsed').mockImplementation(() => elapsed() + asked++ * 1.5 * minute);
  await round();
  vi.restoreAllMocks();
  expect(timeouts()).toEqual([1, 1]);
});

test('a budget whose schedule cannot be read is logged in every round', async () => {
  at = await openDisruption({ consolidationPolicy: 'WhenEmpty' });
  await at.bench.machine('default', 'busy', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'busy'));
  const pool = at.bench.context.cluster.nodePools.get('default');
  const budgets = [{ nodes: '10%', schedule: 'whenever', duration: '1h' }];
  const disruption = { ...pool?.spec.disruption, budgets };
  vi.spyOn(at.bench.context.cluster.nodePools, 'list').mockReturnValue([
    { ...pool, spec: { ...pool?.spec, disruption } } as never,
  ]);
  await round();
  expect(at.bench.log.lines.map(({ message }) => message)).toContain('detected disruption budget error');
});

describe('methods are tried in order, and the first that acts ends the round', () => {
  test('empty nodes before drifted ones', async () => {
    at = await openDisruption();
    await at.bench.machine('default', 'empty', quiet);
    await at.bench.machine('default', 'drifted', { ...drifted, capacity });
    await at.bench.apply(resources.pods, podOn('p', 'drifted'));
    expect(await round()).toBe(true);
    expect(decisions()).toEqual(['empty']);
  });

  test('drifted nodes before those that could be packed better', async () => {
    at = await openDisruption();
    for (const [name, parts] of [
      ['drifted', drifted],
      ['roomy', quiet],
    ] as const) {
      await at.bench.machine('default', name, { ...parts, capacity });
      await at.bench.apply(resources.pods, podOn(`p-${name}`, name));
    }
    expect(await round()).toBe(true);
    expect(decisions()).toEqual(['drifted']);
  });
});

describe('a method that found nothing', () => {
  const looks = () =>
    at.reported('Unconsolidatable').filter((text) => text.startsWith('Not all pods would schedule')).length;
  const full = async (disruption = {}): Promise<void> => {
    at = await openDisruption(disruption);
    await at.bench.machine('default', 'full', { ...quiet, capacity });
    await at.bench.apply(resources.pods, pickyPod('p', 'full'));
    at.bench.context.cluster.changed();
  };

  /** A node whose pool's budget holds it back. */
  const hold = async (budget: { nodes: string; schedule?: string; duration?: string }): Promise<void> => {
    await at.bench.pool('closed', { spec: { disruption: { consolidateAfter: '0s', budgets: [budget] } } });
    await at.bench.machine('closed', 'held', { ...quiet, capacity });
    await at.bench.apply(resources.pods, pickyPod('q', 'held'));
  };

  test('is not asked again until something changed', async () => {
    await full();
    await round();
    const once = looks();
    expect(once).toBeGreaterThan(0);
    await round();
    expect(looks()).toBe(once);
    at.bench.context.cluster.changed();
    await round();
    expect(looks()).toBe(2 * once);
  });

  test('is asked again after an hour', async () => {
    await full();
    await round();
    const once = looks();
    await at.bench.run(60 * minute);
    await round();
    expect(looks()).toBe(2 * once);
  });

  test('is asked again where a budget held nodes back', async () => {
    await full();
    await hold({ nodes: '0' });
    await round();
    const once = looks();
    expect(once).toBeGreaterThan(0);
    await round();
    expect(looks()).toBe(2 * once);
  });

  test('is asked again less often the longer that takes, and at once when a scheduled budget ends', async () => {
    await full();
    const { cloud, clock } = at.bench.context;
    const types = cloud.instanceTypes.bind(cloud);
    vi.spyOn(cloud, 'instanceTypes').mockImplementation(async (...given) => {
      await clock.sleep(1_000);
      return types(...given);
    });
    const now = new Date(clock.now());
    const budget = { nodes: '0', schedule: `${now.getUTCMinutes()} ${now.getUTCHours()} * * *`, duration: '3m' };
    await hold(budget);
    await round();
    const once = looks();
    expect(once).toBeGreaterThan(0);
    await round();
    expect(looks()).toBe(once);
    await at.bench.run(2 * minute);
    await round();
    expect(looks()).toBeGreaterThan(once);
  });
});

describe('a node goes in the round after', () => {
  const guard = (value: unknown) => ({ annotations: { [annotation.doNotDisrupt]: value as string } });
  const budget = { name: 'blocking', namespace: 'default' };
  const protections: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'its annotation was taken off',
      () => at.bench.apply<Node>(resources.nodes, { metadata: { name: 'big', ...guard('true') } }),
      () => at.bench.apply<Node>(resources.nodes, { metadata: { name: 'big', ...guard(null) } }),
    ],
    [
      'the annotation of a pod was taken off',
      () => protect('small'),
      () => at.bench.apply<Pod>(resources.pods, { metadata: { name: 'small', namespace: 'default', ...guard(null) } }),
    ],
    [
      'a PodDisruptionBudget allows it',
      () =>
        at.bench.apply<PodDisruptionBudget>(resources.podDisruptionBudgets, {
          metadata: budget,
          spec: { selector: {}, maxUnavailable: 1 },
        }),
      () =>
        at.bench.apply<PodDisruptionBudget>(resources.podDisruptionBudgets, {
          metadata: budget,
          status: { disruptionsAllowed: 1, currentHealthy: 1, desiredHealthy: 0, expectedPods: 1 },
        }),
    ],
  ];

  test.each(protections)('%s', async (_, hold, release) => {
    at = await openDisruption();
    await at.bench.machine('default', 'big', { ...quiet, capacity });
    await at.bench.apply(resources.pods, podOn('small', 'big'));
    await hold();
    expect([await round(), await round()]).toEqual([false, false]);
    await release();
    expect(await round()).toBe(true);
  });
});

describe('a consolidation', () => {
  test('that replaces is announced on node and claim with what it saves', async () => {
    at = await openDisruption();
    await at.bench.machine('default', 'big', { ...quiet, capacity });
    await at.bench.apply(resources.pods, podOn('small', 'big'));
    expect(await round()).toBe(true);
    const [text, same] = at.reported('ConsolidationCandidate');
    expect(text).toMatch(/^Consolidation candidate: replace: \[big\] -> \[1 replacement\] \(savings: \$\d+\.\d\d\)$/);
    expect(same).toBe(text);
    // Pods that wait for a replacement are reported by the provisioner, which plans for them while their node leaves.
    expect(at.reported('Nominated')).toEqual([]);
  });

  test('that only deletes is not announced', async () => {
    at = await openDisruption();
    await at.bench.machine('default', 'nearly', { ...quiet, capacity });
    await at.bench.apply(resources.pods, podOn('small', 'nearly'));
    await at.bench.machine(undefined, 'theirs', { ...quiet, capacity, claim: {}, node: { metadata: {} } });
    await at.bench.remove(nodeClaims, 'theirs');
    expect(await round()).toBe(true);
    expect(decisions()).toEqual(['underutilized']);
    expect(at.reported('ConsolidationCandidate')).toEqual([]);
    expect(at.reported('Nominated')).toEqual(['Pod should schedule on: node/theirs']);
  });

  test.each([
    ['has', 'x', true],
    ['lacks', 'y', false],
  ])('of a pod with a device needs another node that %s what its claim selects', async (_, model, acts) => {
    at = await openDisruption({}, { ignoreDraRequests: false });
    const apply = (resource: Resource, object: object) => at.bench.apply(resource, object);
    await apply(resources.deviceClasses, { metadata: { name: 'gpu' }, spec: {} });
    const driver = 'gpu.example.com';
    for (const [name, kind] of [
      ['big', 'x'],
      ['other', model],
    ] as const) {
      await at.bench.machine('default', name, { ...quiet, capacity });
      const devices = [{ name: 'gpu-0', attributes: { model: { string: kind } } }];
      const pool = { name, generation: 1, resourceSliceCount: 1 };
      await apply(resources.resourceSlices, {
        metadata: { name },
        spec: { driver, nodeName: name, pool, devices },
      });
    }
    // Keeps its node, so that only the other one can go.
    await at.bench.apply(resources.pods, podOn('stays', 'other'));
    await protect('stays');
    const expression = `device.attributes["${driver}"].model == "x"`;
    const exactly = { deviceClassName: 'gpu', selectors: [{ cel: { expression } }] };
    await apply(resources.resourceClaims, {
      metadata: { name: 'mine', namespace: 'default' },
      spec: { devices: { requests: [{ name: 'r', exactly }] } },
    });
    const pod = podOn('user', 'big');
    const resourceClaims = [{ name: 'c', resourceClaimName: 'mine' }];
    await at.bench.apply(resources.pods, { ...pod, spec: { ...pod.spec, resourceClaims } });
    expect(await round()).toBe(acts);
    expect(at.reported('Nominated')).toEqual(acts ? ['Pod should schedule on: nodeclaim/other, node/other'] : []);
  });

  test('of one node that no longer holds after the wait is counted and reported', async () => {
    at = await openDisruption();
    await at.bench.machine('default', 'big', { ...quiet, capacity });
    await at.bench.apply(resources.pods, podOn('small', 'big'));
    const acted = at.begin();
    await at.bench.run(5_000);
    await protect('small');
    await at.bench.run(60_000);
    expect(await acted).toBe(false);
    const [text] = at.reported('ConsolidationRejected');
    expect(text).toMatch(
      /^Consolidation rejected: replace: \[big\] -> \[1 replacement\], reason: churn \(savings: \$\d+\.\d\d\)$/,
    );
    const labels = { consolidation_type: 'single' };
    expect(at.bench.metrics.value('karpenter_voluntary_disruption_failed_validations_total', labels)).toBe(1);
  });

  test('of several nodes that no longer holds is counted by node, not reported, and single nodes are tried', async () => {
    at = await openDisruption();
    for (const name of ['a', 'b']) {
      await at.bench.machine('default', name, { ...quiet, capacity });
      await at.bench.apply(resources.pods, podOn(`p-${name}`, name));
    }
    const acted = at.begin();
    await at.bench.run(5_000);
    await protect('p-a');
    await at.bench.run(60_000);
    expect(await acted).toBe(true);
    expect(at.reported('ConsolidationRejected')).toEqual([]);
    const labels = { consolidation_type: 'multi' };
    expect(at.bench.metrics.value('karpenter_voluntary_disruption_failed_validations_total', labels)).toBe(2);
    expect(await at.bench.get<NodeClaim>(nodeClaims, 'b')).toBeUndefined();
  });

  test('is given up if a pod is about to come while its pods are placed once more', async () => {
    at = await openDisruption();
    await at.bench.machine('default', 'big', { ...quiet, capacity });
    await at.bench.apply(resources.pods, podOn('small', 'big'));
    const { cloud, cluster, clock } = at.bench.context;
    const typesOf = cloud.instanceTypes.bind(cloud);
    let looks = 0;
    vi.spyOn(cloud, 'instanceTypes').mockImplementation(async (pool) => {
      looks += 1;
      // The first look decides, the second places the pods again, the third is the last before anything happens.
      if (looks === 3) cluster.nominate(cluster.machines.ofNode('big')?.key ?? '', clock.now() + minute);
      return typesOf(pool);
    });
    expect(await round(20_000)).toBe(false);
    expect(looks).toBeGreaterThanOrEqual(3);
    expect(at.reported('ConsolidationRejected')[0]).toContain('reason: churn');
    expect(await at.isTainted('big')).toBe(false);
  });
});
