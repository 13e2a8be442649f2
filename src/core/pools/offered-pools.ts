// The usable NodePools with what each can get now: instance types, what its limits leave, the template of its nodes or why
// it has none, and until when its launches are paused.

import { label } from '../../api/names.ts';
import { attempt, type Sliced } from '../../base/index.ts';
import type { ExtendedResources } from '../devices/extended-resources.ts';
import type { NodePool } from '../kube/objects.ts';
import type { Machine } from '../nodes/machines.ts';
import type { LabelRules } from '../requirements/label-rules.ts';
import type { RequirementTable } from '../requirements/requirement-set.ts';
import type { ResourceTable } from '../resources/resource-table.ts';
import type { ResourceQuantities, Snapshot } from '../snapshot.ts';
import type { Daemon } from './daemons.ts';
import { FailedOfferings } from './failed-offerings.ts';
import { Catalogue, type InstanceType } from './instance-types.ts';
import { nodeLimit, remainingLimits, useOf } from './limits.ts';
import { type Pause, pauseOf } from './pauses.ts';
import {
  buildTemplate,
  type PoolOutcome,
  poolOutcome,
  type RemainingLimits,
  type Template,
  templateSet,
} from './templates.ts';

export interface OfferedPool {
  readonly pool: NodePool;
  readonly pause: Pause | undefined;
  readonly types: readonly InstanceType[];
  /** What it may still grow by; undefined without limits. */
  readonly limits: RemainingLimits | undefined;
  readonly outcome: PoolOutcome;
}

export interface PausedTemplate {
  readonly template: Template;
  readonly pause: Pause;
}

interface PoolContext {
  readonly table: RequirementTable;
  readonly rules: LabelRules;
  readonly resources: ResourceTable;
  readonly machines: readonly Machine[];
  readonly extended: ExtendedResources | undefined;
  readonly relaxMinValues: boolean;
  readonly nowMs: number;
}

/** Yields after some instance types, and twice for every pool. */
export function* offeredPools(
  snapshot: Snapshot,
  pools: readonly NodePool[],
  { table, rules, resources, machines, extended, relaxMinValues, nowMs }: PoolContext,
): Sliced<OfferedPool[]> {
  const entries = new Map(snapshot.instanceTypes?.map((entry) => [entry.nodePool, entry]));
  const reservationIdLabel = snapshot.provider?.reservationIDLabel;
  const failed = new FailedOfferings(snapshot.failedOfferings ?? [], nowMs);
  const catalogue = new Catalogue({ table, rules, resources, reservationIdLabel, failed });
  const poolStates = new Map(snapshot.poolState?.map((entry) => [entry.nodePool, entry]));
  const offered: OfferedPool[] = [];
  for (const pool of pools) {
    const entry = entries.get(pool.metadata.name);
    const items = entry?.error === undefined ? (entry?.items ?? []) : [];
    const specs = extended === undefined ? items : items.map((type) => extended.ofType(type));
    const types = yield* catalogue.typesOf(specs);
    yield;
    const set = templateSet(table, rules, pool);
    const state = poolStates.get(pool.metadata.name);
    // Objects past every validation exist: limits that cannot be read close their own pool only.
    const limits = attempt(() => remainingLimits(pool, { ...usedBy(pool, machines), ...state?.inUse }, resources));
    const outcome: PoolOutcome =
      limits.problem === undefined
        ? poolOutcome(table, set, entry, types, relaxMinValues)
        : { kind: 'unusable', why: 'error', message: `its limits: ${limits.problem}` };
    offered.push({ pool, pause: pauseOf(state, nowMs), types, limits: limits.value, outcome });
    yield;
  }
  return offered;
}

interface TemplateContext {
  readonly table: RequirementTable;
  readonly resources: ResourceTable;
  readonly daemons: readonly Daemon[];
  readonly nodeCostPerHour: number;
}

/** Templates of pools that can get nodes now, and of those that are paused: these are numbered last. */
export function* templatesOf(
  pools: readonly OfferedPool[],
  { table, resources, daemons, nodeCostPerHour }: TemplateContext,
): Sliced<{ templates: Template[]; pausedTemplates: PausedTemplate[] }> {
  const templates: Template[] = [];
  const pausedTemplates: PausedTemplate[] = [];
  const isPaused = ({ pause }: OfferedPool): boolean => pause !== undefined;
  for (const offered of [...pools.filter((each) => !isPaused(each)), ...pools.filter(isPaused)]) {
    const { pool, pause, limits, outcome } = offered;
    if (outcome.kind !== 'template') continue;
    const index = templates.length + pausedTemplates.length;
    const { set, rows } = outcome;
    const template = buildTemplate(table, resources, { index, pool, set, rows, daemons, limits, nodeCostPerHour });
    if (pause === undefined) templates.push(template);
    else pausedTemplates.push({ template, pause });
    yield;
  }
  return { templates, pausedTemplates };
}

/** Reserved instances per reservation: the least any pool reports. */
export function reservationsOf(pools: readonly OfferedPool[]): Map<string, number> {
  const reservations = new Map<string, number>();
  for (const { types } of pools) {
    for (const type of types) {
      for (const { reservationId, reservationCapacity } of type.reservedOfferings) {
        const known = reservations.get(reservationId) ?? Number.POSITIVE_INFINITY;
        reservations.set(reservationId, Math.min(known, reservationCapacity));
      }
    }
  }
  return reservations;
}

/** By the machines that count; with what a controller knows of launches under way laid over it. */
function usedBy({ spec, metadata }: NodePool, machines: readonly Machine[]): ResourceQuantities {
  const limited = Object.keys(spec?.limits ?? {});
  if (limited.length === 0) return {};
  const own = machines.filter((machine) => !machine.leaving && machine.labels[label.nodePool] === metadata.name);
  return useOf(
    own.map(({ capacity }) => ({ ...capacity, [nodeLimit]: 1 })),
    limited,
  );
}
