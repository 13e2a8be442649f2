// What an API server does with an object of a custom kind before it stores it, in its order: drop nulls, fill in defaults,
// prune unknown fields, check values, check lists, evaluate rules. Works for any structural schema; a schema is compiled
// once and used for every object.
import { compileRules, evaluateRules, type RuleProblem, type RuleTree } from '../cel/rules.ts';
import { applyDefaults } from './defaults.ts';
import { validateEmbedded } from './embedded.ts';
import { type FieldError, fieldError } from './field-error.ts';
import { cloneJson } from './json.ts';
import { validateListTypes } from './list-types.ts';
import { prune, type UnknownField } from './prune.ts';
import type { Structural } from './structural.ts';
import { validateValue } from './validate.ts';

export interface CompiledSchema {
  schema: Structural;
  rules: RuleTree | undefined;
  /** Rules that could not be compiled; they are never run. */
  problems: RuleProblem[];
}

export interface Admission {
  /** The object as it would be stored; the one passed in is left as it was. */
  object: unknown;
  errors: FieldError[];
  /** Fields that were pruned. */
  unknownFields: UnknownField[];
}

export function compileSchema(schema: Structural): CompiledSchema {
  const problems: RuleProblem[] = [];
  return { schema, rules: compileRules(schema, problems), problems };
}

/** Prepares and validates a whole object; `old` is the stored one on an update. */
export function admit(compiled: CompiledSchema, object: unknown, old?: unknown): Admission {
  const copy = cloneJson(object);
  const unknownFields = prune(compiled.schema, copy);
  applyDefaults(compiled.schema, copy);
  return { object: copy, errors: validateAgainstSchema(compiled, copy, old), unknownFields };
}

/** After these, rules cannot be trusted to see values of the right type and bounded size. */
const blocking = new Set<string>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

/** Validates an object that already has its defaults. */
export function validateAgainstSchema(compiled: CompiledSchema, object: unknown, old?: unknown): FieldError[] {
  const { schema, rules } = compiled;
  const errors = validateValue(schema, object, old);
  errors.push(...validateEmbedded(schema, object));
  // A list that already had duplicates may keep them: otherwise nothing else in the object could be edited.
  if (old === undefined || validateListTypes(schema, old).length === 0)
    errors.push(...validateListTypes(schema, object));
  if (rules === undefined) return errors;
  if (errors.some(({ reason }) => blocking.has(reason))) {
    const detail =
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
    errors.push(fieldError('FieldValueInvalid', undefined, '<nil>', detail, null));
  } else {
    errors.push(...evaluateRules(rules, object, old));
  }
  return errors;
}
