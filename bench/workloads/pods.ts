// Waiting pods of the planner workloads: diverse (D), with preferences (P), hostname spread (H), or one line per pod of a
// file (R). All draws come from the seed; names and creation times are fixed, so that a workload is the same document
// every time.
import { label } from '../../src/api/index.ts';
import type { SnapshotObject } from '../../src/core/index.ts';
import type { Pod } from '../../src/ports/index.ts';
import type { Random } from './random.ts';

const cpus = ['100m', '250m', '500m', '1000m', '1500m'];
const memories = ['100Mi', '256Mi', '512Mi', '1024Mi', '2048Mi', '4096Mi'];
const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

interface PodParts {
  labels?: Record<string, string>;
  requests: Record<string, string>;
  spec?: Record<string, unknown>;
}

function pod(name: string, parts: PodParts, status: object): SnapshotObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(parts.labels === undefined ? {} : { labels: parts.labels }),
    },
    spec: {
      ...parts.spec,
      containers: [{ name: 'main', image: 'app', resources: { requests: parts.requests } }],
    },
    status,
  };
}

export const waitingPod = (name: string, parts: PodParts): SnapshotObject =>
  pod(name, parts, {
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
  });

/** Runs on the node and takes a quarter of half of it. */
export const boundPod = (name: string, nodeName: string): SnapshotObject =>
  pod(
    name,
    { labels: { app: 'running' }, requests: { cpu: '2', memory: '8Gi' }, spec: { nodeName } },
    { phase: 'Running', conditions: [{ type: 'PodScheduled', status: 'True' }] },
  );

export const numbered = (prefix: string, index: number): string => `${prefix}-${String(index).padStart(6, '0')}`;

function drawRequests(random: Random): Record<string, string> {
  return { cpu: random.pick(cpus), memory: random.pick(memories) };
}

function genericPods(count: number, from: number, random: Random): SnapshotObject[] {
  return Array.from({ length: count }, (_, i) =>
    waitingPod(numbered('generic', from + i), {
      labels: { 'my-label': random.pick(letters) },
      requests: drawRequests(random),
    }),
  );
}

function spreadPods(prefix: string, count: number, topologyKey: string, random: Random): SnapshotObject[] {
  return Array.from({ length: count }, (_, i) =>
    waitingPod(numbered(prefix, i), {
      labels: { 'my-label': random.pick(letters) },
      requests: drawRequests(random),
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { 'my-label': random.pick(letters) } },
          },
        ],
      },
    }),
  );
}

const podTerm = (matchLabels: Record<string, string>, topologyKey: string) => ({
  labelSelector: { matchLabels },
  topologyKey,
});

function affinityPods(count: number, random: Random): SnapshotObject[] {
  return Array.from({ length: count }, (_, i) => {
    const labels = { 'my-affinity': random.pick(letters) };
    return waitingPod(numbered('together', i), {
      labels,
      requests: drawRequests(random),
      spec: {
        affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podTerm(labels, label.zone)] } },
      },
    });
  });
}

function antiAffinityPods(count: number, random: Random): SnapshotObject[] {
  const labels = { app: 'nginx' };
  return Array.from({ length: count }, (_, i) =>
    waitingPod(numbered('apart', i), {
      labels,
      requests: drawRequests(random),
      spec: {
        affinity: {
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [podTerm(labels, label.hostname)] },
        },
      },
    }),
  );
}

/** D(n): five equal parts, the remainder generic. */
export function diversePods(count: number, random: Random): SnapshotObject[] {
  const part = Math.floor(count / 5);
  return [
    ...genericPods(part, 0, random),
    ...spreadPods('zonal', part, label.zone, random),
    ...spreadPods('hostwise', part, label.hostname, random),
    ...affinityPods(part, random),
    ...antiAffinityPods(part, random),
    ...genericPods(count - 5 * part, part, random),
  ];
}

/** The generic part of D(n) alone: what the lower bound is compared with. */
export function genericPart(count: number, random: Random): SnapshotObject[] {
  return genericPods(count, 0, random);
}

/** P(n): equal pods, one preference that holds, one that cannot, one that can. */
export function preferencePods(count: number): SnapshotObject[] {
  const labels = { app: 'nginx' };
  // Not drawn: with these, 4000 pods need six of the largest nodes, as in the peer's benchmark.
  const requests = { cpu: '500m', memory: '512Mi' };
  return Array.from({ length: count }, (_, i) =>
    waitingPod(numbered('picky', i), {
      labels,
      requests,
      spec: {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 1,
                preference: { matchExpressions: [{ key: label.zone, operator: 'In', values: ['test-zone-1'] }] },
              },
            ],
          },
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              { weight: 10, podAffinityTerm: podTerm(labels, label.zone) },
              { weight: 1, podAffinityTerm: podTerm(labels, label.hostname) },
            ],
          },
        },
      },
    }),
  );
}

/** H(n): two deployments, each spread over hostnames with maxSkew 1. */
export function hostnameSpreadPods(count: number, random: Random): SnapshotObject[] {
  const requests = [drawRequests(random), drawRequests(random)];
  return Array.from({ length: count }, (_, i) => {
    const app = i % 2 === 0 ? 'one' : 'two';
    return waitingPod(numbered(app, i), {
      labels: { app },
      requests: requests[i % 2] ?? {},
      spec: {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: label.hostname,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app } },
          },
        ],
      },
    });
  });
}

/** As a client creates it: who made it unschedulable, and when, is the cluster's to say. */
export function withoutServerFields({ metadata, spec }: SnapshotObject): Pod {
  const { name, namespace, labels } = metadata as Pod['metadata'];
  return { metadata: { name, namespace, labels }, spec } as unknown as Pod;
}

/** R: one pod per line `cpu memory [gpus]`, separated by commas or blanks; `#` starts a comment, a heading is skipped. */
export function podsFromLines(text: string): SnapshotObject[] {
  const pods: SnapshotObject[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/#.*/, '').trim();
    if (line === '' || (pods.length === 0 && /^[a-z]/i.test(line))) continue;
    const [cpu, memory, gpus] = line.split(/[\s,;]+/);
    if (cpu === undefined || memory === undefined) {
      throw new Error(`line ${index + 1} is "${line}"; write "cpu memory [gpus]", for example "500m 1Gi 0"`);
    }
    const requests: Record<string, string> = { cpu, memory };
    if (gpus !== undefined && gpus !== '0') requests['nvidia.com/gpu'] = gpus;
    pods.push(waitingPod(numbered('line', pods.length), { requests }));
  }
  return pods;
}
