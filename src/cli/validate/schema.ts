// What the schema of our kinds says about an object. The API server stops at the first layer of errors; here every
// problem is wanted at once, so rules are also run on the parts of an object that are sound.
import {
  admitKind,
  compiledKind,
  evaluateRules,
  type FieldError,
  type KindDefinition,
  kindOf,
  kinds,
} from '../../api/index.ts';
import { valueAt } from '../manifests/index.ts';
import type { Subject } from './finding.ts';
import { isRemoved, type SchemaProblem } from './rules/index.ts';

/** The kind whose schema judges an object: its own, or the v1 kind that replaced it. */
export function definitionFor({ apiVersion, group, kind }: Subject): KindDefinition | undefined {
  return kindOf(isRemoved(apiVersion, kind) ? `${group}/v1` : apiVersion, kind);
}

/** Groups whose kinds are all ours, so that another kind or version in them is a mistake. */
export const isOurGroup = (group: string): boolean =>
  kinds.some((definition) => definition.group === group) && !group.includes('x-k8s.io');

export function schemaProblems(definition: KindDefinition, subject: Subject): SchemaProblem[] {
  const admission = admitKind(definition, subject.value);
  const unknown = admission.unknownFields
    // The misspelt apiVersion has its own rule.
    .filter(({ path }) => !(path.length === 1 && path[0] === 'appVersion'))
    .map(({ path }): SchemaProblem => ({ kind: 'unknown', path, detail: `unknown field "${path.join('.')}"` }));
  const errors = admission.errors.filter(
    ({ path, message }) => path.length > 0 || !message.includes('rules were not checked'),
  );
  const rules = errors.length === admission.errors.length ? [] : soundRules(definition, admission.object, errors);
  return [
    ...unknown,
    ...withoutEchoes(errors).map((error) => problemOf(error, subject)),
    ...withoutEchoes(rules).map((error) => problemOf(error, subject)),
  ];
}

/** An empty list breaks every rule about its items too, which says nothing more. */
function withoutEchoes(errors: readonly FieldError[]): readonly FieldError[] {
  const empty = errors.filter(({ message }) => message.includes('cannot be empty')).map(({ path }) => path.join('.'));
  return errors.filter(
    ({ path, message }) => !empty.includes(path.join('.')) || !message.includes('is mutually exclusive'),
  );
}

/** Rules that fail although nothing below the place they speak of has another error. */
function soundRules(definition: KindDefinition, object: unknown, errors: readonly FieldError[]): FieldError[] {
  const isBelow = (path: FieldError['path'], above: FieldError['path']): boolean =>
    above.every((part, index) => path[index] === part);
  return evaluateRules(compiledKind(definition).rules, object).filter(
    (broken) =>
      !broken.message.includes(' evaluating rule: ') && !errors.some((error) => isBelow(error.path, broken.path)),
  );
}

function problemOf(error: FieldError, subject: Subject): SchemaProblem {
  return {
    kind: problemKind(error),
    path: error.path,
    detail: error.message,
    value: valueAt(subject.value, error.path),
  };
}

function problemKind({ reason, message }: FieldError): SchemaProblem['kind'] {
  if (reason === 'FieldValueRequired') return 'required';
  if (reason === 'FieldValueNotSupported') return 'enum';
  if (reason === 'FieldValueTypeInvalid') return 'type';
  if (message.includes('should match')) return 'pattern';
  if (reason === 'FieldValueTooLong' || reason === 'FieldValueTooMany' || message.includes(' in body ')) return 'range';
  return 'rule';
}
