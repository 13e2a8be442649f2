// Longer stories on EC2: the controller is killed in the middle of a burst of launches, answers of EC2 get lost, and
// consolidation packs what is left. Each ends with nothing left over.
import { describe, expect, test, vi } from 'vitest';
import type { Node } from '../../src/ports/index.ts';
import { useAwsCluster } from './aws-cluster.ts';
import { capacity, deployment, nodeClass, pool } from './objects.ts';

const cluster = useAwsCluster();
/** Two pods of the burst fit on one: it takes ten nodes. */
const eightCores = { key: 'karpenter.k8s.aws/instance-cpu', operator: 'In', values: ['8'] };
const patience = { timeout: 300_000, interval: 2_000 };

const readyReplicas = (name: string): Promise<number> => cluster.readyReplicas(name);
const ids = async (): Promise<string[]> =>
  (await cluster.instances())
    .filter(({ State }) => State?.Name === 'running' || State?.Name === 'pending')
    .map(({ InstanceId, Placement }) => `aws:///${Placement?.AvailabilityZone}/${InstanceId}`)
    .sort();
const claimed = async (): Promise<string[]> =>
  (await cluster.items<{ status?: { providerID?: string } }>('nodeclaims'))
    .flatMap(({ status }) => status?.providerID ?? [])
    .sort();

describe('a cluster on EC2', { timeout: 900_000 }, () => {
  test('a controller killed while it launches leaves no instance without a claim', async () => {
    await cluster.apply(nodeClass(), pool([capacity('on-demand'), eightCores]));
    await cluster.kubectl('wait', 'ec2nodeclass/default', '--for=condition=Ready', '--timeout=180s');
    cluster.aws.addFault({ action: 'CreateFleet', drop: 'after', count: 2 });
    await cluster.apply(deployment('burst', 20, { cpu: '3', memory: '2Gi' }));
    await vi.waitFor(async () => expect((await ids()).length).toBeGreaterThan(0), patience);
    await cluster.stopController('SIGKILL');
    await cluster.startController();
    await vi.waitFor(async () => expect(await readyReplicas('burst')).toBe(20), patience);
    await vi.waitFor(async () => expect(await ids()).toEqual(await claimed()), patience);
  });

  test('fewer pods end on fewer nodes', async () => {
    const before = (await ids()).length;
    await cluster.kubectl('scale', 'deployment', 'burst', '--replicas=4');
    await vi.waitFor(async () => expect((await ids()).length).toBeLessThanOrEqual(before / 2), patience);
    await vi.waitFor(async () => expect(await readyReplicas('burst')).toBe(4), patience);
  });

  test('a new image makes nodes drift, and each is replaced', async () => {
    const old = await ids();
    await cluster.kubectl(
      'patch',
      'ec2nodeclass',
      'default',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { amiSelectorTerms: [{ alias: 'al2023@v20260110' }] } }),
    );
    await vi.waitFor(
      async () => {
        const now = await ids();
        expect(now.filter((id) => old.includes(id))).toEqual([]);
        expect(now.length).toBeGreaterThan(0);
      },
      { timeout: 600_000, interval: 2_000 },
    );
    await vi.waitFor(async () => expect(await readyReplicas('burst')).toBe(4), patience);
  });

  test('an instance that fails its status checks is replaced without a drain', async () => {
    const [node] = await cluster.items<Node>('nodes', '-l', 'karpenter.sh/nodepool=default');
    const instanceId = node?.spec?.providerID?.split('/').at(-1) ?? '';
    const impairedSince = new Date(Date.now() - 600_000).toISOString();
    cluster.aws.setHealth({ instanceId, systemStatus: 'impaired', impairedSince });
    await vi.waitFor(async () => expect((await ids()).some((id) => id.endsWith(instanceId))).toBe(false), patience);
    await vi.waitFor(async () => expect(await readyReplicas('burst')).toBe(4), patience);
  });

  test('nothing is left when all is deleted', async () => {
    await cluster.kubectl('delete', 'deployment', '--all');
    await cluster.kubectl('delete', 'nodepool', 'default', '--timeout=300s');
    await cluster.kubectl('delete', 'ec2nodeclass', 'default', '--timeout=300s');
    expect(await ids()).toEqual([]);
    expect(await cluster.instanceProfiles()).toEqual([]);
    await vi.waitFor(async () => expect(await cluster.launchTemplates()).toEqual([]), patience);
  });
});
