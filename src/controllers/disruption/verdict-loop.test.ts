import { afterEach, expect, test } from 'vitest';
import { annotation, conditionType, type NodeClaim } from '../../api/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import { claimCondition } from '../nodeclaim/claim-conditions.ts';
import { nodeClaims } from '../own-resources.ts';
import { type DisruptionBench, openDisruption, podOn, quiet } from './disruption-bench.testing.ts';
import { VerdictLoop } from './verdict-loop.ts';

let at: DisruptionBench;
afterEach(() => at.bench.close());

const claim = async (name: string): Promise<NodeClaim> =>
  (await at.bench.get<NodeClaim>(nodeClaims, name)) as NodeClaim;
const verdict = async (name: string) => claimCondition(await claim(name), conditionType.verdict);

async function judged(loop: VerdictLoop): Promise<void> {
  const done = loop.judge();
  await at.bench.run(1_000);
  await done;
}

test('a condition and a gauge carry the verdict, Ready stays as it is, and equal verdicts are not written again', async () => {
  at = await openDisruption();
  const loop = new VerdictLoop(at.bench.context, () => new Set());
  await at.bench.machine('default', 'empty', quiet);
  await at.bench.machine('default', 'kept', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'kept'));
  await at.bench.apply<Node>(resources.nodes, {
    metadata: { name: 'kept', annotations: { [annotation.doNotDisrupt]: 'true' } },
  });
  const readyBefore = claimCondition(await claim('kept'), 'Ready')?.status;
  await judged(loop);
  expect(await verdict('empty')).toMatchObject({ status: 'True', reason: 'Removable' });
  expect(await verdict('kept')).toMatchObject({ status: 'False', reason: 'NodeDoNotDisrupt' });
  expect(claimCondition(await claim('kept'), 'Ready')?.status).toBe(readyBefore);
  const labels = { nodepool: 'default', verdict: 'keep', code: 'NodeDoNotDisrupt' };
  expect(at.bench.metrics.value('kerf_node_verdicts', labels)).toBe(1);
  const version = (await claim('kept')).metadata.resourceVersion;
  at.bench.context.cluster.changed();
  await judged(loop);
  expect((await claim('kept')).metadata.resourceVersion).toBe(version);
});

test('a verdict that changes is written with its new code', async () => {
  at = await openDisruption();
  const loop = new VerdictLoop(at.bench.context, () => new Set());
  await at.bench.machine('default', 'a', quiet);
  await judged(loop);
  expect(await verdict('a')).toMatchObject({ reason: 'Removable' });
  await at.bench.apply(resources.pods, {
    ...podOn('p', 'a'),
    metadata: { name: 'p', namespace: 'default', annotations: { [annotation.doNotDisrupt]: 'true' } },
  });
  await judged(loop);
  expect(await verdict('a')).toMatchObject({ status: 'False', reason: 'PodDoNotDisrupt' });
});
