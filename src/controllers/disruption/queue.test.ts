// Commands being carried out: what is refused, what goes on with less, and in which order things happen.
import { afterEach, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../api/index.ts';
import { type Command, type Member, Round } from '../../core/index.ts';
import { resources } from '../../ports/index.ts';
import { isLeaving } from '../../state/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { instanceTypesOfPools, snapshotFor } from '../planning.ts';
import { type DisruptionBench, openDisruption, podOn, quiet } from './disruption-bench.testing.ts';
import { patienceMs } from './queue.ts';

let at: DisruptionBench;
afterEach(async () => {
  at.stop();
  await at.bench.close();
});

async function membersOf(...names: string[]): Promise<Member[]> {
  const { context } = at.bench;
  const { fleet } = Round.of(snapshotFor(context, await instanceTypesOfPools(context)));
  return names.map((name) => fleet.members.find((member) => member.name === name) as Member);
}

const empty = (members: Member[]): Command => ({
  reason: 'Empty',
  consolidationType: 'empty',
  members,
  replacements: [],
  savings: 0,
  placements: [],
});
const replacing = (members: Member[], nodePool = 'default'): Command => ({
  ...empty(members),
  reason: 'Drifted',
  consolidationType: '',
  replacements: [{ kind: 'template', nodePool }],
});
/** A node that is gone by the time it is to be marked. */
const gone = (member: Member): Member => ({
  ...member,
  name: 'gone',
  machine: { ...member.machine, claim: { ...member.machine.claim, metadata: { name: 'gone' } } },
});
const isGoing = async (name: string): Promise<boolean> => (await at.bench.get(nodeClaims, name)) === undefined;

test('a node is in one command at most', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  await at.bench.machine('default', 'b', quiet);
  const [a, b] = (await membersOf('a', 'b')) as [Member, Member];
  const first = at.queue.start(replacing([a]), at.signal);
  await expect(at.queue.start(empty([a, b]), at.signal)).rejects.toThrow('already being disrupted: a');
  await at.bench.run(0);
  await first;
  expect(await at.isTainted('b')).toBe(false);
});

test('steps of a command are a controller of their own, in metrics and to the log', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const passes: string[] = [];
  at.bench.context.asPass = (controller, pass) => {
    passes.push(controller);
    return pass();
  };
  await at.queue.start(empty(await membersOf('a')), at.signal);
  await at.bench.run(2_000);
  expect(passes).toEqual(['disruption.queue']);
  const ran = { controller: 'disruption.queue', result: 'requeue_after' };
  expect(at.bench.metrics.value('controller_runtime_reconcile_total', ran)).toBe(1);
});

test('the log names the nodes that go and the claims that come', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'a'));
  const [a] = (await membersOf('a')) as [Member];
  const started = at.queue.start(replacing([a]), at.signal);
  await at.bench.run(0);
  await started;
  const name = at.bench.context.cluster.claims.list().find((claim) => claim.metadata.name !== 'a')?.metadata.name;
  const line = (message: string) => at.bench.log.lines.find((each) => each.message === message)?.fields;
  expect(line('created nodeclaim')).toMatchObject({ NodePool: { name: 'default' }, NodeClaim: { name } });
  expect(line('disrupting node(s)')).toMatchObject({
    'disrupted-nodes': [{ Node: { name: 'a' }, NodeClaim: { name: 'a' }, 'instance-type': a.instanceType }],
    'replacement-nodes': [{ NodeClaim: { name } }],
    'pod-count': 1,
  });
});

test('a command that only deletes goes on with the nodes that could be marked', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const [a] = (await membersOf('a')) as [Member];
  await at.queue.start(empty([a, gone(a)]), at.signal);
  await at.bench.run(2_000);
  expect(await isGoing('a')).toBe(true);
  expect(at.queue.has('gone')).toBe(false);
  const line = at.bench.log.lines.find(({ message }) => message === 'disrupting node(s)');
  expect(line?.fields['command']).toContain('delete: nodepools=[default]: [a] (savings');
});

test('a command that only deletes is not begun if no node could be marked', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const [a] = (await membersOf('a')) as [Member];
  await expect(at.queue.start(empty([gone(a)]), at.signal)).rejects.toThrow();
  expect(at.queue.names().size).toBe(0);
});

test('a command that replaces is not begun unless every node could be marked', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const [a] = (await membersOf('a')) as [Member];
  await expect(at.queue.start(replacing([a, gone(a)]), at.signal)).rejects.toThrow();
  expect(at.queue.names().size).toBe(0);
  expect(await at.isTainted('a')).toBe(false);
  expect(await at.bench.list<NodeClaim>(nodeClaims)).toHaveLength(1);
});

test('a replacement that cannot be made deletes nothing, and the taint is taken off again', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  await at.bench.apply(resources.pods, podOn('p', 'a'));
  const [a] = (await membersOf('a')) as [Member];
  await expect(at.queue.start(replacing([a], 'no-such-pool'), at.signal)).rejects.toThrow('no-such-pool');
  expect(isLeaving(at.bench.context.cluster.machines.ofClaim('a') as never)).toBe(false);
  expect(await at.isTainted('a')).toBe(false);
  expect(await isGoing('a')).toBe(false);
});

test('nodes count as leaving only after their replacements exist, and go only after those are initialized', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const [a] = (await membersOf('a')) as [Member];
  const { cluster } = at.bench.context;
  const isLeft = () => isLeaving(cluster.machines.ofClaim('a') as never);
  const seen: boolean[] = [];
  const create = at.bench.kube.create.bind(at.bench.kube);
  at.bench.kube.create = (async (...call: Parameters<typeof create>) => {
    seen.push(isLeft());
    return create(...call);
  }) as typeof create;
  await at.queue.start(replacing([a]), at.signal);
  expect(seen).toEqual([false]);
  expect(isLeft()).toBe(true);
  const pending = (): number => (at.counts as unknown as { pending: ReadonlySet<string> }).pending.size;
  expect(pending()).toBe(1);
  await at.bench.run(60_000);
  expect(await isGoing('a')).toBe(false);
  const replacement = (await at.bench.list<NodeClaim>(nodeClaims)).find(({ metadata }) => metadata.name !== 'a');
  const name = replacement?.metadata.name ?? '';
  expect(at.reported('DisruptionLaunching')).toContain('Launching NodeClaim: Drifted');
  expect(at.reported('DisruptionWaitingReadiness')).toContain('Waiting on readiness to continue disruption');
  await at.bench.machine('default', name, quiet);
  await at.bench.run(2_000);
  expect(await isGoing('a')).toBe(true);
  expect(pending(), 'nothing is remembered once the command is over').toBe(0);
  expect(at.reported('DisruptionTerminating')).toEqual(['Disrupting Node: Drifted', 'Disrupting NodeClaim: Drifted']);
  expect(at.bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'drifted' })).toBe(1);
  expect(at.bench.metrics.value('karpenter_nodeclaims_created_total', { reason: 'drifted' })).toBe(1);
});

test('a replacement that was seen initialized is not looked at again while others are waited for', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  const [a] = await membersOf('a');
  const [replacement] = replacing([]).replacements as [Command['replacements'][number]];
  const twice = { ...replacing([a as Member]), replacements: [replacement, replacement] };
  await at.queue.start(twice, at.signal);
  const claims = await at.bench.list<NodeClaim>(nodeClaims);
  const [first = '', second = ''] = claims.flatMap(({ metadata: { name = '' } }) => (name === 'a' ? [] : [name]));
  await at.bench.machine('default', first, quiet);
  await at.bench.run(2_000);
  await at.bench.remove(nodeClaims, first);
  await at.bench.run(5_000);
  expect(at.queue.has('a')).toBe(true);
  await at.bench.machine('default', second, quiet);
  await at.bench.run(2_000);
  expect(await isGoing('a')).toBe(true);
});

describe('of several replacements for consolidation', () => {
  const several = (members: Member[], ...pools: string[]): Command => ({
    ...replacing(members),
    reason: 'Underutilized',
    consolidationType: 'single',
    replacements: pools.map((nodePool) => ({ kind: 'template', nodePool })),
  });
  const others = async (): Promise<string[]> =>
    (await at.bench.list<NodeClaim>(nodeClaims)).flatMap(({ metadata }) =>
      metadata.name === 'a' ? [] : [metadata.name ?? ''],
    );
  const opened = async (): Promise<Member[]> => {
    at = await openDisruption();
    await at.bench.machine('default', 'a', quiet);
    return membersOf('a');
  };

  test('none stays if one cannot be made', async () => {
    const members = await opened();
    await expect(at.queue.start(several(members, 'default', 'no-such-pool'), at.signal)).rejects.toThrow();
    expect(await others()).toEqual([]);
    expect([await isGoing('a'), await at.isTainted('a')]).toEqual([false, false]);
  });

  test('none stays if one fails to come, and nothing was drained', async () => {
    const members = await opened();
    await at.queue.start(several(members, 'default', 'default', 'default'), at.signal);
    const [first = '', second = ''] = await others();
    await at.bench.machine('default', first, quiet);
    await at.bench.run(2_000);
    await at.bench.remove(nodeClaims, second);
    await at.bench.run(5_000);
    expect(await others()).toEqual([]);
    expect([await isGoing('a'), await at.isTainted('a'), at.queue.has('a')]).toEqual([false, false, false]);
  });

  test('one that pods have come to stays', async () => {
    const members = await opened();
    await at.queue.start(several(members, 'default', 'default'), at.signal);
    const [first = '', second = ''] = await others();
    await at.bench.machine('default', first, quiet);
    await at.bench.apply(resources.pods, podOn('p', first));
    await at.bench.run(2_000);
    await at.bench.remove(nodeClaims, second);
    await at.bench.run(5_000);
    expect(await others()).toEqual([first]);
  });
});

test('existing nodes that pods move to are nominated, and the pods are notified; a buffer pod never arrives', async () => {
  at = await openDisruption();
  for (const name of ['a', 'b', 'c']) await at.bench.machine('default', name, quiet);
  await at.bench.apply(resources.pods, podOn('mover', 'a'));
  await at.bench.run(0);
  const members = await membersOf('a');
  const placements = [
    { name: 'b', pods: ['default/buffer-0', 'default/mover'] },
    { name: 'c', pods: ['default/buffer-1'] },
  ];
  await at.queue.start({ ...empty(members), reason: 'Underutilized', placements }, at.signal);
  const { cluster, clock } = at.bench.context;
  expect(cluster.machines.ofNode('b')?.nominatedUntilMs).toBeGreaterThan(clock.elapsed());
  expect(cluster.machines.ofNode('c')?.nominatedUntilMs).toBe(0);
  expect(at.bench.events.filter(({ reason }) => reason === 'Nominated')).toMatchObject([
    {
      type: 'Normal',
      subject: { kind: 'Pod', name: 'mover', namespace: 'default' },
      message: 'Pod should schedule on: nodeclaim/b, node/b',
      rateLimit: { perSecond: 5, burst: 10 },
    },
  ]);
});

test('decisions are counted, by pool too', async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  await at.queue.start(empty(await membersOf('a')), at.signal);
  const labels = { decision: 'delete', reason: 'empty', consolidation_type: 'empty' };
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_decisions_total', labels)).toBe(1);
  const byPool = { ...labels, nodepool: 'default' };
  expect(at.bench.metrics.value('karpenter_voluntary_disruption_decisions_by_nodepool_total', byPool)).toBe(1);
});

test('a command waits 80 ms for each node in commands, but ten minutes at least and an hour at most', () => {
  const minute = 60_000;
  expect(patienceMs(1)).toBe(10 * minute);
  expect(patienceMs(7_500)).toBe(10 * minute);
  expect(patienceMs(15_000)).toBe(20 * minute);
  expect(patienceMs(100_000)).toBe(60 * minute);
});

describe('a command whose nodes cannot be deleted', () => {
  const refuseDeletion = (of: (name: string) => boolean) => {
    const remove = at.bench.kube.delete.bind(at.bench.kube);
    at.bench.kube.delete = async (...call: Parameters<typeof remove>) => {
      if (of(call[1].name)) throw new Error('refused');
      return remove(...call);
    };
    return () => {
      at.bench.kube.delete = remove;
    };
  };

  test('tries again every second', async () => {
    at = await openDisruption();
    await at.bench.machine('default', 'a', quiet);
    const allow = refuseDeletion(() => true);
    await at.queue.start(empty(await membersOf('a')), at.signal);
    await at.bench.run(5 * 60_000);
    expect(at.queue.has('a')).toBe(true);
    allow();
    await at.bench.run(1_000);
    expect(await isGoing('a')).toBe(true);
    expect(at.queue.has('a')).toBe(false);
  });

  test('is given up after ten minutes: what stays is as it was before, what goes goes', async () => {
    at = await openDisruption();
    const kept = { ...quiet, claim: { metadata: { ...quiet.claim.metadata, finalizers: ['example.com/keep'] } } };
    await at.bench.machine('default', 'a', kept);
    await at.bench.machine('default', 'b', quiet);
    refuseDeletion((name) => name === 'b');
    await at.queue.start(empty(await membersOf('a', 'b')), at.signal);
    await at.bench.run(11 * 60_000);
    expect(at.queue.names().size).toBe(0);
    expect([await at.isTainted('a'), await at.isTainted('b')]).toEqual([true, false]);
    const { cluster } = at.bench.context;
    expect(isLeaving(cluster.machines.ofClaim('a') as never)).toBe(true);
    expect(isLeaving(cluster.machines.ofClaim('b') as never)).toBe(false);
    const labels = { decision: 'delete', reason: 'empty', consolidation_type: 'empty' };
    expect(at.bench.metrics.value('karpenter_voluntary_disruption_queue_failures_total', labels)).toBe(0);
    expect(at.bench.metrics.value('karpenter_nodeclaims_disrupted_total', { reason: 'empty' })).toBe(1);
  });
});
