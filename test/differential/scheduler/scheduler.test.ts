// The embedded cluster's scheduler and the real kube-scheduler, asked about the same pods in the same clusters: the nodes
// that can take a pod must be the same, and so must the words for a pod that fits nowhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAccess, KubeClient } from '../../../src/kube/index.ts';
import { type Pod, type Resource, resources } from '../../../src/ports/index.ts';
import { keyOf, RealClock } from '../../../src/runtime/index.ts';
import { ClusterView } from '../../../src/sim/scheduler/cluster-view.ts';
import { roomFilter } from '../../../src/sim/scheduler/filters.ts';
import { type Refused, unschedulableMessage } from '../../../src/sim/scheduler/reasons.ts';
import { chooseVictims } from '../../../src/sim/scheduler/victims.ts';
import type { VolumeLookup } from '../../../src/sim/scheduler/volumes.ts';
import { agreementControlPlane } from '../../rig/scheduler-agreement/rig.ts';
import { useControlPlane } from '../../setup/use-control-plane.ts';
import { makeContest, priorityClasses } from './contest.ts';
import { RealScheduler, type Verdict } from './real-scheduler.ts';
import { Dice, hostname, makePod, makeWorld } from './world.ts';

const seed = Number(process.env['KERF_SEED'] ?? 20261116);
const worlds = 30;
const podsPerWorld = 12;
const contests = 25;

const priorityClassResource: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};

const cluster = useControlPlane(agreementControlPlane);
let kube: KubeClient;
let real: RealScheduler;

beforeAll(async () => {
  const clock = new RealClock();
  const access = await findAccess({ clock, env: {}, kubeconfig: cluster().kubeconfig });
  kube = new KubeClient({ access, clock, userAgent: 'kerf/test', rateLimit: { qps: 0, burst: 0 } });
  await kube.create(resources.namespaces, { metadata: { name: 'other' } });
  for (const priorityClass of priorityClasses) await kube.create(priorityClassResource, priorityClass);
  real = new RealScheduler(kube);
});
afterAll(async () => {
  await real?.stop();
  await kube?.close();
});

/** The world as the API server gives it back, defaults and all. */
async function readView(): Promise<{ view: ClusterView; lookup: VolumeLookup }> {
  const view = new ClusterView();
  for (const node of (await kube.list(resources.nodes)).items) view.setNode(node);
  for (const namespace of (await kube.list(resources.namespaces)).items) view.setNamespace(namespace);
  for (const pod of (await kube.list(resources.pods)).items) {
    if (pod.spec?.nodeName && pod.status?.phase !== 'Succeeded') view.place(keyOf(pod), pod, pod.spec.nodeName);
  }
  const byKey = async <T extends { metadata: object }>(list: Promise<{ items: T[] }>): Promise<Map<string, T>> =>
    new Map((await list).items.map((item) => [keyOf(item), item]));
  const claims = await byKey(kube.list(resources.persistentVolumeClaims));
  const volumes = await byKey(kube.list(resources.persistentVolumes));
  const classes = await byKey(kube.list(resources.storageClasses));
  const csiNodes = await byKey(kube.list(resources.csiNodes));
  const lookup: VolumeLookup = {
    claim: (key) => claims.get(key),
    volume: (name) => volumes.get(name),
    volumes: () => volumes.values(),
    storageClass: (name) => classes.get(name),
    csiNode: (name) => csiNodes.get(name),
  };
  return { view, lookup };
}

function ours(pod: Pod, view: ClusterView, lookup: VolumeLookup): Verdict {
  const filter = roomFilter(pod, view, lookup);
  if ('message' in filter) return { feasible: [], message: unschedulableMessage(filter, view.nodes.length) };
  const refusals = new Map<string, Refused>();
  const feasible: string[] = [];
  for (const room of view.nodes) {
    const refusal = filter(room);
    if (refusal === undefined) feasible.push(room.name);
    else refusals.set(room.name, refusal);
  }
  const message = feasible.length > 0 ? undefined : unschedulableMessage(refusals, view.nodes.length);
  return { feasible: feasible.sort(), message };
}

test(`${worlds * podsPerWorld} random pods may go to the same nodes, and are refused in the same words`, async () => {
  const differences: string[] = [];
  let somewhere = 0;
  let nowhere = 0;
  for (let index = 0; index < worlds; index++) {
    const dice = new Dice(seed + index);
    const world = makeWorld(dice);
    await real.build(world);
    const { view, lookup } = await readView();
    const nodes = world.nodes.map(({ metadata: { name = '', labels } }) => ({ name, host: labels?.[hostname] }));
    for (let each = 0; each < podsPerWorld; each++) {
      const pod = makePod(dice, `asking-${each}`, 'asking');
      const expected = await real.ask(pod, nodes);
      const actual = ours(await kube.create(resources.pods, pod, { dryRun: true }), view, lookup);
      if (expected.feasible.length > 0) somewhere++;
      else nowhere++;
      // A node that cannot be preferred is only seen when nothing else fits.
      const hidden = new Set(nodes.filter(({ host }) => host === undefined).map(({ name }) => name));
      const visible = actual.feasible.filter((name) => !hidden.has(name) || expected.feasible.includes(name));
      const comparable = { ...actual, feasible: visible };
      if (JSON.stringify(expected) === JSON.stringify(comparable)) continue;
      differences.push(
        `seed ${seed + index}, pod ${each}: ${JSON.stringify(pod)}\n  real ${JSON.stringify(expected)}\n  ours ${JSON.stringify(comparable)}`,
      );
    }
  }
  console.log(`seed ${seed}: ${somewhere} pods with a place, ${nowhere} without`);
  expect(differences).toEqual([]);
  expect(Math.min(somewhere, nowhere)).toBeGreaterThan(60);
}, 600_000);

/** What our scheduler says and does about a pod that fits nowhere as things are. */
async function ourContest(pod: Pod): Promise<{ victims: string[]; node: string | undefined; message: string }> {
  const { view, lookup } = await readView();
  const budgets = (await kube.list(resources.podDisruptionBudgets)).items;
  const filter = roomFilter(pod, view, lookup);
  if ('message' in filter) throw new Error(filter.message);
  const refusals = new Map<string, Refused>();
  for (const room of view.nodes) {
    const refusal = filter(room);
    if (refusal === undefined) return { victims: [], node: room.name, message: '' };
    refusals.set(room.name, refusal);
  }
  const found = chooseVictims(pod, refusals, view, lookup, budgets);
  const madeRoom = 'room' in found;
  const message = unschedulableMessage(
    refusals,
    view.nodes.length,
    madeRoom
      ? { kind: 'madeRoom', nodeName: found.room.name, victims: found.victims.length }
      : { kind: 'helpless', stillRefused: found },
  );
  const victims = madeRoom ? found.victims.map((victim) => victim.pod.metadata.name ?? '').sort() : [];
  return { victims, node: madeRoom ? found.room.name : undefined, message };
}

test(`in ${contests} random contests the same pods are pushed aside, and the same is said`, async () => {
  const differences: string[] = [];
  let pushed = 0;
  for (let index = 0; index < contests; index++) {
    const { world, budgets, pod } = makeContest(new Dice(seed + index), `asking-${index}`);
    await real.build(world, budgets);
    const actual = await ourContest(await kube.create(resources.pods, pod, { dryRun: true }));
    // It fits as it is: nothing to contest.
    if (actual.message === '') continue;
    const expected = await real.contest(pod);
    if (expected.victims.length > 0) pushed++;
    if (JSON.stringify(expected) === JSON.stringify(actual)) continue;
    differences.push(
      `seed ${seed + index}: ${JSON.stringify(pod)}\n  real ${JSON.stringify(expected)}\n  ours ${JSON.stringify(actual)}`,
    );
  }
  expect(differences).toEqual([]);
  expect(pushed).toBeGreaterThan(5);
}, 300_000);
