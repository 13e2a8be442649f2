// Making findings out of sightings: what entries share when they put lines of text into words.
import { confidences, type EvidenceItem, type Found, type ObjectRef, type Sighting } from './failure.ts';
import { type Condition, conditionText, refOf, type Stored } from './objects.ts';

/** The confidence of the surest line. */
export function surest(sightings: readonly Sighting[]): Found['confidence'] {
  const seen = new Set(sightings.map(({ sign }) => sign.confidence ?? 'certain'));
  return confidences.find((confidence) => seen.has(confidence)) ?? 'certain';
}

/** Sightings as evidence, with how often each stands there. */
export function linesOf(sightings: readonly Sighting[]): EvidenceItem[] {
  const first = new Set<string>();
  return sightings.map(({ source, line, text, count, sign, about }) => {
    const key = `${source} ${sign.pattern.source}`;
    const isFirst = !first.has(key);
    first.add(key);
    const times = isFirst && count > 1 ? ` (${count.toLocaleString('en-US')} times)` : '';
    const subject = about === undefined ? '' : `${about.kind} ${about.name}: `;
    return { source: line === undefined ? source : `${source}:${line}`, text: `${subject}${text}${times}` };
  });
}

/** The objects whose events or fields the lines are. */
export function subjectsOf(sightings: readonly Sighting[]): ObjectRef[] {
  const refs = new Map<string, ObjectRef>();
  for (const { about } of sightings)
    if (about !== undefined) refs.set(`${about.kind}/${about.namespace ?? ''}/${about.name}`, about);
  return [...refs.values()];
}

/** The first value that a group of the patterns caught. */
export function caught(sightings: readonly Sighting[], group: string): string | undefined {
  for (const { groups } of sightings) if (groups[group]) return groups[group];
  return undefined;
}

/** Every distinct value that a group caught. */
export function allCaught(sightings: readonly Sighting[], group: string): string[] {
  return [...new Set(sightings.flatMap(({ groups }) => groups[group] ?? []))];
}

/** What the text around the lines says by this pattern's first group. */
export function aroundOf(sightings: readonly Sighting[], pattern: RegExp): string | undefined {
  for (const { around } of sightings) {
    const found = pattern.exec(around)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A finding whose words are made from the lines. */
export function foundIn(
  sightings: readonly Sighting[],
  { summary, fix, key }: { summary: string; fix: readonly string[]; key?: string },
): Found {
  return {
    confidence: surest(sightings),
    summary,
    evidence: linesOf(sightings),
    objects: subjectsOf(sightings),
    fix,
    ...(key === undefined ? {} : { key }),
  };
}

/** A condition as a piece of evidence. */
export function conditionItem(stored: Stored, condition: Condition): EvidenceItem {
  return { source: stored.source, text: `${stored.kind} ${stored.name}: ${conditionText(condition)}` };
}

/** A field as a piece of evidence. */
export function fieldItem(stored: Stored, field: string, value: string): EvidenceItem {
  return { source: stored.source, text: `${stored.kind} ${stored.name}: ${field}: ${value}` };
}

export const refsOf = (stored: readonly Stored[]): ObjectRef[] => stored.map(refOf);

/** A sentence out of a clause of the catalogue. */
export function sentence(clause: string): string {
  const text = clause.charAt(0).toUpperCase() + clause.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
