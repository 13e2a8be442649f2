import { expect, test } from 'vitest';
import { minuteMs, playStockOut, smallTypes } from './stock-out.ts';

test('in a stock-out no offering is asked for more than once a minute, few claims are made, and pods run soon after it', async () => {
  const costs = await playStockOut({ pods: 40, lastsMs: 12 * minuteMs, cpu: '5', catalogue: smallTypes() });
  const { worstMinuteAfterFive, worstMinuteLater, needless, nodes, placedMs, left, podEvents } = costs;
  expect({ worstMinuteAfterFive, worstMinuteLater, nodes, left }).toEqual({
    worstMinuteAfterFive: 1,
    worstMinuteLater: 1,
    nodes: 40,
    left: { nodes: 40, claims: 40 },
  });
  expect(needless).toBeLessThan(40);
  expect(placedMs).toBeLessThanOrEqual(minuteMs);
  expect(podEvents.some((text) => text.includes('the next choice is planned without what failed'))).toBe(true);
  expect(podEvents.some((text) => text.includes('tried again every 15 s while pods wait for it'))).toBe(true);
});
