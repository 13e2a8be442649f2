// `kerf explain` on a small cluster with one of everything.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommand } from '../run-command.testing.ts';
import { configure } from './explain.ts';

const zone = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z1'] };
const onDemand = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] };
const instanceType = (name: string, cpu: string, price: number) => ({
  name,
  requirements: [
    { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [name] },
    { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
    { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
    zone,
    onDemand,
  ],
  capacity: { cpu, memory: '16Gi', pods: '20' },
  offerings: [{ requirements: [zone, onDemand], price, available: true }],
});
const items = [instanceType('small', '2', 0.1), instanceType('large', '8', 0.4)];
const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const condition = (type: string) => ({ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' });

const pool = (name: string, disruption: object = {}) => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name },
  spec: {
    template: { spec: { nodeClassRef, requirements: [] } },
    disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }], ...disruption },
  },
  status: { conditions: [condition('Ready')] },
});
const machine = (name: string, nodePool: string, type = 'large') => {
  const labels = {
    'karpenter.sh/nodepool': nodePool,
    'node.kubernetes.io/instance-type': type,
    'topology.kubernetes.io/zone': 'z1',
    'karpenter.sh/capacity-type': 'on-demand',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'karpenter.sh/registered': 'true',
    'karpenter.sh/initialized': 'true',
  };
  const capacity = { cpu: '8', memory: '16Gi', pods: '20' };
  const metadata = { name, labels, creationTimestamp: '2026-01-01T00:00:00Z' };
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata,
      spec: { providerID: `x:///${name}` },
      status: { capacity, allocatable: capacity, conditions: [condition('Ready')] },
    },
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { ...metadata, name: `claim-${name}` },
      spec: { nodeClassRef, requirements: [] },
      status: {
        providerID: `x:///${name}`,
        capacity,
        allocatable: capacity,
        conditions: ['Launched', 'Registered', 'Initialized', 'Consolidatable'].map(condition),
      },
    },
  ];
};
interface PodParts {
  node?: string;
  cpu?: string;
  namespace?: string;
  annotations?: object;
  status?: object;
  spec?: object;
}
const pod = (name: string, { node, cpu = '1', namespace = 'default', ...more }: PodParts) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, uid: `${namespace}-${name}`, annotations: more.annotations ?? {} },
  spec: {
    ...(node === undefined ? {} : { nodeName: node }),
    containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }],
    ...more.spec,
  },
  status: more.status ?? (node === undefined ? unschedulable : { phase: 'Running' }),
});
const unschedulable = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
};

const leaving = machine('leaving', 'default').map((object) =>
  object.kind === 'NodeClaim'
    ? { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T02:00:00Z' } }
    : object,
);
const snapshot = JSON.stringify({
  apiVersion: 'kerf/v1',
  kind: 'Snapshot',
  time: '2026-01-01T03:00:00Z',
  objects: {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      pool('default'),
      pool('unused'),
      pool('closed', { budgets: [{ nodes: '0', reasons: ['Empty'] }] }),
      ...machine('guarded', 'default'),
      pod('guard', { node: 'guarded', cpu: '7500m', annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }),
      ...machine('kept', 'closed'),
      ...machine('odd', 'default', 'unheard-of'),
      pod('beside', { node: 'odd', cpu: '7' }),
      ...leaving,
      pod('mover', { node: 'leaving', cpu: '2' }),
      pod('fits', { cpu: '1' }),
      pod('needs-node', { cpu: '7500m', spec: { nodeSelector: { 'karpenter.sh/nodepool': 'unused' } } }),
      pod('giant', { cpu: '100' }),
      pod('done', { node: 'guarded', status: { phase: 'Succeeded' } }),
      pod('twin', { node: 'guarded', cpu: '100m', namespace: 'a' }),
      pod('twin', { node: 'guarded', cpu: '100m', namespace: 'b' }),
    ],
  },
  instanceTypes: ['default', 'unused', 'closed'].map((nodePool) => ({ nodePool, items })),
});

const explain = (...args: string[]) => runCommand(configure, [...args, '--snapshot', '-'], snapshot);
const reported = async (...args: string[]): Promise<string> => (await explain(...args)).out;

describe('a pod', () => {
  test('that waits: what becomes of it', async () => {
    expect(await reported('pod', 'fits')).toBe('default/fits  fits on kept: kube-scheduler places it there\n');
    expect(await reported('pod', 'needs-node')).toMatch(
      /gets a new node of NodePool unused\n {2}large in z1, on-demand, /,
    );
    expect(await reported('pod', 'default/giant')).toContain('(InsufficientResources)');
  });

  test('that runs: whether it keeps its node', async () => {
    const text = await reported('pod', 'guard');
    expect(text).toMatch(/^default\/guard {2}has a node: guarded\n {2}keeps its node: .*\(PodDoNotDisrupt\)\n/);
    // Taking the annotation away would not let the node go: that is not suggested, here or for the node.
    expect(text).toMatch(
      /PodDoNotDisrupt\)\n {2}its node stays: its pods, .* would need several new nodes; kerf explain node guarded\n$/,
    );
    expect(await reported('node', 'guarded')).toMatch(
      / {2}stays:\n {2}1\. .*\(NeedsMoreNodes\)\n {5}nothing to do: .*\n$/,
    );
    expect(await reported('pod', 'a/twin')).not.toContain('keeps its node');
  });

  test('whose node is on its way out: where it goes next', async () => {
    expect(await reported('pod', 'mover')).toMatch(
      /^default\/mover {2}fits on kept: .*\n {2}its node is on its way out; kerf explain node leaving\n$/,
    );
  });

  test('that has ended has nothing to do with its node any more', async () => {
    expect(await reported('pod', 'done')).not.toContain('its node');
  });

  test('that is not there is answered with those that are', async () => {
    await expect(explain('pod', 'nobody')).rejects.toThrow(/there is no pod nobody here; there are a\/twin, .* more/);
  });
});

describe('a node', () => {
  test('is found by its own name and by that of its claim, and kinds may be plural', async () => {
    expect(await reported('nodes', 'kept')).toBe(await reported('NodeClaim', 'claim-kept'));
  });

  test('whose price is unknown is not said to cost nothing', async () => {
    expect(await reported('node', 'odd')).toMatch(/^odd {2}default {2}unheard-of {2}price unknown, 3\.0 hours old\n/);
  });

  test('that leaves already is not said to stay', async () => {
    expect(await reported('node', 'leaving')).toContain(
      '\n  is on its way out:\n  1. node is deleting or marked for deletion',
    );
  });

  test('that is not there is answered with those that are', async () => {
    await expect(explain('node', 'nope')).rejects.toThrow(
      'there is no node nope here; there are guarded, kept, leaving, odd',
    );
  });
});

describe('a NodePool', () => {
  test('tells what its budgets allow', async () => {
    expect(await reported('nodepool', 'closed')).toContain(
      '  Budgets (1 node): Empty 0 of 0 in use, Drifted 0 of any number in use, Underutilized 0 of any number in use\n',
    );
  });

  test('shows what of its limits is in use', async () => {
    const limited = snapshot.replace(
      '"name":"default"},"spec":{',
      '"name":"default"},"spec":{"limits":{"cpu":"40","nodes":"1k"},',
    );
    const { out } = await runCommand(configure, ['np', 'default', '--snapshot', '-'], limited);
    expect(out).toContain('\n  Limits in use: cpu 16 of 40, nodes 2 of 1k\n');
  });

  test('without nodes is explained too', async () => {
    expect(await reported('nodepool', 'unused')).toMatch(/^NodePool unused {2}0 nodes, .*\n {2}Budgets \(0 nodes\): /);
    expect(await reported('nodepool', 'unused', '-o', 'json')).toBe('[]\n');
    await expect(explain('nodepool', 'nope')).rejects.toThrow(
      'no nodepool nope here; there are closed, default, unused',
    );
  });
});

test('-o yaml and -o json say the same', async () => {
  const { parse } = await import('yaml');
  expect(parse(await reported('pod', 'guard', '-o', 'yaml'))).toEqual(
    JSON.parse(await reported('pod', 'guard', '-o', 'json')),
  );
});

test('of the cluster it says where the money is, and the causes add up', async () => {
  const text = await reported('cluster');
  expect(text).toContain('Where the money is');
  expect(text).toMatch(/Budgets +0\.2000/);
  const { money } = JSON.parse(await reported('cluster', '-o', 'json'));
  const sum = money.causes.reduce((total: number, { perHour }: { perHour: number }) => total + perHour, 0);
  expect(sum).toBeCloseTo(money.costPerHour - money.boundPerHour, 9);
});

test('of the cluster all sums are prices: the penalty per node is not among them', async () => {
  const text = await reported('cluster');
  expect(text).not.toContain('NodeFees');
  const [, total] = /nodes, (\$[\d.]+\/h)/.exec(text) ?? [];
  expect(text).toContain(`now ${total} `);
});

describe('NodeClaims that are not launched', () => {
  const waiting = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: 'unused-x',
      labels: { 'karpenter.sh/nodepool': 'unused' },
      creationTimestamp: '2026-01-01T02:59:00Z',
    },
    spec: {
      nodeClassRef,
      requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['large'] }],
    },
    status: {
      conditions: [{ type: 'Launched', status: 'Unknown', reason: 'LaunchFailed', message: 'too many calls' }],
    },
  };
  const given = JSON.parse(snapshot);
  given.objects.items.push(waiting);
  given.nodeState?.push({ nodeClaim: 'unused-x' });
  const explained = async (...args: string[]) =>
    (await runCommand(configure, [...args, '--snapshot', '-'], JSON.stringify(given))).out;

  test('count neither as nodes nor as money, and say what is wrong with them', async () => {
    const pool = await explained('nodepool', 'unused');
    expect(pool).toMatch(/^NodePool unused {2}0 nodes, \$0\.0000\/h .*\n {2}1 NodeClaim not launched yet\n/);
    expect(pool).toContain('has not been launched: LaunchFailed');
    expect(pool).not.toContain('wait until its Node has joined');
    const now = (text: string) => [/^(\d+) nodes, (\S+)/.exec(text)?.slice(1, 3), /now (\S+)/.exec(text)?.[1]];
    expect(now(await explained('cluster'))).toEqual(now(await reported('cluster')));
  });
});

describe('with a shadow beside the autoscaler in charge', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-explain-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'report.json');
  const at = '2026-01-01T02:30:00Z';
  const launch = { at, nodePool: 'unused', instanceType: 'large', capacityType: 'spot', zone: 'z1', pricePerHour: 0.2 };
  const totals = {
    wouldLaunch: 3,
    wouldLaunchPerHour: 0.3,
    launched: 4,
    launchedPerHour: 0.5,
    wouldRemove: 1,
    wouldReplace: 2,
    wouldSavePerHour: 0.5,
    removed: 1,
    rounds: 10,
    failures: 0,
  };
  const report = {
    apiVersion: 'kerf/v1',
    kind: 'ShadowReport',
    since: '2026-01-01T00:00:00Z',
    totals,
    launches: [{ ...launch, pods: ['default/needs-node', 'default/other'] }],
    moves: [
      {
        at,
        reason: 'Underutilized',
        decision: 'replace',
        nodes: ['odd'],
        replacements: ['small'],
        savingsPerHour: 0.3,
      },
    ],
  };
  writeFileSync(file, JSON.stringify(report));

  test.each([
    [['pod', 'needs-node'], `${at}: would have launched large (spot, z1, $0.200/h) for 2 pods`],
    [['pod', 'giant'], 'nothing that concerns it'],
    [['node', 'odd'], `${at}: would have replaced it by small (Underutilized), saving $0.300/h`],
    [['nodeclaim', 'claim-odd'], 'would have replaced it by small'],
    [['nodepool', 'unused'], 'would have launched large'],
    [['cluster'], 'would have launched 3 nodes for $0.300/h, where 4 were launched for $0.500/h'],
  ])('%s is followed by what that one would have done', async (asked, line) => {
    const said = await reported(...asked, '--shadow', file);
    expect(said).toContain('Kerf as a shadow since 2026-01-01T00:00:00Z (it changes nothing):');
    expect(said).toContain(line);
    expect(await reported(...asked)).not.toContain('shadow');
  });

  test('as data both are apart', async () => {
    const { explained, shadow } = JSON.parse(await reported('node', 'odd', '--shadow', file, '-o', 'json')) as {
      explained: object[];
      shadow: { moves: object[] };
    };
    expect(explained).toHaveLength(1);
    expect(shadow.moves).toEqual(report.moves);
  });

  test('one that cannot be read is an error', async () => {
    const asked = explain('node', 'odd', '--shadow', join(folder, 'missing.json'));
    await expect(asked).rejects.toThrow('cannot read the report');
  });
});

test('kinds are taken as kubectl writes them: plural, short, or with their group', async () => {
  const { out } = await explain('nodeclaim', 'claim-guarded');
  for (const name of ['nodeclaims', 'nc', 'nodeclaim.karpenter.sh', 'nodeclaims.v1.karpenter.sh'])
    expect((await explain(`${name}/claim-guarded`)).out).toBe(out);
  await expect(explain('ec2nodeclass.karpenter.k8s.aws/nope')).rejects.toThrow('no ec2nodeclass nope here');
});
