// The cluster as it really is at one instant, straight from the API server, and the plain facts the judge reads off it.
import { conditionType, isTrue, label, type NodeClaim, type NodePool, taint } from '../../../../src/api/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { nodeClaims, nodePools } from '../../../../src/controllers/index.ts';
import { type Kube, type Node, type Pod, type PodDisruptionBudget, resources } from '../../../../src/ports/index.ts';

export interface Observation {
  atMs: number;
  pools: readonly NodePool[];
  claims: readonly NodeClaim[];
  nodes: readonly Node[];
  pods: readonly Pod[];
  budgets: readonly PodDisruptionBudget[];
}

/** All lists are taken at once: nothing happens between them. */
export async function observe(kube: Kube, clock: Clock): Promise<Observation> {
  const [pools, claims, nodes, pods, budgets] = await Promise.all([
    kube.list(nodePools),
    kube.list(nodeClaims),
    kube.list(resources.nodes),
    kube.list(resources.pods),
    kube.list(resources.podDisruptionBudgets),
  ]);
  return {
    atMs: clock.now(),
    pools: pools.items,
    claims: claims.items,
    nodes: nodes.items,
    pods: pods.items,
    budgets: budgets.items,
  };
}

type Labelled = { metadata: { labels?: Record<string, string> } };

export const poolNameOf = ({ metadata }: Labelled): string => metadata.labels?.[label.nodePool] ?? '';

export const isDeleting = (object: { metadata: { deletionTimestamp?: string } } | undefined): boolean =>
  object?.metadata.deletionTimestamp !== undefined;

export const claimIs = (claim: NodeClaim | undefined, type: string): boolean => isTrue(claim?.status?.conditions, type);

export const isMarked = (claim: NodeClaim): boolean => claimIs(claim, conditionType.disruptionReason);

export const hasDisruptedTaint = (node: Node): boolean =>
  node.spec?.taints?.some(({ key }) => key === taint.disrupted.key) ?? false;

export const isReadyNode = (node: Node): boolean =>
  node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;

export const isInitializedNode = (node: Node): boolean => node.metadata.labels?.[label.initialized] === 'true';

export function claimOfNode(seen: Observation, node: Node): NodeClaim | undefined {
  return seen.claims.find(
    ({ status }) => status?.providerID !== undefined && status.providerID === node.spec?.providerID,
  );
}

export function nodeNamed(seen: Observation, name: string): Node | undefined {
  return seen.nodes.find(({ metadata }) => metadata.name === name);
}

export function podsOn(seen: Observation, node: string): Pod[] {
  return seen.pods.filter(
    ({ spec, status }) => spec?.nodeName === node && !/Succeeded|Failed/.test(status?.phase ?? ''),
  );
}
