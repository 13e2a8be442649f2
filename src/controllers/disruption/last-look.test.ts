// Right before nodes go, what is stored decides: pods and words that no cache shows yet put the command back.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { annotation, type NodeClaim } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import { type Command, Round } from '../../core/index.ts';
import { KubeError, type Node, type Pod, type RepairPolicy, resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { instanceTypesOfPools, snapshotFor } from '../planning.ts';
import { type DisruptionBench, openDisruption, podOn, quiet } from './disruption-bench.testing.ts';
import { lastLook } from './last-look.ts';

const policies: RepairPolicy[] = [{ conditionType: 'Ready', conditionStatus: 'False', tolerationMs: 60_000 }];
const protection = { [annotation.doNotDisrupt]: 'true' };
let at: DisruptionBench;
beforeEach(async () => {
  at = await openDisruption();
  await at.bench.machine('default', 'a', quiet);
  await at.bench.machine('default', 'b', quiet);
  await at.bench.apply(resources.pods, podOn('known', 'a'));
});
afterEach(async () => {
  at.stop();
  await at.bench.close();
});

async function command(reason: Command['reason'], over: Partial<Command> = {}): Promise<Command> {
  const { context } = at.bench;
  const { fleet } = Round.of(snapshotFor(context, await instanceTypesOfPools(context)));
  const members = fleet.members.filter(({ name }) => name === 'a');
  return { reason, consolidationType: '', members, replacements: [], savings: 0, placements: [], ...over };
}
const repair = {
  action: 'ReplaceNode',
  condition: 'Ready',
  status: 'False',
  reason: '',
  graceMs: undefined,
  urgency: 0,
  isEscalated: false,
} as const;
const carryOut = async (started: Command): Promise<boolean> => {
  await at.queue.start(started, at.signal);
  await at.bench.run(5_000);
  const claim = await at.bench.get<NodeClaim>(nodeClaims, 'a');
  return claim === undefined || claim.metadata.deletionTimestamp !== undefined;
};
const storePod = (over: Partial<Pod['metadata']>, spec: Partial<Pod['spec']> = {}) =>
  at.bench.storedOtherwise(resources.pods, (pods) => {
    const { metadata, ...pod } = podOn('unseen', 'a');
    const unseen = { ...pod, spec: { ...pod.spec, ...spec }, metadata: { ...metadata, uid: 'unseen', ...over } };
    return [...pods.filter(({ metadata: { name } }) => name !== unseen.metadata.name), unseen];
  });
const storeNode = (change: (node: Node) => Node) =>
  at.bench.storedOtherwise(resources.nodes, (nodes) => nodes.map(change));
const known = async (): Promise<Pod> => (await at.bench.get(resources.pods, 'known', 'default')) as Pod;

describe.each<Command['reason']>(['Empty', 'Underutilized', 'Drifted'])('a node that is %s', (reason) => {
  test('goes when what is stored agrees', async () => {
    expect(await carryOut(await command(reason))).toBe(true);
  });

  test('stays for a pod that no cache shows, without marks', async () => {
    storePod({});
    expect(await carryOut(await command(reason))).toBe(false);
    expect(await at.isTainted('a')).toBe(false);
    expect(at.queue.has('a')).toBe(false);
    expect(at.bench.log.lines.map(({ error }) => String(error)).join()).toContain('pod default/unseen came to it');
  });

  test('stays for a pod that is protected by now', async () => {
    storePod({ name: 'known', uid: (await known()).metadata.uid ?? '', annotations: protection });
    expect(await carryOut(await command(reason))).toBe(false);
  });

  test('goes with pods of DaemonSets and such as stay on a disrupted node', async () => {
    storePod({ ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd' }] });
    storePod({ name: 'tolerant', uid: 'tolerant' }, { tolerations: [{ operator: 'Exists' }] });
    expect(await carryOut(await command(reason))).toBe(true);
  });

  test('stays when its owner says so meanwhile', async () => {
    storeNode((node) => ({ ...node, metadata: { ...node.metadata, annotations: protection } }));
    expect(await carryOut(await command(reason))).toBe(false);
  });

  test('waits while the API server does not say what is there', async () => {
    const { stored } = at.bench.context;
    at.bench.context.stored = {
      ...at.bench.context.stored,
      get: (...call) => stored.get(...call),
      list: () => Promise.reject(new KubeError({ status: 504, reason: 'Timeout', message: 'no answer' })),
    };
    expect(await carryOut(await command(reason))).toBe(false);
    expect(await at.isTainted('a')).toBe(true);
    at.bench.context.stored = stored;
    await at.bench.run(2_000);
    expect(await at.bench.get(nodeClaims, 'a')).toBeUndefined();
  });
});

test('a node that only the cache lacks by now is looked at all the same', async () => {
  const started = await command('Underutilized');
  storePod({});
  const { cluster } = at.bench.context;
  cluster.removeNode((await at.bench.get(resources.nodes, 'a')) as Node);
  const claim = (await at.bench.get<NodeClaim>(nodeClaims, 'a')) as NodeClaim;
  expect(await lastLook(at.bench.context, started, claim)).toContain('pod default/unseen came to it');
});

test('a command that is under way waits while the clocks disagree', async () => {
  at.bench.time.heard(at.bench.clock.now() - 86_400_000);
  expect(await carryOut(await command('Empty'))).toBe(false);
  expect(at.queue.has('a')).toBe(true);
  at.bench.time.heard(at.bench.clock.now());
  await at.bench.run(2_000);
  expect(await at.bench.get(nodeClaims, 'a')).toBeUndefined();
});

test('what drifted and has a deadline of its own does not wait for protected pods', async () => {
  const claim = { ...quiet.claim, spec: { terminationGracePeriod: '1h' } };
  await at.bench.machine('default', 'c', { ...quiet, claim });
  await at.bench.apply(resources.pods, podOn('late', 'c'));
  const drifted = await command('Drifted');
  const { context } = at.bench;
  const { fleet } = Round.of(snapshotFor(context, await instanceTypesOfPools(context)));
  const members = fleet.members.filter(({ name }) => name === 'c');
  const { metadata } = (await at.bench.get(resources.pods, 'late', 'default')) as Pod;
  storePod({ name: 'late', uid: metadata.uid ?? '', annotations: protection });
  await at.queue.start({ ...drifted, members }, at.signal);
  await at.bench.run(5_000);
  expect(await at.bench.get(nodeClaims, 'c')).toBeUndefined();
});

describe('a broken node', () => {
  const condition = (status: string) => ({
    type: 'Ready',
    status,
    lastTransitionTime: formatTime(at.bench.clock.now()),
  });
  beforeEach(async () => {
    Object.assign(at.bench.context.cloud, { repairPolicies: () => policies });
    await at.bench.apply<Node>(resources.nodes, {
      metadata: { name: 'a' },
      status: { conditions: [condition('False')] },
    });
  });

  test('goes whatever pods have come to it', async () => {
    storePod({ annotations: protection });
    expect(await carryOut(await command('Unhealthy', { repair }))).toBe(true);
  });

  test('stays if it is well again in what is stored', async () => {
    storeNode((node) => ({ ...node, status: { ...node.status, conditions: [condition('True')] } }));
    expect(await carryOut(await command('Unhealthy', { repair }))).toBe(false);
    expect(await at.isTainted('a')).toBe(false);
  });

  test('stays if its owner wants to keep it by now', async () => {
    const annotations = { [annotation.doNotRepair]: 'true' };
    storeNode((node) => ({ ...node, metadata: { ...node.metadata, annotations } }));
    expect(await carryOut(await command('Unhealthy', { repair }))).toBe(false);
  });
});
