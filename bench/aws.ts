// The AWS provider between two looks at EC2: the whole catalogue of a region as twenty node classes see it, when nothing
// changed, when one pool was sold out and when every price is new; and the choice of types for one launch.
import type { EC2NodeClass } from '../src/api/index.ts';
import { cheapest, launchCandidates } from '../src/aws/fleet/candidates.ts';
import { infos, zoneLetters } from '../src/aws/instance-types/instance-types.testing.ts';
import { liveWorld, readyClass } from '../src/aws/instance-types/live-types.testing.ts';
import { awsProviderFacts } from '../src/aws/instance-types/provider-facts.ts';
import { LaunchMatcher } from '../src/core/index.ts';
import { type Bench, type Measurement, type MeasureOptions, timeRuns } from './bench.ts';

const classCount = 20;
const region = 'us-east-1';

/** Every type in all zones of the region; classes that differ in what shapes a type, so that none share a list. */
async function catalogue() {
  const world = await liveWorld({}, { isRefreshed: false });
  world.said.types = infos.map(({ InstanceType }) => InstanceType).filter((name) => name in zoneLetters);
  world.said.zonesOf = (type) => [...(zoneLetters[type] ?? '')].map((letter) => `${region}${letter}`);
  await world.types.refresh();
  const subnets = [...'abcdef'].map((letter, index) => ({
    id: `subnet-${letter}`,
    zone: `${region}${letter}`,
    zoneID: `use1-az${index + 1}`,
  }));
  const classes = Array.from({ length: classCount }, (_, index) =>
    readyClass({ kubelet: { maxPods: 50 + index } }, { subnets }),
  );
  return { ...world, classes };
}

type World = Awaited<ReturnType<typeof catalogue>>;

function listAll({ types, classes }: World): number {
  let count = 0;
  for (const nodeClass of classes) count += types.list(nodeClass).length;
  return count;
}

const measureLists =
  (change: (world: World, turn: number) => void) =>
  async (options: MeasureOptions): Promise<Measurement> => {
    const world = await catalogue();
    const cold = performance.now();
    const items = listAll(world);
    const coldMs = performance.now() - cold;
    let turn = 0;
    const runsMs = timeRuns(() => {
      change(world, (turn += 1));
      listAll(world);
    }, options);
    return { runsMs, coldMs, items };
  };

function unchanged(world: World): void {
  const [nodeClass] = world.classes as [EC2NodeClass];
  if (world.types.list(nodeClass) !== world.types.list(nodeClass)) throw new Error('the list is new without a reason');
}

async function measureChoice(options: MeasureOptions): Promise<Measurement> {
  const { types, classes } = await catalogue();
  const list = types.list(classes[0] as EC2NodeClass);
  const matcher = new LaunchMatcher(awsProviderFacts);
  const runsMs = timeRuns(() => {
    const match = matcher.match([{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }], { cpu: '1' });
    if (cheapest(launchCandidates(list, match), match, 'Strict').kind !== 'kept') throw new Error('nothing to launch');
  }, options);
  return { runsMs, items: list.length };
}

export const awsBenches: Bench[] = [
  {
    name: 'aws/types-unchanged',
    summary: 'instance types of 20 node classes, nothing changed: the same arrays',
    quick: true,
    unit: 'types',
    bar: { maxMs: 1 },
    measure: measureLists(unchanged),
  },
  {
    name: 'aws/types-sold-out',
    summary: 'instance types of 20 node classes after one pool was sold out',
    quick: true,
    unit: 'types',
    bar: { maxMs: 100 },
    measure: measureLists(({ unavailable }, turn) =>
      unavailable.markPool({ instanceType: 'm5.large', zone: `${region}${'abc'[turn % 3]}`, capacityType: 'spot' }),
    ),
  },
  {
    name: 'aws/types-new-prices',
    summary: 'instance types of 20 node classes after every price changed',
    quick: false,
    unit: 'types',
    measure: measureLists(({ said }, turn) => {
      said.prices = { ...said.prices, version: turn };
    }),
  },
  {
    name: 'aws/choice',
    summary: 'types and pools of one launch that allows the whole catalogue',
    quick: true,
    unit: 'types',
    bar: { maxMs: 50 },
    measure: measureChoice,
  },
];
