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
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'i').test(text);
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
