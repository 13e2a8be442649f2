// Root causes first: a finding that another one explains is not a finding of its own but a consequence named there. Which
// id explains which is data of the entries (`explains`); whether it does in this case is decided by the objects: a cause at
// one node class explains the claims that hang on it and leaves those of another class alone.
import type { Evidence } from './evidence.ts';
import type { Consequence, Failure, FailureId, Finding, ObjectRef } from './failure.ts';
import { below, isBelow } from './relations.ts';

/** A finding before consequences are folded. */
export interface RawFinding {
  finding: Finding;
  /** An object or an answer proves it; otherwise a text alone says so. */
  isProven: boolean;
  /** What it explains besides what its entry says. */
  explains: readonly string[];
}

export interface Folded {
  findings: Finding[];
  /** Which finding took each folded id. */
  explainedBy: Map<FailureId, FailureId>;
}

/** Never a cause by themselves: a chain folds through them even where they were not seen. */
const onlyConsequences: ReadonlySet<string> = new Set([
  'crd/nodepool-not-ready-because-nodeclass',
  'init/cni-not-initialised',
  'init/never-initialised-never-removed',
  'registration/undiagnosed-timeout',
  'scheduling/launch-rejected-by-provider',
  'scheduling/no-usable-nodepool',
]);

export function foldConsequences(
  all: readonly RawFinding[],
  entries: ReadonlyMap<FailureId, Failure>,
  evidence: Evidence,
): Folded {
  const explainedBy = new Map<FailureId, FailureId>();
  const consequences = new Map<RawFinding, Consequence[]>();
  let left: RawFinding[] = [...all];
  // What is explained most comes first, so that each takes its own consequences along when its cause takes it.
  const depths = new Map(all.map((one) => [one, all.filter((other) => explains(entries, other, one)).length]));
  for (const given of [...all].sort((a, b) => (depths.get(b) ?? 0) - (depths.get(a) ?? 0))) {
    const cause = left.find((one) => one === given);
    if (cause === undefined || cause.finding.confidence === 'possible' || cause.finding.harmless === true) continue;
    const { objects } = cause.finding;
    const reached = objects.length === 0 ? undefined : below(objects, evidence);
    const taken = consequences.get(cause) ?? [];
    left = left.flatMap((other): RawFinding[] => {
      if (other === cause || !explains(entries, cause, other)) return [other];
      const { id, summary, objects: own } = other.finding;
      // Pods and the like go with what they wait for: only places decide whether the cause reaches them.
      const rest =
        reached === undefined || !objects.some(isPlace)
          ? []
          : own.filter((one) => isPlace(one) && !isBelow(one, reached));
      if (rest.length > 0 && rest.length === own.length) return [other];
      taken.push({ id, summary, objects: own.filter((one) => !rest.includes(one)) });
      if (rest.length > 0) {
        const remaining = { ...other, finding: { ...other.finding, objects: rest } };
        consequences.set(remaining, consequences.get(other) ?? []);
        return [remaining];
      }
      taken.push(...(consequences.get(other) ?? []));
      explainedBy.set(id, cause.finding.id);
      return [];
    });
    consequences.set(cause, taken);
  }
  return {
    findings: left.map((one) => {
      const taken = consequences.get(one) ?? [];
      return taken.length === 0 ? one.finding : { ...one.finding, consequences: taken };
    }),
    explainedBy,
  };
}

const isPlace = ({ kind }: ObjectRef): boolean => ['EC2NodeClass', 'NodePool', 'NodeClaim', 'Node'].includes(kind);

/** Directly, or through what is never more than a consequence. */
function explains(entries: ReadonlyMap<FailureId, Failure>, cause: RawFinding, other: RawFinding): boolean {
  if (cause === other || cause.finding.id === other.finding.id) return false;
  const wanted = other.finding.id;
  const covers = (named: string): boolean => named === wanted || (named.endsWith('/') && wanted.startsWith(named));
  const entry = entries.get(cause.finding.id);
  if (!other.isProven && (entry?.explainsInText ?? []).some(covers)) return true;
  const seen = new Set<string>();
  const queue = [...(entry?.explains ?? []), ...cause.explains];
  for (const named of queue) {
    if (seen.has(named)) continue;
    seen.add(named);
    if (covers(named)) return true;
    if (onlyConsequences.has(named)) queue.push(...(entries.get(named as FailureId)?.explains ?? []));
  }
  return false;
}
