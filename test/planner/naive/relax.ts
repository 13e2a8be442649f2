// One relaxation of a pod that found no place: the first of the list that applies.
import type { Affinity, PodSpec } from '../rules/objects.ts';

export function relax(spec: PodSpec, toleratePreferNoSchedule: boolean): PodSpec | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required !== undefined && required.nodeSelectorTerms.length > 1) {
    return withAffinity(spec, 'nodeAffinity', {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: required.nodeSelectorTerms.slice(1) },
    });
  }
  for (const kind of ['podAffinity', 'podAntiAffinity', 'nodeAffinity'] as const) {
    const preferred = spec.affinity?.[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    if (preferred.length === 0) continue;
    const lightest = [...preferred].sort((a, b) => b.weight - a.weight).slice(1);
    return withAffinity(spec, kind, { preferredDuringSchedulingIgnoredDuringExecution: lightest });
  }
  const spreads = spec.topologySpreadConstraints ?? [];
  const soft = spreads.findIndex((spread) => spread.whenUnsatisfiable === 'ScheduleAnyway');
  if (soft >= 0) {
    const rest = [...spreads];
    const last = rest.pop();
    if (soft < rest.length && last !== undefined) rest[soft] = last;
    return { ...spec, topologySpreadConstraints: rest };
  }
  const tolerations = spec.tolerations ?? [];
  const already = tolerations.some((t) => t.operator === 'Exists' && t.effect === 'PreferNoSchedule' && !t.key);
  if (toleratePreferNoSchedule && !already) {
    return { ...spec, tolerations: [...tolerations, { operator: 'Exists', effect: 'PreferNoSchedule' }] };
  }
  return undefined;
}

function withAffinity<K extends keyof Affinity>(spec: PodSpec, kind: K, change: object): PodSpec {
  return { ...spec, affinity: { ...spec.affinity, [kind]: { ...spec.affinity?.[kind], ...change } } };
}
