// A template is what new nodes of one pool start from: its requirements and labels as one set, its taints, the instance
// types that can satisfy them at all, and what daemons will take on each. A pool whose own requirements leave nothing
// has no template; the reason is kept for the pods that might have used it.

import { annotation, label } from '../../api/names.ts';
import { addBit, type Bitset, bitset, membersOf } from '../../base/index.ts';
import type { NodePool, Taint } from '../kube/objects.ts';
import type { HostPort } from '../pods/host-ports.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { requirementOf } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import { at, type ResourceTable, type ResourceVector } from '../resources/resource-table.ts';
import type { PoolInstanceTypes } from '../snapshot.ts';
import { type Daemon, runsOnType } from './daemons.ts';
import type { InstanceType } from './instance-types.ts';
import { unmetMinValues } from './min-values.ts';
import { TemplateRows } from './template-rows.ts';

export interface DaemonGroup {
  /** Sum of the daemons' requests. */
  readonly overhead: ResourceVector;
  readonly ports: readonly HostPort[];
}

/** What the pool may still grow by; columns without a limit are left out. */
export interface RemainingLimits {
  readonly columns: readonly number[];
  readonly amounts: readonly number[];
  /** Undefined without a limit on the number of nodes. */
  readonly nodes: number | undefined;
}

export interface Template {
  readonly index: number;
  readonly poolName: string;
  /** Heavier pools come first. */
  readonly weight: number;
  readonly set: RequirementSet;
  readonly taints: readonly Taint[];
  readonly rows: TemplateRows;
  /** Room for pods by resource column and row: allocatable less what daemons take there. */
  readonly room: readonly Float64Array[];
  /** Rows that daemons and overhead leave nothing negative on; nothing fits on the others. */
  readonly viable: Bitset;
  readonly daemonGroups: readonly DaemonGroup[];
  readonly daemonGroupOf: Int32Array;
  readonly hasDaemonPorts: boolean;
  readonly hasReserved: boolean;
  /** Some type says how many volumes its nodes attach. */
  readonly limitsAttachments: boolean;
  readonly limits: RemainingLimits | undefined;
  /** What a node of the pool costs beside its price. */
  readonly nodeCostPerHour: number;
}

export type PoolOutcome =
  | { readonly kind: 'template'; readonly rows: TemplateRows; readonly set: RequirementSet }
  | { readonly kind: 'unusable'; readonly why: 'error' | 'noTypes'; readonly message: string }
  | { readonly kind: 'unusable'; readonly why: 'filtered'; readonly message: string; readonly set: RequirementSet }
  | { readonly kind: 'minValues'; readonly keys: readonly string[] };

/** Keys every template has for the sake of daemons that wait for them; they never leave the planner. */
export const simulationKeys: readonly string[] = [label.registered, label.initialized];

export function templateSet(table: RequirementTable, rules: LabelRules, pool: NodePool): RequirementSet {
  const template = pool.spec?.template;
  const { group = '', kind = '', name = '' } = template?.spec?.nodeClassRef ?? {};
  const labels: Record<string, string> = {
    ...template?.metadata?.labels,
    [label.nodePool]: pool.metadata.name,
    ...(kind === '' ? {} : { [`${group}/${kind.toLowerCase()}`]: name }),
  };
  return table.setOf([
    ...(template?.spec?.requirements ?? []).map((spec) => normalizedRequirement(rules, spec)),
    ...Object.entries(labels).map(([key, value]) =>
      normalizedRequirement(rules, { key, operator: 'In', values: [value] }),
    ),
    ...simulationKeys.map((key) => requirementOf(key, 'In', ['true'])),
  ]);
}

/** The instance types a pool can use at all. */
export function poolOutcome(
  table: RequirementTable,
  set: RequirementSet,
  entry: PoolInstanceTypes | undefined,
  types: readonly InstanceType[],
  relaxMinValues: boolean,
): PoolOutcome {
  if (entry?.error !== undefined) return { kind: 'unusable', why: 'error', message: entry.error };
  if (types.length === 0) return { kind: 'unusable', why: 'noTypes', message: 'no instance types are offered to it' };
  const rows = new TemplateRows(table, types);
  const matching = rows.matching(set);
  const usable = new Set(membersOf(matching).map((row) => rows.typeOf[row]));
  const kept = types.filter((_, index) => usable.has(index));
  if (kept.length === 0) {
    return {
      kind: 'unusable',
      why: 'filtered',
      message: 'its requirements filtered out all compatible available instance types',
      set,
    };
  }
  const unmet = unmetMinValues(set, kept);
  if (unmet.size > 0 && !relaxMinValues) return { kind: 'minValues', keys: [...unmet.keys()] };
  return { kind: 'template', rows: kept.length === types.length ? rows : new TemplateRows(table, kept), set };
}

export interface TemplateParts {
  readonly index: number;
  readonly pool: NodePool;
  readonly set: RequirementSet;
  readonly rows: TemplateRows;
  readonly daemons: readonly Daemon[];
  readonly limits: RemainingLimits | undefined;
  readonly nodeCostPerHour: number;
}

/** Builds the columns; every resource name must be known to the table by now. */
export function buildTemplate(table: RequirementTable, resources: ResourceTable, parts: TemplateParts): Template {
  const { index, pool, set, rows, daemons } = parts;
  const { types } = rows;
  const taints = pool.spec?.template?.spec?.taints ?? [];
  const groups = new Map<string, number>();
  const daemonGroups: DaemonGroup[] = [];
  const groupOfType = types.map((type) => {
    const running = daemons.map((daemon) => runsOnType(table, daemon, { set, taints }, type.set));
    const key = running.map((runs) => (runs ? '1' : '0')).join('');
    let group = groups.get(key);
    if (group === undefined) {
      group = daemonGroups.length;
      groups.set(key, group);
      daemonGroups.push(
        daemonGroup(
          resources,
          daemons.filter((_, daemon) => running[daemon]),
        ),
      );
    }
    return group;
  });
  const daemonGroupOf = Int32Array.from(rows.typeOf, (type) => groupOfType[type] as number);
  const allocatables = types.flatMap((type) => type.rows.map((row) => row.allocatable));
  const room = resources.names.map((_, column) =>
    Float64Array.from(allocatables, (allocatable, row) => {
      const group = daemonGroups[daemonGroupOf[row] as number] as DaemonGroup;
      return at(allocatable, column) - at(group.overhead, column);
    }),
  );
  const viable = bitset(rows.count);
  for (let row = 0; row < rows.count; row++) {
    if (room.every((amounts) => (amounts[row] as number) >= 0)) addBit(viable, row);
  }
  return {
    index,
    poolName: pool.metadata.name,
    weight: pool.spec?.weight ?? 0,
    set,
    taints,
    rows,
    room,
    viable,
    daemonGroups,
    daemonGroupOf,
    hasDaemonPorts: daemonGroups.some((group) => group.ports.length > 0),
    hasReserved: types.some((type) => type.reservedOfferings.length > 0),
    limitsAttachments: types.some((type) => type.attachLimits !== undefined),
    limits: parts.limits,
    nodeCostPerHour: nodeCostOf(pool, parts.nodeCostPerHour),
  };
}

/** The pool's own figure, for fees per host; one that is not a number of 0 or more is not heeded. */
function nodeCostOf(pool: NodePool, usual: number): number {
  const written = pool.metadata.annotations?.[annotation.nodeCostPerHour];
  const cost = written === undefined || written.trim() === '' ? Number.NaN : Number(written);
  return Number.isFinite(cost) && cost >= 0 ? cost : usual;
}

function daemonGroup(resources: ResourceTable, daemons: readonly Daemon[]): DaemonGroup {
  const overhead = new Float64Array(resources.names.length);
  for (const daemon of daemons) {
    for (const [name, amount] of daemon.requests) {
      const column = resources.column(name);
      overhead[column] = at(overhead, column) + amount;
    }
  }
  return { overhead, ports: daemons.flatMap((daemon) => daemon.ports) };
}
