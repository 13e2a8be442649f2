// What belongs to claims that the caches do not show, because they are behind or because the claim cannot be parsed.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { EC2NodeClass } from '../../api/index.ts';
import { VirtualClock } from '../../base/index.ts';
import type { ControllerContext } from '../../controllers/index.ts';
import { recordedEvents, recordedLog, recordedMetrics } from '../../controllers/testing/records.testing.ts';
import { KubeError, type KubeObject, type Resource } from '../../ports/index.ts';
import { instanceProfileCollectionController } from '../instance-profile-collection/controller.ts';
import { terminate } from './termination.ts';

const clock = new VirtualClock({ settle: () => setImmediate() });

/** Caches that are empty over an API server that stores these. */
function contextOf(stored: { nodeclaims?: object[]; ec2nodeclasses?: object[] }) {
  const events = recordedEvents();
  const context = {
    clock,
    log: recordedLog(),
    metrics: recordedMetrics(),
    recorder: events,
    time: { aheadMs: () => undefined, problem: () => undefined },
    kube: { patch: async (_: Resource, __: unknown, { body }: { body: KubeObject }) => body },
    cacheOf: () => ({ get: () => undefined, values: () => [] }),
    stored: {
      get: async ({ plural }: { plural: keyof typeof stored }, { name }: { name: string }) => {
        const found = (stored[plural] as KubeObject[] | undefined)?.find(({ metadata }) => metadata.name === name);
        if (found === undefined) throw new KubeError({ status: 404, reason: 'NotFound', message: 'not there' });
        return found;
      },
      list: async ({ plural }: { plural: keyof typeof stored }) => ({
        items: stored[plural] ?? [],
        resourceVersion: '1',
      }),
    },
  } as unknown as ControllerContext;
  return { context, events };
}

const nodeClass = {
  metadata: {
    name: 'default',
    uid: 'one',
    finalizers: ['karpenter.k8s.aws/termination'],
    deletionTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: {},
} as unknown as EC2NodeClass;
const partsThat = (deleted: string[]) => ({
  profiles: { deleteAllOf: async ({ metadata }: EC2NodeClass) => void deleted.push(`profile of ${metadata.name}`) },
  launchTemplates: { deleteFor: async (name: string) => void deleted.push(`template of ${name}`) },
  forget: () => {},
});
const claimOf = (name: string, spec: unknown, annotations = {}) => ({ metadata: { name, annotations }, spec });

test.each<[string, object[], number]>([
  ['none are left', [], 1],
  [
    'one that the cache does not have',
    [claimOf('a', { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } })],
    0,
  ],
  ['one whose class cannot be read', [claimOf('a', { nodeClassRef: 7 })], 0],
  [
    'those of other classes alone',
    [claimOf('a', { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'other' } })],
    1,
  ],
])('a class that is being deleted, with claims: %s', async (_, nodeclaims, deletions) => {
  const { context, events } = contextOf({ nodeclaims, ec2nodeclasses: [nodeClass] });
  const deleted: string[] = [];
  await terminate(context, partsThat(deleted), nodeClass);
  expect(deleted).toHaveLength(2 * deletions);
  expect(events.list).toHaveLength(1 - deletions);
});

test.each<[string, object[]]>([
  ['as one that stays', [{ ...nodeClass, metadata: { ...nodeClass.metadata, deletionTimestamp: undefined } }]],
  ['as another of that name', [{ ...nodeClass, metadata: { ...nodeClass.metadata, uid: 'two' } }]],
  ['no more', []],
])('nothing of a class in AWS goes while the API server has it %s', async (_, ec2nodeclasses) => {
  const { context } = contextOf({ ec2nodeclasses });
  const deleted: string[] = [];
  expect(await terminate(context, partsThat(deleted), nodeClass)).toMatchObject({ kind: 'again' });
  expect(deleted).toEqual([]);
});

test('profiles that stored claims and classes use are kept, though no cache knows them; others go at the second look', async () => {
  const { context } = contextOf({
    nodeclaims: [claimOf('a', 'this cannot be read', { 'karpenter.k8s.aws/instance-profile-name': 'of-claim' })],
    ec2nodeclasses: [{ metadata: { name: 'x' }, status: { instanceProfile: 'of-class' } }],
  });
  const deleted: string[] = [];
  const { reconcile } = instanceProfileCollectionController(context, {
    list: async () => ['of-claim', 'of-class', 'of-nobody'],
    delete: async (name) => void deleted.push(name),
    isProtected: () => false,
  });
  const signal = new AbortController().signal;
  await reconcile('profiles', signal);
  expect(deleted).toEqual([]);
  await clock.runFor(10_000);
  await reconcile('profiles', signal);
  expect(deleted).toEqual(['of-nobody']);
});
