// A hostile tenant at work beside another one: the event loop of the controller never stalls, the other tenant's pods get
// their nodes as before, and nothing that the first wrote reaches a terminal or a log as control bytes.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { seeded } from '../../../bench/workloads/random.ts';
import { runKerf } from '../../cli/run-kerf.ts';
import type { World } from '../../end-to-end/harness/world.ts';
import { Tally } from '../tally.ts';
import { attacks, crowd, namespace } from './hostile-objects.ts';

/** The lease is renewed every two seconds, and probes give up after one. */
const longestStallMs = 1_000;
const user = ['--as=mallory', '--as-group=system:authenticated'];

export interface AttackOptions {
  seed: number;
  rounds: number;
  crowd: number;
  observePort: number;
}

interface Stall {
  /** Processor time of this process within the longest gap between two turns: other programs do not count. */
  worstOwnMs: number;
  worstMs: number;
}

export async function attack(world: World, options: AttackOptions): Promise<Tally> {
  const tally = new Tally();
  const random = seeded(options.seed);
  await prepare(world);
  const victim = await world.room('victim');
  await victim.pool({ spec: { disruption: { consolidateAfter: 'Never' } } });
  await world.api.apply(poolForAll);
  const arrival = async (name: string): Promise<number> => {
    const startMs = Date.now();
    await victim.pod(name, { cpu: '600m' });
    await victim.runs(name, 1);
    return Date.now() - startMs;
  };
  const calm = [await arrival('before-1'), await arrival('before-2')];
  await stall(options.observePort);
  const delays: number[] = [];
  const accepted: string[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    if (options.crowd > 0) await create(world, [crowd(round, options.crowd)]);
    for (const [name, make] of Object.entries(attacks)) {
      const objects = make(random, round);
      accepted.push(...(await create(world, objects)));
      tally.add(`faults: ${name}`, objects.length);
    }
    delays.push(await arrival(`during-${round}`));
  }
  await sleep(3_000);
  const { worstOwnMs, worstMs } = await stall(options.observePort);
  const outputs = await everyOutput(world, accepted);
  tally.add('outputs searched', outputs.size);
  const problems: string[] = [];
  if (worstOwnMs > longestStallMs)
    problems.push(`the event loop stalled for ${Math.round(worstOwnMs)} ms of its own work`);
  const most = Math.max(...calm) * 3 + 15_000;
  for (const delay of delays)
    if (delay > most) problems.push(`another tenant's pod waited ${delay} ms, not ${most} at most`);
  for (const [where, output] of outputs) problems.push(...controlBytesIn(where, output));
  if (world.controller().exit !== undefined) problems.push(`the controller ended: ${world.controller().exit}`);
  console.log(
    `tenant: longest stall ${Math.round(worstOwnMs)} ms of own work (${Math.round(worstMs)} ms by the wall), others' pods ${calm.join(' and ')} ms before, ${delays.join(', ')} ms during`,
  );
  expect(problems, `seed ${options.seed} (KERF_SEED=${options.seed} plays it again)`).toEqual([]);
  return tally;
}

/** One namespace, one user who may edit it and make claims for devices there, and devices that everybody shares. */
async function prepare(world: World): Promise<void> {
  const { kubectl } = world.api;
  const run = kubectl.bind(world.api);
  await run('create', 'namespace', namespace);
  await run('create', 'rolebinding', 'mallory', '--clusterrole=edit', '--user=mallory', '-n', namespace);
  await run('create', 'role', 'devices', '--verb=*', '--resource=resourceclaims.resource.k8s.io', '-n', namespace);
  await run('create', 'rolebinding', 'devices', '--role=devices', '--user=mallory', '-n', namespace);
  await world.cluster().kubectl(['create', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: sharedDevices }),
  });
}

/** A pool that takes pods of anybody, the hostile tenant's too. */
const poolForAll = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodePool',
  metadata: { name: 'for-all' },
  spec: {
    template: {
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        requirements: [],
      },
    },
    disruption: { consolidateAfter: '0s' },
    limits: { cpu: '64' },
  },
};

const sharedDevices = [
  { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', metadata: { name: 'shared' }, spec: {} },
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: 'shared' },
    spec: {
      driver: 'example.com',
      allNodes: true,
      pool: { name: 'shared', generation: 1, resourceSliceCount: 1 },
      devices: Array.from({ length: 16 }, (_, index) => ({
        name: `d${index}`,
        attributes: { model: { string: `${'ab'.repeat(20)}${index}` } },
      })),
    },
  },
];

/** As the hostile user. Returns the names of the pods that the API server took; refusals are its own business. */
async function create(world: World, objects: object[]): Promise<string[]> {
  const stdin = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const answer = await world
    .cluster()
    .kubectl(['create', '-o', 'name', '-f', '-', ...user], { stdin })
    .catch((error: unknown) => ({ stdout: String(error) }));
  const taken = [...answer.stdout.matchAll(/^pod\/(\S+)$/gm)].map(([, name = '']) => name);
  if (taken.length === 0 && !/created|deployment|resourceclaim|poddisruptionbudget/.test(answer.stdout))
    throw new Error(`the API server took nothing: ${answer.stdout.slice(0, 500)}`);
  return taken;
}

async function stall(port: number): Promise<Stall> {
  return (await (await fetch(`http://127.0.0.1:${port}/delay`)).json()) as Stall;
}

async function everyOutput(world: World, pods: readonly string[]): Promise<Map<string, string>> {
  const controller = world.controller();
  const kubeconfig = world.cluster().kubeconfig;
  const outputs = new Map<string, string>([
    ['the log', controller.output()],
    ['metrics', await (await controller.page('/metrics')).text()],
  ]);
  const events = await world.api.kubectl(
    'get',
    'events',
    '-A',
    '-o',
    'jsonpath={range .items[*]}{.source.component}{"\\t"}{.message}{"\\n"}{end}',
  );
  // Only ours: kubelets and schedulers say what they like.
  outputs.set(
    'events',
    events
      .split('\n')
      .filter((line) => line.startsWith('karpenter'))
      .join('\n'),
  );
  const escape = pods.find((name) => name.startsWith('escape-'));
  if (escape !== undefined) {
    const { out, err } = await runKerf(['explain', 'pod', escape, '-n', namespace, '--kubeconfig', kubeconfig]);
    outputs.set('kerf explain', out + err);
  }
  const { out, err } = await runKerf(['doctor', '--kubeconfig', kubeconfig, '--provider', 'kwok']);
  outputs.set('kerf doctor', out + err);
  return outputs;
}

function controlBytesIn(where: string, output: string): string[] {
  // Ends of lines and tabs are ours; everything else below a space, and what terminals take for escapes, is not.
  const found = [...output].find((letter) => {
    const code = letter.codePointAt(0) ?? 0;
    return (code < 0x20 && code !== 0x0a && code !== 0x09) || (code >= 0x7f && code <= 0x9f);
  });
  const forged = output.split('\n').some((line) => line === '{"level":"INFO","message":"forged"}');
  return [
    ...(found === undefined ? [] : [`${where} has the control byte ${JSON.stringify(found)}`]),
    ...(forged ? [`${where} has a line that the tenant wrote`] : []),
  ];
}
