// Pods as real clusters have them: a mix with the figures of a public trace of a GPU cluster (few pods per node, about a
// hundred different requests, most of them one whole GPU), its half without GPUs, a web-like mix (many small pods, some
// spread over zones or hosts), and pods that hardly repeat each other. Kinds come from one fixed seed, so that T(100) and
// T(8152) draw from the same requests; which pods there are comes from another.
import { label } from '../../src/api/index.ts';
import type { SnapshotObject } from '../../src/core/index.ts';
import { numbered, waitingPod } from './pods.ts';
import { type Random, seeded } from './random.ts';

interface Kind {
  readonly requests: Record<string, string>;
  /** How often it is drawn, beside the other kinds of its part. */
  readonly weight: number;
}

/** Of 8,152 pods: 86 % one GPU, 13 % none, the rest two, four or eight. */
const parts = [
  { share: 0.86, kinds: 78, gpus: [1], cpu: [3, 24] },
  { share: 0.13, kinds: 25, gpus: [0], cpu: [8, 64] },
  { share: 0.01, kinds: 9, gpus: [2, 4, 8], cpu: [4, 10] },
] as const;

/** GiB per cpu: most ask for two to four, some for much more. */
const memoryPerCpu = [1, 2, 2, 3, 4, 4, 4, 6, 8, 12];

const kindSeed = 8152;

function traceKinds(): Kind[][] {
  const random = seeded(kindSeed);
  return parts.map(({ kinds, gpus, cpu: [low, high] }) =>
    Array.from({ length: kinds }, (_, at): Kind => {
      const gpu = gpus[at % gpus.length] as number;
      const cpu = random.between(low, high) * Math.max(1, gpu);
      const memory = Math.max(2, Math.round(cpu * random.pick(memoryPerCpu) * (0.6 + 0.4 * random.next())));
      const requests = {
        cpu: String(cpu),
        memory: `${memory}Gi`,
        ...(gpu > 0 ? { 'nvidia.com/gpu': String(gpu) } : {}),
      };
      // A few requests make up most pods, as in every trace.
      return { requests, weight: 1 / (1 + at) };
    }),
  );
}

function draw(kinds: readonly Kind[], random: Random): Kind {
  let rest = random.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  return kinds.find(({ weight }) => (rest -= weight) < 0) ?? (kinds[0] as Kind);
}

/** T(n): the trace's mix. */
export function tracePods(count: number, random: Random): SnapshotObject[] {
  const kinds = traceKinds();
  return Array.from({ length: count }, (_, i) => {
    let rest = random.next();
    const part = Math.max(
      0,
      parts.findIndex(({ share }) => (rest -= share) < 0),
    );
    return waitingPod(numbered('traced', i), { requests: draw(kinds[part] as Kind[], random).requests });
  });
}

/** The pods of T(n) that ask for no GPU. */
export function tracePodsWithoutGpu(count: number, random: Random): SnapshotObject[] {
  const kinds = traceKinds()[1] as Kind[];
  return Array.from({ length: count }, (_, i) =>
    waitingPod(numbered('traced', i), { requests: draw(kinds, random).requests }),
  );
}

const webCpus = ['50m', '100m', '200m', '250m', '500m', '1', '2'];
const webMemories = ['64Mi', '128Mi', '256Mi', '512Mi', '1Gi', '2Gi', '4Gi'];
const replicas = 20;

/** W(n): Deployments of twenty small pods; a third are spread over zones, a tenth over hosts. */
export function webPods(count: number, random: Random): SnapshotObject[] {
  const spread = (topologyKey: string, app: string): Record<string, unknown> => ({
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { app } } },
    ],
  });
  const pods: SnapshotObject[] = [];
  for (let deployment = 0; pods.length < count; deployment++) {
    const app = numbered('web', deployment);
    const size = random.below(webCpus.length);
    const requests = {
      cpu: webCpus[size] as string,
      memory: webMemories[Math.min(webMemories.length - 1, Math.max(0, size + random.between(-1, 2)))] as string,
    };
    const chance = random.next();
    const spec = chance < 1 / 3 ? spread(label.zone, app) : chance < 1 / 3 + 0.1 ? spread(label.hostname, app) : {};
    for (let pod = 0; pod < replicas && pods.length < count; pod++) {
      pods.push(waitingPod(`${app}-${pod}`, { labels: { app }, requests, spec }));
    }
  }
  return pods;
}

/** V(n, k): n pods of k different requests. */
export function variedPods(count: number, kinds: number, random: Random): SnapshotObject[] {
  const seen = new Set<string>();
  const requests: Record<string, string>[] = [];
  while (requests.length < kinds) {
    const cpu = random.between(1, 160) * 50;
    const memory = Math.max(64, Math.round((cpu * (1 + 7 * random.next())) / 64) * 64);
    if (seen.has(`${cpu} ${memory}`)) continue;
    seen.add(`${cpu} ${memory}`);
    requests.push({ cpu: `${cpu}m`, memory: `${memory}Mi` });
  }
  return Array.from({ length: count }, (_, i) =>
    waitingPod(numbered('varied', i), { requests: requests[i % kinds] as Record<string, string> }),
  );
}
