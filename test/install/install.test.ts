// Helm installs the chart, the image's own process runs with the service account's own token, and nodes come: then it is
// uninstalled, everything is left as it was, and installed again.
import { expect, test } from 'vitest';
import { runKerf } from '../cli/run-kerf.ts';
import { all } from '../end-to-end/harness/api.ts';
import { simulated, useInstallWorld } from './world.ts';

const world = useInstallWorld();

test('definitions that kubectl or another chart brought are adopted, and kept', async () => {
  await world.api.kubectl('apply', '--server-side', '-f', 'crds/karpenter.sh_nodepools.yaml');
  await expect(world.installCrds()).rejects.toThrow('invalid ownership metadata');
  expect(await world.installCrds('--take-ownership')).toContain('STATUS: deployed');
  await world.api.kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s');
  await world.api.apply({
    apiVersion: 'karpenter.kwok.sh/v1alpha1',
    kind: 'KWOKNodeClass',
    metadata: { name: 'default' },
    spec: {},
  });
});

test('an install with defaults leads, scales up and is refused nothing', async () => {
  const said = await world.install(simulated);
  expect(said).toContain('kerf explain pod');
  const pods = await world.ready(2);
  await world.until('one of them leads', async () => expect(await world.leader()).toBeDefined());
  const room = await world.room('installed');
  await room.pool({ spec: { disruption: { consolidateAfter: 'Never' } } });
  await room.deployment('web', { replicas: 3, cpu: '500m' });
  await room.runs('web', 3);
  for (const pod of pods)
    expect(await world.kubelet().metrics(pod)).not.toMatch(/client_go_request_total\{[^}]*code="403"/);
  expect(world.kubelet().allOutput()).not.toMatch(/forbidden/i);
});

test('a right that is taken away is seen in the log, in metrics and by preflight; given back, work goes on', async () => {
  interface Role {
    rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[];
  }
  const role = JSON.parse(await world.api.kubectl('get', 'clusterrole', 'karpenter-core', '-o', 'json')) as Role;
  const withRules = (rules: Role['rules']) =>
    world.api.kubectl('patch', 'clusterrole', 'karpenter-core', '--type=merge', '-p', JSON.stringify({ rules }));
  const preflight = async () => {
    const { out } = await runKerf(['preflight', '--kubeconfig', world.cluster().kubeconfig, '-o', 'json']);
    const { verdict, phase, missingRights } = JSON.parse(out) as Record<string, unknown>;
    return { verdict, phase, missingRights };
  };
  expect(await preflight()).toEqual({ verdict: 'go', phase: 'after', missingRights: [] });
  await withRules(
    role.rules.map((rule) =>
      rule.resources.includes('nodeclaims') ? { ...rule, verbs: rule.verbs.filter((verb) => verb !== 'create') } : rule,
    ),
  );
  const room = await world.room('refused');
  await room.pool({ spec: { disruption: { consolidateAfter: 'Never' } } });
  await room.deployment('web', { replicas: 1, cpu: '500m' });
  await world.until('the refusal is in the log', () =>
    expect(world.kubelet().allOutput()).toMatch(/nodeclaims.*is forbidden.*cannot create resource/),
  );
  const metrics = await Promise.all((await world.ready(2)).map((pod) => world.kubelet().metrics(pod)));
  expect(metrics.join('')).toMatch(/client_go_request_total\{[^}]*code="403"/);
  expect(await preflight()).toEqual({
    verdict: 'no go',
    phase: 'after',
    missingRights: ['', '/status', '/finalizers'].map((part) => `create nodeclaims${part} (karpenter.sh)`),
  });
  await withRules(role.rules);
  await room.runs('web', 1);
});

test('it runs as its user on a root that cannot be written', async () => {
  const [pod] = await world.ready(2);
  const status = await world.until('its process is there', async () => {
    const { readFile } = await import('node:fs/promises');
    return readFile(`/proc/${pod?.process.pid}/status`, 'utf8');
  });
  expect(status).toMatch(/^Uid:\s+65532\s+65532/m);
  expect(status).toMatch(/^CapEff:\s+0+$/m);
});

test('uninstalling leaves nodes, claims and definitions alone and says so; installing again takes them over', async () => {
  const claims = async () =>
    (await world.api.list(all.nodeClaims)).map(({ metadata, spec }) => [
      metadata.uid,
      metadata.deletionTimestamp,
      spec,
    ]);
  const nodes = async () =>
    (await world.api.list(all.nodes)).map(({ metadata }) => [metadata.uid, metadata.deletionTimestamp]);
  const before = { claims: await claims(), nodes: await nodes() };
  expect(before.claims.length).toBeGreaterThan(0);
  expect(await world.helm('get', 'notes', 'karpenter')).toContain(
    'leaves nodes, NodeClaims, NodePools and CRDs as they are',
  );
  await world.helm('uninstall', 'karpenter', '--wait');
  expect(await world.helm('uninstall', 'kerf-crd')).toContain('[CustomResourceDefinition] nodeclaims.karpenter.sh');
  await world.ready(0);
  expect({ claims: await claims(), nodes: await nodes() }).toEqual(before);
  await world.installCrds();
  await world.install(simulated);
  await world.ready(2);
  const room = await world.room('again');
  await room.pool();
  await room.deployment('web', { replicas: 1, cpu: '500m' });
  await room.runs('web', 1);
  const after = await claims();
  expect(after).toEqual(expect.arrayContaining(before.claims));
});
