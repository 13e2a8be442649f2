// Upgrades, rollbacks and every example file, installed by Helm on a real control plane.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { examplesFolder, kerfChart, type Rendered } from '../chart/helm.ts';
import { all } from '../end-to-end/harness/api.ts';
import { provideKarpenterChart } from '../setup/karpenter-charts.ts';
import { simulated, useInstallWorld } from './world.ts';

const world = useInstallWorld();
const karpenterUser = resolve(import.meta.dirname, '../chart/karpenter-user.yaml');
const examples = readdirSync(examplesFolder).filter((name) => /^values-.*\.yaml$/.test(name));
/** The API server is at an address that no proxy leads to. */
const noProxy = ['--set', 'controller.env[1].name=NO_PROXY', '--set', 'controller.env[1].value=127.0.0.1'];
let folder = '';
let previous = '';

beforeAll(async () => {
  await world.installCrds();
  await world.api.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
  await world.api.apply({
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: 'default' },
    spec: {},
  });
  folder = mkdtempSync(join(tmpdir(), 'kerf-chart-'));
  previous = join(folder, 'kerf');
  cpSync(kerfChart, previous, { recursive: true });
  const chart = join(previous, 'Chart.yaml');
  writeFileSync(chart, readFileSync(chart, 'utf8').replaceAll(/ersion: \d.*$/gm, 'ersion: 0.0.9'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const claimsNow = async () =>
  (await world.api.list(all.nodeClaims)).map(({ metadata: { uid, labels, annotations, deletionTimestamp }, spec }) => ({
    uid,
    labels,
    annotations,
    deletionTimestamp,
    spec,
  }));

/** Looks at the lease until asked to stop: the longest time in which no pod that runs held it. */
function watchLease(): () => Promise<number> {
  const stop = new AbortController();
  let longestMs = 0;
  let looksWithLeader = 0;
  const done = (async () => {
    for (let heldMs = Date.now(); !stop.signal.aborted; await sleep(100)) {
      const holder = await world.leader().catch(() => undefined);
      const isAlive = world
        .kubelet()
        .running()
        .some(({ name }) => holder?.startsWith(`${name}_`));
      if (isAlive) {
        heldMs = Date.now();
        looksWithLeader += 1;
      }
      longestMs = Math.max(longestMs, Date.now() - heldMs);
    }
  })();
  return async () => {
    stop.abort();
    await done;
    // Otherwise holders are not recognised, and this measures something else.
    expect(looksWithLeader).toBeGreaterThan(10);
    return longestMs;
  };
}

test.each([1, 2, 3])(
  '%i an upgrade and a rollback keep a leader but for the time of a lease, and touch no claim',
  async (nth) => {
    await world.install(simulated, previous);
    await world.ready(2);
    const room = await world.room(`upgraded-${nth}`);
    await room.pool({ spec: { disruption: { consolidateAfter: 'Never' } } });
    await room.deployment('web', { replicas: 4, cpu: '900m' });
    await room.runs('web', 4);
    const claims = await claimsNow();
    const lease = watchLease();
    await world.install([...simulated, '--set', 'settings.batchIdleDuration=2s', '--wait', '--timeout', '3m']);
    await world.ready(2);
    await world.helm('rollback', 'karpenter', '1', '--wait', '--timeout', '3m');
    await world.ready(2);
    const longestMs = await lease();
    expect(longestMs).toBeLessThan(15_000);
    console.log(`longest time without a leader over an upgrade and a rollback: ${longestMs} ms`);
    expect(await claimsNow()).toEqual(claims);
    const { items } = JSON.parse(
      await world.helm('history', 'karpenter', '-o', 'json').then((text) => `{"items":${text}}`),
    ) as {
      items: { chart: string; status: string }[];
    };
    expect(items.map(({ status }) => status)).toEqual(['superseded', 'superseded', 'deployed']);
    await world.api.remove(all.nodePools, `upgraded-${nth}`).catch(() => undefined);
    await world.helm('uninstall', 'karpenter', '--wait');
    await world.ready(0);
  },
);

test("a release of Karpenter's chart becomes ours by one upgrade, and Karpenter's again by one rollback", async () => {
  const theirs = join(await provideKarpenterChart('1.14.1', (line) => console.error(line)), 'karpenter');
  const values = ['--set', 'settings.clusterName=one,settings.featureGates.nodeOverlay=true,podLabels.team=a'];
  await world.install([...values, '--skip-crds'], theirs);
  const objects = async () => {
    const kinds =
      'deployments,services,serviceaccounts,poddisruptionbudgets,roles,rolebindings,clusterroles,clusterrolebindings';
    const found = await world.api.kubectl(
      'get',
      kinds,
      '-A',
      '-l',
      'app.kubernetes.io/instance=karpenter',
      '-o',
      'json',
    );
    const { items } = JSON.parse(found) as { items: (Rendered & { metadata: { uid: string } })[] };
    return new Map(items.map((each) => [`${each.kind} ${each.metadata.name}`, each]));
  };
  const podTemplate = (all: Awaited<ReturnType<typeof objects>>) => all.get('Deployment karpenter')?.spec.template;
  const before = await objects();
  // Its values stay: there may be no file with them any more.
  const said = await world.install(['--reuse-values', ...simulated, '--wait', '--timeout', '2m']);
  expect(said).toContain("controller.image named Karpenter's image");
  const [pod] = await world.ready(2);
  if (pod === undefined) throw new Error('no pod runs');
  expect(await world.kubelet().metrics(pod)).not.toMatch(/client_go_request_total\{[^}]*code="403"/);
  const switched = await objects();
  expect(podTemplate(switched)?.spec.containers[0]).toMatchObject({ args: ['controller', '--fake-kubelets'] });
  // The simulated cloud has no use for rights in the cluster's DNS.
  const shared = [...before.keys()].filter((key) => !key.endsWith('karpenter-dns'));
  const ids = (all: typeof before) => shared.map((key) => [key, all.get(key)?.metadata.uid]);
  expect(ids(switched)).toEqual(ids(before));
  await world.helm('rollback', 'karpenter', '1', '--wait', '--timeout', '2m');
  const back = await objects();
  expect(podTemplate(back)).toEqual(podTemplate(before));
  expect([...back.keys()].sort()).toEqual([...before.keys()].sort());
  await world.helm('uninstall', 'karpenter', '--wait');
  await world.ready(0);
});
