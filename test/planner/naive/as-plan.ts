// The naive planner's answer written as a plan document, so that the validator can judge it like any other.
import { annotation, label } from '../../../src/api/index.ts';
import type { Plan, PlannedNode, Snapshot } from '../../../src/core/index.ts';
import { isLaunchable, type Template, templateOf, usableOfferings } from '../rules/catalogue.ts';
import { type Cluster, readCluster } from '../rules/cluster.ts';
import { daemonsOf, daemonsOnType } from '../rules/daemons.ts';
import { podKey } from '../rules/objects.ts';
import { podRequests } from '../rules/pods.ts';
import { type Amounts, misfit, plus, smallest } from '../rules/quantity.ts';
import { toSpecs } from '../rules/requirement.ts';
import { type NaiveNode, naivePlan } from './planner.ts';

export function naivePlanDocument(snapshot: Snapshot): Plan {
  const cluster = readCluster(snapshot);
  const naive = naivePlan(snapshot);
  const newNodes = naive.newNodes.map((node, i) => plannedNode(node, `naive-${i + 1}`, cluster));
  return {
    apiVersion: 'kerf/v1',
    kind: 'Plan',
    solveMs: 0,
    pods: cluster.waiting.length,
    pricePerHour: newNodes.reduce((sum, node) => sum + node.chosen.pricePerHour, 0),
    newNodes,
    existingNodes: [...naive.existing].map(([name, pods]) => ({ name, pods })),
    unschedulable: [...naive.unplaced].map(([pod, code]) => ({
      pod,
      reasons: [{ code: code === 'Unschedulable' ? 'NoInstanceTypeFits' : code, message: code }],
    })) as Plan['unschedulable'],
  };
}

function plannedNode(node: NaiveNode, name: string, cluster: Cluster): PlannedNode {
  const pool = cluster.pools.find((p) => p.metadata.name === node.nodePool);
  const template = pool === undefined ? undefined : templateOf(pool, cluster);
  if (template === undefined) throw new Error(`no template for ${node.nodePool}`);
  const daemons = daemonsOf(cluster);
  const pods = node.pods.flatMap((key) => cluster.waiting.find((pod) => podKey(pod) === key) ?? []);
  const own = plus(...pods.map((pod) => podRequests(pod.spec)));
  const types = node.types.flatMap((type) => template.types.find((t) => t.name === type) ?? []);
  const shares = types.map((type) => plus(...daemonsOnType(daemons, template, type, cluster).map((d) => d.requests)));
  const final = new Map(node.requirements);
  final.delete(label.registered);
  final.delete(label.initialized);
  return {
    name,
    nodePool: node.nodePool,
    instanceTypes: node.types,
    chosen: cheapest(node, template, own, shares, cluster),
    requirements: toSpecs(final),
    requests: asText(plus(own, smallest(shares))),
    annotations: { [annotation.minValuesRelaxed]: String(node.minValuesRelaxed) },
    pods: node.pods,
  };
}

function cheapest(
  node: NaiveNode,
  template: Template,
  own: Amounts,
  shares: Amounts[],
  cluster: Cluster,
): PlannedNode['chosen'] {
  const fitting = node.types.flatMap((name, i) => {
    const type = template.types.find((t) => t.name === name);
    const needed = plus(own, shares[i] ?? new Map());
    return (type === undefined ? [] : usableOfferings(type, node.requirements, cluster))
      .filter((offering) => isLaunchable(offering) && misfit(needed, offering.allocatable) === undefined)
      .map((offering) => ({ name, offering }));
  });
  const best = fitting.reduce((a, b) => (b.offering.price < a.offering.price ? b : a));
  return {
    instanceType: best.name,
    zone: best.offering.zone,
    capacityType: best.offering.capacityType,
    pricePerHour: best.offering.price,
  };
}

/** Billionths as quantities; all requests of the generators are whole thousandths. */
function asText(list: Amounts): Record<string, string> {
  return Object.fromEntries([...list].map(([name, value]) => [name, `${value / 1_000_000n}m`]));
}
