// From packed nodes to planned ones: the final requirements, the instance types that are left, cheapest first and cut to
// the number a NodeClaim may list, and the offering they would be launched with today.

import { annotation, capacityType, label } from '../../api/names.ts';
import { type Bitset, hasBit, membersOf } from '../../base/index.ts';
import type { ChosenOffering, PlannedNode } from '../plan.ts';
import type { InstanceType } from '../pools/instance-types.ts';
import { unmetMinValues } from '../pools/min-values.ts';
import { simulationKeys, type Template } from '../pools/templates.ts';
import { requirementOf, toSpecs } from '../requirements/requirement.ts';
import type { RequirementSet } from '../requirements/requirement-set.ts';
import type { RequirementSpec } from '../snapshot.ts';
import type { PlannedPod } from '../workload.ts';
import type { World } from '../world.ts';
import { type NewNode, rowsWithRoom } from './new-node.ts';

export type FinishedNode =
  | { readonly kind: 'node'; readonly node: PlannedNode }
  | {
      readonly kind: 'minValues';
      readonly poolName: string;
      readonly keys: readonly string[];
      readonly pods: readonly number[];
    };

interface Candidates {
  readonly types: readonly InstanceType[];
  readonly names: string[];
  readonly chosen: ChosenOffering;
  readonly overlays: Readonly<Record<string, string>>;
  readonly unmet: readonly string[];
  /** The daemon groups of all types in question, also of those cut from the list. */
  readonly daemonGroups: readonly number[];
}

export class NewNodeFinisher {
  private readonly world: World;
  private readonly candidates = new Map<string, Candidates>();
  private readonly byRows = new Map<Bitset, Map<string, Candidates>>();
  private readonly specs = new Map<RequirementSet, RequirementSpec[]>();
  private readonly numbers = new Map<string, number>();
  /** Some pod lists a resource it wants nothing of. */
  private readonly askedForNothing: boolean;

  constructor(world: World) {
    this.world = world;
    this.askedForNothing = world.workload.groups.some(({ need }) => need.zeros.length > 0);
  }

  finish(newNode: NewNode): FinishedNode {
    const { template, pods } = newNode;
    const set = this.finalSet(newNode);
    const candidates = this.candidatesOf(newNode, set);
    const { poolName } = template;
    if (candidates.unmet.length > 0) return { kind: 'minValues', poolName, keys: candidates.unmet, pods };
    const number = (this.numbers.get(poolName) ?? 0) + 1;
    this.numbers.set(poolName, number);
    const asked = this.requestsOf(newNode, candidates.daemonGroups);
    const { requests, drivers: more = noDrivers } = this.world.extended?.withoutGiven(asked, candidates.names) ?? {
      requests: asked,
    };
    const drivers = new Set([...newNode.drivers, ...more]);
    return {
      kind: 'node',
      node: {
        name: `${poolName}-${number}`,
        nodePool: poolName,
        instanceTypes: candidates.names,
        chosen: candidates.chosen,
        requirements: this.specsOf(set),
        requests,
        annotations: {
          [annotation.minValuesRelaxed]: newNode.minValuesRelaxed ? 'true' : 'false',
          ...candidates.overlays,
          ...(drivers.size > 0 ? { [annotation.requestedDraDrivers]: [...drivers].sort().join(',') } : {}),
        },
        pods: pods.map((pod) => (this.world.workload.pods[pod] as PlannedPod).key),
      },
    };
  }

  /** What the node will be asked for: a new node that holds reservations asks for nothing else. */
  finalSet(newNode: NewNode): RequirementSet {
    const { table, reservationIdLabel } = this.world;
    if (newNode.held.size === 0) return newNode.set;
    const reserved = requirementOf(label.capacityType, 'In', [capacityType.reserved]);
    const set = table.replace(newNode.set, reserved);
    if (reservationIdLabel === undefined) return set;
    return table.meet(set, table.setOf([requirementOf(reservationIdLabel, 'In', [...newNode.held])]));
  }

  private candidatesOf(newNode: NewNode, set: RequirementSet): Candidates {
    // Many nodes are filled alike, and more are left with the same types.
    const { template } = newNode;
    const kind = `${template.index}|${newNode.set.id}|${set.id}`;
    let byUse = this.byRows.get(newNode.rows);
    if (byUse === undefined) {
      byUse = new Map();
      this.byRows.set(newNode.rows, byUse);
    }
    const use = `${kind}|${newNode.used.join()}`;
    let candidates = byUse.get(use);
    if (candidates === undefined) {
      const rows = rowsWithRoom(newNode, newNode.rows, template.rows.matching(newNode.set), undefined);
      const identity = `${kind}|${rows.join()}`;
      candidates = this.candidates.get(identity) ?? this.newCandidates(template, set, rows);
      this.candidates.set(identity, candidates);
      byUse.set(use, candidates);
    }
    return candidates;
  }

  private newCandidates(template: Template, set: RequirementSet, rows: Bitset): Candidates {
    const { settings } = this.world;
    const types: InstanceType[] = [];
    const seen = new Uint8Array(template.rows.types.length);
    let chosen: ChosenOffering | undefined;
    const cheapest = template.rows.cheapest(set);
    for (const row of template.rows.byPrice(set)) {
      if (!hasBit(rows, row)) continue;
      const type = template.rows.typeOf[row] as number;
      if (seen[type] === 1) continue;
      seen[type] = 1;
      types.push(template.rows.types[type] as InstanceType);
      const offering = cheapest[row]?.offering;
      if (chosen === undefined && offering !== undefined) {
        chosen = {
          instanceType: (template.rows.types[type] as InstanceType).name,
          zone: offering.zone,
          capacityType: offering.capacityType,
          pricePerHour: offering.price,
        };
      }
      if (types.length === settings.maxInstanceTypes) break;
    }
    return {
      types,
      names: types.map((type) => type.name),
      chosen: chosen ?? { instanceType: types[0]?.name ?? '', zone: '', capacityType: '', pricePerHour: 0 },
      overlays: overlayMarks(types),
      daemonGroups:
        template.daemonGroups.length === 1
          ? onlyGroup
          : [...new Set(membersOf(rows).map((row) => template.daemonGroupOf[row] as number))],
      unmet: settings.relaxMinValues ? [] : [...unmetMinValues(set, types).keys()],
    };
  }

  private specsOf(set: RequirementSet): RequirementSpec[] {
    let specs = this.specs.get(set);
    if (specs === undefined) {
      specs = set.requirements.filter(({ key }) => !simulationKeys.includes(key)).flatMap(toSpecs);
      this.specs.set(set, specs);
    }
    return specs;
  }

  /** What the pods ask for, and of the daemons what will run whichever type it becomes. */
  private requestsOf(newNode: NewNode, groups: readonly number[]): Record<string, string> {
    const { template } = newNode;
    const total = Float64Array.from(newNode.used);
    if (template.daemonGroups.some((group) => group.overhead.some((amount) => amount > 0))) {
      total.forEach((amount, column) => {
        const least = Math.min(...groups.map((group) => template.daemonGroups[group]?.overhead[column] ?? 0));
        total[column] = amount + (groups.length === 0 ? 0 : least);
      });
    }
    return this.world.resources.quantities(total, this.askedForNothing ? zerosOf(this.world, newNode) : nothing);
  }
}

const noDrivers: ReadonlySet<string> = new Set();
const onlyGroup: readonly number[] = [0];
const nothing: ReadonlySet<number> = new Set();

function zerosOf(world: World, newNode: NewNode): ReadonlySet<number> {
  return new Set(newNode.pods.flatMap((pod) => (world.workload.pods[pod] as PlannedPod).group.need.zeros));
}

/** Marks for launch: some listed type is priced or sized by an overlay. */
function overlayMarks(types: readonly InstanceType[]): Record<string, string> {
  return {
    ...(types.some((type) => type.priceOverlay) ? { [annotation.priceOverlayApplied]: 'true' } : {}),
    ...(types.some((type) => type.capacityOverlay) ? { [annotation.capacityOverlayApplied]: 'true' } : {}),
  };
}
