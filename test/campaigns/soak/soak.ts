// The soak on real components: nodes come and go, caches list again, tokens and authorities rotate, round after round, and
// the process that does it all stays as large as it was.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import type { AwsCluster } from '../../ec2/aws-cluster.ts';
import { capacity, deployment, nodeClass, pool } from '../../ec2/objects.ts';
import { freePort } from '../../setup/free-port.ts';
import { ReplicaProcess } from '../ec2/replica-process.ts';
import { Tally } from '../tally.ts';
import { growth, type Sample } from './flatness.ts';
import { RotatingDoor } from './rotating-door.ts';

const requests = { cpu: '5', memory: '1Gi' };
const eightCores = { key: 'karpenter.k8s.aws/instance-cpu', operator: 'In', values: ['8'] };
const patience = { timeout: 300_000, interval: 500 };
const observer = join(import.meta.dirname, 'observe.mjs');

export async function soak(cluster: AwsCluster, durationMs: number): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-soak-'));
  const tally = new Tally();
  const observePort = await freePort();
  const env = { NODE_OPTIONS: `--import=${observer}`, KERF_OBSERVE_PORT: String(observePort) };
  let rotating: RotatingDoor | undefined;
  const replica = await ReplicaProcess.start('soaked', cluster, {
    env,
    // One replica: a lease would only be lost to a slow machine.
    flags: { 'disable-leader-election': 'true' },
    async through(door) {
      rotating = await RotatingDoor.open(folder, { url: door.address, token: cluster.token });
      return rotating.kubeconfig;
    },
  });
  try {
    await replica.ready();
    await cluster.apply(
      nodeClass(),
      pool([capacity('on-demand'), eightCores], {
        disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] },
      }),
    );
    await cluster.kubectl('wait', 'ec2nodeclass/default', '--for=condition=Ready', '--timeout=120s');
    await cluster.apply(deployment('web', 1, requests));
    const samples: Sample[] = [];
    const over = new AbortController();
    const rotation = rotateAuthorities(rotating as RotatingDoor, over.signal, tally);
    for (const endMs = Date.now() + durationMs; Date.now() < endMs || samples.length < 4; ) {
      await round(cluster, replica, rotating as RotatingDoor, tally);
      const sample = (await (await fetch(`http://127.0.0.1:${observePort}/`)).json()) as Sample;
      samples.push(sample);
      tally.add('rounds');
      const sizes = [...Object.values(sample.maps), ...Object.values(sample.sets)];
      const entries = sizes.reduce((sum, size) => sum + size, 0);
      console.log(
        `soak: round ${samples.length}: ${Math.round(sample.rss / 2 ** 20)} MiB resident, ${Math.round(sample.heapUsed / 2 ** 20)} MiB of heap, ${sample.descriptors} descriptors, ${entries} entries in maps and sets of ${sizes.length} shapes`,
      );
    }
    over.abort();
    await rotation;
    // The first round fills what is filled once.
    expect(growth(samples.slice(1)), JSON.stringify(samples.slice(1), undefined, 1)).toEqual([]);
    expect(replica.exits).toEqual([]);
    return tally;
  } catch (error) {
    console.error(
      `the last lines of the replica:\n${replica.output.slice(-6_000)}\nended: ${replica.exits.join(', ')}`,
    );
    throw error;
  } finally {
    await replica.close();
    await rotating?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One after the other. Files are trusted for a minute: so long both authorities are. */
async function rotateAuthorities(rotating: RotatingDoor, over: AbortSignal, tally: Tally): Promise<void> {
  while (!over.aborted) {
    await rotating.rotateAuthority(70_000);
    tally.add('authorities rotated');
  }
}

/** Up, down, and meanwhile everything that happens in the life of a cluster. */
async function round(
  cluster: AwsCluster,
  replica: ReplicaProcess,
  rotating: RotatingDoor,
  tally: Tally,
): Promise<void> {
  const scale = async (replicas: number): Promise<void> => {
    await cluster.kubectl('scale', 'deployment', 'web', `--replicas=${replicas}`);
    await vi.waitFor(async () => {
      expect(await cluster.readyReplicas('web')).toBe(replicas);
      const running = (await cluster.instances()).filter(({ State }) => State?.Name === 'running');
      expect(running).toHaveLength(replicas);
      expect(await cluster.items('nodeclaims')).toHaveLength(replicas);
    }, patience);
  };
  await scale(5);
  tally.add('nodes launched', 4);
  replica.door.expire();
  tally.add('relists');
  rotating.rotateToken();
  tally.add('tokens rotated');
  await scale(1);
  tally.add('nodes terminated', 4);
}
