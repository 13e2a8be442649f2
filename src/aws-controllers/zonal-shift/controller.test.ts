import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { NodePool } from '../../api/index.ts';
import { FollowedZonalShifts } from '../../aws/index.ts';
import { type AwsBench, openAwsBench } from '../aws-bench.testing.ts';
import { zonalShiftController } from './controller.ts';

let bench: AwsBench;
let shifted: string[];
let shifts: FollowedZonalShifts;
let failure: Error | undefined;
beforeEach(async () => {
  shifted = [];
  failure = undefined;
  bench = await openAwsBench({
    controllers: (context) => {
      shifts = new FollowedZonalShifts(context.clock, async () => {
        if (failure !== undefined) throw failure;
        return shifted.map((zoneId) => ({ zoneId, expiresAtMs: context.clock.now() + 3_600_000 }));
      });
      const zonesOf = () =>
        ['a', 'b'].map((each, index) => ({ zone: `us-east-1${each}`, zoneId: `use1-az${index + 1}` }));
      return [zonalShiftController(context, { shifts, zonesOf })];
    },
  });
});
afterEach(() => bench.close());

const pool = (name: string, requirements: NodePool['spec']['template']['spec']['requirements'] = []) =>
  bench.pool(name, { spec: { template: { spec: { requirements } } } });
const reported = (): string[] =>
  bench.events.map(({ type, reason, subject, message }) => `${type} ${reason} ${subject.name}: ${message}`);

describe('events of a zonal shift', () => {
  test('one Warning per pool that can use the zone when a shift starts, one Normal when it is over', async () => {
    await pool('any');
    await pool('other');
    shifted = ['use1-az1'];
    await bench.run(31_000);
    const active = 'Zonal shift detected: offerings in zone us-east-1a (use1-az1) are unavailable for this NodePool';
    expect(reported()).toEqual([
      `Warning ZonalShiftActive any: ${active}`,
      `Warning ZonalShiftActive other: ${active}`,
    ]);
    await bench.run(120_000);
    expect(reported()).toHaveLength(2);
    shifted = [];
    await bench.run(31_000);
    expect(bench.events.slice(2).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Normal ZonalShiftCleared',
      'Normal ZonalShiftCleared',
    ]);
    await bench.run(120_000);
    expect(reported()).toHaveLength(4);
  });

  test('none for pools that exclude the zone by name or id', async () => {
    await pool('b-only', [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-east-1b'] }]);
    await pool('not-az1', [{ key: 'topology.k8s.aws/zone-id', operator: 'NotIn', values: ['use1-az1'] }]);
    shifted = ['use1-az1'];
    await bench.run(31_000);
    expect(reported()).toEqual([]);
  });

  test('none for zones that the class does not resolve', async () => {
    await pool('any');
    shifted = ['use1-az9'];
    await bench.run(31_000);
    expect(reported()).toEqual([]);
    expect(shifts.isShifted('use1-az9')).toBe(true);
  });
});

test('a shift ends at its expiry even when ARC does not answer any more', async () => {
  shifted = ['use1-az1'];
  await bench.run(31_000);
  failure = new Error('ARC is away');
  expect(shifts.isShifted('use1-az1')).toBe(true);
  await bench.run(3_700_000);
  expect(shifts.isShifted('use1-az1')).toBe(false);
});
