// What every plan has in common, on random snapshots. The naive planner and the validator are in their own folders.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seeded } from '../../bench/workloads/random.ts';
import { label, type NodePool } from '../../src/api/index.ts';
import { lowerBoundPerHour } from '../../src/cli/plan/bound.ts';
import { confirmSuggestions } from '../../src/cli/plan/confirm/confirm-suggestions.ts';
import {
  indexSnapshot,
  type Plan,
  planSnapshot,
  planWorld,
  type Reason,
  relaxationOf,
  roomBound,
  type Snapshot,
  type SnapshotObject,
} from '../../src/core/index.ts';
import { choicesIn, followSuggestion } from './follow-suggestion.ts';
import { agreeable, everything, type Mix, snapshots } from './generate/snapshot.ts';
import { naivePlanDocument } from './naive/as-plan.ts';
import { renamed, reordered } from './order-and-names.ts';
import { placementOf } from './same-placement.ts';
import { judge } from './validator/index.ts';

const holds = (mix: Mix, seed: number, numRuns: number, check: (snapshot: Snapshot) => void): void =>
  fc.assert(fc.property(snapshots(mix), check), { seed, numRuns });

describe('the planner and the naive planner', () => {
  test('put the same pods on the same machines and together on the same new nodes', () => {
    holds(everything, 101, 400, (snapshot) => {
      const plan = planSnapshot(snapshot, { improve: false });
      expect(placementOf(plan)).toEqual(placementOf(naivePlanDocument(snapshot)));
    });
  });
});

/**
 * So many plans at most differ from kube-scheduler where planning has other rules (see `README.md`): 52 of 40,000 did, over 80
 * seeds. Six deviations above that, so that one run in tens of thousands fails for chance.
 */
const mostExcused = (runs: number): number => runs * 0.0015 + 6 * Math.sqrt(runs * 0.0015);

describe('every plan', () => {
  test('keeps all rules, as packed at first', () => {
    let excused = 0;
    holds(agreeable, 102, 250, (snapshot) => {
      const judged = judge(snapshot, planSnapshot(snapshot, { improve: false }));
      expect(judged.violations).toEqual([]);
      if (judged.excused.length > 0) excused += 1;
    });
    expect(excused).toBeLessThan(mostExcused(250));
  });

  test('keeps all rules, after its price was improved, and is never dearer for it', () => {
    let excused = 0;
    holds(agreeable, 103, 1000, (snapshot) => {
      const plan = planSnapshot(snapshot);
      const greedy = planSnapshot(snapshot, { improve: false });
      const judged = judge(snapshot, plan);
      expect(judged.violations).toEqual([]);
      if (judged.excused.length > 0) excused += 1;
      const [placed, before] = [placementOf(plan).placed, placementOf(greedy).placed];
      expect(placed).toEqual(expect.arrayContaining([...before]));
      // Cheaper nodes leave room under a pool's limits: a pod that had no place may have one now, at its own price.
      const mostPerHour = placed.length === before.length ? greedy.pricePerHour + 1e-9 : Number.POSITIVE_INFINITY;
      expect(plan.pricePerHour).toBeLessThanOrEqual(mostPerHour);
    });
    expect(excused).toBeLessThan(mostExcused(1000));
  });

  test('is the same, byte for byte, whatever the order of the input', () => {
    holds(everything, 104, 200, (snapshot) => {
      const plan = JSON.stringify(planSnapshot(snapshot));
      expect(JSON.stringify(planSnapshot(snapshot))).toBe(plan);
      expect(JSON.stringify(planSnapshot(reordered(snapshot, seeded(1))))).toBe(plan);
      expect(JSON.stringify(planSnapshot(reordered(snapshot, seeded(2))))).toBe(plan);
    });
  });

  test('is the same under other names that sort alike', () => {
    holds(everything, 105, 200, (snapshot) => {
      expect(planSnapshot(renamed(snapshot))).toEqual(renamed(planSnapshot(snapshot)));
    });
  });
});

describe('the lower bound', () => {
  test('is never above the price of a plan, improved or not', async () => {
    const check = async (snapshot: Snapshot): Promise<void> => {
      for (const improve of [false, true]) {
        const plan = planSnapshot(snapshot, { improve });
        expect(await lowerBoundPerHour(snapshot, plan)).toBeLessThanOrEqual(plan.pricePerHour + 1e-9);
      }
    };
    await fc.assert(fc.asyncProperty(snapshots(everything), check), { seed: 108, numRuns: 150 });
  });
});

describe('the lower bound by room alone', () => {
  test('is never above the price of a plan', () => {
    holds(everything, 109, 150, (snapshot) => {
      const world = indexSnapshot(snapshot);
      const plan = planWorld(world);
      const placed = new Set([...plan.newNodes, ...plan.existingNodes].flatMap(({ pods }) => pods));
      if (placed.size === 0) return;
      expect(roomBound(relaxationOf(world, placed))).toBeLessThanOrEqual(plan.pricePerHour + 1e-9);
    });
  });
});

describe('more capacity', () => {
  // Stated as it is true. An empty node that comes last in the order of nodes is asked only by pods that all other nodes
  // refused, so the others keep their pods, and what went to new nodes still can. It does not hold with topology (a node
  // can be a new, empty domain), with preferences or alternative terms (a pod may wait longer before it relaxes), with
  // limits or reserved capacity (which depend on what was launched before), nor for a pod that asks for a label which its new
  // node has only because of another pod there (`tier NotIn tin` leaves `tier: gold` open): the other may go to the empty node.
  const plain: Mix = {
    ...everything,
    preferences: false,
    spreads: false,
    affinities: false,
    antiAffinities: false,
    alternatives: false,
    softTaints: false,
    limits: false,
    reserved: false,
    minValues: false,
    starting: false,
  };

  test('never takes a place away: an empty last node leaves every placed pod placed', () => {
    holds(plain, 106, 300, (snapshot) => {
      const plan = planSnapshot(snapshot);
      const borrowing = onBorrowedLabels(snapshot, plan);
      const after = new Set(placementOf(planSnapshot(withEmptyNode(snapshot))).placed);
      expect(placementOf(plan).placed.filter((pod) => !after.has(pod) && !borrowing.has(pod))).toEqual([]);
    });
  });
});

/** Pods of new nodes with a label that neither their NodePool nor the provider gives them. */
function onBorrowedLabels({ objects, provider }: Snapshot, plan: Plan): Set<string> {
  const given = new Set([...(provider?.wellKnownLabels ?? []), 'karpenter.test.sh/testnodeclass']);
  const pools = objects.items.filter(({ kind }) => kind === 'NodePool') as unknown as NodePool[];
  const templateOf = (name: string) => pools.find(({ metadata }) => metadata.name === name)?.spec.template;
  return new Set(
    plan.newNodes.flatMap(({ nodePool, requirements, pods }) => {
      const template = templateOf(nodePool);
      const own = new Set([
        ...Object.keys(template?.metadata?.labels ?? {}),
        ...(template?.spec.requirements ?? []).map(({ key }) => key),
      ]);
      return requirements.some(({ key }) => !given.has(key) && !own.has(key)) ? pods : [];
    }),
  );
}

function withEmptyNode(snapshot: Snapshot): Snapshot {
  const room = { cpu: '32', memory: '128Gi', pods: '110' };
  const node: SnapshotObject = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'zzz-empty',
      uid: 'uid-zzz-empty',
      labels: { [label.hostname]: 'zzz-empty', [label.zone]: 'zone-a', [label.arch]: 'amd64', [label.os]: 'linux' },
    },
    spec: { providerID: 'test:///zzz-empty' },
    status: { capacity: room, allocatable: room },
  };
  return {
    ...snapshot,
    objects: { ...snapshot.objects, items: [...snapshot.objects.items, node] },
    nodeState: [
      ...(snapshot.nodeState ?? []),
      { node: 'zzz-empty', providerID: 'test:///zzz-empty', initialized: true },
    ],
  };
}

describe('suggestions', () => {
  // Reserved capacity answers "wait", invalid pods need objects only their owner can make.
  const improvable: Mix = { ...agreeable, reserved: false, invalid: false };
  const steps = 12;

  test('followed one after the other give the pod a place', () => {
    holds(improvable, 107, 200, (snapshot) => {
      const hopeless = planSnapshot(snapshot).unschedulable[0];
      if (hopeless === undefined) return;
      const reported: string[] = [];
      let current = snapshot;
      for (let step = 0; step < steps; step++) {
        const reason = planSnapshot(current).unschedulable.find(({ pod }) => pod === hopeless.pod)?.reasons[0];
        if (reason === undefined) return;
        reported.push(`${reason.code}: ${reason.suggestion}`);
        const next = followSuggestion(current, hopeless.pod, reason);
        if (next === undefined) return;
        current = next;
      }
      expect(reported, `${hopeless.pod} got no place in ${steps} steps`).toEqual([]);
    });
  });

  test('that are shown for a pool, all followed together, give the pod a place, and no smaller set of them does', () => {
    let [followed, several] = [0, 0];
    holds(improvable, 108, 250, (snapshot) => {
      const plan = planSnapshot(snapshot);
      const hopeless = confirmSuggestions(plan, snapshot, {}).unschedulable[0];
      const first = hopeless?.reasons.find((reason) => reason.suggestion !== undefined);
      if (hopeless === undefined || first === undefined) return;
      // What exists nowhere comes before all pools; what is behind it is said for one of them.
      const isOwn = ({ nodePool }: Reason): boolean =>
        first.nodePool === undefined || nodePool === undefined || nodePool === first.nodePool;
      const shown = hopeless.reasons.filter((each) => isOwn(each) && each.suggestion !== undefined);
      const others = plan.unschedulable[0]?.reasons.filter(isOwn) ?? [];
      const left = leftAfter(snapshot, hopeless.pod, shown);
      if (left === 'untried') return;
      followed += 1;
      const reported = shown.map(({ code, suggestion }) => `${code}: ${suggestion}`).join('; ');
      expect(left, reported).toEqual([]);
      if (shown.length === 1) return;
      several += 1;
      const all = [
        ...new Map(
          [...shown, ...others].map((each) => [
            `${each.nodePool} ${each.code} ${each.keys?.join()} ${each.suggestion}`,
            each,
          ]),
        ).values(),
      ];
      for (const smaller of subsetsBelow(all, shown.length)) {
        const why = `${smaller.map(({ code }) => code).join()} instead of ${reported}`;
        expect(leftAfter(snapshot, hopeless.pod, smaller), why).not.toEqual([]);
      }
    });
    expect(followed).toBeGreaterThan(20);
    expect(several).toBeGreaterThan(3);
  });

  test('that offer a choice give the pod a place whichever is chosen', () => {
    let chosen = 0;
    holds(improvable, 109, 250, (snapshot) => {
      const hopeless = confirmSuggestions(planSnapshot(snapshot), snapshot, {}).unschedulable[0];
      const first = hopeless?.reasons.find((reason) => reason.suggestion !== undefined);
      if (hopeless === undefined || first === undefined) return;
      const shown = hopeless.reasons.filter(
        ({ nodePool, suggestion }) =>
          suggestion !== undefined &&
          (first.nodePool === undefined || nodePool === undefined || nodePool === first.nodePool),
      );
      const combinations = shown.reduce<Reason[][]>(
        (known, reason) => known.flatMap((some) => choicesIn(reason).map((choice) => [...some, choice])),
        [[]],
      );
      if (combinations.length === 1) return;
      for (const each of combinations) {
        const left = leftAfter(snapshot, hopeless.pod, each);
        if (left === 'untried') continue;
        chosen += 1;
        expect(left, each.map(({ code, suggestion }) => `${code}: ${suggestion}`).join('; ')).toEqual([]);
      }
    });
    expect(chosen).toBeGreaterThan(20);
  });
});

/** What is still in the way of the pod once these suggestions were followed. */
function leftAfter(snapshot: Snapshot, key: string, reasons: readonly Reason[]): string[] | 'untried' {
  let current: Snapshot | undefined = snapshot;
  for (const reason of reasons) current &&= followSuggestion(current, key, reason);
  if (current === undefined) return 'untried';
  const left = planSnapshot(current).unschedulable.find(({ pod }) => pod === key)?.reasons ?? [];
  return left.map(({ code, nodePool }) => `${nodePool}: ${code}`);
}

/** Every set of fewer than `size` of them, but the empty one. */
function subsetsBelow<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: 2 ** items.length }, (_, bits) =>
    items.filter((_item, at) => (bits >> at) % 2 === 1),
  ).filter(({ length }) => length > 0 && length < size);
}
