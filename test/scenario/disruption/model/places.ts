// Whether pods have somewhere to go: every pod tried on every destination until all have a place or none is left to try.
// Knows what the model's pods ask for: resources, a node selector, and no two of an app on one node.
import { label, type NodeClaim } from '../../../../src/api/index.ts';
import { allocatableOf, type InstanceTypeSpec } from '../../../../src/core/index.ts';
import type { Pod } from '../../../../src/ports/index.ts';
import { quantity } from '../../../planner/rules/quantity.ts';
import {
  claimOfNode,
  hasDisruptedTaint,
  isDeleting,
  isInitializedNode,
  isMarked,
  type Observation,
  podsOn,
} from './observation.ts';
import { mustMove, type Reason, waitsForDeadline } from './rules.ts';

interface Place {
  labels: Record<string, string>;
  free: Record<string, bigint>;
  apps: string[];
}

const amounts = ['cpu', 'memory', 'pods'] as const;

/** The pods of these nodes fit on the others and on the claims that were just made, but for those a deadline waits for. */
export function haveRoom(
  seen: Observation,
  leaving: ReadonlySet<string>,
  fresh: readonly NodeClaim[],
  catalogue: readonly InstanceTypeSpec[],
  reason: Reason,
): boolean {
  const isMoving = (pod: Pod): boolean =>
    leaving.has(pod.spec?.nodeName ?? '') && mustMove(pod) && !waitsForDeadline(seen, pod, reason);
  const moving = seen.pods.filter(isMoving);
  const places = [...standing(seen, leaving), ...fresh.map((claim) => coming(claim, catalogue))];
  return fits(moving.sort(byRequests), places, 0, { left: 20_000 });
}

function standing(seen: Observation, leaving: ReadonlySet<string>): Place[] {
  return seen.nodes.flatMap((node) => {
    const { name = '', labels = {} } = node.metadata;
    const claim = claimOfNode(seen, node);
    const isGoing = leaving.has(name) || isDeleting(node) || isDeleting(claim) || hasDisruptedTaint(node);
    if (isGoing || !isInitializedNode(node) || (claim !== undefined && isMarked(claim))) return [];
    const free: Record<string, bigint> = {};
    for (const each of amounts) free[each] = quantity(node.status?.allocatable?.[each] ?? '0');
    const pods = podsOn(seen, name);
    for (const pod of pods) for (const each of amounts) free[each] = (free[each] ?? 0n) - wants(pod, each);
    return [{ labels, free, apps: pods.filter((pod) => !isDeleting(pod)).map(appOf) }];
  });
}

/** A machine that is still to come counts as the least of what it may become. */
function coming(claim: NodeClaim, catalogue: readonly InstanceTypeSpec[]): Place {
  const requirements = claim.spec.requirements ?? [];
  const named = requirements.find(({ key }) => key === label.instanceType)?.values ?? [];
  const types = catalogue.filter(({ name }) => named.includes(name));
  const free: Record<string, bigint> = {};
  for (const each of amounts) {
    const all = types.map((type) => quantity(allocatableOf(type)[each] ?? '0'));
    free[each] = all.reduce((least, one) => (one < least ? one : least), all[0] ?? 0n);
  }
  const single = requirements.flatMap(({ key, operator, values = [] }) =>
    operator === 'In' && values.length === 1 ? [[key, values[0] as string] as const] : [],
  );
  return { labels: { ...claim.metadata.labels, ...Object.fromEntries(single) }, free, apps: [] };
}

function fits(pods: readonly Pod[], places: readonly Place[], at: number, tries: { left: number }): boolean {
  const pod = pods[at];
  if (pod === undefined) return true;
  for (const place of places) {
    if (--tries.left <= 0) return true;
    if (!accepts(place, pod)) continue;
    for (const each of amounts) place.free[each] = (place.free[each] ?? 0n) - wants(pod, each);
    place.apps.push(appOf(pod));
    if (fits(pods, places, at + 1, tries)) return true;
    place.apps.pop();
    for (const each of amounts) place.free[each] = (place.free[each] ?? 0n) + wants(pod, each);
  }
  return false;
}

function accepts({ labels, free, apps }: Place, pod: Pod): boolean {
  if (amounts.some((each) => wants(pod, each) > (free[each] ?? 0n))) return false;
  const selector = Object.entries(pod.spec?.nodeSelector ?? {});
  if (selector.some(([key, value]) => labels[key] !== value)) return false;
  return pod.spec?.affinity?.podAntiAffinity === undefined || !apps.includes(appOf(pod));
}

function wants(pod: Pod, resource: (typeof amounts)[number]): bigint {
  if (resource === 'pods') return quantity('1');
  return (pod.spec?.containers ?? []).reduce(
    (sum, { resources: asked }) => sum + quantity(asked?.requests?.[resource] ?? '0'),
    0n,
  );
}

const appOf = ({ metadata }: Pod): string => metadata.labels?.['app'] ?? '';

const byRequests = (left: Pod, right: Pod): number => (wants(left, 'cpu') < wants(right, 'cpu') ? 1 : -1);
