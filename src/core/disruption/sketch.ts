// The fleet in plain numbers, to try thousands of sequences of commands on: rooms, and pods as amounts that suit some of
// them. Labels, taints and zones count, and how many pods may share a host; of other topology rules only that their pods
// stay in their zone. What is found out on a sketch is a guess, to be asked of the planner before it counts.

import { label } from '../../api/names.ts';
import type { Sliced } from '../../base/index.ts';
import { toleratesAll } from '../kube/taints.ts';
import { columnsOf } from '../packing/node-columns.ts';
import { grants, type NodeWish, placeholderHostname } from '../requirements/node-wish.ts';
import { allows } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { TopologyGroup } from '../topology/topology-groups.ts';
import type { Constraint, GroupStep, PlannedPod, PodGroup } from '../workload.ts';
import type { Member } from './fleet.ts';
import { type Target, targetsOf } from './merge-sets.ts';
import type { Round } from './round.ts';

/** What pods of one group have in common. */
export interface PodKind {
  /** By column of the sketch. */
  readonly need: Float64Array;
  /** Rooms whose labels and taints suit it, in the planner's order. */
  readonly rooms: Int32Array;
  /** By template of new nodes. */
  readonly suits: readonly boolean[];
  /** Zones it may be in, a bit each. */
  readonly zones: number;
  readonly staysInZone: boolean;
  /** A host takes it only if so many of the topology group are there at most. */
  readonly bounds: readonly { readonly group: number; readonly most: number }[];
  /** Topology groups it counts in. */
  readonly counted: readonly number[];
}

export interface SketchedPod {
  readonly kind: PodKind;
  /** The room it is in. */
  readonly room: number;
}

export interface Sketch {
  /** Nodes that may go. */
  readonly members: readonly Member[];
  /** Their pods, in the order in which the planner places them. */
  readonly pods: readonly SketchedPod[];
  /** Existing nodes: what is free in each, row by row, and its zone. */
  readonly roomCount: number;
  readonly width: number;
  readonly free: Float64Array;
  readonly zoneOf: Int32Array;
  readonly topologyGroups: number;
  /** New nodes available, by template, the cheapest first; room by column of the sketch. */
  readonly targets: readonly (readonly Target[])[];
  readonly pricePerHour: number;
}

/** Yields after every group of pods. */
export function* sketchOf({ whatIf, fleet, consolidator }: Round, members: readonly Member[]): Sliced<Sketch> {
  const { nodes, templates, workload, resources, table } = fleet.movable.world;
  const columns = columnsOf(nodes, resources, workload.topology.domainsOf(label.hostname));
  const zones = [...new Set(nodes.map(({ set }) => zoneIn(set)))];
  const positions = members.flatMap((member) => [...whatIf.podsToMove(member)]).sort((left, right) => left - right);
  const planned = positions.map((position) => workload.pods[position] as PlannedPod);
  const groups = [...new Set(planned.map(({ group }) => group))];
  const used = [...new Set(groups.flatMap(({ need }) => need.columns))];
  const numbers = new Map<TopologyGroup, number>();
  const numberOf = (group: TopologyGroup): number => {
    const number = numbers.get(group) ?? numbers.size;
    numbers.set(group, number);
    return number;
  };
  const destinations = nodes.filter(({ index }) => whatIf.takesMovedPods(index) && columns.exhausted[index] === 0);
  const kindOf = ({ need, steps }: PodGroup): PodKind => {
    const { constraint } = steps[0] as GroupStep;
    const { rules, tolerations } = constraint;
    const rooms = destinations.filter(
      ({ set, hostname, taints }) =>
        toleratesAll(taints, tolerations) &&
        isGranted(constraint, (wish) => grants(table, set, hostname, wish, 'strict')),
    );
    return {
      need: Float64Array.from(used, (column) => need.amounts[need.columns.indexOf(column)] ?? 0),
      rooms: Int32Array.from(rooms, ({ index }) => index),
      suits: templates.map(
        ({ set, taints }) =>
          toleratesAll(taints, tolerations) &&
          isGranted(constraint, (wish) => grants(table, set, placeholderHostname, wish, 'wellKnown')),
      ),
      zones: bitsOf(zones.map((zone) => isGranted(constraint, ({ set }) => allowsZone(set, zone)))),
      staysInZone: rules.keys.length > 0,
      bounds: rules.hostBounds.map(({ group, most }) => ({ group: numberOf(group), most })),
      counted: [...rules.counted, ...rules.ownedInverse].filter(({ isHostname }) => isHostname).map(numberOf),
    };
  };
  const kinds = new Map<PodGroup, PodKind>();
  for (const group of groups) {
    kinds.set(group, kindOf(group));
    yield;
  }
  const indexOf = new Map(members.map(({ name, index }) => [name, index]));
  const inColumns = (room: ArrayLike<number>): Float64Array => Float64Array.from(used, (column) => room[column] ?? 0);
  const free = new Float64Array(nodes.length * used.length);
  nodes.forEach((_, index) => {
    used.forEach((column, nth) => {
      free[index * used.length + nth] = columns.free[column]?.[index] ?? 0;
    });
  });
  return {
    members,
    pods: planned.map(({ group, pod }) => ({
      kind: kinds.get(group) as PodKind,
      room: indexOf.get(pod.spec?.nodeName ?? '') as number,
    })),
    roomCount: nodes.length,
    width: used.length,
    free,
    zoneOf: Int32Array.from(nodes, ({ set }) => zones.indexOf(zoneIn(set))),
    topologyGroups: numbers.size,
    targets: templates.map((template) =>
      targetsOf(template, consolidator.prices).map((target) => ({ ...target, room: inColumns(target.room) })),
    ),
    pricePerHour: fleet.members.reduce((sum, member) => sum + member.price, 0),
  };
}

function isGranted({ wish, volumes }: Constraint, isFine: (wish: NodeWish) => boolean): boolean {
  return isFine(wish) && (volumes.length === 0 || volumes.some(isFine));
}

function zoneIn(set: RequirementSet): string {
  return set.byKey.get(label.zone)?.values[0] ?? '';
}

function allowsZone(set: RequirementSet, zone: string): boolean {
  const requirement = set.byKey.get(label.zone);
  return requirement === undefined || allows(requirement, zone);
}

function bitsOf(flags: readonly boolean[]): number {
  return flags.reduce((bits, flag, at) => bits | (flag ? 1 << at : 0), 0);
}
