// Root causes first: a finding that another one explains is not a finding of its own but a consequence named there. Which
// id explains which is data of the entries (`explains`); whether it does in this case is decided by the objects: a cause at
// one node class explains the claims that hang on it and leaves those of another class alone.
import type { Evidence } from './evidence.ts';
import type { Consequence, Failure, FailureId, Finding, ObjectRef } from './failure.ts';
import { below, isBelow } from './relations.ts';

export interface Folded {
  findings: Finding[];
  /** Which finding took each folded id. */
  explainedBy: Map<FailureId, FailureId>;
}

export function foldConsequences(
  findings: readonly Finding[],
  entries: ReadonlyMap<FailureId, Failure>,
  evidence: Evidence,
): Folded {
  const explainedBy = new Map<FailureId, FailureId>();
  let left: Finding[] = [...findings];
  const consequences = new Map<Finding, Consequence[]>();
  // From the deepest cause up: what is taken away can explain nothing more, but its own consequences follow it.
  for (const cause of [...left].sort((a, b) => depth(a, findings, entries) - depth(b, findings, entries))) {
    if (!left.includes(cause) || cause.confidence === 'possible' || cause.harmless === true) continue;
    const reached = cause.objects.length === 0 ? undefined : below(cause.objects, evidence);
    const taken = consequences.get(cause) ?? [];
    left = left.flatMap((other): Finding[] => {
      if (other === cause || !explains(entries, cause.id, other.id)) return [other];
      // Pods and the like go with what they wait for: only places decide whether the cause reaches them.
      const rest = reached === undefined ? [] : other.objects.filter((one) => isPlace(one) && !isBelow(one, reached));
      const isWhole = other.objects.length === 0 || rest.length === 0 || !isScoped(cause);
      const { id, summary, objects } = other;
      taken.push({ id, summary, objects: isWhole ? objects : objects.filter((object) => !rest.includes(object)) });
      taken.push(...(consequences.get(other) ?? []));
      if (!isWhole && rest.length < objects.length) return [{ ...other, objects: rest }];
      if (!isWhole) {
        taken.pop();
        return [other];
      }
      explainedBy.set(other.id, cause.id);
      return [];
    });
    consequences.set(cause, taken);
  }
  return {
    findings: left.map((finding) => {
      const taken = consequences.get(finding) ?? [];
      return taken.length === 0 ? finding : { ...finding, consequences: taken };
    }),
    explainedBy,
  };
}

/** Causes whose objects say where they act; others (a role, the controller, a log line) act everywhere. */
const isScoped = ({ objects }: Finding): boolean => objects.some(isPlace);

const isPlace = ({ kind }: ObjectRef): boolean => ['EC2NodeClass', 'NodePool', 'NodeClaim', 'Node'].includes(kind);

/** Follows `explains` over several steps, so that a chain folds into its beginning even if the middle was not seen. */
function explains(entries: ReadonlyMap<FailureId, Failure>, cause: FailureId, consequence: FailureId): boolean {
  const seen = new Set<FailureId>();
  const queue = [cause];
  for (const id of queue) {
    if (seen.has(id)) continue;
    seen.add(id);
    for (const named of entries.get(id)?.explains ?? []) {
      for (const other of entries.keys()) {
        if (other !== named && !(named.endsWith('/') && other.startsWith(named))) continue;
        if (other === consequence && other !== cause) return true;
        if (!named.endsWith('/')) queue.push(other);
      }
    }
  }
  return false;
}

function depth(finding: Finding, all: readonly Finding[], entries: ReadonlyMap<FailureId, Failure>): number {
  return all.filter((other) => other !== finding && explains(entries, other.id, finding.id)).length;
}
