// Evidence as it comes from the field: pieces of text in the kinds of places where people find them, and healthy clusters of
// which something is then broken.
import { expect } from 'vitest';
import { type CaseEvidence, condition, diagnoseCase, minutesAgo, object } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { type HealthyShape, healthyCluster } from '../healthy.testing.ts';

export type Where = 'asked' | 'cli' | 'log' | 'node';

export function evidenceIn(where: Where, text: string): CaseEvidence {
  if (where === 'asked') return { text };
  const path = { cli: 'cli/transcript.txt', log: 'logs/karpenter.log', node: 'nodes/i-0abc1234567890abc/console.txt' };
  return { texts: { [path[where]]: text } };
}

/** An object as parsed, whose fields tests change as they like. */
export type Loose = ReturnType<typeof JSON.parse>;

export interface FieldCluster extends CaseEvidence {
  objects: Loose[];
  aws: Record<string, Loose>;
  texts: Record<string, string>;
  cluster: { name?: string; region?: string; accountId?: string; kubernetesVersion?: string };
}

const plain: HealthyShape = {
  nodes: 3,
  joining: 0,
  waiting: 0,
  usesPodIdentity: false,
  usesConfigMap: false,
  allowsSpot: false,
  family: 'al2023',
  isThrottled: false,
  hasLogs: true,
  hasAccount: true,
  also: [],
};

/** A healthy cluster with its account and logs, to be broken. */
export const healthy = (over: Partial<HealthyShape> = {}): FieldCluster =>
  structuredClone(healthyCluster({ ...plain, ...over })) as FieldCluster;

export function get(cluster: FieldCluster, kind: string, name: string): Loose {
  const found = cluster.objects.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`the cluster has no ${kind} ${name}`);
  return found;
}

export function add(cluster: FieldCluster, ...objects: object[]): FieldCluster {
  cluster.objects.push(...objects);
  return cluster;
}

export function setCondition(
  stored: Loose,
  type: string,
  status: string,
  reason = '',
  message = '',
  minutes = 30,
): void {
  stored.status ??= {};
  const others = (stored.status.conditions ?? []).filter((one: Loose) => one.type !== type);
  stored.status.conditions = [...others, condition(type, status, reason, message, minutes)];
}

/** A claim that was launched and whose node never came. */
export function unregistered(name: string, minutes = 20): object {
  const absent = ['Unknown', 'NodeNotFound', 'Node not registered with cluster', minutes] as const;
  return claim(name, minutes, [
    condition('Launched', 'True', 'Launched', '', minutes),
    condition('Registered', ...absent),
    condition('Initialized', ...absent),
  ]);
}

export const claim = (name: string, minutes: number, conditions: object[], status: object = {}): object =>
  object('NodeClaim', name, {
    metadata: { creationTimestamp: minutesAgo(minutes), labels: { 'karpenter.sh/nodepool': 'default' } },
    spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } },
    status: { providerID: 'aws:///us-east-1a/i-0ff10c0ffee00001', conditions, ...status },
  });

export const waitingPod = (
  name: string,
  minutes = 15,
  spec: object = {},
  message = '0/5 nodes are available: 5 Insufficient cpu.',
): object =>
  object(
    'Pod',
    name,
    {
      metadata: { creationTimestamp: minutesAgo(minutes) },
      spec: { containers: [{ name: 'app', resources: { requests: { cpu: '1', memory: '1Gi' } } }], ...spec },
      status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', message, minutes)] },
    },
    'shop',
  );

export const event = (name: string, kind: string, about: string, reason: string, message: string): object =>
  object(
    'Event',
    name,
    {
      reason,
      message,
      involvedObject: { kind, name: about, ...(kind === 'Pod' ? { namespace: 'shop' } : {}) },
      lastTimestamp: minutesAgo(2),
    },
    'shop',
  );

/** Exactly these root causes above low, and these consequences folded into them. */
export function expectCauses(evidence: CaseEvidence, causes: readonly FailureId[], folded: readonly FailureId[] = []) {
  const { findings } = diagnoseCase(evidence);
  const seen = findings.filter(({ severity, id }) => severity !== 'low' || causes.includes(id)).map(({ id }) => id);
  expect(seen.sort()).toEqual([...causes].sort());
  expect(findings.flatMap(({ consequences = [] }) => consequences.map(({ id }) => id))).toEqual(
    expect.arrayContaining([...folded]),
  );
}
