import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { conditionOf } from '../../base/index.ts';
import { expirationController } from '../nodeclaim/expiration.ts';
import { garbageCollectionController } from '../nodeclaim/garbage-collection.ts';
import { nodePools } from '../own-resources.ts';
import { type LifecycleBench, openLifecycle } from '../testing/lifecycle.testing.ts';
import { clockController } from './controller.ts';

const days = 86_400_000;
let bench: LifecycleBench;
beforeEach(async () => {
  bench = await openLifecycle({
    controllers: (context, metrics) => [
      clockController(context),
      expirationController(context, metrics),
      garbageCollectionController(context, metrics),
    ],
  });
  bench.time.heard(bench.clock.now());
});
afterEach(() => bench.close());

const trusted = async () => conditionOf((await bench.get(nodePools, 'default'))?.status?.conditions, 'ClockTrusted');
const skews = () => bench.events.filter(({ reason }) => reason === 'ClockSkew');
const machine = () => bench.machine('default', 'a', { claim: { spec: { expireAfter: '720h' } } });

describe('while the clock is forty days ahead of the API server', () => {
  test('nothing expires, and pools say why until it is right again', async () => {
    bench.cloud.launch('kwok://a');
    await bench.pool();
    await machine();
    await bench.run(1_000);
    bench.clock.step(40 * days);
    await bench.apply(nodePools, { metadata: { name: 'default', labels: { touched: 'yes' } } });
    await bench.run(60_000);
    expect(await bench.isGone()).toBe(false);
    expect(await trusted()).toMatchObject({
      status: 'False',
      reason: 'ClockSkew',
      message: expect.stringContaining('3456000 s ahead'),
    });
    expect(skews()[0]).toMatchObject({ type: 'Warning', subject: { kind: 'NodePool', name: 'default' } });
    expect(bench.metrics.value('kerf_clock_ahead_seconds', {})).toBe(40 * 86_400);
    bench.clock.step(-40 * days);
    await bench.run(60_000);
    expect([await bench.isGone(), await trusted()]).toEqual([false, undefined]);
    expect(bench.metrics.value('kerf_clock_ahead_seconds', {})).toBe(0);
  });

  test('no claim is collected', async () => {
    await bench.machine('default', 'a', { node: false });
    bench.clock.step(40 * days);
    await bench.run(600_000);
    expect(await bench.isGone()).toBe(false);
    bench.clock.step(-40 * days);
    await bench.run(150_000);
    expect(await bench.isGone()).toBe(true);
  });
});

test('what is really old expires', async () => {
  bench.cloud.launch('kwok://a');
  await bench.machine('default', 'a', { claim: { spec: { expireAfter: '10m' } } });
  await bench.run(11 * 60_000);
  expect(await bench.isGone()).toBe(true);
});
