import { afterEach, expect, test } from 'vitest';
import { disorder } from '../harness/order.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';

let scenario: Scenario;
afterEach(() => scenario.close());

test('a Deployment of fifty pods gets nodes, every pod runs, and claims and nodes match', async () => {
  scenario = await openScenario();
  await scenario.pool();
  await scenario.deployment('web', 50);
  await scenario.until('fifty pods are ready', async () => (await scenario.readyPods('web')).length === 50, 120_000);
  await scenario.run(10_000);
  expect(await disorder(scenario, 50)).toEqual([]);
  expect(scenario.log.lines.filter(({ error }) => error !== undefined)).toEqual([]);
});
