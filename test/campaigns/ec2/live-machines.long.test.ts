// No live machine is ever terminated, and nothing is written to EC2 after a term: the long form on real components, with new
// seeds each time.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useAwsCluster } from '../../ec2/aws-cluster.ts';
import { freshSeeds } from '../seeds.ts';
import type { Stage } from './faults.ts';
import { closeStage, openStage, tellStory } from './story.ts';

const cluster = useAwsCluster({}, { isIdle: true });
let stage: Stage;
beforeAll(async () => {
  stage = await openStage(cluster);
}, 300_000);
afterAll(() => closeStage(stage), 60_000);

/** Met in every run, whatever the seed draws after them. */
const first = [
  'EC2 wrong about health',
  'frozen watches',
  'leader stopped',
  'etcd restored',
  'frozen with AWS calls under way',
  'EC2 stalled',
];

test('two replicas that are lied to keep every instance that a claim names', async () => {
  for (const seed of freshSeeds('live machines on EC2', 1)) {
    const tally = await tellStory(stage, { seed, nodes: 3, faultsMs: 240_000, pauseMs: [3_000, 8_000, 14_000], first });
    tally.print('live machines on EC2');
    expect(tally.sum('faults: ')).toBeGreaterThan(10);
    expect(tally.of('AWS writes judged')).toBeGreaterThan(10);
  }
});
