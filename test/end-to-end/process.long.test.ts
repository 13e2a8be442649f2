// The controller as a process among others: settings, probes, leadership, restarts in the middle of things, and an API
// server that goes away. One scenario after the other, since each starts and ends processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { runKerf } from '../cli/run-kerf.ts';
import { all, conditionOf } from './harness/api.ts';
import type { ControllerProcess } from './harness/controller-process.ts';
import { inValues, nodeClassRef, ofType } from './harness/manifests.ts';
import type { Room } from './harness/room.ts';
import { useWorld } from './harness/world.ts';

const world = useWorld({ idle: true });
const started: ControllerProcess[] = [];
const start = async (options?: Parameters<typeof world.start>[0]): Promise<ControllerProcess> => {
  const process = await world.start(options);
  started.push(process);
  return process;
};
afterEach(async () => {
  const running = started.splice(0).filter(({ exit }) => exit === undefined);
  await Promise.all(running.map((process) => process.terminate()));
});

const lease = async () => (await world.api.get(all.leases, 'karpenter-leader-election', 'kube-system')).spec;
const slowClass = {
  apiVersion: 'karpenter.kwok.sh/v1alpha1',
  kind: 'KWOKNodeClass',
  metadata: { name: 'slow' },
  spec: { nodeRegistrationDelay: '10s' },
};
const slowRef = { ...nodeClassRef, name: 'slow' };
const launched = (room: Room) =>
  room.until('a claim is launched', async () => {
    const [claim] = await room.claims();
    expect(conditionOf(claim, 'Launched')?.status).toBe('True');
    return claim;
  });

describe('settings', () => {
  const flags = async () => ['controller', '--provider', 'kwok', '--kubeconfig', world.cluster().kubeconfig];

  test('that are malformed end it at once, with all of them named', async () => {
    const run = await runKerf([...(await flags()), '--metrics-port', 'x', '--batch-max-duration', 'soon'], {
      env: { LOG_LEVEL: 'loud', FEATURE_GATES: 'NodeRepair', PREFERENCE_POLICY: 'Maybe' },
    });
    expect(run.code).not.toBe(0);
    expect(run.err).toContain('5 settings are malformed');
    for (const part of [
      '--metrics-port',
      '--batch-max-duration',
      'LOG_LEVEL "loud"',
      'NodeRepair',
      'PREFERENCE_POLICY',
    ])
      expect(run.err).toContain(part);
  });

  test('come from the environment, where a malformed number keeps its default and is reported', async () => {
    const process = await start({
      env: { LOG_LEVEL: 'debug', BATCH_IDLE_DURATION: 'a while', FEATURE_GATES: 'NodeRepair=true,Unheard=true' },
    });
    await process.leading();
    const room = await world.room('settings');
    await room.pool();
    await room.pod('one');
    await room.runs('one', 1);
    expect(process.output()).toContain('BATCH_IDLE_DURATION: \\"a while\\" is not a duration');
  });

  test('without observability there are no gauges of pods, nodes and pools', async () => {
    const process = await start({ flags: { 'disable-cluster-state-observability': true } });
    await process.leading();
    const metrics = await process.metrics();
    expect(metrics.of('karpenter_pods_state')).toEqual([]);
    expect(metrics.of('karpenter_nodes_allocatable')).toEqual([]);
    expect(metrics.of('karpenter_build_info')).toHaveLength(1);
  });

  test('profiling is served only when asked for', async () => {
    const plain = await start();
    expect((await plain.page('/debug/pprof/heap')).status).toBe(404);
    await plain.terminate();
    const profiled = await start({ flags: { 'enable-profiling': true } });
    expect((await profiled.page('/debug/pprof/')).status).toBe(200);
  });
});

describe('a process', () => {
  test('is alive at once, ready when its caches are filled, and ends cleanly on SIGTERM', async () => {
    const process = await start();
    expect(await process.probe('/healthz')).toBe(200);
    expect(await process.probe('/readyz')).toBe(200);
    expect((await process.page('/nothing')).status).toBe(404);
    await process.leading();
    expect((await lease())?.holderIdentity).toMatch(/^.+_[0-9a-f-]{36}$/);
    expect(await process.terminate()).toBe('exit code 0');
    expect((await lease())?.holderIdentity ?? '').toBe('');
  });

  test('writes one JSON object per line', async () => {
    const process = await start();
    await process.leading();
    const lines = process.output().trimEnd().split('\n');
    for (const line of lines) {
      const entry = JSON.parse(line) as Record<string, unknown>;
      expect(entry).toMatchObject({ level: expect.stringMatching(/^(INFO|ERROR)$/), logger: 'controller' });
      expect(entry['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(entry).not.toHaveProperty('caller');
    }
  });

  test('does not lead while another does, and takes over at once when that one is asked to stop', async () => {
    const first = await start();
    await first.leading();
    const second = await start();
    expect(await second.probe('/readyz')).toBe(200);
    const holder = (await lease())?.holderIdentity;
    await sleep(3_000);
    expect((await lease())?.holderIdentity).toBe(holder);
    expect(second.logs().some(({ message }) => message === 'leading')).toBe(false);
    const room = await world.room('takeover');
    await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    expect((await second.metrics()).sum('karpenter_nodeclaims_created_total')).toBe(0);
    await first.terminate();
    await second.leading();
    expect((await lease())?.holderIdentity).not.toBe(holder);
    await room.deployment('more', { replicas: 1, cpu: '6' });
    await room.runs('more', 1);
    expect((await second.metrics()).sum('karpenter_nodeclaims_created_total', { nodepool: room.name })).toBe(1);
  });

  test('takes over from one that was killed, when its lease has run out', async () => {
    const first = await start();
    await first.leading();
    const second = await start();
    const room = await world.room('killed');
    await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    await first.kill();
    await room.deployment('more', { replicas: 1, cpu: '6' });
    await second.leading();
    await room.runs('more', 1);
    await room.runs('web', 2);
    expect(await room.claims()).toHaveLength(2);
  });

  test('survives an API server that crashes and comes back', async () => {
    const process = await start();
    await process.leading();
    const room = await world.room('outage');
    await room.pool();
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    await world.cluster().restartApiServer(0);
    await room.until('a write works again', () => room.deployment('more', { replicas: 3, cpu: '2' }));
    await room.runs('more', 3, 240);
    expect(await process.probe('/healthz')).toBe(200);
  });
});

describe('a process killed and started again', () => {
  /** Kills the process the moment `ready` holds, and starts another. */
  const restarted = async (process: ControllerProcess): Promise<ControllerProcess> => {
    await process.kill();
    const next = await start();
    await next.leading();
    return next;
  };

  test('while nodes are launching launches none twice', async () => {
    await world.api.apply(slowClass);
    const process = await start();
    await process.leading();
    const room = await world.room('mid-launch');
    await room.pool({ template: { nodeClassRef: slowRef }, requirements: [ofType('c-2x-amd64-linux')] });
    await room.deployment('web', { replicas: 3, cpu: '1500m' });
    await room.until('claims are there', async () => expect(await room.claims()).toHaveLength(3));
    await restarted(process);
    await room.runs('web', 3);
    expect(await room.claims()).toHaveLength(3);
    expect(await room.nodes()).toHaveLength(3);
  });

  test('while a node drains goes on draining', async () => {
    const process = await start();
    await process.leading();
    const room = await world.room('mid-drain');
    await room.pool();
    await room.deployment('web', { replicas: 3 });
    await room.budget('web', { maxUnavailable: 0 });
    await room.runs('web', 3);
    const [claim] = await room.claims();
    await world.api.remove(all.nodeClaims, claim?.metadata.name ?? '');
    await room.until('it drains', async () => {
      const draining = await world.api.get(all.nodeClaims, claim?.metadata.name ?? '');
      expect(conditionOf(draining, 'Drained')?.status).toBe('Unknown');
    });
    await restarted(process);
    await room.budget('web', { maxUnavailable: 1 });
    await room.until('the claim is gone', async () =>
      expect(await world.api.find(all.nodeClaims, claim?.metadata.name ?? '')).toBeUndefined(),
    );
    await room.runs('web', 3);
  });

  test('while a replacement is coming finishes the move or takes it back', async () => {
    await world.api.apply(slowClass);
    const process = await start();
    await process.leading();
    const room = await world.room('mid-drift');
    await room.pool({ template: { nodeClassRef: slowRef } });
    await room.deployment('web', { replicas: 2 });
    await room.runs('web', 2);
    const [old] = await room.claims();
    await world.api.patch(all.nodePools, room.name, {
      spec: { template: { metadata: { labels: { version: 'two' } } } },
    });
    await room.until('a replacement is coming', async () => expect(await room.claims()).toHaveLength(2));
    await restarted(process);
    await room.until(
      'only the new one is left',
      async () => {
        const claims = await room.claims();
        expect(claims.map(({ metadata }) => metadata.name)).not.toContain(old?.metadata.name);
        expect(claims.every(({ metadata }) => metadata.labels?.['version'] === 'two')).toBe(true);
      },
      240,
    );
    await room.runs('web', 2);
    const tainted = (await room.nodes()).flatMap(({ spec }) => spec?.taints ?? []);
    expect(tainted.map(({ key }) => key)).not.toContain('karpenter.sh/disrupted');
  });

  test('while it consolidates leaves no taint and no node too many', async () => {
    const process = await start();
    await process.leading();
    const room = await world.room('mid-move');
    await room.pool({
      spec: { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
      requirements: [inValues('karpenter.sh/capacity-type', 'on-demand')],
    });
    await room.deployment('large', { replicas: 1, cpu: '10' });
    await room.deployment('small', { replicas: 1, cpu: '500m' });
    await room.runs('large', 1);
    await room.runs('small', 1);
    await room.scale('large', 0);
    await room.until('a node is on its way out', async () => {
      const nodes = await room.nodes();
      const taints = nodes.flatMap(({ spec }) => spec?.taints ?? []);
      expect(taints.map(({ key }) => key)).toContain('karpenter.sh/disrupted');
    });
    await restarted(process);
    await room.until(
      'one small node is left',
      async () => {
        const [node, ...others] = await room.nodes();
        expect(others).toEqual([]);
        expect(node?.metadata.labels?.['karpenter.kwok.sh/instance-cpu']).toBe('1');
        expect((node?.spec?.taints ?? []).map(({ key }) => key)).toEqual(['room']);
      },
      300,
    );
    await room.runs('small', 1);
  });

  test('terminated while machines are on their way ends within ten seconds, and the next one loses nothing', async () => {
    await world.api.apply(slowClass);
    const process = await start();
    await process.leading();
    const room = await world.room('orderly');
    await room.pool({ template: { nodeClassRef: slowRef }, requirements: [ofType('c-2x-amd64-linux')] });
    await room.deployment('web', { replicas: 4, cpu: '1500m' });
    await launched(room);
    const terminatedMs = Date.now();
    expect(await process.terminate()).toBe('exit code 0');
    expect(Date.now() - terminatedMs).toBeLessThan(10_000);
    const next = await start();
    await next.leading();
    await room.runs('web', 4);
    expect(await room.claims()).toHaveLength(4);
    expect(await room.nodes()).toHaveLength(4);
  });
});

test('a cluster without the optional CRDs does not end it', async () => {
  await world.api.kubectl('delete', 'crd', 'capacitybuffers.autoscaling.x-k8s.io', 'nodeoverlays.karpenter.sh');
  const process = await start();
  await process.leading();
  const room = await world.room('no-crds');
  await room.pool();
  await room.pod('one');
  await room.runs('one', 1);
});
