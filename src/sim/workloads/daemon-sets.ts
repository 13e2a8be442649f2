// DaemonSets: one pod on every node that suits it. Pods are pinned to their node by affinity and placed by the scheduler.
import { untolerated } from '../../core/index.ts';
import { type DaemonSet, type Node, type Pod, resources } from '../../ports/index.ts';
import { done, keyOf, type Outcome } from '../../runtime/index.ts';
import { matchesNode } from '../scheduler/node-selector.ts';
import {
  crowdMs,
  onceSettled,
  ownAndOwned,
  podsOf,
  Unseen,
  type WorkloadContext,
  type WorkloadController,
  writeStatus,
} from './frame.ts';
import {
  amountOf,
  createPod,
  deletePod,
  hasEnded,
  isAvailable,
  isReady,
  type PodTemplate,
  templateHash,
} from './pods.ts';

type Toleration = NonNullable<NonNullable<Pod['spec']>['tolerations']>[number];

const revisionLabel = 'controller-revision-hash';

/** What a daemon puts up with, because the node's troubles are its business. */
const daemonTolerations: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const networkToleration: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

export function daemonSetController(context: WorkloadContext): WorkloadController {
  const { kube, clock, caches, tell } = context;
  const unseen = new Unseen(clock);
  const store = () => caches.of(resources.pods).store;

  const reconcile = async (set: DaemonSet): Promise<Outcome> => {
    const template = daemonTemplate(set);
    const revision = templateHash(set.spec?.template ?? {});
    const pods = podsOf(caches, set);
    const onNode = new Map<string, Pod[]>();
    for (const pod of pods) {
      const node = nodeOf(pod);
      onNode.set(node, [...(onNode.get(node) ?? []), pod]);
    }
    const nodes = [...caches.of(resources.nodes).store.values()];
    if (set.metadata.deletionTimestamp === undefined) {
      for (const node of nodes) await serve(set, node, onNode.get(node.metadata.name ?? '') ?? [], template, revision);
      await update(set, nodes, onNode, revision);
    }
    await writeStatus(kube, resources.daemonSets, set, statusOf(set, nodes, onNode, revision, clock.now()));
    return done;
  };

  const serve = async (
    set: DaemonSet,
    node: Node,
    present: readonly Pod[],
    template: PodTemplate,
    revision: string,
  ): Promise<void> => {
    const { runs, stays } = suits(set, node);
    for (const pod of present) {
      if (pod.metadata.deletionTimestamp !== undefined) continue;
      // An ended daemon is replaced; one that no longer belongs here goes.
      if (hasEnded(pod) || !stays) await deletePod(kube, unseen, store(), set, pod);
    }
    if (!runs || present.length > 0) return;
    const name = node.metadata.name ?? '';
    const pod = await createPod(kube, unseen, store(), {
      owner: set,
      resource: resources.daemonSets,
      template,
      name: { prefix: `${set.metadata.name}-` },
      labels: { [revisionLabel]: revision },
      spec: pinnedTo(name, template),
    });
    const message = `Created pod: ${pod.metadata.name}`;
    tell(resources.daemonSets, set, { type: 'Normal', reason: 'SuccessfulCreate', message });
  };

  /** Old pods go as long as not too many nodes are without. */
  const update = async (
    set: DaemonSet,
    nodes: readonly Node[],
    onNode: ReadonlyMap<string, readonly Pod[]>,
    revision: string,
  ): Promise<void> => {
    const { type = 'RollingUpdate', rollingUpdate } = set.spec?.updateStrategy ?? {};
    if (type !== 'RollingUpdate') return;
    const wanted = nodes.filter((node) => suits(set, node).runs);
    let budget = amountOf(rollingUpdate?.maxUnavailable, wanted.length, 'up', 1);
    const old: Pod[] = [];
    for (const node of wanted) {
      const pods = onNode.get(node.metadata.name ?? '') ?? [];
      const pod = pods.find((each) => each.metadata.deletionTimestamp === undefined);
      if (pod === undefined || !isReady(pod)) budget--;
      if (pod !== undefined && pod.metadata.labels?.[revisionLabel] !== revision) old.push(pod);
    }
    const unready = old.filter((pod) => !isReady(pod));
    const victims = [...unready, ...old.filter(isReady).slice(0, Math.max(0, budget))];
    for (const pod of victims) await deletePod(kube, unseen, store(), set, pod);
  };

  return {
    name: 'daemonset',
    follow(add) {
      const wakeAll = (): void => {
        for (const set of caches.of(resources.daemonSets).store.values()) add(keyOf(set), crowdMs);
      };
      return [
        ...ownAndOwned(caches, resources.daemonSets, [resources.pods], add),
        caches.of(resources.nodes).subscribe((change) => {
          if (change.kind !== 'updated' || mattersToDaemons(change.old, change.object)) wakeAll();
        }),
      ];
    },
    reconcile: onceSettled(caches, unseen, resources.daemonSets, reconcile),
  };
}

const mattersToDaemons = (before: Node, after: Node): boolean =>
  JSON.stringify([before.metadata.labels, before.spec?.taints]) !==
  JSON.stringify([after.metadata.labels, after.spec?.taints]);

function daemonTemplate(set: DaemonSet): PodTemplate {
  const template = (set.spec?.template ?? {}) as PodTemplate;
  const own = template.spec?.tolerations ?? [];
  const added = [...daemonTolerations, ...(template.spec?.hostNetwork === true ? [networkToleration] : [])];
  return { ...template, spec: { ...template.spec, tolerations: [...own, ...added] } as NonNullable<Pod['spec']> };
}

/** Whether a pod should be started on the node, and whether one that runs there may stay. */
function suits(set: DaemonSet, node: Node): { runs: boolean; stays: boolean } {
  const { spec } = daemonTemplate(set);
  const { name = '', labels = {} } = node.metadata;
  const room = { name, node, labels, taints: [], allocatable: new Map(), used: new Map(), pods: new Map() };
  if (!matchesNode({ metadata: {}, ...(spec === undefined ? {} : { spec }) }, room))
    return { runs: false, stays: false };
  const taints = untolerated(node.spec?.taints ?? [], spec?.tolerations ?? []);
  const stays = !taints.some(({ effect }) => effect === 'NoExecute');
  return { runs: stays && !taints.some(({ effect }) => effect === 'NoSchedule'), stays };
}

/** Affinity of the template with the node's name in every alternative. */
function pinnedTo(name: string, { spec }: PodTemplate): Partial<NonNullable<Pod['spec']>> {
  const field = { key: 'metadata.name', operator: 'In', values: [name] };
  const { affinity } = spec ?? {};
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  return {
    affinity: {
      ...affinity,
      nodeAffinity: {
        ...affinity?.nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: required.map((term) => ({ ...term, matchFields: [field] })),
        },
      },
    },
  };
}

function nodeOf(pod: Pod): string {
  if (pod.spec?.nodeName) return pod.spec.nodeName;
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

function statusOf(
  set: DaemonSet,
  nodes: readonly Node[],
  onNode: ReadonlyMap<string, readonly Pod[]>,
  revision: string,
  nowMs: number,
): object {
  const counts = { desired: 0, current: 0, ready: 0, available: 0, updated: 0, misplaced: 0 };
  for (const node of nodes) {
    const pod = (onNode.get(node.metadata.name ?? '') ?? []).find((each) => !hasEnded(each));
    if (!suits(set, node).runs) {
      if (pod !== undefined) counts.misplaced++;
      continue;
    }
    counts.desired++;
    if (pod === undefined) continue;
    counts.current++;
    if (isReady(pod)) counts.ready++;
    if (isAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)) counts.available++;
    if (pod.metadata.labels?.[revisionLabel] === revision) counts.updated++;
  }
  return {
    observedGeneration: set.metadata.generation,
    desiredNumberScheduled: counts.desired,
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misplaced,
    numberReady: counts.ready,
    numberAvailable: counts.available,
    numberUnavailable: counts.desired - counts.available,
    updatedNumberScheduled: counts.updated,
  };
}
