import { describe, expect, test } from 'vitest';
import type { Snapshot, SnapshotObject } from '../../core/index.ts';
import { completeSnapshot } from './complete.ts';
import { guessProvider } from './provider.ts';

const pool = (name: string, group: string, kind: string, className = 'default'): SnapshotObject => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name },
  spec: { template: { spec: { nodeClassRef: { group, kind, name: className }, requirements: [] } } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});
const kwokPool = (name: string) => pool(name, 'karpenter.kwok.sh', 'KWOKNodeClass');
const awsPool = (name: string, className = 'default') => pool(name, 'karpenter.k8s.aws', 'EC2NodeClass', className);
const nodeClass = (name: string, zones?: string[]): SnapshotObject => ({
  apiVersion: 'karpenter.k8s.aws/v1',
  kind: 'EC2NodeClass',
  metadata: { name },
  spec: { amiFamily: 'Bottlerocket' },
  ...(zones === undefined ? {} : { status: { subnets: zones.map((zone) => ({ zone })) } }),
});
const snapshot = (items: SnapshotObject[], rest: Partial<Snapshot> = {}): Snapshot => ({
  apiVersion: 'kerf/v1',
  kind: 'Snapshot',
  objects: { apiVersion: 'v1', kind: 'List', items },
  ...rest,
});
const complete = (input: Snapshot, options: Partial<Parameters<typeof completeSnapshot>[1]> = {}) =>
  completeSnapshot(input, { settings: {}, ...options });

describe('the clock', () => {
  const at = (time: string) => ({ ...kwokPool('a'), metadata: { name: 'a', creationTimestamp: time } });
  const timeOf = async (input: Snapshot, time?: string) =>
    (await complete(input, time === undefined ? {} : { time })).snapshot.time;

  test('is what the flag says, else the snapshot, else the newest object, else the beginning', async () => {
    const input = snapshot([at('2026-01-01T00:00:00Z'), at('2026-03-01T00:00:00Z')]);
    expect(await timeOf({ ...input, time: '2026-05-01T00:00:00Z' }, '2026-06-01T00:00:00Z')).toBe(
      '2026-06-01T00:00:00Z',
    );
    expect(await timeOf({ ...input, time: '2026-05-01T00:00:00Z' })).toBe('2026-05-01T00:00:00Z');
    expect(await timeOf(input)).toBe('2026-03-01T00:00:00Z');
    expect(await timeOf(snapshot([kwokPool('a')]))).toBe('1970-01-01T00:00:00Z');
  });
});

describe('the provider', () => {
  test('is the one whose node classes the NodePools name, the simulated one otherwise', () => {
    expect(guessProvider([awsPool('a')])).toBe('aws');
    expect(guessProvider([kwokPool('a')])).toBe('kwok');
    expect(guessProvider([kwokPool('a'), nodeClass('x')])).toBe('kwok');
    expect(guessProvider([nodeClass('x')])).toBe('aws');
    expect(guessProvider([])).toBe('kwok');
  });

  test('of the snapshot stands as it is; one without node classes is laid over the chosen one', async () => {
    const given = { nodeClasses: ['TestNodeClass.karpenter.test.sh'], wellKnownLabels: ['a'] };
    expect((await complete(snapshot([], { provider: given }))).snapshot.provider).toEqual(given);
    const partial = { wellKnownLabels: ['a'] } as unknown as NonNullable<Snapshot['provider']>;
    const facts = (await complete(snapshot([kwokPool('a')], { provider: partial }))).snapshot.provider;
    expect(facts).toMatchObject({ nodeClasses: ['KWOKNodeClass.karpenter.kwok.sh'], wellKnownLabels: ['a'] });
  });
});

describe('instance types', () => {
  test('are filled in for every NodePool when the snapshot has none, and shared by pools of one class', async () => {
    const { snapshot: whole, notes } = await complete(snapshot([kwokPool('a'), kwokPool('b')]));
    expect(whole.instanceTypes?.map(({ nodePool }) => nodePool)).toEqual(['a', 'b']);
    expect(whole.instanceTypes?.[0]?.items).toHaveLength(144);
    expect(whole.instanceTypes?.[0]?.items).toBe(whole.instanceTypes?.[1]?.items);
    expect(notes).toEqual([]);
  });

  const upClass = (catalogue: string): SnapshotObject => ({
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: 'default', annotations: { 'kerf.sh/catalogue': catalogue } },
  });
  const m5Large: SnapshotObject = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n',
      labels: { 'karpenter.sh/nodepool': 'a', 'node.kubernetes.io/instance-type': 'm5.large' },
    },
  };

  test('of a simulated cluster are those its node class names: its own, or those of EC2', async () => {
    const { snapshot: whole, notes } = await complete(snapshot([kwokPool('a'), upClass('ec2'), m5Large]));
    expect(whole.instanceTypes?.[0]?.items?.map(({ name }) => name)).toContain('m5.large');
    expect(whole.provider?.wellKnownLabels).toContain('karpenter.k8s.aws/instance-category');
    expect(notes).toEqual([]);
    const generic = await complete(snapshot([kwokPool('a'), upClass('generic')]));
    expect(generic.snapshot.instanceTypes?.[0]?.items).toHaveLength(144);
  });

  test('that nodes have and no catalogue knows are named', async () => {
    const { notes } = await complete(snapshot([kwokPool('a'), m5Large]));
    expect(notes).toEqual([
      'nodes have instance types that no catalogue here has (m5.large): give theirs with --instance-types',
    ]);
  });

  test('of the snapshot are all there is, but for NodePools added to it', async () => {
    const input = snapshot([kwokPool('a'), kwokPool('b')], { instanceTypes: [{ nodePool: 'a', items: [] }] });
    expect((await complete(input)).snapshot.instanceTypes).toEqual([{ nodePool: 'a', items: [] }]);
    const added = await complete(input, { addedPools: new Set(['b']) });
    expect(added.snapshot.instanceTypes?.map(({ nodePool }) => nodePool)).toEqual(['a', 'b']);
  });

  test('of EC2 follow the node class: its family, and the zones and region of its subnets', async () => {
    const zones = ['us-west-2a', 'us-west-2b'];
    const { snapshot: whole, notes } = await complete(snapshot([awsPool('a', 'x'), nodeClass('x', zones)]));
    const type = whole.instanceTypes?.[0]?.items?.find(({ name }) => name === 'm5.large');
    const zoneOf = type?.requirements.find(({ key }) => key === 'topology.kubernetes.io/zone');
    expect(zoneOf?.values).toEqual(zones);
    expect(notes).toEqual([expect.stringContaining('no built-in prices of us-west-2')]);
  });

  test('of EC2 have the size that settings of the controller give them', async () => {
    const sizeWith = async (options: object) => {
      const { snapshot: whole } = await complete(snapshot([awsPool('a', 'x'), nodeClass('x')]), options);
      const { pods, memory } = whole.instanceTypes?.[0]?.items?.find(({ name }) => name === 'm5.large')?.capacity ?? {};
      return [pods, memory];
    };
    expect(await sizeWith({})).toEqual(['29', '7577Mi']);
    expect(await sizeWith({ reservedEnis: 1, vmMemoryOverhead: 0.02 })).toEqual(['20', '8028Mi']);
  });

  test('of a class that is missing or has no subnets rest on an assumption, and say so', async () => {
    const { notes } = await complete(snapshot([awsPool('a', 'x'), awsPool('b', 'y'), nodeClass('x')]));
    expect(notes).toEqual([
      'EC2NodeClass x has no subnets in its status: assumed subnets in us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f; --zones says otherwise',
      'there is no EC2NodeClass y: assumed AL2023 and subnets in us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f; --zones says otherwise',
    ]);
  });

  test('of a class without subnets leave out zones in which its NodePool can have no machine, and --zones has the last word', async () => {
    const family = { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['m7i'] };
    const narrow = awsPool('a', 'x');
    Object.assign((narrow['spec'] as { template: { spec: object } }).template.spec, { requirements: [family] });
    const zonesOf = (whole: Snapshot) =>
      new Set(
        whole.instanceTypes?.[0]?.items?.flatMap(({ requirements }) =>
          requirements.flatMap(({ key, values = [] }) => (key === 'topology.kubernetes.io/zone' ? values : [])),
        ),
      );
    const { snapshot: whole, notes } = await complete(snapshot([narrow, nodeClass('x')]));
    expect([...zonesOf(whole)].sort()).toEqual(['a', 'b', 'c', 'd', 'f'].map((letter) => `us-east-1${letter}`));
    expect(notes).toEqual([
      expect.stringContaining("(not us-east-1e, which has none of the NodePool's instance types)"),
    ]);
    const asked = await complete(snapshot([narrow, nodeClass('x')]), { zones: ['us-east-1a', 'us-east-1b'] });
    expect([...zonesOf(asked.snapshot)].sort()).toEqual(['us-east-1a', 'us-east-1b']);
  });

  test('of a region without figures of its own say what stands in, and ask for its zones', async () => {
    const input = snapshot([awsPool('a', 'x'), nodeClass('x')]);
    await expect(complete(input, { region: 'eu-north-1' })).rejects.toThrow(/or name its zones with --zones/);
    const { notes } = await complete(input, { zones: ['eu-north-1a', 'eu-north-1b'] });
    expect(notes).toEqual([
      'EC2NodeClass x has no subnets in its status: assumed subnets in eu-north-1a, eu-north-1b; --zones says otherwise',
      'no built-in offerings of eu-north-1: every type of us-east-1 counts as offered',
      'no built-in prices of eu-north-1: those of us-east-1 stand in; --live-prices asks AWS',
    ]);
    await expect(complete(input, { region: 'eu-west-1', zones: ['us-east-1a'] })).rejects.toThrow(
      '--zones us-east-1a is not a zone of eu-west-1',
    );
    await expect(complete(input, { zones: ['us-east-1a', 'us-east-1q'] })).rejects.toThrow(
      '--zones us-east-1q: the figures of us-east-1 have no instance types there, only in us-east-1a, us-east-1b',
    );
  });

  test('of a catalogue file serve NodePools of any node class', async () => {
    const catalogue = { types: [], offeringKeys: ['example.com/rack'] };
    const input = snapshot([pool('a', 'example.com', 'OwnClass')]);
    const { snapshot: whole, notes } = await complete(input, { catalogue });
    expect(whole.instanceTypes).toEqual([{ nodePool: 'a', items: [] }]);
    expect(whole.provider?.nodeClasses).toContain('OwnClass.example.com');
    expect(whole.provider?.wellKnownLabels).toContain('example.com/rack');
    expect(notes).toEqual([]);
  });

  test('are not given to a NodePool of another provider’s class, which is said', async () => {
    const { snapshot: whole, notes } = await complete(snapshot([kwokPool('a')]), { provider: 'aws' });
    expect(whole.instanceTypes).toEqual([]);
    expect(notes).toEqual([
      'NodePool a is not used: KWOKNodeClass.karpenter.kwok.sh is not a node class of this provider',
    ]);
  });
});

describe('NodeOverlays', () => {
  const overlay = (name: string, spec: object): SnapshotObject => ({
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name },
    spec,
  });
  const small = { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['c-1x-amd64-linux'] };
  const priceOf = (input: Snapshot) =>
    input.instanceTypes?.[0]?.items?.find(({ name }) => name === 'c-1x-amd64-linux')?.offerings[0]?.price;

  test('change the catalogue that is filled in', async () => {
    const input = snapshot([kwokPool('a'), overlay('cheap', { requirements: [small], price: '0.001' })]);
    const { snapshot: whole, notes } = await complete(input);
    expect(priceOf(whole)).toBe(0.001);
    expect(notes).toEqual([]);
  });

  test('that are invalid or in conflict are named and left out', async () => {
    const restricted = { key: 'karpenter.sh/secret', operator: 'In', values: ['x'] };
    const { notes } = await complete(
      snapshot([
        kwokPool('a'),
        overlay('bad', { requirements: [restricted], price: '1' }),
        overlay('one', { requirements: [small], price: '1' }),
        overlay('two', { requirements: [small], price: '2' }),
      ]),
    );
    expect(notes).toEqual([
      expect.stringMatching(/^NodeOverlay bad is not applied: .*karpenter\.sh\/secret/),
      'NodeOverlay one is not applied: another of the same weight changes the same offering or resource',
    ]);
  });
});

describe('a NodePool of a snapshot', () => {
  test('that no controller has judged yet counts as ready, and that is said', async () => {
    const { status: _, ...unseen } = kwokPool('new');
    const { snapshot: completed, notes } = await complete(snapshot([unseen, kwokPool('old')]));
    const ready = completed.objects.items.map(({ status }) => (status as { conditions: object[] }).conditions[0]);
    expect(ready).toEqual([expect.objectContaining({ status: 'True' }), expect.objectContaining({ status: 'True' })]);
    expect(notes).toEqual(['no controller has judged NodePool new yet: counted as ready']);
  });

  test('that is not ready stays so', async () => {
    const status = { conditions: [{ type: 'Ready', status: 'Unknown' }] };
    const { snapshot: completed, notes } = await complete(snapshot([{ ...kwokPool('late'), status }]));
    expect(completed.objects.items[0]?.['status']).toEqual(status);
    expect(notes).toEqual([]);
  });
});
