// Karpenter runs a cluster, stops, and Kerf goes on with it; then the other way round. No one notices: no node goes without a
// reason, nothing of a claim is rewritten, what was under way is finished.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { NodeClaim } from '../../src/api/index.ts';
import { runKerf } from '../cli/run-kerf.ts';
import { all } from '../end-to-end/harness/api.ts';
import { ofType } from '../end-to-end/harness/manifests.ts';
import { peerVersions } from '../setup/peer.ts';
import { useTakeoverWorld } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'kerf-takeover-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(peerVersions)('Karpenter %s', (version) => {
  const world = useTakeoverWorld();

  /** What must not change about a claim that no one has a reason to touch. */
  const facts = ({ metadata, spec }: NodeClaim) => ({
    name: metadata.name,
    uid: metadata.uid,
    labels: metadata.labels,
    annotations: Object.fromEntries(
      Object.entries(metadata.annotations ?? {}).filter(
        ([key]) => key.startsWith('karpenter.sh/') || key.startsWith('karpenter.kwok.sh/'),
      ),
    ),
    finalizers: metadata.finalizers,
    isDeleting: metadata.deletionTimestamp !== undefined,
    spec,
  });
  const claims = async () =>
    (await world.api.list(all.nodeClaims))
      .map(facts)
      .sort((left, right) => ((left.name ?? '') < (right.name ?? '') ? -1 : 1));
  const poolHashes = async () =>
    (await world.api.list(all.nodePools)).map(({ metadata, spec }) => [
      metadata.name,
      metadata.annotations,
      metadata.labels,
      spec,
    ]);

  /** What `kerf preflight` says, and the file it was saved in. */
  const preflight = async (...args: string[]) => {
    const flags = ['preflight', '--kubeconfig', world.cluster().kubeconfig, '-o', 'json', ...args];
    const { code, out } = await runKerf(flags);
    const file = join(folder, `${version}.json`);
    if (args.length === 0) writeFileSync(file, out);
    return { code, report: JSON.parse(out) as object, file };
  };

  test('its hundred nodes, pools and overlays are taken over unnoticed, and given back', async () => {
    const karpenter = await world.startPeer(version);
    const room = await world.room('fleet');
    await world.api.apply({
      apiVersion: 'karpenter.sh/v1alpha1',
      kind: 'NodeOverlay',
      metadata: { name: 'cheaper' },
      spec: { requirements: [ofType('c-4x-amd64-linux')], priceAdjustment: '-10%' },
    });
    const small = ofType('c-2x-amd64-linux', 'c-4x-amd64-linux');
    await room.pool({
      requirements: [small],
      spec: { disruption: { consolidateAfter: '30s', consolidationPolicy: 'WhenEmpty' } },
    });
    await room.pool({
      suffix: 'static',
      requirements: [ofType('c-1x-amd64-linux')],
      spec: { replicas: 5, disruption: { consolidateAfter: 'Never' } },
    });
    const apart = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } },
          ],
        },
      },
    };
    await room.deployment('web', { replicas: 95, cpu: '1', spec: apart });
    await room.runs('web', 95, 300);
    await room.until(
      'a hundred nodes are initialized',
      async () => expect(await room.initializedNodes()).toHaveLength(100),
      300,
    );
    // Nodes that are being drained when it stops: their pods do not go by themselves.
    await room.pool({ suffix: 'slow', requirements: [ofType('c-1x-amd64-linux')] });
    await room.deployment('slow', {
      replicas: 2,
      cpu: '500m',
      spec: { ...apart, nodeSelector: { 'karpenter.sh/nodepool': 'fleet-slow' } },
      labels: { slow: 'yes' },
    });
    await room.runs('slow', 2);
    await room.budget('slow', { minAvailable: 2 });
    const [leaving] = await room.claims('fleet-slow');
    await world.api.remove(all.nodeClaims, leaving?.metadata.name ?? '');
    await sleep(3_000);
    const asked = await preflight();
    expect(asked).toMatchObject({ code: 0, report: { verdict: 'go', phase: 'before', drift: [], findings: [] } });
    const before = { claims: await claims(), pools: await poolHashes() };
    await karpenter.stop();

    // A claim that it wrote and did not get to launch.
    const [model] = await room.claims('fleet-slow');
    const { spec, metadata: { annotations = {}, labels = {} } = {} } = model ?? {};
    const caught = {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: {
        name: 'fleet-caught',
        labels: { 'karpenter.sh/nodepool': labels['karpenter.sh/nodepool'] ?? '' },
        annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => key.includes('nodepool-hash'))),
      },
      spec,
    };
    await world.api.apply(caught);

    // Pods that wait and a claim that leaves when no one is in charge.
    await room.deployment('late', { replicas: 3, cpu: '1' });
    const kerf = await world.startKerf();
    await kerf.leading();
    await room.until('the claim caught in mid-launch has its node', async () => {
      const found = (await room.claims('fleet-slow')).find(({ metadata }) => metadata.name === caught.metadata.name);
      expect(found?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Registered', status: 'True' }));
    });
    await room.runs('late', 3);
    await sleep(25_000);
    const reported = await preflight('--before', asked.file);
    expect(reported).toMatchObject({
      code: 0,
      report: { verdict: 'go', phase: 'after', since: { rewritten: [], newlyDrifted: [] } },
    });
    const names = new Set(before.claims.map(({ name }) => name));
    const after = (await claims()).filter(({ name }) => names.has(name));
    expect(after).toEqual(before.claims);
    expect((await poolHashes()).map(([name, annotations]) => [name, annotations])).toEqual(
      before.pools.map(([name, annotations]) => [name, annotations]),
    );
    // The drain that was held up goes on once it may.
    await world.api.remove({ ...all.podDisruptionBudgets }, 'slow', 'fleet');
    await room.until('the half drained node is gone', async () => {
      expect((await room.claims('fleet-slow')).map(({ metadata }) => metadata.uid)).not.toContain(
        leaving?.metadata.uid,
      );
    });
    await room.runs('slow', 2);

    const kept = await claims();
    await kerf.terminate();
    await room.deployment('later', { replicas: 2, cpu: '1' });
    const again = await world.startPeer(version);
    await room.runs('later', 2);
    await sleep(25_000);
    const keptNames = new Set(kept.map(({ name }) => name));
    expect((await claims()).filter(({ name }) => keptNames.has(name))).toEqual(kept);
    await again.stop();
  });
});
