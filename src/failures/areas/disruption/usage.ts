// How much of a node its pods ask for, and whether it is one of the autoscaler's.
import { ageMs, type Evidence } from '../../evidence.ts';
import { containersOf, podSpecOf } from '../../facts.ts';
import { listAt, textAt } from '../../fields.ts';
import { labelsOf, type Stored } from '../../objects.ts';
import { poolLabel } from '../../relations.ts';

export const ownNodes = ({ objects }: Evidence): Stored[] =>
  objects.of('Node').filter(({ object }) => textAt(labelsOf(object), poolLabel) !== '');

export function podsByNode({ objects }: Evidence): Map<string, Stored[]> {
  const found = new Map<string, Stored[]>();
  for (const pod of objects.of('Pod')) {
    const node = textAt(pod.object, 'spec', 'nodeName');
    if (node === '' || /Succeeded|Failed/.test(textAt(pod.object, 'status', 'phase'))) continue;
    const known = found.get(node);
    if (known === undefined) found.set(node, [pod]);
    else known.push(pod);
  }
  return found;
}

/** The share of the node's cpu that its pods ask for; undefined when the node does not say what it has. */
export function cpuShare({ object }: Stored, pods: readonly Stored[]): number | undefined {
  const has = cpuOf(textAt(object, 'status', 'allocatable', 'cpu'));
  if (has === undefined || has === 0) return undefined;
  const asked = pods.reduce((sum, pod) => sum + requestedCpu(pod), 0);
  return asked / has;
}

const requestedCpu = (pod: Stored): number =>
  containersOf(podSpecOf(pod)).reduce(
    (sum: number, one) => sum + (cpuOf(textAt(one, 'resources', 'requests', 'cpu')) ?? 0),
    0,
  );

function cpuOf(text: string): number | undefined {
  if (text === '') return undefined;
  const value = text.endsWith('m') ? Number(text.slice(0, -1)) / 1000 : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

export function olderThan(evidence: Evidence, { object }: Stored, leastMs: number): boolean {
  const age = ageMs(evidence, textAt(object, 'metadata', 'creationTimestamp'));
  return age !== undefined && age >= leastMs;
}

export const isDaemon = ({ object }: Stored): boolean =>
  listAt(object, 'metadata', 'ownerReferences').some((owner) => textAt(owner, 'kind') === 'DaemonSet');
