// The first story on EC2: a Deployment gets nodes, an interruption and a shortage are survived, and at the end nothing is
// left in the account.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Node } from '../../src/ports/index.ts';
import { runKerf } from '../cli/run-kerf.ts';
import { secrets, useAwsCluster } from './aws-cluster.ts';
import { capacity, deployment, nodeClass, pool } from './objects.ts';

const cluster = useAwsCluster();
const patience = { timeout: 120_000, interval: 1_000 };

const readyReplicas = (name: string): Promise<number> => cluster.readyReplicas(name);
const nodes = () => cluster.items<Node>('nodes', '-l', 'karpenter.sh/nodepool=default');

describe('a cluster on EC2', { timeout: 400_000 }, () => {
  test('a Deployment scales up: instances are launched, join, register and run its pods', async () => {
    const userData = `#!/bin/bash\nexport PASSWORD=${secrets.userData}\n`;
    await cluster.apply(nodeClass({ userData }), pool([capacity('spot', 'on-demand')]));
    await cluster.kubectl('wait', 'ec2nodeclass/default', '--for=condition=Ready', '--timeout=120s');
    await cluster.kubectl('wait', 'nodepool/default', '--for=condition=Ready', '--timeout=60s');
    await cluster.apply(deployment('web', 6));
    await vi.waitFor(async () => expect(await readyReplicas('web')).toBe(6), patience);
    const instances = await cluster.instances();
    expect(instances.length).toBeGreaterThan(0);
    expect((await nodes()).map(({ spec }) => spec?.providerID).sort()).toEqual(
      instances.map(({ InstanceId, Placement }) => `aws:///${Placement?.AvailabilityZone}/${InstanceId}`).sort(),
    );
    await cluster.kubectl('wait', 'nodeclaim', '--all', '--for=condition=Ready', '--timeout=60s');
    for (const { Tags = [] } of instances)
      expect(Tags).toEqual(expect.arrayContaining([{ Key: 'kubernetes.io/cluster/one', Value: 'owned' }]));
  });

  test('nodes and instances carry each other: names as tags, zone ids as labels', async () => {
    await vi.waitFor(async () => {
      const names = (await nodes()).map(({ metadata }) => metadata.name).sort();
      const tagged = (await cluster.instances()).map(({ Tags = [] }) => Tags.find(({ Key }) => Key === 'Name')?.Value);
      expect(tagged.sort()).toEqual(names);
    }, patience);
    for (const { metadata } of await nodes()) expect(metadata.labels?.['topology.k8s.aws/zone-id']).toMatch(/^use1-az/);
  });

  test('kerf preflight asks the cluster and the account, and nothing drifts', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kerf-preflight-'));
    const args = ['preflight', '--kubeconfig', cluster.controlPlane.kubeconfig, '--cluster-name', cluster.name];
    const { out, err } = await runKerf([...args, '-o', 'json'], { env: cluster.environment(folder, 'AKIAFIRST') });
    rmSync(folder, { recursive: true });
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({
      verdict: 'go',
      drift: [],
      // There is no Deployment here; everything else was looked at.
      notChecked: ['rights of the service account: no Deployment of a controller was found'],
    });
  });

  test('a spot interruption takes the node down in order and its pods run elsewhere', async () => {
    const [victim] = await cluster.instances();
    const instanceId = victim?.InstanceId ?? '';
    await cluster.aws.interrupt({ queue: cluster.name, event: { kind: 'spot-interruption', instanceId } });
    await vi.waitFor(
      async () => expect((await cluster.instances()).map(({ InstanceId }) => InstanceId)).not.toContain(instanceId),
      patience,
    );
    await vi.waitFor(async () => expect(await readyReplicas('web')).toBe(6), patience);
    const metrics = await cluster.metrics();
    expect(metrics).toMatch(/karpenter_interruption_received_messages_total\{message_type="spot_interrupted"\} 1/);
    expect(metrics).toMatch(/karpenter_nodeclaims_disrupted_total\{reason="spot_interrupted",nodepool="default"/);
  });

  test('a shortage of everything but one pool is survived, and so is throttling', async () => {
    cluster.aws.exhaust(['spot:*:*', 'on-demand:m5.2xlarge:*', 'on-demand:c5.2xlarge:*']);
    cluster.aws.addFault({ action: 'CreateFleet', code: 'RequestLimitExceeded', status: 503, count: 4 });
    await cluster.apply(deployment('storm', 2, { cpu: '6', memory: '2Gi' }));
    await vi.waitFor(async () => expect(await readyReplicas('storm')).toBe(2), patience);
    const kinds = (await nodes()).map(({ metadata }) => metadata.labels?.['karpenter.sh/capacity-type']);
    expect(kinds).toContain('on-demand');
    const metrics = await cluster.metrics();
    expect(metrics).toMatch(/karpenter_cloudprovider_instance_launch_failures_total\{[^}]*capacity_type="spot"/);
    expect(metrics).toMatch(/aws_sdk_go_request_attempt_total\{service="EC2",action="CreateFleet",code="503"\}/);
    cluster.aws.restoreCapacity();
    await cluster.kubectl('delete', 'deployment', 'storm');
  });

  test('expired credentials are reported, and renewed ones are taken up without a restart', async () => {
    cluster.aws.addFault({
      action: '*',
      accessKeyId: 'AKIAFIRST',
      code: 'ExpiredToken',
      message: 'the token is expired',
      count: 100_000,
    });
    await vi.waitFor(() => expect(cluster.output).toMatch(/did not accept the credentials of this process/), patience);
    await cluster.apply(deployment('late', 2, { cpu: '3', memory: '1Gi' }));
    await vi.waitFor(async () => {
      const conditions = await cluster.kubectl('get', 'nodeclaims', '-o', 'jsonpath={.items[*].status.conditions}');
      expect(conditions).toMatch(/AWS did not accept the credentials.*no restart is needed/);
    }, patience);
    cluster.writeCredentials('AKIASECOND');
    await vi.waitFor(async () => expect(await readyReplicas('late')).toBe(2), patience);
    cluster.aws.clearFaults();
  });

  test('fewer pods end on fewer nodes', async () => {
    const before = (await nodes()).length;
    await cluster.kubectl('scale', 'deployment', 'web', '--replicas=1');
    await cluster.kubectl('scale', 'deployment', 'late', '--replicas=1');
    await vi.waitFor(async () => expect((await nodes()).length).toBeLessThan(before), patience);
    await vi.waitFor(async () => expect([await readyReplicas('web'), await readyReplicas('late')]).toEqual([1, 1]), {
      ...patience,
    });
  });

  test('secrets and user data are in requests to AWS and nowhere else, and no other host is asked for anything', async () => {
    const sent = cluster.aws.calls().map(({ body }) => body);
    const encoded = sent.flatMap((body) => new URLSearchParams(body).get('LaunchTemplateData.UserData') ?? []);
    expect(encoded.map((text) => Buffer.from(text, 'base64').toString()).join()).toContain(secrets.userData);
    const seen = [
      cluster.output,
      await cluster.metrics(),
      await cluster.kubectl('get', 'events,nodeclaims,nodepools,nodes', '-A', '-o', 'json'),
      await cluster.kubectl('get', 'ec2nodeclass', 'default', '-o', 'jsonpath={.status}'),
    ].join('\n');
    expect(seen).toContain('EC2NodeClass');
    for (const secret of Object.values(secrets)) {
      expect(seen).not.toContain(secret);
      expect(seen).not.toContain(Buffer.from(secret).toString('base64').slice(0, -2));
    }
    expect(cluster.hosts()).toEqual(['127.0.0.1']);
  });

  test('when the work is gone so are instances, claims, launch templates and profiles', async () => {
    await cluster.kubectl('delete', 'deployment', '--all');
    await vi.waitFor(async () => expect(await cluster.instances()).toEqual([]), patience);
    await vi.waitFor(async () => expect(await cluster.items('nodeclaims')).toEqual([]), patience);
    await cluster.kubectl('delete', 'nodepool', 'default', '--timeout=60s');
    await cluster.kubectl('delete', 'ec2nodeclass', 'default', '--timeout=120s');
    expect(await cluster.instanceProfiles()).toEqual([]);
    await vi.waitFor(async () => expect(await cluster.launchTemplates()).toEqual([]), {
      timeout: 180_000,
      interval: 2_000,
    });
  });
});
