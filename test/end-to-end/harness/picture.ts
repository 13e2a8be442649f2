// What a room looks like, in a screen of text: the part of a failure message from which one sees why.
import type { NodeClaim, NodePool } from '../../../src/api/index.ts';
import type { Node, Pod } from '../../../src/ports/index.ts';
import { conditionsOf } from './api.ts';
import type { LogLine } from './controller-process.ts';

interface Seen {
  pools: NodePool[];
  claims: NodeClaim[];
  nodes: Node[];
  pods: Pod[];
  events: { type: string; reason: string; message: string; involvedObject: { kind: string; name: string } }[];
  logs: LogLine[];
}

const most = 15;

export function pictureOf({ pools, claims, nodes, pods, events, logs }: Seen): string {
  return [
    ...section('pools', pools, (pool) => `${pool.metadata.name}${deleting(pool)} ${conditions(pool)}`),
    ...section('claims', claims, (claim) => {
      const { 'node.kubernetes.io/instance-type': type, 'topology.kubernetes.io/zone': zone } =
        claim.metadata.labels ?? {};
      return `${claim.metadata.name}${deleting(claim)} ${type} ${zone} on ${claim.status?.nodeName} ${conditions(claim)}`;
    }),
    ...section('nodes', nodes, (node) => {
      const taints = (node.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
      return `${node.metadata.name}${deleting(node)} ${conditions(node, ['Ready'])} taints [${taints.join(', ')}]`;
    }),
    ...section('pods', pods, (pod) => {
      const where = pod.spec?.nodeName ?? 'nowhere';
      return `${pod.metadata.name}${deleting(pod)} ${pod.status?.phase} on ${where} ${conditions(pod, ['PodScheduled', 'Ready'])}`;
    }),
    ...section('events', events, ({ type, reason, message, involvedObject: { kind, name } }) =>
      [type, reason, `${kind}/${name}`, message].join(' '),
    ),
    ...section('log', logs, (line) => JSON.stringify(line).slice(0, 600)),
  ].join('\n');
}

function section<T>(title: string, items: readonly T[], line: (item: T) => string): string[] {
  const left = items.length - most;
  return [
    `--- ${items.length} ${title}${left > 0 ? `, the last ${most}` : ''}`,
    ...items.slice(-most).map((item) => `  ${line(item)}`),
  ];
}

const deleting = ({ metadata }: { metadata: { deletionTimestamp?: string } }): string =>
  metadata.deletionTimestamp === undefined ? '' : ' (deleting)';

function conditions(object: unknown, types?: readonly string[]): string {
  return conditionsOf(object)
    .filter(({ type }) => types === undefined || types.includes(type))
    .map(({ type, status, reason, message }) =>
      status === 'True' ? type : `${type}=${status} (${[reason, message].filter(Boolean).join(': ')})`,
    )
    .join(', ');
}
