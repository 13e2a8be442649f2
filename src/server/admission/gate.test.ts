import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { type ControllerContext, malformedController, nodeClaims, nodePools } from '../../controllers/index.ts';
import { recordedEvents, recordedLog } from '../../controllers/testing/records.testing.ts';
import { type Kube, type KubeObject, type Resource, resources, type WatchEvent } from '../../ports/index.ts';
import { AdmissionGate } from './gate.ts';
import { specProblems } from './spec-problems.ts';

const nodeClassRef = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const object = (kind: string, name: string, spec: unknown, generation = 1): KubeObject =>
  ({ apiVersion: 'karpenter.sh/v1', kind, metadata: { name, uid: name, generation }, spec }) as KubeObject;
const pool = (name: string, spec?: unknown, generation?: number) => object('NodePool', name, spec, generation);
const claim = (name: string, spec?: unknown) => object('NodeClaim', name, spec);
const sound = { template: { spec: { nodeClassRef, requirements: [] } } };
const wanting = (over: object) => ({ template: { spec: { nodeClassRef, requirements: [], ...over } } });
const zone = 'topology.kubernetes.io/zone';

describe('what cannot be worked with is reported by its field', () => {
  test.each<[what: string, object: KubeObject, reported: RegExp]>([
    ['no spec', pool('a'), /^spec: Required value/],
    ['an empty spec', pool('a', {}), /^spec.template: Required value/],
    ['no node class', pool('a', { template: { spec: { requirements: [] } } }), /nodeClassRef: Required value/],
    [
      'an operator there is not',
      pool('a', wanting({ requirements: [{ key: zone, operator: 'Near' }] })),
      /operator: Unsupported value: "Near"/,
    ],
    ['text for a list', pool('a', wanting({ requirements: 'all' })), /requirements: Invalid value: "string"/],
    [
      'numbers among values',
      pool('a', wanting({ requirements: [{ key: zone, operator: 'In', values: ['a', 2] }] })),
      /values\[1\]/,
    ],
    ['a limit that is not a quantity', pool('a', { ...sound, limits: { cpu: 'NaN' } }), /limits.cpu: Invalid value/],
    ['a duration that is none', pool('a', wanting({ expireAfter: 'tomorrow' })), /expireAfter: Invalid value/],
    [
      'requests of a claim that are not quantities',
      claim('a', { nodeClassRef, requirements: [], resources: { requests: { cpu: 'NaN' } } }),
      /requests.cpu: Invalid value/,
    ],
    ['a claim without a spec', claim('a'), /^spec: Required value/],
  ])('%s', (_, bad, reported) => expect(specProblems(bad)[0]).toMatch(reported));

  test('and what only breaks a limit of size is worked with', () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ key: `example.com/${index}`, operator: 'Exists' }));
    expect(specProblems(pool('a', wanting({ requirements: many })))).toEqual([]);
    expect(
      specProblems(
        pool('a', {
          ...sound,
          disruption: { consolidateAfter: '0s', budgets: Array.from({ length: 60 }, () => ({ nodes: '1' })) },
        }),
      ),
    ).toEqual([]);
  });
});

const serving = (items: KubeObject[], events: WatchEvent<KubeObject>[] = []): Kube =>
  ({
    list: () => Promise.resolve({ items, resourceVersion: '1' }),
    async *watch() {
      yield* events;
    },
  }) as unknown as Kube;
const watched = async (kube: Kube, resource: Resource): Promise<string[]> => {
  const seen: string[] = [];
  for await (const event of kube.watch(resource))
    if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.metadata.name}`);
  return seen;
};

describe('the gate', () => {
  test('lists what can be worked with, and keeps the rest for those who tell', async () => {
    const gate = new AdmissionGate();
    const { items } = await gate.kube(serving([pool('good', sound), pool('bad', {})])).list(nodePools);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['good']);
    expect([...gate.refused.values()].map(({ object: { metadata } }) => metadata.name)).toEqual(['bad']);
  });

  test('makes an object go that can no longer be worked with, and come back when it is fixed', async () => {
    const gate = new AdmissionGate();
    const reported: string[] = [];
    gate.onRefused = (key) => reported.push(key);
    const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', spec: unknown, generation: number) =>
      ({ type, object: pool('a', spec, generation) }) as const;
    const events = [
      event('ADDED', sound, 1),
      event('MODIFIED', {}, 2),
      event('MODIFIED', {}, 2),
      event('MODIFIED', sound, 3),
    ];
    expect(await watched(gate.kube(serving([], events)), nodePools as Resource)).toEqual([
      'ADDED a',
      'DELETED a',
      'DELETED a',
      'MODIFIED a',
    ]);
    expect(reported).toHaveLength(1);
    expect(gate.refused.size).toBe(0);
  });

  test('forgets what went between two watches, whether the next look is a list, a list of pages or a watch', async () => {
    const gate = new AdmissionGate();
    const held = (): number =>
      gate.refused.size + (gate as unknown as { admitted: ReadonlyMap<string, unknown> }).admitted.size;
    const everything = (): KubeObject[] => [pool('good', sound), pool('bad', {}), claim('elsewhere')];
    const fill = (): Promise<unknown> => gate.kube(serving(everything())).list(nodePools);
    await fill();
    expect(held()).toBe(3);
    await gate.kube(serving([pool('good', sound)])).list(nodePools);
    expect(held(), 'the pool that is left and the object of another kind').toBe(2);
    await fill();
    const pages: Record<string, object> = {
      '': { items: [pool('good', sound)], continue: 'second', resourceVersion: '1' },
      second: { items: [pool('other', sound)], resourceVersion: '1' },
    };
    const paged = gate.kube({
      list: async (_: unknown, asked: { continue?: string }) => pages[asked.continue ?? ''],
    } as never);
    await paged.list(nodePools, {});
    expect(held(), 'after the first page').toBe(3);
    await paged.list(nodePools, { continue: 'second' });
    expect(held(), 'after the last page').toBe(3);
    expect([...gate.refused.keys()]).toEqual(['NodeClaim//elsewhere']);
    await gate.kube(serving([])).list(nodePools, { labelSelector: 'a=b' });
    expect(held(), 'a list of some of them proves nothing').toBe(3);
    const initial = [
      { type: 'ADDED', object: pool('other', sound) },
      { type: 'BOOKMARK', resourceVersion: '2', initialEventsEnd: true },
    ] as const;
    for await (const _ of gate.kube(serving([], [...initial])).watch(nodePools, { sendInitialEvents: true }));
    expect(held(), 'after a watch that began with all of them').toBe(2);
  });

  test('does not look at kinds of others', async () => {
    const events = [{ type: 'ADDED' as const, object: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } } }];
    expect(await watched(new AdmissionGate().kube(serving([], events)), resources.pods as Resource)).toEqual([
      'ADDED p',
    ]);
  });
});

describe('the owner of an object that cannot be worked with', () => {
  const tell = async (resource: Resource, bad: KubeObject) => {
    const patches: { status?: { conditions?: { type: string; status: string; reason: string; message: string }[] } }[] =
      [];
    const [recorder, log] = [recordedEvents(), recordedLog()];
    const kube = {
      patch: (_: unknown, __: unknown, { body }: { body: object }) => Promise.resolve(patches.push(body)),
    };
    const clock = new VirtualClock({ settle: () => Promise.resolve() });
    const isManaged = (ref?: { kind: string }) => ref?.kind === 'KWOKNodeClass';
    const context = { clock, isManaged, kube, log, recorder } as unknown as ControllerContext;
    const refused = new Map([['key', { resource, object: bad, problems: specProblems(bad) }]]);
    await malformedController(context, { refused, onRefused: () => {} }).reconcile('key', new AbortController().signal);
    return { conditions: patches[0]?.status?.conditions ?? [], events: recorder.list };
  };

  test('reads it in the conditions and events of a NodePool', async () => {
    const { conditions, events } = await tell(nodePools, pool('bad', {}));
    const message = 'cannot work with this NodePool: spec.template: Required value';
    expect(conditions).toContainEqual(
      expect.objectContaining({
        type: 'ValidationSucceeded',
        status: 'False',
        reason: 'NodePoolValidationFailed',
        message,
      }),
    );
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'False' }));
    expect(events).toMatchObject([{ type: 'Warning', reason: 'Malformed', message, subject: { name: 'bad' } }]);
  });

  test('reads it in the conditions of a NodeClaim', async () => {
    const { conditions } = await tell(nodeClaims, claim('bad', { nodeClassRef, requirements: 'none' }));
    expect(conditions).toContainEqual(
      expect.objectContaining({
        type: 'Launched',
        status: 'Unknown',
        reason: 'LaunchFailed',
        message: expect.stringContaining('spec.requirements'),
      }),
    );
  });

  test('is not reported by us if the object is of another provider', async () => {
    const { conditions, events } = await tell(
      nodePools,
      pool('bad', { template: { spec: { nodeClassRef: { ...nodeClassRef, kind: 'Other' } } } }),
    );
    expect([conditions, events]).toEqual([[], []]);
  });
});
