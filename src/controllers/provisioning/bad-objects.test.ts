// Objects that should not exist, but do: written before a validation rule came, or past it. None of them may keep others
// from getting their nodes, and each says what is wrong with it.
import { setImmediate as settle } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { NodeClaim, NodePool } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import { planSnapshot } from '../../core/index.ts';
import type { Cloud, Kube, Pod } from '../../ports/index.ts';
import { genericCatalogue, kwokProviderFacts } from '../../sim/index.ts';
import { Cluster, LaunchLedger } from '../../state/index.ts';
import type { ControllerContext } from '../context.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../testing/records.testing.ts';
import { Provisioner } from './provisioner.ts';

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };

const pool = (name: string, requirements: object[] = [], limits?: object): NodePool =>
  ({
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name, uid: name },
    spec: { template: { spec: { nodeClassRef, requirements } }, ...(limits === undefined ? {} : { limits }) },
    status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', lastTransitionTime: '' }] },
  }) as unknown as NodePool;

const pod = (name: string, spec: object = {}, requests: object = { cpu: '1' }, metadata: object = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: name, ...metadata },
    spec: { containers: [{ name: 'main', resources: { requests } }], ...spec },
    status: {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
    },
  }) as unknown as Pod;

const affinity = (...matchExpressions: object[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
    },
  },
});
const zone = 'topology.kubernetes.io/zone';

let setting: ReturnType<typeof open>;

function open() {
  const clock = new VirtualClock({ settle: () => settle() });
  const cluster = new Cluster(clock);
  const events = recordedEvents();
  const created: NodeClaim[] = [];
  const kube = {
    create: async (_resource: unknown, claim: NodeClaim) => {
      created.push(claim);
      return { ...claim, metadata: { ...claim.metadata, name: `claim-${created.length}`, uid: `${created.length}` } };
    },
  };
  const catalogue = genericCatalogue();
  const context = {
    clock,
    cluster,
    kube: kube as unknown as Kube,
    cloud: { facts: kwokProviderFacts(), instanceTypes: async () => catalogue } as unknown as Cloud,
    log: recordedLog(),
    metrics: recordedMetrics(),
    recorder: events,
    settings: {
      cpuRequests: 1000,
      batchIdleDurationMs: 1000,
      batchMaxDurationMs: 10_000,
      preferencePolicy: 'Respect',
      minValuesPolicy: 'Strict',
      ignoreDraRequests: true,
      featureGates: {},
    },
    plan: async (snapshot: never, options: never) => planSnapshot(snapshot, options),
    ledger: new LaunchLedger(),
    random: () => 0.5,
    isManaged: () => true,
  } as unknown as ControllerContext;
  cluster.setNodePool(pool('default'));
  cluster.markPopulated();
  return { cluster, created, provisioner: new Provisioner(context), eventsAbout: eventsAbout(events) };
}

const eventsAbout =
  (events: ReturnType<typeof recordedEvents>) =>
  (name: string): string =>
    events.list
      .filter(({ subject }) => subject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`)
      .join('\n');

beforeEach(() => {
  setting = open();
});

/** A pass with the bad object and a good pod: the good one gets a node. */
async function passWithGoodPod(...bad: Pod[]): Promise<void> {
  for (const each of [...bad, pod('good')]) setting.cluster.setPod(each);
  await setting.provisioner.pass();
  expect(setting.eventsAbout('good')).toMatch(/^Nominated: Pod should schedule on: nodeclaim\/claim-/);
}

describe('a pod that', () => {
  test.each<[what: string, bad: Pod, reported: RegExp]>([
    [
      'names an operator there is not',
      pod('bad', affinity({ key: zone, operator: 'Near', values: ['a'] })),
      /FailedScheduling: Failed to schedule pod, .*Near/,
    ],
    [
      'contradicts itself',
      pod('bad', {
        nodeSelector: { [zone]: 'test-zone-a' },
        ...affinity({ key: zone, operator: 'In', values: ['test-zone-b'] }),
      }),
      /FailedScheduling: Failed to schedule pod, .*zone/,
    ],
    [
      'asks for a quantity that is none',
      pod('bad', {}, { cpu: 'a lot' }),
      /FailedScheduling: Failed to schedule pod, .*a lot/,
    ],
    [
      'compares with something that is not a number',
      pod('bad', affinity({ key: 'karpenter.kwok.sh/instance-cpu', operator: 'Gt', values: ['many'] })),
      /FailedScheduling: Failed to schedule pod, /,
    ],
    [
      'has an affinity without terms and a spread without a key',
      pod('bad', { affinity: { nodeAffinity: {}, podAffinity: {} }, topologySpreadConstraints: [{}] }),
      /FailedScheduling|Nominated/,
    ],
  ])('%s is reported, and delays no other', async (_, bad, reported) => {
    await passWithGoodPod(bad);
    expect(setting.eventsAbout('bad')).toMatch(reported);
  });

  test('has a thousand terms is planned for like any other', async () => {
    const terms = Array.from({ length: 1_000 }, (_, index) => ({
      weight: 1 + (index % 100),
      preference: { matchExpressions: [{ key: zone, operator: 'In', values: [`zone-${index}`] }] },
    }));
    const spec = { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } } };
    await passWithGoodPod(pod('bad', spec));
    expect(setting.eventsAbout('bad')).toMatch(/^Nominated/);
  });

  test('carries a giant annotation is planned for like any other', async () => {
    await passWithGoodPod(pod('bad', {}, { cpu: '1' }, { annotations: { note: 'x'.repeat(250_000) } }));
    expect(setting.eventsAbout('bad')).toMatch(/^Nominated/);
  });
});

describe('a NodePool that', () => {
  test.each<[what: string, bad: NodePool]>([
    ['contradicts itself', pool('bad', [{ key: zone, operator: 'In', values: [] }])],
    ['names an operator there is not', pool('bad', [{ key: zone, operator: 'Near', values: ['a'] }])],
    ['has a limit that is not a quantity', pool('bad', [], { cpu: 'a lot' })],
    ['asks for more values than there are', pool('bad', [{ key: zone, operator: 'Exists', minValues: 1_000_000 }])],
  ])('%s holds up no other pool', async (_, bad) => {
    setting.cluster.setNodePool(bad);
    await passWithGoodPod();
    expect(setting.created.map(({ metadata }) => metadata.generateName)).toContain('default-');
  });
});
