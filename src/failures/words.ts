// How conditions, events and alerts name a failure: its id, one sentence, the first thing to do, and where to read more. One
// wording, so that what the controller says, what the doctor says and what the page says is one text.
import type { FailureId, Finding } from './failure.ts';
import { anchorOf } from './reference-page.ts';

/** Where the entry is explained. */
export const pageOf = (id: FailureId): string => `docs/reference/failures.md#${anchorOf(id)}`;

/** `iam/pass-role-denied: kerf doctor --only iam/pass-role-denied, docs/…#iam-pass-role-denied`, to end a sentence with. */
export const pointerTo = (id: FailureId): string => `${id}: kerf doctor --only ${id}, ${pageOf(id)}`;

/** What is wrong and the first thing to do about it, with the id and where to read on. */
export function saidOf({ id, summary, fix }: Pick<Finding, 'id' | 'summary' | 'fix'>): string {
  const [first] = fix;
  return `${summary}${first === undefined ? '' : ` Fix: ${first}`} (${pointerTo(id)})`;
}

/** `NodeRoleNotMapped`: an id as the reason of a condition. */
export const reasonOf = (id: FailureId): string =>
  (id.split('/')[1] ?? id)
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
