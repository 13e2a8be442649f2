// Nodes that are not well: taints that follow their conditions, and Ready=Unknown for those whose kubelet has said nothing
// for forty seconds.
import { formatTime, isEqual, parseTime } from '../../base/index.ts';
import { type Lease, type Node, resources } from '../../ports/index.ts';
import { done, type Outcome } from '../../runtime/index.ts';
import type { WorkloadContext, WorkloadController } from './frame.ts';

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];

const silenceMs = 40_000;
const prefix = 'node.kubernetes.io/';
/** Condition and status that bring a taint with NoSchedule. */
const troubles: readonly [type: string, status: string, taint: string][] = [
  ['MemoryPressure', 'True', 'memory-pressure'],
  ['DiskPressure', 'True', 'disk-pressure'],
  ['PIDPressure', 'True', 'pid-pressure'],
  ['NetworkUnavailable', 'True', 'network-unavailable'],
];
const ours = new Set(
  [...troubles.map(([, , taint]) => taint), 'not-ready', 'unreachable', 'unschedulable'].map((name) => prefix + name),
);

export function nodeLifecycleController({ kube, clock, caches }: WorkloadContext): WorkloadController {
  const leaseOf = (name: string): Lease | undefined => caches.of(resources.leases).store.get(`kube-node-lease/${name}`);

  const reconcile = async (name: string): Promise<Outcome> => {
    const node = caches.of(resources.nodes).store.get(name);
    if (node === undefined) return done;
    const renewedMs = parseTime(leaseOf(name)?.spec?.renewTime ?? '');
    const quietMs = renewedMs === undefined ? 0 : clock.now() - renewedMs;
    if (quietMs >= silenceMs) await markSilent(node);
    const taints = taintsFor(node, formatTime(clock.now()));
    if (!isEqual(identities(taints), identities(node.spec?.taints ?? []))) {
      const { resourceVersion } = node.metadata;
      const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
      await kube.patch(resources.nodes, { name }, { type: 'merge', body });
    }
    return renewedMs === undefined || quietMs >= silenceMs
      ? done
      : { kind: 'again', afterMs: Math.max(1_000, silenceMs - quietMs) };
  };

  const markSilent = async (node: Node): Promise<void> => {
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    if (ready === undefined || ready.status === 'Unknown') return;
    const condition = {
      type: 'Ready',
      status: 'Unknown',
      reason: 'NodeStatusUnknown',
      message: 'Kubelet stopped posting node status.',
      lastTransitionTime: formatTime(clock.now()),
    };
    const body = { status: { conditions: [condition] } };
    const { name = '' } = node.metadata;
    await kube.patch(resources.nodes, { name }, { type: 'strategic', body }, { subresource: 'status' });
  };

  return {
    name: 'node-lifecycle',
    follow: (add) => [
      caches.of(resources.nodes).subscribe(({ kind, object }) => {
        if (kind !== 'deleted') add(object.metadata.name ?? '');
      }),
      // A lease that comes tells that there is a silence to wait for; renewals are looked up when it would be over.
      caches.of(resources.leases).subscribe(({ kind, object }) => {
        if (kind === 'added' && object.metadata.namespace === 'kube-node-lease')
          add(object.metadata.name ?? '', silenceMs);
      }),
    ],
    reconcile,
  };
}

/** What the taints should be; those that are there already keep the time since when. */
function taintsFor(node: Node, time: string): Taint[] {
  const present = node.spec?.taints ?? [];
  const wanted: Taint[] = [];
  const add = (name: string, effect: string): void => {
    const taint = { key: prefix + name, effect };
    const known = present.find(({ key, effect: has }) => key === taint.key && has === effect);
    wanted.push(known ?? { ...taint, timeAdded: time });
  };
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  if (ready === 'Unknown') {
    add('unreachable', 'NoSchedule');
    add('unreachable', 'NoExecute');
  } else if (ready !== 'True') {
    add('not-ready', 'NoSchedule');
    if (ready === 'False') add('not-ready', 'NoExecute');
  }
  for (const [type, status, name] of troubles) {
    if (node.status?.conditions?.some((each) => each.type === type && each.status === status)) add(name, 'NoSchedule');
  }
  if (node.spec?.unschedulable === true) add('unschedulable', 'NoSchedule');
  return [...present.filter(({ key }) => !ours.has(key)), ...wanted];
}

const identities = (taints: readonly Taint[]): string[] => taints.map(({ key, effect }) => `${key}:${effect}`).sort();
