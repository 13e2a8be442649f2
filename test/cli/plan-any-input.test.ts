// Whatever is wrong inside a snapshot, the answer is a plan or a complaint with a field: never a crash. Random snapshots
// get random damage; the check in front of the planner must let through only what the planner can digest.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { completeSnapshot } from '../../src/cli/plan/complete.ts';
import { checkSnapshot } from '../../src/cli/snapshot/snapshot-document.ts';
import { planSnapshot, type Snapshot } from '../../src/core/index.ts';
import { everything, snapshots } from '../planner/generate/snapshot.ts';

const junk = [
  null,
  0,
  -1,
  1.5,
  '',
  'x',
  '7',
  true,
  [],
  {},
  [null],
  ['x'],
  { a: 1 },
  '99999999999999999999',
  '-5',
  '100%',
  [{}],
];

type Path = (string | number)[];

function pathsOf(value: unknown, path: Path, paths: Path[]): Path[] {
  if (typeof value !== 'object' || value === null) return paths;
  for (const key of Object.keys(value)) {
    const below = [...path, key];
    paths.push(below);
    pathsOf((value as Record<string, unknown>)[key], below, paths);
  }
  return paths;
}

/** A copy with one field replaced, or left out. */
function damaged(snapshot: Snapshot, pick: number, replacement: unknown, remove: boolean): unknown {
  const copy = JSON.parse(JSON.stringify(snapshot)) as Record<string, unknown>;
  const paths = pathsOf(copy, [], []);
  const path = paths[pick % paths.length] ?? [];
  let holder = copy;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  if (remove) delete holder[last];
  else holder[last] = replacement;
  return copy;
}

test('a random snapshot is accepted as it is', () => {
  fc.assert(
    fc.property(snapshots(everything), (snapshot) => {
      expect(checkSnapshot(JSON.parse(JSON.stringify(snapshot))).problems).toEqual([]);
    }),
    { numRuns: 100, seed: 41 },
  );
});

test('a damaged snapshot is refused with a field, or planned with every pod accounted for', async () => {
  const damage = fc.tuple(fc.nat(), fc.constantFrom(...junk), fc.boolean());
  await fc.assert(
    fc.asyncProperty(
      snapshots(everything),
      fc.array(damage, { minLength: 20, maxLength: 20 }),
      async (base, wounds) => {
        for (const [pick, replacement, remove] of wounds) {
          const { snapshot, problems } = checkSnapshot(damaged(base, pick, replacement, remove));
          if (problems.length > 0) continue;
          const plan = planSnapshot((await completeSnapshot(snapshot, { settings: {} })).snapshot);
          const placed = [...plan.newNodes, ...plan.existingNodes].flatMap(({ pods }) => pods).length;
          expect(placed + plan.unschedulable.length).toBe(plan.pods);
        }
      },
    ),
    { numRuns: 60, seed: 42 },
  );
}, 120_000);
