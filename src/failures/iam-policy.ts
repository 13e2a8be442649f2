// Policy documents as IAM and SQS return them: as an object, as JSON text, or as JSON in URL encoding.
import { at, isPlain, listAt, type Plain, textAt, textsAt } from './fields.ts';

export function policyOf(value: unknown): Plain | undefined {
  if (isPlain(value)) return value;
  if (typeof value !== 'string' || value === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(value.trimStart().startsWith('%') ? decodeURIComponent(value) : value);
    return isPlain(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** A single statement counts as a list of one. */
export function statementsOf(policy: Plain | undefined): readonly Plain[] {
  const found = at(policy, 'Statement');
  if (isPlain(found)) return [found];
  return listAt(policy, 'Statement').filter(isPlain);
}

export const isAllow = (statement: Plain): boolean => textAt(statement, 'Effect') === 'Allow';

/** The statement's actions cover this one, wildcards included. */
export function coversAction(statement: Plain, action: string): boolean {
  return textsAt(statement, 'Action').some((pattern) => matches(pattern, action));
}

/** `system:serviceaccount:*:karpenter` and the like. */
export function matches(pattern: string, text: string): boolean {
  const [wanted, given] = [pattern.toLowerCase(), text.toLowerCase()];
  // By hand: policies are written by others, and an expression of many stars would try every way to share the text out.
  let [at, from] = [0, 0];
  let [star, resume] = [-1, 0];
  while (from < given.length) {
    if (wanted[at] === '*') {
      star = at;
      resume = from;
      at += 1;
    } else if (at < wanted.length && (wanted[at] === '?' || wanted[at] === given[from])) {
      at += 1;
      from += 1;
    } else if (star >= 0) {
      resume += 1;
      from = resume;
      at = star + 1;
    } else return false;
  }
  while (wanted[at] === '*') at += 1;
  return at === wanted.length;
}

/** Every value that any operator of the condition compares a key of this ending with. */
export function conditionValues(statement: Plain, keyEnding: string): string[] {
  const condition = at(statement, 'Condition');
  if (!isPlain(condition)) return [];
  return Object.values(condition).flatMap((operator) =>
    isPlain(operator)
      ? Object.keys(operator).flatMap((key) =>
          key.toLowerCase().endsWith(keyEnding.toLowerCase()) ? textsAt(operator, key) : [],
        )
      : [],
  );
}
