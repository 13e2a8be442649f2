import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Condition, type NodeClaim, type NodePool } from '../../api/index.ts';
import { conditionOf } from '../../base/index.ts';
import { kwokNodeClasses } from '../../sim/index.ts';
import { type HealthReporter, healthReporter } from '../nodeclaim/health-reporter.ts';
import { RegistrationHealth } from '../nodeclaim/registration-health.ts';
import { nodePools } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { registrationHealthController } from './registration-health.ts';

let bench: Bench;
let health: RegistrationHealth;
let reporter: HealthReporter;
beforeEach(async () => {
  health = new RegistrationHealth();
  bench = await openBench({ controllers: (context) => [registrationHealthController(context, health)] });
  reporter = healthReporter(bench.context, health);
});
afterEach(() => bench.close());

const pool = async (): Promise<NodePool> => (await bench.get(nodePools, 'default')) as NodePool;
const verdict = async (): Promise<Condition | undefined> =>
  conditionOf((await pool()).status?.conditions, 'NodeRegistrationHealthy');
const uid = async (): Promise<string> => (await pool()).metadata.uid ?? '';

async function settled(): Promise<void> {
  await bench.nodeClass();
  await bench.pool();
  await bench.run(1_000);
}

async function claim(launched: Partial<Condition> = { status: 'True' }): Promise<NodeClaim> {
  const ownerReferences = [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', name: 'default', uid: await uid() }];
  return {
    metadata: { name: 'default-1', ownerReferences },
    status: { conditions: [{ type: 'Launched', ...launched }] },
  } as unknown as NodeClaim;
}

describe('NodeRegistrationHealthy', () => {
  test('is Unknown for a new NodePool, which remembers the generation of its node class', async () => {
    await settled();
    expect(await verdict()).toMatchObject({ status: 'Unknown', reason: 'AwaitingReconciliation' });
    expect((await pool()).status?.nodeClassObservedGeneration).toBe(1);
  });

  test('is left alone while the node class is missing', async () => {
    await bench.pool();
    await bench.run(1_000);
    expect(await verdict()).toBeUndefined();
  });

  test('becomes True with the first registration', async () => {
    await settled();
    await reporter.succeeded(await claim());
    expect(await verdict()).toMatchObject({ status: 'True', reason: 'NodeRegistrationHealthy' });
  });

  test('becomes False with the second failed registration', async () => {
    await settled();
    await reporter.failed(await claim());
    expect(await verdict()).toMatchObject({ status: 'Unknown' });
    await reporter.failed(await claim());
    expect(await verdict()).toMatchObject({
      status: 'False',
      reason: 'RegistrationFailed',
      message: 'Failed to register node',
    });
  });

  test('becomes False with the words of a launch that failed', async () => {
    await settled();
    const failed = await claim({ status: 'Unknown', reason: 'QuotaExceeded', message: 'no quota' });
    await reporter.failed(failed);
    await reporter.failed(failed);
    expect(await verdict()).toMatchObject({ status: 'False', reason: 'QuotaExceeded', message: 'no quota' });
  });

  test('does not turn True by one success after two failures', async () => {
    await settled();
    await reporter.failed(await claim());
    await reporter.failed(await claim());
    await reporter.succeeded(await claim());
    expect(await verdict()).toMatchObject({ status: 'False' });
  });

  test('does not listen to claims of a NodePool that was deleted and made again', async () => {
    await settled();
    const old = await claim();
    await bench.remove(nodePools, 'default');
    await bench.pool();
    await bench.run(1_000);
    await reporter.failed(old);
    await reporter.failed(old);
    expect(await verdict()).toMatchObject({ status: 'Unknown' });
    expect(health.of(await uid())).toBe('unknown');
  });

  test('does not make the NodePool unready', async () => {
    await settled();
    await reporter.failed(await claim());
    await reporter.failed(await claim());
    expect(conditionOf((await pool()).status?.conditions, 'Ready')?.status).toBe('Unknown');
  });

  test.each([
    ['NodePool', () => bench.pool('default', { spec: { limits: { cpu: '10' } } })],
    ['node class', () => bench.nodeClass('default', { spec: { nodeRegistrationDelay: '5s' } })],
  ])('is forgotten, with all outcomes, when the %s changes', async (_, change) => {
    await settled();
    await reporter.failed(await claim());
    await reporter.failed(await claim());
    await change();
    await bench.run(1_000);
    expect(await verdict()).toMatchObject({ status: 'Unknown' });
    expect(health.of(await uid())).toBe('unknown');
    expect((await pool()).status?.nodeClassObservedGeneration).toBe(
      (await bench.get(kwokNodeClasses, 'default'))?.metadata.generation,
    );
  });
});

test('after a restart the outcomes start from the condition', async () => {
  await settled();
  await reporter.failed(await claim());
  await reporter.failed(await claim());
  health.clear(await uid());
  await bench.pool('default', { metadata: { labels: { touched: 'yes' } } });
  await bench.run(1_000);
  expect(health.of(await uid())).toBe('unhealthy');
});
