// What a kubelet says about its node: conditions, addresses, what it runs. Only what is missing is said, so whatever
// someone else wrote stays; the one exception is the node controller's note that this kubelet was silent for too long.

import { label } from '../../api/index.ts';
import { formatTime } from '../../base/index.ts';
import type { Node } from '../../ports/index.ts';
import { gitVersion } from '../kubernetes-version.ts';
import { addressOf } from './hash.ts';

type NodeStatus = NonNullable<Node['status']>;
type NodeCondition = NonNullable<NodeStatus['conditions']>[number];

const kubeletVersion = `${gitVersion}-fake`;

const healthy: readonly Pick<NodeCondition, 'type' | 'status' | 'reason' | 'message'>[] = [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: 'memory is sufficient' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: 'disk space is sufficient' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: 'process ids are sufficient' },
  { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated', message: 'a fake node needs no routes' },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the fake kubelet is ready' },
];

/** How the node controller explains that a kubelet said nothing. */
const silence = new Set(['NodeStatusUnknown', 'NodeStatusNeverUpdated']);

/** As KWOK: a node without figures is a big one. */
const defaultCapacity = { cpu: '32', memory: '256Gi', pods: '110', 'ephemeral-storage': '100Gi' };

export interface NodeView {
  nowMs: number;
  /** Whoever notes that this kubelet was silent is right: it has just started, or its Lease was renewed too late. */
  wasSilent: boolean;
}

/** What the status lacks, as a strategic merge patch; undefined if nothing. */
export function nodeReport(node: Node, { nowMs, wasSilent }: NodeView): NodeStatus | undefined {
  const { metadata, status = {} } = node;
  const report: NodeStatus = {};
  const conditions = missingConditions(status.conditions ?? [], wasSilent, formatTime(nowMs));
  if (conditions.length > 0) report.conditions = conditions;
  if ((status.addresses ?? []).length === 0) {
    const name = metadata.name ?? '';
    report.addresses = [
      { type: 'InternalIP', address: addressOf(name, 8) },
      { type: 'Hostname', address: metadata.labels?.[label.hostname] ?? name },
    ];
  }
  const capacity = status.capacity ?? status.allocatable ?? defaultCapacity;
  if (status.capacity === undefined) report.capacity = capacity;
  if (status.allocatable === undefined) report.allocatable = capacity;
  if (!status.nodeInfo?.kubeletVersion) report.nodeInfo = nodeInfo(node);
  if (status.phase === 'Pending') report.phase = 'Running';
  return Object.keys(report).length === 0 ? undefined : report;
}

function missingConditions(present: readonly NodeCondition[], wasSilent: boolean, time: string): NodeCondition[] {
  return healthy
    .filter(({ type }) => {
      const known = present.find((condition) => condition.type === type);
      return known === undefined || (wasSilent && silence.has(known.reason ?? ''));
    })
    .map((condition) => ({ ...condition, lastHeartbeatTime: time, lastTransitionTime: time }));
}

function nodeInfo({ metadata: { labels = {}, uid = '' } }: Node): NonNullable<NodeStatus['nodeInfo']> {
  return {
    architecture: labels[label.arch] ?? 'amd64',
    operatingSystem: labels[label.os] ?? 'linux',
    kubeletVersion,
    kubeProxyVersion: '',
    containerRuntimeVersion: 'fake://1.0.0',
    kernelVersion: 'fake',
    osImage: 'simulated',
    bootID: uid,
    machineID: uid.replaceAll('-', ''),
    systemUUID: uid,
  };
}

export const isReady = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
