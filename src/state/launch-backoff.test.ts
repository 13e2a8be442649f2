import { beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import { LaunchBackoff } from './launch-backoff.ts';

let clock: VirtualClock;
let backoff: LaunchBackoff;
beforeEach(() => {
  clock = new VirtualClock({ settle: async () => {} });
  backoff = new LaunchBackoff(clock);
});

/** A claim is made, and fails a second later. */
const fail = async (kind = 'LaunchFailed', pool = 'pool') => {
  await clock.runFor(1);
  const claimMs = clock.now();
  await clock.runFor(1_000);
  return backoff.failed(pool, { kind, message: 'no', claimMs });
};
const pauseSeconds = async (): Promise<number> => {
  const pause = await fail();
  const lengthMs = (pause?.untilMs ?? clock.now()) - clock.now();
  await clock.runFor(lengthMs + 1_000);
  return lengthMs / 1000;
};

describe('a pool', () => {
  test('is paused after two failures of one kind, with growing pauses up to a quarter of an hour', async () => {
    const pauses: number[] = [];
    for (let round = 0; round < 10; round += 1) pauses.push(await pauseSeconds());
    expect(pauses).toEqual([0, 15, 30, 60, 120, 240, 480, 900, 900, 900]);
  });

  test('is tried again when its pause is over', async () => {
    await fail();
    await fail();
    expect(backoff.pauseOf('pool')).toMatchObject({ kind: 'LaunchFailed', message: 'no', failures: 2 });
    await clock.runFor(15_000);
    expect(backoff.pauseOf('pool')).toBeUndefined();
  });

  test('counts claims that fail together once', async () => {
    const claimMs = clock.now();
    await clock.runFor(1_000);
    for (let claim = 0; claim < 50; claim += 1) {
      backoff.failed('pool', { kind: 'LaunchFailed', message: 'no', claimMs });
      await clock.runFor(10);
    }
    expect(backoff.pauseOf('pool')).toBeUndefined();
    await fail();
    expect(backoff.pauseOf('pool')?.failures).toBe(2);
  });

  test('counts anew after a failure of another kind and after a success', async () => {
    await fail('LaunchFailed');
    await fail('RegistrationFailed');
    expect(backoff.pauseOf('pool')).toBeUndefined();
    backoff.clear('pool');
    await fail('RegistrationFailed');
    expect(backoff.pauseOf('pool')).toBeUndefined();
  });

  test('does not hold back other pools', async () => {
    await fail();
    await fail();
    expect(backoff.pauseOf('other')).toBeUndefined();
  });
});
