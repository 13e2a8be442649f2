// Both at once: by mistake, when the lease keeps one silent; and as a shadow, which writes nothing but its own lease.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runKerf } from '../cli/run-kerf.ts';
import { freePort } from '../setup/free-port.ts';
import { useTakeoverWorld } from './world.ts';

const world = useTakeoverWorld();

test('started by mistake while Karpenter runs, it stays silent and names the holder; it goes on when that one stops', async () => {
  const karpenter = await world.startPeer('1.14.1');
  const kerf = await world.startKerf();
  await sleep(5_000);
  const waiting = kerf.logs().find(({ message }) => message === 'waiting for the lease');
  expect(waiting?.['kind']).toContain('Karpenter');
  const writes: string[] = [];
  world.proxy().onWrite = ({ method, path }) => {
    writes.push(`${method} ${path.split('?')[0]}`);
    return true;
  };
  const room = await world.room('mistake');
  await room.pool();
  await room.deployment('web', { replicas: 2, cpu: '500m' });
  await room.runs('web', 2);
  expect(writes).toEqual([]);
  await karpenter.stop();
  await kerf.leading();
  await room.deployment('more', { replicas: 2, cpu: '2' });
  await room.runs('more', 2);
  await kerf.terminate();
});

test('a shadow says what it would do, and writes nothing but its lease', async () => {
  const karpenter = await world.startPeer('1.14.1');
  const writes: string[] = [];
  world.proxy().onWrite = ({ method, path }) => {
    writes.push(`${method} ${path.split('?')[0]}`);
    return true;
  };
  const dashboard = await freePort();
  const shadow = await world.startKerf({ shadow: true, 'dashboard-port': String(dashboard) });
  await shadow.leading();
  const room = await world.room('shadowed');
  await room.pool({ spec: { disruption: { consolidateAfter: '0s' } } });
  await room.deployment('web', { replicas: 4, cpu: '1' });
  await room.runs('web', 4);
  await room.scale('web', 1);
  const read = async () =>
    (await shadow.page('/shadow')).json() as Promise<Record<string, unknown> & { totals: Record<string, number> }>;
  await room.until('the shadow saw what was launched', async () => {
    const { totals } = await read();
    expect(totals['launched']).toBeGreaterThan(0);
    expect(totals['wouldLaunch']).toBeGreaterThan(0);
  });
  const { samples } = await shadow.metrics();
  expect(samples.find(({ name }) => name === 'kerf_shadow_launches')?.value).toBeGreaterThan(0);
  const leases = writes.filter((each) => /\/leases(\/kerf-shadow)?$/.test(each));
  expect(leases.length).toBeGreaterThan(0);
  expect(writes.filter((each) => !leases.includes(each))).toEqual([]);
  const address = `http://127.0.0.1:${shadow.metricsPort}/shadow`;
  const { out, code } = await runKerf(['shadow', 'report', '--from', address]);
  expect(code).toBe(0);
  expect(out).toContain('# What Kerf would have done');
  expect(out).toContain('Nothing was changed.');
  const flags = ['--kubeconfig', world.cluster().kubeconfig, '--context', '--shadow', address];
  const pool = await runKerf(['explain', 'nodepool', 'shadowed', ...flags]);
  expect(pool.out).toMatch(/Kerf as a shadow since [\s\S]*would have launched/);
  const { mode } = (await (await fetch(`http://127.0.0.1:${dashboard}/kerf/v1/info`)).json()) as { mode: string };
  expect(mode).toBe('shadow');
  expect((await fetch(`http://127.0.0.1:${dashboard}/kerf/v1/shadow`)).status).toBe(200);
  await shadow.terminate();
  await karpenter.stop();
});
