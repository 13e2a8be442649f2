// Disruption is as quick as its waits allow: the quiet time of the pool, a look every ten seconds, fifteen to be sure.
import { afterEach, expect, test } from 'vitest';
import { annotation } from '../../../src/api/index.ts';
import { resources } from '../../../src/ports/index.ts';
import { openScenario, type Scenario } from '../harness/scenario.ts';
import { smallCatalogue } from './model/world.ts';

const namespace = 'default';
const quietMs = 30_000;
const lookMs = 10_000;
const sureMs = 15_000;
/** Conditions, marks and the tick of the scenario take a moment each. */
const momentMs = 3_000;

let scenario: Scenario;
afterEach(() => scenario.close());

/** One node with two pods, of which `leaving` may go. */
async function begin(leaving: string, staying: string): Promise<void> {
  scenario = await openScenario({ bootTime: '5s', catalogue: smallCatalogue });
  const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] }];
  const disruption = { consolidateAfter: `${quietMs / 1000}s`, budgets: [{ nodes: '100%' }] };
  await scenario.pool('default', { disruption }, { requirements });
  await scenario.deployment('leaving', 1, { terminationGracePeriodSeconds: 0 }, { cpu: leaving });
  await scenario.deployment('staying', 1, {}, { cpu: staying });
  await scenario.until('both run', async () => (await scenario.readyPods()).length === 2);
  await scenario.run(90_000);
}

const hasCommand = async (): Promise<boolean> =>
  scenario.log.lines.some(({ message }) => message === 'disrupting node(s)');

const commandWithin = async (ms: number): Promise<void> => {
  const startedMs = scenario.clock.now();
  await scenario.until('a command', hasCommand, 2 * ms);
  expect(scenario.clock.now() - startedMs).toBeLessThanOrEqual(ms + momentMs);
};

test('a node that became too large is replaced one look after its quiet time', async () => {
  await begin('6', '100m');
  await scenario.scale('leaving', 0);
  await commandWithin(quietMs + lookMs + sureMs);
});

test('a node that became empty goes one look after its quiet time', async () => {
  await begin('500m', '100m');
  await scenario.scale('leaving', 0);
  await scenario.scale('staying', 0);
  await scenario.until('no pod is left', async () => (await scenario.list(resources.pods)).length === 0);
  await commandWithin(quietMs + lookMs + sureMs);
});

test('a node goes one look after the last pod that kept it lets it go', async () => {
  await begin('6', '100m');
  const [pod] = await scenario.readyPods('staying');
  const annotate = (value: string | null) =>
    scenario.kube.patch(
      resources.pods,
      { name: pod?.metadata.name ?? '', namespace },
      { type: 'merge', body: { metadata: { annotations: { [annotation.doNotDisrupt]: value } } } },
    );
  await annotate('true');
  await scenario.scale('leaving', 0);
  await scenario.run(quietMs + 60_000);
  expect(await hasCommand()).toBe(false);
  await annotate(null);
  await commandWithin(lookMs + sureMs);
});
