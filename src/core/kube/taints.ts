// Taints and tolerations, by Kubernetes' rules including the numeric operators. For new nodes every effect counts, also
// PreferNoSchedule: it is relaxed later, as a preference.

import { taint as knownTaint } from '../../api/names.ts';
import type { Taint, Toleration } from './objects.ts';

const tolerateAllPreferences: Toleration = { operator: 'Exists', effect: 'PreferNoSchedule' };

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const operator = toleration.operator ?? 'Equal';
  if (toleration.effect && toleration.effect !== taint.effect) return false;
  if (toleration.key && toleration.key !== taint.key) return false;
  // An empty key stands for all keys, but only together with Exists.
  if (!toleration.key && operator !== 'Exists') return false;
  switch (operator) {
    case '':
    case 'Equal':
      return (toleration.value ?? '') === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
    case 'Gt': {
      const limit = integer(toleration.value);
      const actual = integer(taint.value);
      if (limit === undefined || actual === undefined) return false;
      return operator === 'Lt' ? actual < limit : actual > limit;
    }
    default:
      return false;
  }
}

export function untolerated(taints: readonly Taint[], tolerations: readonly Toleration[]): Taint[] {
  return taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
}

export function toleratesAll(taints: readonly Taint[], tolerations: readonly Toleration[]): boolean {
  return taints.every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));
}

/** The tolerations with one more for every PreferNoSchedule taint, unless the same one is there already. */
export function toleratingPreferences(tolerations: readonly Toleration[]): readonly Toleration[] {
  const present = tolerations.some(
    (toleration) =>
      !toleration.key &&
      toleration.operator === 'Exists' &&
      toleration.effect === 'PreferNoSchedule' &&
      !toleration.value,
  );
  return present ? tolerations : [...tolerations, tolerateAllPreferences];
}

/** Taints that come and go while a node starts, so that they say nothing about it afterwards. */
const ephemeralTaints: readonly { key: string; effect: string }[] = [
  { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' },
  knownTaint.unregistered,
];
const ephemeralPrefix = 'readiness.k8s.io/';

export function isEphemeral(taint: Taint): boolean {
  return taint.key.startsWith(ephemeralPrefix) || ephemeralTaints.some((known) => sameTaint(known, taint));
}

/** Kubernetes identifies a taint by key and effect. */
export function sameTaint(left: { key: string; effect: string }, right: { key: string; effect: string }): boolean {
  return left.key === right.key && left.effect === right.effect;
}

export function describeTaint(taint: Taint): string {
  return taint.value ? `${taint.key}=${taint.value}:${taint.effect}` : `${taint.key}:${taint.effect}`;
}

function integer(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}
