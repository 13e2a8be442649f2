// Pods on nodes with NoExecute taints: deleted at once, or when the time they tolerate the taint for is over.
import { parseTime } from '../../base/index.ts';
import { tolerates } from '../../core/index.ts';
import { isKubeError, type Node, type Pod, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome } from '../../runtime/index.ts';
import type { WorkloadContext, WorkloadController } from './frame.ts';
import { isActive } from './pods.ts';

type Toleration = Parameters<typeof tolerates>[0] & { tolerationSeconds?: number };

export function taintEvictionController({ kube, clock, caches, tell }: WorkloadContext): WorkloadController {
  const reconcile = async (key: string): Promise<Outcome> => {
    const pod = caches.of(resources.pods).store.get(key);
    const node = caches.of(resources.nodes).store.get(pod?.spec?.nodeName ?? '');
    if (pod === undefined || node === undefined || !isActive(pod)) return done;
    const leaveMs = leaveAt(pod, node, clock.now());
    if (leaveMs === undefined) return done;
    if (leaveMs > clock.now()) return { kind: 'again', afterMs: leaveMs - clock.now() };
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const message = `Marking for deletion Pod ${namespace}/${name}`;
    tell(resources.pods, pod, { type: 'Normal', reason: 'TaintManagerEviction', message });
    try {
      await kube.delete(resources.pods, { name, namespace }, { preconditions: { uid } });
    } catch (error) {
      if (!isKubeError(error, 'NotFound') && !isKubeError(error, 'Conflict')) throw error;
    }
    return done;
  };

  return {
    name: 'taint-eviction',
    follow: (add) => [
      caches.of(resources.nodes).subscribe((change) => {
        if (change.kind === 'deleted' || noExecute(change.object).length === 0) return;
        if (change.kind === 'updated' && change.old.spec?.taints === change.object.spec?.taints) return;
        for (const pod of caches.of(resources.pods).store.filedUnder('node', change.object.metadata.name ?? '')) {
          add(keyOf(pod));
        }
      }),
      caches.of(resources.pods).subscribe(({ kind, object }) => {
        if (kind === 'deleted') return;
        const node = caches.of(resources.nodes).store.get(object.spec?.nodeName ?? '');
        if (node !== undefined && noExecute(node).length > 0) add(keyOf(object));
      }),
    ],
    reconcile,
  };
}

const noExecute = (node: Node) => (node.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/** When the pod must go; undefined: it may stay. */
function leaveAt(pod: Pod, node: Node, nowMs: number): number | undefined {
  let leaveMs: number | undefined;
  for (const taint of noExecute(node)) {
    const tolerations = ((pod.spec?.tolerations ?? []) as Toleration[]).filter((each) => tolerates(each, taint));
    if (tolerations.length === 0) return nowMs;
    const limits = tolerations.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
    // One toleration without end is enough only if none of them has one, as the taint manager sees it.
    if (limits.length === 0) continue;
    const dueMs = (parseTime(taint.timeAdded ?? '') ?? nowMs) + Math.max(0, Math.min(...limits)) * 1000;
    leaveMs = leaveMs === undefined ? dueMs : Math.min(leaveMs, dueMs);
  }
  return leaveMs;
}
