// Plans again with obstacles taken away, on a copy that shares everything the remedies leave alone. Counts its plans: how
// much is tried depends on the input alone, never on the clock.
import {
  type Plan,
  type PlanOptions,
  planSnapshot,
  type Reason,
  type Snapshot,
  type SnapshotObject,
} from '../../../core/index.ts';
import { applyRemedy } from './remedies.ts';

export interface Trial {
  readonly snapshot: Snapshot;
  /** `namespace/name` of the pod. */
  readonly pod: string;
  /** The pool that is to be opened; undefined where the reasons are about none. */
  readonly pool: string | undefined;
  readonly options: PlanOptions;
  readonly budget: PlanBudget;
}

/** What may still be spent on plans: one for each, and one more for every `objectsPerUnit` it looks at. */
export interface PlanBudget {
  left: number;
}
const objectsPerUnit = 500;

export type Outcome =
  | { kind: 'placed' }
  /** What is still in the way. */
  | { kind: 'waits'; reasons: readonly Reason[] }
  /** One of the reasons has no remedy that can be tried, or the budget is spent. */
  | { kind: 'untried' };

export function tryRemedies(trial: Trial, reasons: readonly Reason[]): Outcome {
  const { snapshot, pod: key, pool: poolName, options, budget } = trial;
  if (budget.left <= 0) return { kind: 'untried' };
  let pod: SnapshotObject | undefined;
  let pool: SnapshotObject | undefined;
  const items = snapshot.objects.items.map((object) => {
    const isPool = object.kind === 'NodePool' && object.metadata.name === poolName;
    if (!isPool && !(object.kind === 'Pod' && nameOf(object) === key)) return object;
    const copy = structuredClone(object);
    if (isPool) pool = copy;
    else pod = copy;
    return copy;
  });
  if (pod === undefined) return { kind: 'untried' };
  const changing = { snapshot: { ...snapshot, objects: { ...snapshot.objects, items } }, pod, pool };
  for (const reason of reasons) if (!applyRemedy(changing, reason)) return { kind: 'untried' };
  budget.left -= 1 + Math.floor(items.length / objectsPerUnit);
  return outcomeOf(planSnapshot(changing.snapshot, options), key);
}

function outcomeOf({ unschedulable }: Plan, key: string): Outcome {
  const left = unschedulable.find(({ pod }) => pod === key);
  return left === undefined ? { kind: 'placed' } : { kind: 'waits', reasons: left.reasons };
}

export function nameOf({ kind, metadata }: SnapshotObject): string {
  return kind === 'Pod' ? `${metadata.namespace ?? 'default'}/${metadata.name}` : metadata.name;
}

/**
 * The smallest part of `reasons` that is enough, the first of those in the order of reasons; undefined if not even all
 * of them are. Sets of more than `mostTried` reasons are only thinned out: what is left is needed, though there may be a
 * smaller set of others.
 */
export function smallestEnough(trial: Trial, reasons: readonly Reason[]): Reason[] | undefined {
  const isEnough = (some: readonly Reason[]): boolean => tryRemedies(trial, some).kind === 'placed';
  if (!isEnough(reasons)) return undefined;
  if (reasons.length > mostTried) {
    return reasons.reduce<Reason[]>(
      (kept, reason) => {
        const without = kept.filter((each) => each !== reason);
        return isEnough(without) ? without : kept;
      },
      [...reasons],
    );
  }
  for (let size = 1; size < reasons.length; size += 1) {
    const found = subsets(reasons, size).find(isEnough);
    if (found !== undefined) return found;
  }
  return [...reasons];
}

/** Sets up to this size are searched through whole: 31 plans. */
const mostTried = 5;

function subsets<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((first, at) => subsets(items.slice(at + 1), size - 1).map((rest) => [first, ...rest]));
}
