// Where devices can be used: on the node they are plugged into, on the node that brings them, on every node, or on nodes
// with certain labels. Using one of the last sort narrows where a node under construction can be.

import type { NodeReach, NodeSelector } from '../kube/device-objects.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { grants, type NodeWish, nodeWish, placeholderHostname } from '../requirements/node-wish.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';

export type Reach =
  | { readonly kind: 'node'; readonly name: string }
  /** Not published yet: comes with the node in question, and is no other's. */
  | { readonly kind: 'own' }
  | { readonly kind: 'everywhere' }
  | { readonly kind: 'labels'; readonly wishes: readonly NodeWish[] };

export interface ReachContext {
  readonly table: RequirementTable;
  readonly rules: LabelRules;
}

/** The node in question: one that exists, by name and labels, or one under construction, by what is known of it. */
export interface Place {
  readonly nodeName: string | undefined;
  readonly set: RequirementSet;
}

export function reachOf(context: ReachContext, { nodeName, allNodes, nodeSelector }: NodeReach): Reach {
  if (nodeName) return { kind: 'node', name: nodeName };
  return allNodes ? { kind: 'everywhere' } : reachOfSelector(context, nodeSelector);
}

/** The alternatives of a node selector; without any, no node satisfies it. */
export function reachOfSelector({ table, rules }: ReachContext, selector: NodeSelector | undefined): Reach {
  const wishes = (selector?.nodeSelectorTerms ?? []).map((term) =>
    nodeWish(
      table,
      (term.matchExpressions ?? []).map((spec) => normalizedRequirement(rules, spec)),
    ),
  );
  return { kind: 'labels', wishes };
}

/** What the node is narrowed to if it uses something of this reach; undefined if it cannot. */
export function narrowedBy(
  table: RequirementTable,
  reach: Reach,
  { nodeName, set }: Place,
): RequirementSet | undefined {
  if (reach.kind === 'everywhere' || reach.kind === 'own') return set;
  if (reach.kind === 'node') return reach.name === nodeName ? set : undefined;
  const exists = nodeName !== undefined;
  const wish = reach.wishes.find((own) =>
    grants(table, set, nodeName ?? placeholderHostname, own, exists ? 'strict' : 'wellKnown'),
  );
  if (wish === undefined) return undefined;
  return exists ? set : table.meet(set, wish.set);
}
