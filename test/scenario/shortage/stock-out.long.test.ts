import { expect, test } from 'vitest';
import { genericCatalogue } from '../../../src/sim/index.ts';
import { minuteMs, playStockOut, smallTypes } from './stock-out.ts';

test.each([
  { what: 'that share nodes', cpu: '1', catalogue: () => genericCatalogue() },
  { what: 'that need a node each', cpu: '5', catalogue: smallTypes },
])(
  'a stock-out of 90 minutes with 500 pods $what costs one call per offering and minute and fewer than 50 claims, and they run a minute after it',
  { timeout: 900_000 },
  async ({ cpu, catalogue }) => {
    const costs = await playStockOut({ pods: 500, lastsMs: 90 * minuteMs, cpu, catalogue: catalogue() });
    console.info(JSON.stringify({ ...costs, podEvents: costs.podEvents.length }));
    expect(costs.worstMinuteAfterFive).toBeLessThanOrEqual(1);
    expect(costs.worstMinuteLater).toBe(1);
    expect(costs.needless).toBeLessThan(50);
    expect(costs.placedMs).toBeLessThanOrEqual(minuteMs);
    expect(costs.left).toEqual({ nodes: costs.nodes, claims: costs.nodes });
  },
);
