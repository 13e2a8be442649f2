// A cluster whose CRDs were stripped of their schemas, full of objects that cannot be worked with: everybody else gets their
// nodes all the same, also from a controller that starts in the middle of it, and each bad object says what is wrong.
import { expect, test } from 'vitest';
import { all, conditionOf, type Manifest } from './harness/api.ts';
import { inValues, nodeClassRef } from './harness/manifests.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld({ idle: true });

const zone = 'topology.kubernetes.io/zone';
const pool = (name: string, spec?: object): Manifest => ({
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name },
  ...(spec === undefined ? {} : { spec }),
});
const claim = (name: string, spec?: object): Manifest => ({ ...pool(name, spec), kind: 'NodeClaim' });
const template = (over: object) => ({ template: { spec: { nodeClassRef, requirements: [], ...over } } });

const badPools: [reported: RegExp, manifest: Manifest][] = [
  [/spec: Required value/, pool('bad-nothing')],
  [/spec.template: Required value/, pool('bad-empty', {})],
  [/Unsupported value: "Near"/, pool('bad-operator', template({ requirements: [{ key: zone, operator: 'Near' }] }))],
  [/limits.cpu: Invalid value: "NaN"/, pool('bad-limit', { ...template({}), limits: { cpu: 'NaN' } })],
  [/requirements: Invalid value/, pool('bad-types', template({ requirements: 'everything', taints: { a: 'b' } }))],
  [/expireAfter: Invalid value/, pool('bad-lifetime', template({ expireAfter: 'tomorrow' }))],
];
const badClaims: [reported: RegExp, manifest: Manifest][] = [
  [/spec: Required value/, claim('bad-nothing')],
  [/spec.requirements: Invalid value/, claim('bad-types', { nodeClassRef, requirements: 'none' })],
  [
    /requests.cpu: Invalid value: "NaN"/,
    claim('bad-request', { nodeClassRef, requirements: [], resources: { requests: { cpu: 'NaN' } } }),
  ],
];

async function stripSchemas(): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/versions/0/schema', value: schema }]);
  for (const name of ['nodepools.karpenter.sh', 'nodeclaims.karpenter.sh'])
    await world.api.kubectl('patch', 'crd', name, '--type=json', '-p', patch);
}

test('bad pools, claims and pods keep no good pod from a node, and say what is wrong with them', async () => {
  await stripSchemas();
  const before = await world.start({ flags: { 'disable-leader-election': true } });
  await before.leading();
  const room = await world.room('amid');
  await room.pool();
  await room.until('the bad objects are there', async () => {
    for (const [, manifest] of [...badPools, ...badClaims]) {
      const { status } = await world.api.tryCreate(manifest);
      expect([201, 409]).toContain(status);
    }
  });
  await room.pool({
    suffix: 'conflict',
    unready: true,
    requirements: [inValues(zone, 'test-zone-a'), inValues(zone, 'test-zone-b')],
  });
  const terms = Array.from({ length: 1_000 }, (_, index) => ({
    weight: 1 + (index % 100),
    preference: { matchExpressions: [inValues(zone, `zone-${index}`)] },
  }));
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } };
  await room.deployment('terms', { replicas: 2, spec: { affinity } });
  await room.deployment('giant', { replicas: 2, annotations: { 'example.com/giant': 'x'.repeat(200_000) } });
  await room.pod('nowhere', { spec: { nodeSelector: { [zone]: 'test-zone-a', 'kubernetes.io/hostname': 'me' } } });
  await room.pod('good', { cpu: '1' });
  for (const [app, count] of [
    ['terms', 2],
    ['giant', 2],
    ['good', 1],
  ] as const)
    await room.runs(app, count);

  await before.terminate();
  const after = await world.start({ flags: { 'disable-leader-election': true } });
  await after.leading();
  await room.pod('later', { cpu: '3' });
  await room.runs('later', 1);
  await room.until('every bad object says what is wrong', async () => {
    for (const [reported, { metadata }] of badPools) {
      const { status, message } =
        conditionOf(await world.api.get(all.nodePools, metadata.name), 'ValidationSucceeded') ?? {};
      expect([metadata.name, status, message]).toEqual([metadata.name, 'False', expect.stringMatching(reported)]);
    }
    for (const [reported, { metadata }] of badClaims) {
      const { status, message } = conditionOf(await world.api.get(all.nodeClaims, metadata.name), 'Launched') ?? {};
      expect([metadata.name, status, message]).toEqual([metadata.name, 'Unknown', expect.stringMatching(reported)]);
    }
    const events = await world.api.list(all.events);
    for (const [, { kind, metadata }] of [...badPools, ...badClaims])
      expect(events).toContainEqual(
        expect.objectContaining({
          reason: 'Malformed',
          involvedObject: expect.objectContaining({ kind, name: metadata.name }),
        }),
      );
    expect(await room.events('FailedScheduling', 'nowhere')).not.toEqual([]);
  });

  await world.api.patch(all.nodePools, 'bad-limit', { spec: { limits: { cpu: '10' } } });
  await room.until('a pool that was fixed is ready', async () =>
    expect(conditionOf(await world.api.get(all.nodePools, 'bad-limit'), 'Ready')?.status).toBe('True'),
  );
  expect(after.exit).toBeUndefined();
});
