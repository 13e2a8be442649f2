// The snapshot as it would be some minutes after a command: its nodes are gone, its replacements are there and quiet, and
// pods are where the planner put them. For looking ahead; nothing is reported to anybody.

import { label } from '../../api/names.ts';
import { namespacedKey, type Pod } from '../kube/objects.ts';
import { allocatableOf, customLabels, singleValuedLabels } from '../launch/launch-options.ts';
import type { Plan, PlannedNode } from '../plan.ts';
import type { Snapshot, SnapshotObject } from '../snapshot.ts';
import type { Command } from './command.ts';
import type { Fleet } from './fleet.ts';

export interface After {
  readonly snapshot: Snapshot;
  readonly evictions: number;
}

export function afterCommand(fleet: Fleet, command: Command, number: number): After {
  const gone = new Set(command.members.map((member) => member.name));
  const goneClaims = new Set(command.members.map(({ machine }) => machine.claim?.metadata.name));
  const placeOf = new Map<string, string>();
  const added: SnapshotObject[] = [];
  for (const { name, pods } of command.placements) for (const pod of pods) placeOf.set(pod, name);
  for (const [index, replacement] of command.replacements.entries()) {
    if (replacement.kind !== 'planned') continue;
    // No real node is called that, and it comes first in every order: what is new is filled up before what may go.
    const name = index === 0 ? `(new ${number})` : `(new ${number}.${index})`;
    added.push(...newMachine(fleet, name, replacement.node));
    for (const pod of replacement.node.pods) placeOf.set(pod, name);
  }
  let evictions = 0;
  const items = fleet.snapshot.objects.items.flatMap((object) => {
    const { kind, metadata } = object;
    if (kind === 'Node' && gone.has(metadata.name)) return [];
    if (kind === 'NodeClaim' && goneClaims.has(metadata.name)) return [];
    if (kind !== 'Pod' || !gone.has((object as Pod).spec?.nodeName ?? '')) return [object];
    evictions += 1;
    const place = placeOf.get(namespacedKey(metadata));
    // Daemons and static pods end with their node.
    return place === undefined ? [] : [{ ...object, spec: { ...(object as Pod).spec, nodeName: place } }];
  });
  const { snapshot } = fleet;
  const objects = { ...snapshot.objects, items: [...items, ...added] as SnapshotObject[] };
  const { nodeState } = snapshot;
  if (nodeState === undefined) return { snapshot: { ...snapshot, objects }, evictions };
  const staying = nodeState.filter(
    ({ node, nodeClaim }) => !gone.has(node ?? '') && !(nodeClaim !== undefined && goneClaims.has(nodeClaim)),
  );
  const names = added.filter(({ kind }) => kind === 'Node').map(({ metadata }) => metadata.name);
  const coming = names.map((name) => ({ node: name, nodeClaim: name, initialized: true }));
  return { snapshot: { ...snapshot, objects, nodeState: [...staying, ...coming] }, evictions };
}

/** The snapshot with the nodes of a plan there and every pod where the plan puts it. */
export function afterPlan(fleet: Fleet, plan: Pick<Plan, 'newNodes' | 'existingNodes'>, number: number): Snapshot {
  const { snapshot } = fleet;
  const placeOf = new Map<string, string>();
  const added: SnapshotObject[] = [];
  for (const { name, pods } of plan.existingNodes) for (const pod of pods) placeOf.set(pod, name);
  for (const [index, node] of plan.newNodes.entries()) {
    const name = `(new ${number}.${index})`;
    added.push(...newMachine(fleet, name, node));
    for (const pod of node.pods) placeOf.set(pod, name);
  }
  const items = snapshot.objects.items.map((object) => {
    const place = object.kind === 'Pod' ? placeOf.get(namespacedKey(object.metadata)) : undefined;
    return place === undefined ? object : { ...object, spec: { ...(object as Pod).spec, nodeName: place } };
  });
  return { ...snapshot, objects: { ...snapshot.objects, items: [...items, ...added] as SnapshotObject[] } };
}

function newMachine(fleet: Fleet, name: string, { nodePool, chosen, requirements }: PlannedNode): SnapshotObject[] {
  const type = fleet.typeOf(nodePool, chosen.instanceType);
  const { snapshot } = fleet;
  if (type === undefined) return [];
  const facts = snapshot.provider ?? { nodeClasses: [], wellKnownLabels: [] };
  const created = snapshot.time ?? '';
  const template = fleet.pool(nodePool)?.spec?.template;
  const { group = '', kind = '', name: className = '' } = template?.spec?.nodeClassRef ?? {};
  const labels: Record<string, string> = {
    ...template?.metadata?.labels,
    ...singleValuedLabels(type.requirements, facts),
    ...customLabels(requirements, facts),
    [label.hostname]: name,
    [label.zone]: chosen.zone,
    [label.capacityType]: chosen.capacityType,
    [label.nodePool]: nodePool,
    [label.registered]: 'true',
    [label.initialized]: 'true',
    [`${group}/${kind.toLowerCase()}`]: className,
  };
  const condition = (type_: string) => ({ type: type_, status: 'True', lastTransitionTime: created });
  const room = { capacity: { ...type.capacity }, allocatable: allocatableOf(type) };
  const providerID = `ahead:///${name}`;
  return [
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, uid: name, creationTimestamp: created, labels },
      spec: { providerID, taints: [...(template?.spec?.taints ?? [])] },
      status: { ...room, conditions: [condition('Ready')] },
    },
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name, uid: name, creationTimestamp: created, labels },
      spec: {},
      status: {
        providerID,
        ...room,
        conditions: ['Launched', 'Registered', 'Initialized', 'Consolidatable'].map(condition),
      },
    },
  ];
}
