// What a controller knows about pools and offerings beyond the objects, and what that does to a plan.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { label } from '../api/names.ts';
import {
  expectScheduled,
  expectUnscheduled,
  instanceType,
  newNodeOf,
  node,
  nodePool,
  offering,
  plan,
  pod,
  pods,
  reasonsOf,
  spread,
} from './testing/builders.testing.ts';

const time = '2026-01-01T00:00:00Z';
const soon = '2026-01-01T00:05:00Z';
const paused = (nodePool: string, pausedUntil = soon) => ({
  nodePool,
  pausedUntil,
  pausedBecause: { code: 'LaunchFailed', message: 'no subnet has room' },
});

test('a paused pool gets no node, and its pods say until when and why', () => {
  const waiting = pod();
  const planned = plan([nodePool(), waiting], { time, poolState: [paused('default')] });
  expect(reasonsOf(planned, waiting)).toMatchObject([
    {
      code: 'NodePoolPaused',
      nodePool: 'default',
      message: `launches are paused until ${soon}: LaunchFailed, no subnet has room (NodePool=default)`,
    },
  ]);
});

test('a pause that is over is none', () => {
  const waiting = pod();
  expectScheduled(plan([nodePool(), waiting], { time, poolState: [paused('default', time)] }), waiting);
});

test('another pool takes the pods of a paused one, and nodes that exist stay open', () => {
  const waiting = pod();
  const other = plan([nodePool(), nodePool({ name: 'other' }), waiting], { time, poolState: [paused('other')] });
  expect(newNodeOf(other, waiting).nodePool).toBe('default');
  const existing = plan([nodePool(), node({ name: 'n' }), waiting], { time, poolState: [paused('default')] });
  expect(existing.existingNodes).toHaveLength(1);
});

test('what else is in the way of a paused pool is said too', () => {
  const tainted = nodePool({ taints: [{ key: 'a', effect: 'NoSchedule' }] });
  const waiting = pod();
  const planned = plan([tainted, waiting], { time, poolState: [paused('default')] });
  expect(reasonsOf(planned, waiting).map(({ code }) => code)).toEqual(['NodePoolPaused', 'TaintNotTolerated']);
});

test('limits in use count instead of what machines add up to, resource by resource', () => {
  const types = [instanceType({ cpu: '4' })];
  const limited = nodePool({ limits: { cpu: '8', nodes: '1k' } });
  const waiting = pod({ cpu: '1' });
  const using = (inUse: Record<string, string | number>) =>
    plan([limited, waiting], { types, poolState: [{ nodePool: 'default', inUse }] });
  expectScheduled(using({ cpu: '4', nodes: 999 }), waiting);
  expectUnscheduled(using({ cpu: '4500m' }), waiting);
  expect(reasonsOf(using({ nodes: '1k' }), waiting)[0]).toMatchObject({
    code: 'LimitsExceeded',
    suggestion: 'raise limits.nodes of NodePool default',
  });
});

test('a plan never has more nodes than limits.nodes leaves', () => {
  const limited = nodePool({ limits: { nodes: '2' } });
  const planned = plan([limited, ...pods(5)], { types: [instanceType({ pods: '1' })] });
  expect(planned.newNodes).toHaveLength(2);
  expect(planned.unschedulable.map(({ reasons }) => reasons[0]?.code)).toEqual(Array(3).fill('LimitsExceeded'));
});

const sizes = [2, 4, 16, 64, 192].map((cpu) => instanceType({ name: `c${cpu}`, cpu: String(cpu), price: cpu }));
const apart = { labels: { app: 'web' }, spec: spread(label.hostname, { app: 'web' }) };

test('nodes do without their largest types where the limit would leave pods without a place', () => {
  const planned = plan([nodePool({ limits: { cpu: '400' } }), ...pods(9, { cpu: '1', ...apart })], { types: sizes });
  expect(planned.unschedulable).toEqual([]);
  expect(planned.newNodes).toHaveLength(9);
});

test('nodes keep all their types where giving some up would not help', () => {
  const limited = nodePool({ limits: { cpu: '200' } });
  const giant = pod({ cpu: '190' });
  const small = pod({ cpu: '60' });
  const planned = plan([limited, small, giant], { types: sizes });
  expect(planned.unschedulable).toHaveLength(1);
  const [made] = planned.newNodes;
  expect(made?.instanceTypes).toContain('c192');
});

test('whatever types nodes become, limits hold; and no pod is left that a further plan would place', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      (limit, cpus, isApart) => {
        const waiting = cpus.map((cpu) => pod({ cpu: String(cpu), ...(isApart ? apart : {}) }));
        const planned = plan([nodePool({ limits: { cpu: String(limit) } }), ...waiting], { types: sizes });
        const most = planned.newNodes.map(({ instanceTypes }) =>
          Math.max(...instanceTypes.map((name) => Number(name.slice(1)))),
        );
        expect(most.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(limit);
      },
    ),
    { numRuns: 60 },
  );
});

const failedOffering = (instanceType: string, zone: string, until = soon) => ({
  instanceType,
  zone,
  capacityType: 'on-demand',
  until,
  reason: 'insufficient capacity',
});
const inZones = (name: string) =>
  instanceType({ name, offerings: ['zone-1', 'zone-2'].map((zone) => offering(zone, 'on-demand', 1)) });

test('what failed lately is not chosen, until its time is over', () => {
  const waiting = pod();
  const chosen = (until: string) =>
    newNodeOf(
      plan([nodePool(), waiting], {
        time,
        types: [inZones('m')],
        failedOfferings: [failedOffering('m', 'zone-1', until)],
      }),
      waiting,
    ).chosen.zone;
  expect(chosen(soon)).toBe('zone-2');
  expect(chosen(time)).toBe('zone-1');
});

test('a pod that only waits for failed offerings names them', () => {
  const inZone = pod({ spec: { nodeSelector: { [label.zone]: 'zone-1' } } });
  const anywhere = pod();
  const options = { time, types: [inZones('m'), inZones('n')] };
  const one = [failedOffering('m', 'zone-1'), failedOffering('n', 'zone-1')];
  const [reason] = reasonsOf(plan([nodePool(), inZone], { ...options, failedOfferings: one }), inZone);
  expect(reason).toMatchObject({ code: 'NoOffering', nodePool: 'default' });
  expect(reason?.message).toContain(`: m, n in zone-1 (on-demand) until ${soon}: insufficient capacity`);
  const all = [...one, failedOffering('m', 'zone-2'), failedOffering('n', 'zone-2')];
  const [whole] = reasonsOf(plan([nodePool(), anywhere], { ...options, failedOfferings: all }), anywhere);
  expect(whole?.code).toBe('NoOffering');
  expect(whole?.message).toContain(`; m, n in zone-2 (on-demand) until ${soon}`);
});
