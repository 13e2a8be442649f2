import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTime } from '../../../base/index.ts';
import type { Pod } from '../../../ports/index.ts';
import { drainOf } from './drain.ts';

const nowMs = Date.UTC(2026, 0, 1, 12);
const seconds = (count: number): number => count * 1000;
const inSeconds = (count: number): string => formatTime(nowMs + seconds(count));

interface Traits {
  daemon?: boolean;
  critical?: string;
  grace?: number;
  /** Seconds until its deletion is due; negative is past. */
  deleting?: number;
  deletingGrace?: number;
  protectedFor?: string;
  tolerations?: { key?: string; operator?: string; effect?: string }[];
  phase?: string;
  static?: boolean;
}

function pod(name: string, traits: Traits = {}): Pod {
  const owner = traits.daemon
    ? { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'owner', uid: 'owner' }
    : traits.static
      ? { apiVersion: 'v1', kind: 'Node', name: 'owner', uid: 'owner' }
      : undefined;
  return {
    metadata: {
      name,
      namespace: 'default',
      uid: name,
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
      ...(traits.deleting === undefined ? {} : { deletionTimestamp: inSeconds(traits.deleting) }),
      ...(traits.deletingGrace === undefined ? {} : { deletionGracePeriodSeconds: traits.deletingGrace }),
      ...(traits.protectedFor === undefined
        ? {}
        : { annotations: { 'karpenter.sh/do-not-disrupt': traits.protectedFor } }),
    },
    spec: {
      containers: [],
      ...(traits.critical === undefined ? {} : { priorityClassName: traits.critical }),
      ...(traits.grace === undefined ? {} : { terminationGracePeriodSeconds: traits.grace }),
      ...(traits.tolerations === undefined ? {} : { tolerations: traits.tolerations }),
    },
    status: { phase: traits.phase ?? 'Running', startTime: inSeconds(-60) },
  };
}

const names = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.name ?? '');
const evicted = (...pods: Pod[]): string[] => names(drainOf(pods, nowMs, undefined).evict);
const removed = (deadlineSeconds: number, ...pods: Pod[]) =>
  drainOf(pods, nowMs, nowMs + seconds(deadlineSeconds)).remove.map(({ pod: { metadata }, graceSeconds }) => [
    metadata.name,
    graceSeconds,
  ]);

describe('a drain', () => {
  const ordinary = pod('ordinary');
  const daemon = pod('daemon', { daemon: true });
  const critical = pod('critical', { critical: 'system-cluster-critical' });
  const criticalDaemon = pod('critical-daemon', { critical: 'system-node-critical', daemon: true });

  test('evicts ordinary pods, then DaemonSet pods, then critical pods, then critical DaemonSet pods', () => {
    const all = [criticalDaemon, critical, daemon, ordinary];
    expect(drainOf(all, nowMs, undefined)).toMatchObject({ waiting: 4, evict: [ordinary] });
    expect(evicted(criticalDaemon, critical, daemon)).toEqual(['daemon']);
    expect(evicted(criticalDaemon, critical)).toEqual(['critical']);
    expect(evicted(criticalDaemon)).toEqual(['critical-daemon']);
    expect(drainOf([], nowMs, undefined)).toEqual({ waiting: 0, evict: [], remove: [] });
  });

  test('does not go on to the next group while a pod of the current one is still terminating', () => {
    expect(drainOf([pod('going', { deleting: 10 }), daemon], nowMs, undefined)).toMatchObject({
      waiting: 2,
      evict: [],
    });
  });

  test('waits for protected pods without evicting them', () => {
    const pods = [pod('always', { protectedFor: 'true' }), pod('for-now', { protectedFor: '2m' }), daemon];
    expect(drainOf(pods, nowMs, undefined)).toMatchObject({ waiting: 3, evict: [] });
  });

  test('evicts a pod whose protection has run out', () => {
    expect(evicted(pod('was-protected', { protectedFor: '30s' }))).toEqual(['was-protected']);
  });

  test('gives up on a pod that is still there a minute after it should have ended', () => {
    expect(drainOf([pod('late', { deleting: -59 })], nowMs, undefined).waiting).toBe(1);
    expect(drainOf([pod('stuck', { deleting: -61 })], nowMs, undefined).waiting).toBe(0);
  });

  test.each([
    ['tolerates the disrupted taint', { tolerations: [{ key: 'karpenter.sh/disrupted', operator: 'Exists' }] }],
    ['tolerates everything', { tolerations: [{ operator: 'Exists' }] }],
    ['is static', { static: true }],
    ['has succeeded', { phase: 'Succeeded' }],
    ['has failed', { phase: 'Failed' }],
  ])('ignores a pod that %s', (_, traits) => {
    expect(drainOf([pod('ignored', traits)], nowMs, undefined)).toEqual({ waiting: 0, evict: [], remove: [] });
  });

  test('evicts pods that only tolerate unschedulable nodes', () => {
    const tolerations = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' }];
    expect(evicted(pod('a', { tolerations }))).toEqual(['a']);
  });
});

describe('a drain with a deadline', () => {
  test('deletes a pod when its grace period would run past the deadline, with what is left of it', () => {
    expect(removed(31, pod('a', { grace: 30 }))).toEqual([]);
    expect(removed(30, pod('a', { grace: 30 }))).toEqual([]);
    expect(removed(29, pod('a', { grace: 30 }))).toEqual([['a', 29]]);
  });

  test('takes thirty seconds for pods that do not say', () => {
    expect(removed(30, pod('a'))).toEqual([]);
    expect(removed(20, pod('a'))).toEqual([['a', 20]]);
  });

  test('deletes early a pod that wants more than there is, and others only when their time comes', () => {
    expect(removed(100, pod('long', { grace: 300 }), pod('short', { grace: 10 }))).toEqual([['long', 100]]);
  });

  test('leaves a second when the deadline has passed', () => {
    expect(removed(-10, pod('a'))).toEqual([['a', 1]]);
  });

  test('deletes protected pods and pods of every group at once', () => {
    const pods = [
      pod('a', { protectedFor: 'true' }),
      pod('b', { daemon: true }),
      pod('c', { critical: 'system-node-critical' }),
    ];
    expect(removed(10, ...pods)).toEqual([
      ['a', 10],
      ['b', 10],
      ['c', 10],
    ]);
  });

  test('shortens the time of a terminating pod that would end after the deadline', () => {
    const going = pod('going', { grace: 600, deleting: 500, deletingGrace: 600 });
    expect(removed(100, going)).toEqual([['going', 100]]);
  });

  test('leaves a terminating pod alone that ends in time, or has no more than the rest already', () => {
    expect(removed(100, pod('in-time', { grace: 600, deleting: 100, deletingGrace: 600 }))).toEqual([]);
    expect(removed(-5, pod('last-second', { deleting: 1, deletingGrace: 1 }))).toEqual([]);
  });

  test('evicts the others meanwhile, but not the pods it deletes', () => {
    const { evict, remove } = drainOf(
      [pod('long', { grace: 300 }), pod('short', { grace: 10 })],
      nowMs,
      nowMs + seconds(100),
    );
    expect(names(evict)).toEqual(['short']);
    expect(remove).toHaveLength(1);
  });
});

test('whatever the pods are, only waiting pods of one group are evicted, and none is evicted and deleted', () => {
  const anyPod = fc.record(
    {
      daemon: fc.boolean(),
      critical: fc.constantFrom('system-cluster-critical', 'system-node-critical', 'other'),
      grace: fc.integer({ min: 0, max: 600 }),
      deleting: fc.integer({ min: -120, max: 120 }),
      protectedFor: fc.constantFrom('true', '30s', '10m', 'nonsense'),
      phase: fc.constantFrom('Running', 'Pending', 'Failed'),
    },
    { requiredKeys: [] },
  );
  const anyDeadline = fc.option(fc.integer({ min: -100, max: 700 }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(anyPod, { maxLength: 12 }), anyDeadline, (traits, deadline) => {
      const pods = traits.map((each, index) => pod(`pod-${index}`, each as Traits));
      const deadlineMs = deadline === undefined ? undefined : nowMs + seconds(deadline);
      const { waiting, evict, remove } = drainOf(pods, nowMs, deadlineMs);
      const deleted = new Set(remove.map((each) => each.pod));
      expect(evict.length).toBeLessThanOrEqual(waiting);
      expect(evict.some((each) => deleted.has(each))).toBe(false);
      expect(
        remove.every(
          ({ graceSeconds, wantedSeconds }) => graceSeconds >= 1 && graceSeconds <= Math.max(1, wantedSeconds),
        ),
      ).toBe(true);
      const groups = new Set(
        evict.map(({ spec, metadata }) =>
          [spec?.priorityClassName?.startsWith('system-') ?? false, metadata.ownerReferences !== undefined].join(),
        ),
      );
      expect(groups.size).toBeLessThanOrEqual(1);
    }),
    { seed: 7 },
  );
});
