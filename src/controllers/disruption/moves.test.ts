// What is counted and reported about moves: every pool that takes part counts one, Balanced ones have a score.
import { afterEach, describe, expect, test } from 'vitest';
import { resources } from '../../ports/index.ts';
import { type DisruptionBench, openDisruption, podOn, quiet, quietLabels } from './disruption-bench.testing.ts';

let at: DisruptionBench;
afterEach(async () => {
  at.stop();
  await at.bench.close();
});

const capacity = { cpu: '4', memory: '8Gi', pods: '20' };
const approval = /^score \d+\.\d\d >= threshold 0\.50 \(k: 2, savings \d+\.\d%, disruption \d+\.\d%\)$/;
const moves = () =>
  at.bench.metrics
    .series('karpenter_consolidation_moves_total')
    .map(({ labels, value }) => `${labels['decision']} ${labels['nodepool']} ${labels['policy']} ${value}`);
const scores = () =>
  at.bench.metrics.series('karpenter_consolidation_score').map(({ labels }) => Object.values(labels).join(' '));
const approvals = () => at.bench.events.filter(({ reason }) => reason === 'ConsolidationApproved');

async function nodes(...names: string[]): Promise<void> {
  for (const name of names) {
    await at.bench.machine('default', name, { ...quiet, capacity });
    await at.bench.apply(resources.pods, podOn(`p-${name}`, name));
  }
}

async function round(): Promise<boolean> {
  const acted = at.begin();
  await at.bench.run(40_000);
  return acted;
}

describe('in a Balanced pool', () => {
  test('a move of one node is counted, scored, and its approval reported to node and claim', async () => {
    at = await openDisruption({ consolidationPolicy: 'Balanced' });
    await nodes('a');
    expect(await round()).toBe(true);
    expect(moves()).toEqual(['approved default Balanced 1']);
    expect(scores()).toEqual(['approved default Balanced']);
    expect(approvals().map(({ subject }) => subject.kind)).toEqual(['Node', 'NodeClaim']);
    for (const { message, type } of approvals()) {
      expect(type).toBe('Normal');
      expect(message).toMatch(approval);
    }
  });

  test('a move of several nodes counts once, and its approval is reported to the pool', async () => {
    at = await openDisruption({ consolidationPolicy: 'Balanced' });
    await nodes('a', 'b');
    expect(await round()).toBe(true);
    expect(moves()).toEqual(['approved default Balanced 1']);
    expect(approvals().map(({ subject }) => `${subject.kind} ${subject.name}`)).toEqual(['NodePool default']);
    expect(approvals()[0]?.message).toMatch(approval);
  });

  test('a move that is not worth it is counted, not reported', async () => {
    at = await openDisruption({ consolidationPolicy: 'Balanced' });
    const labels = { ...quietLabels, 'node.kubernetes.io/instance-type': 'm-4x-amd64-linux' };
    await at.bench.machine('default', 'a', {
      ...quiet,
      claim: { metadata: { labels } },
      node: { metadata: { labels } },
      capacity: { cpu: '4', memory: '32Gi', pods: '20' },
    });
    const pod = podOn('p', 'a');
    const containers = [{ name: 'c', image: 'x', resources: { requests: { cpu: '2500m' } } }];
    const nodeSelector = { 'karpenter.sh/capacity-type': 'on-demand' };
    await at.bench.apply(resources.pods, { ...pod, spec: { ...pod.spec, containers, nodeSelector } });
    expect(await round()).toBe(false);
    expect(moves()).toEqual(['rejected default Balanced 1']);
    expect(scores()).toEqual(['rejected default Balanced']);
    expect(approvals()).toEqual([]);
  });
});

describe('in a pool of another policy', () => {
  test.each([
    ['one node', ['a']],
    ['several nodes', ['a', 'b']],
  ])('a move of %s counts as approved, without score and approval', async (_, names) => {
    at = await openDisruption();
    await nodes(...names);
    expect(await round()).toBe(true);
    expect(moves()).toEqual(['approved default WhenEmptyOrUnderutilized 1']);
    expect(scores()).toEqual([]);
    expect(approvals()).toEqual([]);
  });
});
