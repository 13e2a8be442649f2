// What people wrote in public reports: those about a failure are named, those about something else are left alone.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

const found = (where: Where, text: string) =>
  diagnoseCase(evidenceIn(where, text)).findings.filter(({ harmless }) => harmless !== true);

export function reportsAreRead(
  named: readonly (readonly [FailureId, Where, string])[],
  calm: readonly (readonly [Where, string])[],
): void {
  describe('a report from an issue is named', () => {
    for (const [id, where, text] of named)
      test(`${id}: ${text.slice(0, 80)}`, () => {
        expect(found(where, text).map((finding) => finding.id)[0]).toBe(id);
      });
  });

  describe('a report about something else names nothing above low', () => {
    for (const [where, text] of calm)
      test(text.slice(0, 80), () => {
        expect(found(where, text).filter(({ severity }) => severity !== 'low')).toEqual([]);
      });
  });
}
