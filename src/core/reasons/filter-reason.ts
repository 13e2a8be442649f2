// Which of the three demands on an instance type (labels, resources, an available offering) left none, alone or
// together: the finest answer that is true for all types at once. The lines are interface: users search for them.

import { addBit, type Bitset, bitset, hasBit, isEmptyBitset } from '../../base/index.ts';
import type { Reason, ReasonCode } from '../plan.ts';
import { type HostPort, portsConflict } from '../pods/host-ports.ts';
import { simulationKeys, type Template } from '../pools/templates.ts';
import { describeSet, type RequirementSet } from '../requirements/requirement-set.ts';
import { at } from '../resources/resource-table.ts';
import type { Need } from '../workload.ts';
import type { World } from '../world.ts';

export interface FilterOutcome {
  readonly remaining: Bitset;
  readonly labels: boolean;
  readonly resources: boolean;
  readonly offering: boolean;
  /** Some type met exactly these two. */
  readonly labelsAndOffering: boolean;
  readonly resourcesAndOffering: boolean;
  /** `requirements=…, resources=…` as every message ends. */
  readonly suffix: string;
  readonly cpu: number;
  /** The resources of which no type has enough, with the most there is. */
  readonly short: readonly string[];
  /** Of these, those of which no type has anything. */
  readonly missing: readonly string[];
  /** The provider has types with enough of that, which the pool does not allow. */
  readonly hasLarger: boolean;
  /** Keys each of which alone is in the way: without its requirement some type would do. */
  readonly inTheWay: readonly string[];
  /** The pod's volumes say where it has to be. */
  readonly tiedToVolumes: boolean;
  /** Daemons leave no type with any room. */
  readonly crowded: boolean;
}

/** How the suggestion begins where a pool was made for other pods. */
export const otherKind = 'allow instance types with';

/** `fixedKeys` are settled by volumes; no change to pod or pool can open them. */
export function filterOutcome(
  world: World,
  template: Template,
  set: RequirementSet,
  need: Need,
  limits: Bitset,
  ports: readonly HostPort[],
  fixedKeys: readonly string[],
): FilterOutcome {
  const withLabels = template.rows.withLabels(set);
  const withOffering = template.rows.withOffering(set);
  const remaining = bitset(template.rows.count);
  const met = { labels: false, resources: false, offering: false };
  const pairs = { labelsAndOffering: false, resourcesAndOffering: false };
  const portsTaken = template.daemonGroups.map((group) => portsConflict(ports, group.ports));
  const isOpen = (row: number): boolean => hasBit(limits, row) && !portsTaken[template.daemonGroupOf[row] as number];
  for (let row = 0; row < template.rows.count; row++) {
    if (!isOpen(row)) continue;
    const labels = hasBit(withLabels, row);
    const offering = hasBit(withOffering, row);
    // Enough resources without an offering to have them in counts for nothing.
    const resources = offering && hasRoom(template, need, row);
    met.labels ||= labels;
    met.resources ||= resources;
    met.offering ||= offering;
    pairs.labelsAndOffering ||= labels && offering && !resources;
    pairs.resourcesAndOffering ||= resources && offering && !labels;
    if (labels && resources && offering) addBit(remaining, row);
  }
  return {
    remaining,
    ...met,
    ...pairs,
    suffix: `requirements=${describeSet(set)}, resources=${resourcesText(world, template, need)}`,
    cpu: amountOf(need, world.resources.cpu),
    ...shortResources(world, template, need),
    hasLarger: (world.offeredTypes.get(template.poolName) ?? []).some((type) =>
      type.rows.some(({ allocatable }) =>
        need.columns.every((column, index) => (need.amounts[index] as number) <= at(allocatable, column)),
      ),
    ),
    inTheWay: keysInTheWay(world, template, set, (row) => isOpen(row) && hasRoom(template, need, row)).filter(
      (key) => !fixedKeys.includes(key),
    ),
    tiedToVolumes: fixedKeys.length > 0,
    crowded: isEmptyBitset(template.viable),
  };
}

function keysInTheWay(
  { table }: World,
  template: Template,
  set: RequirementSet,
  isRoomy: (row: number) => boolean,
): string[] {
  const keys = set.requirements.map(({ key }) => key).filter((key) => !simulationKeys.includes(key));
  return keys.filter((key) => {
    const matching = template.rows.matching(table.without(set, [key]));
    for (let row = 0; row < template.rows.count; row++) if (hasBit(matching, row) && isRoomy(row)) return true;
    return false;
  });
}

/** The lines in the order in which they are looked for. */
export function filterReason(outcome: FilterOutcome, nodePool: string): Reason {
  const { labels, resources, offering, suffix, inTheWay } = outcome;
  const reason = (code: ReasonCode, text: string, suggestion: string): Reason => ({
    code,
    message: `${text}, ${suffix}`,
    nodePool,
    ...better(suggestion),
  });
  // What no type has enough of comes first, then single requirements whose removal would do.
  const better = (otherwise: string): Pick<Reason, 'suggestion' | 'keys'> => {
    if (outcome.short.length > 0) return { suggestion: smaller };
    if (inTheWay.length === 0) return { suggestion: otherwise };
    return { suggestion: `allow other values for ${inTheWay.join(' or ')} ${where}`, keys: [...inTheWay] };
  };
  const where = `in the pod and in NodePool ${nodePool}`;
  const otherVolumes = `give the pod volumes where NodePool ${nodePool} has offerings`;
  const allow = outcome.tiedToVolumes
    ? `${otherVolumes}, or allow other instance types`
    : `allow other instance types in NodePool ${nodePool}, or relax the pod's node selector or affinity`;
  const larger = outcome.hasLarger ? `; or allow larger instance types in NodePool ${nodePool}` : '';
  const smaller =
    outcome.missing.length > 0 && outcome.hasLarger
      ? `${otherKind} ${outcome.missing.join(' and ')} in NodePool ${nodePool}`
      : outcome.short.length > 0
        ? `ask for less: ${outcome.short.join(', ')}${larger}`
        : `ask for less, or ${allow}`;
  const offer = outcome.tiedToVolumes
    ? `${otherVolumes}, or allow more zones or capacity types`
    : `allow more zones or capacity types in NodePool ${nodePool} or in the pod`;
  if (!labels && !resources && !offering) {
    return reason(
      'NoInstanceTypeFits',
      'no instance type met the scheduling requirements or had enough resources or had a required offering',
      outcome.crowded ? `let daemons ask for less, or allow larger instance types in NodePool ${nodePool}` : allow,
    );
  }
  if (!labels && !resources) {
    return reason(
      'NoInstanceTypeFits',
      'no instance type met the scheduling requirements or had enough resources',
      smaller,
    );
  }
  if (!labels && !offering) {
    return reason(
      'NoInstanceTypeFits',
      'no instance type met the scheduling requirements or had a required offering',
      offer,
    );
  }
  if (!resources && !offering) {
    return reason('NoOffering', 'no instance type had enough resources or had a required offering', offer);
  }
  if (!labels) return reason('RequirementsIncompatible', 'no instance type met all requirements', allow);
  if (!resources) {
    const plain = reason('InsufficientResources', 'no instance type has enough resources', smaller);
    const typo = outcome.cpu >= 1_000_000_000 ? ' (CPU request >= 1 Million, m vs M typo?)' : '';
    return { ...plain, message: plain.message + typo };
  }
  if (!offering) return reason('NoOffering', 'no instance type has the required offering', offer);
  if (outcome.resourcesAndOffering) {
    return reason(
      'NoInstanceTypeFits',
      'no instance type which had enough resources and the required offering met the scheduling requirements',
      allow,
    );
  }
  if (outcome.labelsAndOffering) {
    return reason(
      'InsufficientResources',
      'no instance type which met the scheduling requirements and the required offering had the required resources',
      smaller,
    );
  }
  return reason('NoInstanceTypeFits', 'no instance type met the requirements/resources/offering tuple', allow);
}

function hasRoom(template: Template, need: Need, row: number): boolean {
  if (!hasBit(template.viable, row)) return false;
  return need.columns.every((column, index) => (need.amounts[index] as number) <= roomAt(template, column, row));
}

function roomAt(template: Template, column: number, row: number): number {
  return template.room[column]?.[row] ?? 0;
}

function amountOf(need: Need, column: number): number {
  const index = need.columns.indexOf(column);
  return index < 0 ? 0 : (need.amounts[index] as number);
}

function shortResources(world: World, template: Template, need: Need): { short: string[]; missing: string[] } {
  const short: string[] = [];
  const missing: string[] = [];
  need.columns.forEach((column, index) => {
    let most = 0;
    for (let row = 0; row < template.rows.count; row++) most = Math.max(most, roomAt(template, column, row));
    if ((need.amounts[index] as number) <= most) return;
    const name = world.resources.names[column] ?? '';
    short.push(`${name} at most ${world.resources.format(column, most)}`);
    if (most === 0) missing.push(name);
  });
  return { short, missing };
}

/** The pod's requests with what daemons take, as one object, or as least and most where types differ. */
function resourcesText(world: World, template: Template, need: Need): string {
  const { resources } = world;
  const totals = (pick: (...amounts: number[]) => number): string => {
    const total = new Float64Array(resources.names.length);
    total.forEach((_, column) => {
      const daemons = template.daemonGroups.map((group) => at(group.overhead, column));
      total[column] = amountOf(need, column) + (daemons.length === 0 ? 0 : pick(...daemons));
    });
    return JSON.stringify(resources.quantities(total));
  };
  const least = totals(Math.min);
  const most = totals(Math.max);
  return least === most ? least : `min=${least}, max=${most}`;
}
