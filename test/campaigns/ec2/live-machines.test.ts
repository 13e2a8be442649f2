// No live machine is ever terminated: the short form on real components, with the faults that once did it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useAwsCluster } from '../../ec2/aws-cluster.ts';
import { fixedSeeds } from '../seeds.ts';
import type { Stage } from './faults.ts';
import { closeStage, openStage, tellStory } from './story.ts';

const cluster = useAwsCluster({}, { isIdle: true });
let stage: Stage;
beforeAll(async () => {
  stage = await openStage(cluster);
}, 300_000);
afterAll(() => closeStage(stage), 60_000);

const first = ['unparsable claims', 'wrong answers: empty object', 'frozen with AWS calls under way'];

test('two replicas that are lied to keep every instance that a claim names', async () => {
  for (const seed of fixedSeeds(1, 1)) {
    const tally = await tellStory(stage, { seed, nodes: 2, faultsMs: 1, pauseMs: [9_000], first });
    expect(tally.sum('faults: ')).toBe(first.length);
    tally.print('live machines on EC2');
  }
}, 700_000);
