// Planning while a claim is launched that was made for pods which do not need it any more.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { resources } from '../../ports/index.ts';
import { nodeClaims } from '../own-resources.ts';
import { type Bench, openBench } from '../testing/bench.testing.ts';
import { Provisioner } from './provisioner.ts';

const capacity = { cpu: '2', memory: '4Gi', pods: '10' };
let bench: Bench;
let provisioner: Provisioner;
let stop: AbortController;
beforeEach(async () => {
  stop = new AbortController();
  bench = await openBench({
    controllers: (context) => {
      provisioner = new Provisioner(context);
      return [];
    },
  });
  const requirements = [
    { key: 'node.kubernetes.io/instance-type', operator: 'In' as const, values: ['c-2x-amd64-linux'] },
  ];
  const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: '', lastTransitionTime: bench.nowPlus(0) };
  await bench.pool('default', {
    spec: { template: { spec: { requirements } } },
    status: { conditions: [ready] },
  } as never);
  for (const name of ['early', 'late']) await pod(name);
});
afterEach(async () => {
  stop.abort();
  await bench.close();
});

/** One that fills a node; without the name of one it waits. */
async function pod(name: string, spec: { nodeName?: string } = {}): Promise<void> {
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '1500m' } } }];
  await bench.apply(resources.pods, {
    metadata: { name, namespace: 'default' },
    spec: { ...spec, containers },
    ...(spec.nodeName === undefined
      ? { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] } }
      : {}),
  });
  await bench.run(10);
}

/** The claim that a pod was last nominated to. */
const claimFor = (name: string): string => {
  const reported = bench.events.filter(({ reason, subject }) => reason === 'Nominated' && subject.name === name);
  return /nodeclaim\/([^,]+)/.exec(reported.at(-1)?.message ?? '')?.[1] ?? '';
};

const claimNames = async (): Promise<(string | undefined)[]> =>
  (await bench.list(nodeClaims)).map(({ metadata }) => metadata.name);

/** Two claims are made for two pods; the node that is there first is given to the pod of the other. */
async function exchangePods(): Promise<{ launched: string; launching: string }> {
  await provisioner.pass();
  const [launched, launching] = [claimFor('early'), claimFor('late')];
  await bench.machine('default', launched, { capacity });
  await bench.remove(resources.pods, 'late', 'default');
  await pod('late', { nodeName: launched });
  void provisioner.run(stop.signal);
  provisioner.batcher.trigger('early');
  return { launched, launching };
}

describe('a claim that is still launched while its pod found a place elsewhere', () => {
  test('has room for another pod: planning waits for it', async () => {
    const { launched, launching } = await exchangePods();
    await bench.run(5_000);
    await bench.machine('default', launching, { capacity });
    await bench.run(20_000);
    expect((await claimNames()).sort()).toEqual([launched, launching].sort());
    expect(claimFor('early')).toBe(launching);
  });

  test('is waited for as long as other launches come to their end', async () => {
    await pod('third');
    const { launching } = await exchangePods();
    const others = (await claimNames()).filter((name) => name === claimFor('third'));
    expect(others).toHaveLength(1);
    await bench.run(8_000);
    for (const name of others) await bench.machine('default', name ?? '', { capacity });
    await bench.run(8_000);
    await bench.machine('default', launching, { capacity });
    await bench.run(20_000);
    expect(await claimNames()).toHaveLength(3);
  });

  test('is not waited for longer than ten seconds', async () => {
    await exchangePods();
    await bench.run(9_000);
    expect(await claimNames()).toHaveLength(2);
    await bench.run(5_000);
    expect(await claimNames()).toHaveLength(3);
  });
});

test('a claim that is still launched while its pod is replaced by another has room for that one', async () => {
  await provisioner.pass();
  const claims = await claimNames();
  await bench.remove(resources.pods, 'late', 'default');
  await pod('later');
  void provisioner.run(stop.signal);
  provisioner.batcher.trigger('later');
  await bench.run(5_000);
  for (const name of claims) await bench.machine('default', name ?? '', { capacity });
  await bench.run(20_000);
  expect(await claimNames()).toEqual(claims);
});
