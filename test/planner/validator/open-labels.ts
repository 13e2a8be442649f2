// Which labels of a new node were not certain when a pod came to it. Planning counts a pod in a domain, and for rules that
// look at some nodes only, once the labels in question have one value; kube-scheduler sees the node with all of its labels.
import { label } from '../../../src/api/index.ts';
import type { Plan, PlannedNode } from '../../../src/core/index.ts';
import type { Cluster } from '../rules/cluster.ts';
import { type Pod, podKey } from '../rules/objects.ts';
import { requiredTerms } from '../rules/pods.ts';
import { get, type Requirement, requirements } from '../rules/requirement.ts';

export interface OpenLabels {
  /** The pod came to a new node whose label of that key had more than one possible value then. */
  hadOpen(pod: Pod, key: string): boolean;
  /** It has more than one at the end of the plan. */
  isOpen(nodeName: string, key: string): boolean;
}

const isOne = ({ complement, values }: Requirement): boolean => !complement && values.size === 1;

/** A preference for the domain of other pods ties a label if it was granted, which the plan does not say. */
export function openLabels(plan: Plan, cluster: Cluster, preferencesTie: boolean): OpenLabels {
  const podOf = new Map(cluster.waiting.map((pod) => [podKey(pod), pod]));
  const nodeOf = new Map(plan.newNodes.map((node) => [node.name, node]));
  const homeOf = new Map<Pod, { node: PlannedNode; at: number; pods: Pod[] }>();
  for (const node of plan.newNodes) {
    const pods = node.pods.flatMap((key) => podOf.get(key) ?? []);
    for (const [at, pod] of pods.entries()) homeOf.set(pod, { node, at, pods });
  }
  const isOpen = (nodeName: string, key: string): boolean => {
    const node = nodeOf.get(nodeName);
    return node !== undefined && key !== label.hostname && !isOne(get(requirements(node.requirements), key));
  };
  const isTiedByPool = ({ nodePool }: PlannedNode, key: string): boolean => {
    const template = cluster.pools.find(({ metadata }) => metadata.name === nodePool)?.spec.template;
    if (template?.metadata?.labels?.[key] !== undefined) return true;
    return isOne(get(requirements(template?.spec.requirements ?? []), key));
  };
  return {
    isOpen,
    hadOpen(pod, key) {
      const home = homeOf.get(pod);
      if (home === undefined || key === label.hostname) return false;
      if (isOpen(home.node.name, key)) return true;
      if (isTiedByPool(home.node, key)) return false;
      return home.at < home.pods.findIndex((each) => ties(each, key, preferencesTie));
    },
  };
}

/** A selector, one value to have, a rule over the key, or a volume, which has a zone; `NotIn` leaves a choice. */
function ties({ spec }: Pod, key: string, preferencesTie: boolean): boolean {
  const isOneValue = requiredTerms(spec).some((term) =>
    (term.matchExpressions ?? []).some(
      (each) => each.key === key && each.operator === 'In' && each.values?.length === 1,
    ),
  );
  const { podAffinity } = spec.affinity ?? {};
  const affinity = preferencesTie ? podAffinity : podAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isRuled = JSON.stringify([spec.topologySpreadConstraints, affinity]).includes(`"${key}"`);
  const hasVolume = key === label.zone && (spec.volumes ?? []).length > 0;
  return isOneValue || isRuled || hasVolume || spec.nodeSelector?.[key] !== undefined;
}
