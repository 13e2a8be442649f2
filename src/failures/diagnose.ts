// From evidence to findings: every entry of the catalogue is asked, what says the same is put together, consequences are
// folded into their causes, and each check that could not be made says what it would need.
import type { Evidence } from './evidence.ts';
import {
  type CheckOutcome,
  confidences,
  type Diagnosis,
  type Failure,
  type FailureId,
  type Finding,
  type Found,
  type Severity,
  type Sighting,
  severities,
} from './failure.ts';
import { foldConsequences, type RawFinding } from './fold.ts';
import { linesOf, sentence, subjectsOf, surest } from './found.ts';
import { isStillTrouble } from './still-trouble.ts';

/** Lines and fields shown per finding; the rest adds length, not proof. */
const shownEvidence = 8;

export interface DiagnoseOptions {
  /** Sightings older than this before now do not count. */
  sinceMs?: number;
}

export function diagnose(
  catalogue: readonly Failure[],
  evidence: Evidence,
  { sinceMs }: DiagnoseOptions = {},
): Diagnosis {
  const entries = new Map(catalogue.map((entry) => [entry.id, entry]));
  const raw: RawFinding[] = [];
  const outcomes = new Map<FailureId, CheckOutcome>();
  for (const entry of catalogue) {
    const found = findingsOf(entry, evidence, sinceMs);
    raw.push(...found);
    outcomes.set(entry.id, outcomeOf(entry, found, evidence));
  }
  const { findings, explainedBy } = foldConsequences(raw, entries, evidence);
  for (const [id, cause] of explainedBy)
    if (!findings.some((finding) => finding.id === id)) outcomes.set(id, { id, outcome: 'found', explainedBy: cause });
  const order = new Map(catalogue.map(({ id }, index) => [id, index]));
  return { findings: sorted(findings, order), checks: [...outcomes.values()] };
}

function findingsOf(entry: Failure, evidence: Evidence, sinceMs: number | undefined): RawFinding[] {
  const seen = (evidence.sightings.get(entry.id) ?? []).filter(
    (sighting) => isRecent(sighting, evidence, sinceMs) && isStillTrouble(sighting, evidence),
  );
  const fromText = seen.length === 0 ? [] : (entry.fromText ?? plainFound(entry))(seen, evidence);
  const checked = entry.check?.(evidence) ?? [];
  const merged = mergeFound([...checked, ...fromText]);
  if (entry.harmless === true && !evidence.isAsked) return [];
  return merged.map(({ found, isProven }) => ({
    finding: findingOf(entry, found),
    isProven: isProven(checked),
    explains: found.explains ?? [],
  }));
}

function isRecent({ timeMs }: Sighting, { nowMs }: Evidence, sinceMs: number | undefined): boolean {
  return sinceMs === undefined || timeMs === undefined || nowMs === undefined || timeMs >= nowMs - sinceMs;
}

/** What an entry without words of its own says about the lines in which it was seen. */
function plainFound(entry: Failure): (sightings: readonly Sighting[]) => readonly Found[] {
  return (sightings) => [
    {
      confidence: surest(sightings),
      summary: sentence(entry.cause),
      evidence: linesOf(sightings),
      fix: [entry.fix],
      objects: subjectsOf(sightings),
    },
  ];
}

interface Merged {
  found: Found;
  /** One of the checks contributed: not only a text says so. */
  isProven(checked: readonly Found[]): boolean;
}

/** Checks and lines that say the same are one finding: the surest words, all the evidence. */
function mergeFound(all: readonly Found[]): Merged[] {
  const merged = new Map<string, { found: Found; parts: Found[] }>();
  const keyed = new Set(all.flatMap(({ key }) => key ?? []));
  for (const one of all) {
    // What names no subject belongs to the only one there is.
    const key = one.key ?? (keyed.size === 1 ? [...keyed][0] : undefined) ?? '';
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { found: one, parts: [one] });
    else merged.set(key, { found: joined(known.found, one), parts: [...known.parts, one] });
  }
  return [...merged.values()].map(({ found, parts }) => ({
    found,
    isProven: (checked) => parts.some((part) => checked.includes(part)),
  }));
}

function joined(first: Found, second: Found): Found {
  const isSurer = confidences.indexOf(second.confidence) < confidences.indexOf(first.confidence);
  const words = isSurer ? second : first;
  return {
    ...words,
    evidence: distinct([...first.evidence, ...second.evidence], ({ source, text }) => `${source} ${text}`),
    objects: distinct(
      [...(first.objects ?? []), ...(second.objects ?? [])],
      ({ kind, name, namespace }) => `${kind}/${namespace ?? ''}/${name}`,
    ),
    explains: [...(first.explains ?? []), ...(second.explains ?? [])],
  };
}

function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}

function findingOf({ id, severity, harmless }: Failure, found: Found): Finding {
  const { confidence, summary, evidence, fix, objects = [] } = found;
  return {
    id,
    severity: confidence === 'possible' ? 'low' : severity,
    confidence,
    objects,
    summary,
    evidence: evidence.slice(0, shownEvidence),
    fix,
    ...(harmless === true ? { harmless } : {}),
  };
}

function outcomeOf(
  { id, needs, check, signs = [] }: Failure,
  found: readonly RawFinding[],
  evidence: Evidence,
): CheckOutcome {
  if (found.length > 0) return { id, outcome: 'found' };
  const unmet = needs.filter((need) => !need.isMet(evidence));
  if (unmet.length > 0) return { id, outcome: 'not made', needs: unmet.map(({ what }) => what).join('; ') };
  if (check === undefined && signs.length === 0)
    return { id, outcome: 'not made', needs: 'a check that does not exist yet' };
  return { id, outcome: 'clear' };
}

function sorted(findings: readonly Finding[], order: ReadonlyMap<FailureId, number>): Finding[] {
  // Of equals, what other trouble follows from comes first.
  const rank = ({ severity, confidence, consequences, id }: Finding): number =>
    severities.indexOf(severity) * 1e6 +
    (consequences === undefined ? 1e5 : 0) +
    confidences.indexOf(confidence) * 1e4 +
    (order.get(id) ?? 0);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

export const isAtLeast = (severity: Severity, least: Severity): boolean =>
  severities.indexOf(severity) <= severities.indexOf(least);
