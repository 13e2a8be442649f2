// What became of the NodeClaims since a report that was saved before the switch: gone, new, rewritten, drifted.
import { createHash } from 'node:crypto';
import { annotation, awsAnnotation, isTrue } from '../../api/index.ts';
import { claimsOf } from './drift.ts';
import type { PreflightObject } from './input.ts';
import type { ClaimMark, Comparison, PreflightReport } from './report.ts';

/** Annotations that say what a node was made from. */
const lasting: readonly string[] = [
  annotation.nodePoolHash,
  annotation.nodePoolHashVersion,
  awsAnnotation.nodeClassHash,
  awsAnnotation.nodeClassHashVersion,
];

export function marksOf(objects: readonly PreflightObject[]): ClaimMark[] {
  return claimsOf(objects)
    .map(({ metadata, spec, status }) => {
      const kept = Object.entries(metadata.annotations ?? {}).filter(([key]) => lasting.includes(key));
      const lastingParts = [sorted(metadata.labels ?? {}), sorted(Object.fromEntries(kept)), sorted(spec)];
      return {
        name: metadata.name ?? '',
        uid: metadata.uid ?? '',
        digest: createHash('sha256').update(JSON.stringify(lastingParts)).digest('hex').slice(0, 16),
        isRegistered: isTrue(status?.conditions, 'Registered'),
        isDrifted: isTrue(status?.conditions, 'Drifted'),
        isLeaving: metadata.deletionTimestamp !== undefined,
      };
    })
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** The same object gives the same text, whatever the order of its keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, below]) => [key, sorted(below)]),
  );
}

export function comparedWith(before: Pick<PreflightReport, 'claims' | 'time'>, now: readonly ClaimMark[]): Comparison {
  const byUid = new Map(now.map((mark) => [mark.uid, mark]));
  const known = new Map(before.claims.map((mark) => [mark.uid, mark]));
  const both = before.claims.flatMap((old) => {
    const mark = byUid.get(old.uid);
    return mark === undefined ? [] : [{ old, mark }];
  });
  const names = (marks: readonly ClaimMark[]): string[] => marks.map(({ name }) => name);
  return {
    from: before.time,
    gone: names(before.claims.filter(({ uid }) => !byUid.has(uid))),
    added: names(now.filter(({ uid }) => !known.has(uid))),
    rewritten: names(
      both.filter(({ old, mark }) => old.isRegistered && old.digest !== mark.digest).map(({ mark }) => mark),
    ),
    newlyDrifted: names(both.filter(({ old, mark }) => mark.isDrifted && !old.isDrifted).map(({ mark }) => mark)),
  };
}
