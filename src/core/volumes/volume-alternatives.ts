// Where a pod's volumes let it run: a list of alternatives, tried in order. A bound claim offers one alternative per
// node-affinity term of its volume, an unbound one per allowed topology of its storage class; several volumes give every
// combination that does not contradict itself. Volume requirements narrow the node, never the counting of spreads.

import { label } from '../../api/names.ts';
import type { ClusterObjects } from '../kube/cluster-objects.ts';
import type { PersistentVolumeClaim, Pod } from '../kube/objects.ts';
import { type LabelRules, normalizedRequirement } from '../requirements/label-rules.ts';
import { type NodeWish, wishOf } from '../requirements/node-wish.ts';
import type { Requirement } from '../requirements/requirement.ts';
import type { RequirementSet, RequirementTable } from '../requirements/requirement-set.ts';
import type { RequirementSpec } from '../snapshot.ts';
import { claimOf } from './pod-volumes.ts';

export interface VolumeContext {
  readonly objects: ClusterObjects;
  readonly table: RequirementTable;
  readonly rules: LabelRules;
}

export type VolumeAlternatives =
  | {
      readonly kind: 'known';
      /** Empty when volumes do not restrict the pod. */
      readonly wishes: readonly NodeWish[];
    }
  | { readonly kind: 'unreadable'; readonly message: string };

/** Of a pod without volumes. */
export const anywhere: VolumeAlternatives = { kind: 'known', wishes: [] };

export function volumeAlternatives(context: VolumeContext, pod: Pod): VolumeAlternatives {
  const { objects, table } = context;
  let sets: RequirementSet[] | undefined;
  let contradictory = false;
  for (const volume of pod.spec?.volumes ?? []) {
    const found = claimOf(objects, pod, volume);
    if (found === undefined) continue;
    if (found.claim === undefined) {
      return { kind: 'unreadable', message: `discovering persistent volume claim, "${found.key}" not found` };
    }
    const own = alternativesOfClaim(context, found.claim);
    if (typeof own === 'string') return { kind: 'unreadable', message: own };
    if (own.length === 0) continue;
    const combine = (onlyAgreeing: boolean): RequirementSet[] =>
      (sets ?? [table.empty]).flatMap((set) =>
        own.filter((other) => !onlyAgreeing || table.intersects(set, other)).map((other) => table.meet(set, other)),
      );
    const agreeing = combine(true);
    // If everything contradicts everything the pod keeps the contradiction, and is reported where it would be placed.
    contradictory ||= agreeing.length === 0;
    sets = agreeing.length > 0 ? agreeing : combine(false);
  }
  return { kind: 'known', wishes: (sets ?? []).map((set) => wishOf(table, set, contradictory)) };
}

function alternativesOfClaim(context: VolumeContext, claim: PersistentVolumeClaim): RequirementSet[] | string {
  const { objects } = context;
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName !== '') return alternativesOfVolume(context, volumeName);
  const className = claim.spec?.storageClassName ?? '';
  if (className === '') return [];
  const storageClass = objects.storageClasses.get(className);
  if (storageClass === undefined) return `getting storage class, "${className}" not found (StorageClass=${className})`;
  return (storageClass.allowedTopologies ?? [])
    .map((term) => term.matchLabelExpressions ?? [])
    .filter((expressions) => expressions.length > 0)
    .map((expressions) =>
      setOf(
        context,
        expressions.map(({ key, values }) => ({ key, operator: 'In', values: values ?? [] })),
      ),
    );
}

function alternativesOfVolume(context: VolumeContext, volumeName: string): RequirementSet[] | string {
  const spec = context.objects.volumes.get(volumeName)?.spec;
  if (!context.objects.volumes.has(volumeName)) {
    return `getting persistent volume, "${volumeName}" not found (PersistentVolume=${volumeName})`;
  }
  // The data of a local volume stays behind anyway when the pod moves, so its host name binds no one.
  const isLocal = Boolean(spec?.local) || Boolean(spec?.hostPath);
  const alternatives: RequirementSet[] = [];
  for (const term of spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []) {
    const all = term.matchExpressions ?? [];
    const kept = isLocal ? all.filter((expression) => expression.key !== label.hostname) : all;
    if (all.length > 0 && (kept.length > 0 || isLocal)) alternatives.push(setOf(context, kept));
  }
  return alternatives;
}

function setOf({ table, rules }: VolumeContext, specs: readonly RequirementSpec[]): RequirementSet {
  const requirements: Requirement[] = specs.map((spec) => normalizedRequirement(rules, spec));
  return table.setOf(requirements);
}
