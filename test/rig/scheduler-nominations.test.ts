// Nominations: while a real kube-scheduler makes room for a pod the planner launches nothing for it; a pod whose nomination
// does not come true gets a node. The plans are made from what the API server holds at that moment.
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { SnapshotObject } from '../../src/core/index.ts';
import { node, nodePool, plan, pod } from '../../src/core/testing/builders.testing.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { clear, create, type Fields, listOf, merge } from './scheduler-agreement/one-pod.ts';
import { agreementControlPlane } from './scheduler-agreement/rig.ts';

const cluster = useControlPlane(agreementControlPlane);
const priorities = {
  low: { value: 1 },
  middle: { value: 10 },
  patient: { value: 10, preemptionPolicy: 'Never' },
  high: { value: 100 },
};
type Priority = keyof typeof priorities;

beforeAll(async () => {
  for (const [name, rest] of Object.entries(priorities))
    await cluster().request('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, ...rest });
});
beforeEach(() => clear(cluster()));

/** Fills a whole node. */
const large = (name: string, priorityClassName: Priority, more: { node?: string; spec?: Fields } = {}) =>
  pod({ name, cpu: '4', ...more, spec: { priorityClassName, ...more.spec } });

type ReadPod = SnapshotObject & {
  metadata: { deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: { nominatedNodeName?: string; conditions?: { type: string; reason?: string; message?: string }[] };
};
const podAt = (name: string): string => `${listOf['Pod']}/${name}`;
const read = async (name: string): Promise<ReadPod> => (await cluster().request('GET', podAt(name))).body as ReadPod;
const remove = (path: string) => cluster().request('DELETE', path, { gracePeriodSeconds: 0 });

const poll = { timeout: 20_000 };
const nominated = async (name: string, to: string): Promise<void> => {
  await expect.poll(async () => (await read(name)).status.nominatedNodeName ?? 'none', poll).toBe(to);
};
const bound = async (name: string, to: string): Promise<void> => {
  await expect.poll(async () => (await read(name)).spec.nodeName ?? 'none', poll).toBe(to);
};
const refused = async (name: string, message: string): Promise<void> => {
  const said = async (): Promise<string> => {
    const { conditions = [] } = (await read(name)).status;
    return conditions.find(({ reason }) => reason === 'Unschedulable')?.message ?? 'none';
  };
  await expect.poll(said, poll).toMatch(message);
};

interface Look {
  laterMs?: number;
  change?: (item: SnapshotObject) => SnapshotObject;
}

/** The pods that the planner launches nodes for, in the cluster as the API server has it now. */
async function launchedFor({ laterMs = 0, change = (item) => item }: Look = {}): Promise<string[]> {
  const items: SnapshotObject[] = [];
  for (const kind of ['Node', 'Pod']) {
    const { body } = await cluster().request('GET', listOf[kind] ?? '');
    for (const item of (body as { items: SnapshotObject[] }).items)
      items.push(change({ ...item, apiVersion: 'v1', kind }));
  }
  const time = new Date(Date.now() + laterMs).toISOString();
  return plan([nodePool(), ...items], { time }).newNodes.flatMap(({ pods }) => pods);
}
const withoutNomination = (item: SnapshotObject): SnapshotObject => {
  const { nominatedNodeName: _, ...status } = item['status'] as Fields;
  return { ...item, status };
};

/** kube-scheduler nominates a pod to node n, from which it evicts another, which takes its time to go. */
async function preempting(): Promise<void> {
  await create(cluster(), node({ name: 'n' }));
  await create(cluster(), large('there', 'low', { node: 'n' }));
  await create(cluster(), large('asking', 'middle'));
  await nominated('asking', 'n');
  await expect.poll(async () => (await read('there')).metadata.deletionTimestamp, poll).toBeDefined();
}

test('a pod that kube-scheduler makes room for waits for it and is bound there', async () => {
  await preempting();
  expect(await launchedFor()).toEqual([]);
  expect(await launchedFor({ change: withoutNomination })).toEqual(['default/asking']);
  await remove(podAt('there'));
  await bound('asking', 'n');
});

test('a pod whose room a more important one took gets a node', async () => {
  await preempting();
  await create(cluster(), large('first', 'high'));
  await nominated('first', 'n');
  await remove(podAt('there'));
  await bound('first', 'n');
  await nominated('asking', 'none');
  expect(await launchedFor()).toEqual(['default/asking']);
});

test('a pod whose node went away with the pods it was to replace gets a node', async () => {
  await preempting();
  await remove(`${listOf['Node']}/n`);
  await remove(podAt('there'));
  await nominated('asking', 'none');
  expect(await launchedFor()).toEqual(['default/asking']);
});

/** Written by someone else; of a pod that does not preempt kube-scheduler never takes it back. */
async function expecting(nominatedNodeName: string): Promise<void> {
  await create(cluster(), node({ name: 'n' }));
  await create(cluster(), large('there', 'low', { node: 'n' }));
  await create(cluster(), large('asking', 'patient'));
  await refused('asking', '0/1 nodes');
  await cluster().request('PATCH', `${podAt('asking')}/status`, { status: { nominatedNodeName } }, merge);
  // A node with room makes it try again; that it may not go there it sees only then.
  await create(cluster(), node({ name: 'others', taints: [{ key: 'example.com/others', effect: 'NoSchedule' }] }));
  await refused('asking', '0/2 nodes');
  expect((await read('asking')).status.nominatedNodeName).toBe(nominatedNodeName);
}

/** The node that the planner launches is one that kube-scheduler takes, whatever was expected. */
async function comesToNewNode(): Promise<void> {
  await create(cluster(), node({ name: 'new' }));
  await bound('asking', 'new');
}

test('a pod that is expected on a full node gets another', async () => {
  await expecting('n');
  expect(await launchedFor()).toEqual(['default/asking']);
  await comesToNewNode();
});

test('a pod that is expected on a node that never comes gets another after five minutes', async () => {
  await expecting('gone');
  expect(await launchedFor()).toEqual([]);
  expect(await launchedFor({ laterMs: 301_000 })).toEqual(['default/asking']);
  await comesToNewNode();
});
