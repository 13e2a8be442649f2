// The rights that the documentation lists are enough, and are all there is: a scale-up and a scale-down under them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { useWorld } from './harness/world.ts';

const page = readFileSync(new URL('../../docs/reference/rbac.md', import.meta.url), 'utf8');
const manifests = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text).join('---\n');
const world = useWorld({ idle: true });

/** A kubeconfig of the ServiceAccount, and of no one else. */
async function ownKubeconfig(): Promise<string> {
  const { ca, folder, kubectl, url } = clusterParts();
  const { stdout: token } = await kubectl('create', 'token', 'kerf', '-n', 'kerf-system', '--duration=1h');
  const file = join(folder, 'kerf-kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'rig', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'kerf', user: { token: token.trim() } }],
    contexts: [{ name: 'kerf', context: { cluster: 'rig', user: 'kerf' } }],
    'current-context': 'kerf',
  };
  writeFileSync(file, stringify(config));
  return file;
}

function clusterParts() {
  const cluster = world.cluster();
  const kubectl = (...args: string[]) => cluster.kubectl(args);
  return { ca: cluster.ca, folder: cluster.folder, url: cluster.url, kubectl };
}

test('with the documented rights alone, nodes come and go', async () => {
  await world.cluster().kubectl(['apply', '-f', '-'], { stdin: manifests });
  const controller = await world.start({
    flags: { kubeconfig: await ownKubeconfig(), 'leader-election-namespace': 'kerf-system' },
  });
  await controller.leading();
  const room = await world.room('rights');
  await room.pool({ spec: { disruption: { consolidateAfter: '0s' } } });
  await room.deployment('web', { replicas: 3, cpu: '500m' });
  await room.runs('web', 3);
  await room.scale('web', 0);
  await room.until('no node is left', async () => expect(await room.nodes()).toEqual([]));
  await room.until('no claim is left', async () => expect(await room.claims()).toEqual([]));
  expect(controller.output()).not.toMatch(/forbidden/i);
  const { samples } = await controller.metrics();
  const codes = samples.filter(({ name }) => name === 'client_go_request_total').map(({ labels }) => labels['code']);
  expect(codes).toContain('201');
  expect(codes).not.toContain('403');
});

test.each([
  ['get', 'secrets'],
  ['create', 'pods'],
  ['list', 'configmaps'],
  ['delete', 'nodepools'],
  ['escalate', 'clusterroles'],
])('it may not %s %s', async (verb, resource) => {
  const asked = clusterParts().kubectl(
    'auth',
    'can-i',
    verb,
    resource,
    '-A',
    '--as=system:serviceaccount:kerf-system:kerf',
  );
  // kubectl says no with its exit code as well.
  await expect(asked.then(({ stdout }) => stdout.trim()).catch(() => 'no')).resolves.toBe('no');
});
