// The rules (`x-kubernetes-validations`) of a schema: compiled once, evaluated on an object and, on an update, on what it
// was before. Rules that name `oldSelf` speak of a change and run only where there is an old value to compare with; the
// others are not run again on a part that did not change.
import { Environment, Optional, type ParseResult } from '@marcbachmann/cel-js';
import { isIdentical, messageOf } from '../../base/index.ts';
import {
  atField,
  atIndex,
  atKey,
  type FieldError,
  type FieldErrorReason,
  fieldError,
  fieldText,
  type Place,
} from '../schema/field-error.ts';
import { isObject, own } from '../schema/json.ts';
import { correlatedItems } from '../schema/list-types.ts';
import type { Structural, ValidationRule } from '../schema/structural.ts';
import { registerKubernetesFunctions, strictInt } from './functions.ts';
import { mentions, renameFunction } from './source.ts';
import { toCel } from './values.ts';

interface CompiledRule {
  rule: ValidationRule;
  usesOldSelf: boolean;
  program: ParseResult;
  message: ParseResult | undefined;
}

/** The rules below one place of the schema; places without any are left out, so that evaluating skips them. */
export interface RuleTree {
  schema: Structural;
  rules: CompiledRule[];
  properties: Map<string, RuleTree>;
  additional: RuleTree | undefined;
  items: RuleTree | undefined;
}

/** A rule that does not compile, with where it stands. */
export interface RuleProblem {
  path: string[];
  rule: string;
  problem: string;
}

let environment: Environment | undefined;

/** Built on first use: most runs never evaluate a rule. */
function sharedEnvironment(): Environment {
  environment ??= registerKubernetesFunctions(
    new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false })
      .registerVariable('self', 'dyn')
      .registerVariable('oldSelf', 'dyn'),
  );
  return environment;
}

/** Compiles every rule of a schema. Rules that cannot be compiled are reported in `problems` and never run. */
export function compileRules(
  schema: Structural,
  problems: RuleProblem[] = [],
  path: string[] = [],
): RuleTree | undefined {
  const rules: CompiledRule[] = [];
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    try {
      rules.push(compileRule(rule));
    } catch (thrown) {
      problems.push({ path, rule: rule.rule, problem: messageOf(thrown) });
    }
  }
  const properties = new Map<string, RuleTree>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const tree = compileRules(property, problems, [...path, 'properties', name]);
    if (tree !== undefined) properties.set(name, tree);
  }
  const { additionalProperties: inner, items: each } = schema;
  const additional =
    typeof inner === 'object' ? compileRules(inner, problems, [...path, 'additionalProperties']) : undefined;
  const items = each === undefined ? undefined : compileRules(each, problems, [...path, 'items']);
  if (rules.length === 0 && properties.size === 0 && additional === undefined && items === undefined) return undefined;
  return { schema, rules, properties, additional, items };
}

function compileRule(rule: ValidationRule): CompiledRule {
  const program = checked(rule.rule);
  const message = rule.messageExpression === undefined ? undefined : checked(rule.messageExpression);
  return { rule, program, message, usesOldSelf: mentions(rule.rule, 'oldSelf') };
}

function checked(expression: string): ParseResult {
  const program = sharedEnvironment().parse(renameFunction(expression, 'int', strictInt));
  const result = program.check();
  if (!result.valid) throw result.error ?? new Error(`cannot check ${expression}`);
  return program;
}

/** Runs the rules; `old` is the stored object on an update. */
export function evaluateRules(tree: RuleTree | undefined, value: unknown, old?: unknown): FieldError[] {
  const errors: FieldError[] = [];
  if (tree !== undefined) visit(tree, value, old, undefined, false, errors);
  return errors;
}

function visit(
  tree: RuleTree,
  value: unknown,
  old: unknown,
  place: Place | undefined,
  unchangedAbove: boolean,
  errors: FieldError[],
): void {
  if (value === null || value === undefined) return;
  const unchanged = unchangedAbove || (old !== undefined && isIdentical(value, old));
  if (tree.rules.length > 0) evaluateHere(tree, value, old, place, unchanged, errors);
  if (Array.isArray(value)) {
    if (tree.items === undefined) return;
    const oldItem = correlatedItems(tree.schema, old);
    for (const [index, item] of value.entries()) {
      visit(tree.items, item, oldItem(item), atIndex(place, index), unchanged, errors);
    }
  } else if (isObject(value)) {
    const before = isObject(old) ? old : {};
    for (const key of Object.keys(value)) {
      const property = tree.properties.get(key);
      if (property !== undefined) visit(property, value[key], own(before, key), atField(place, key), unchanged, errors);
      else if (tree.additional !== undefined && !Object.hasOwn(tree.schema.properties ?? {}, key)) {
        visit(tree.additional, value[key], own(before, key), atKey(place, key), unchanged, errors);
      }
    }
  }
}

function evaluateHere(
  { schema, rules }: RuleTree,
  value: unknown,
  old: unknown,
  place: Place | undefined,
  unchanged: boolean,
  errors: FieldError[],
): void {
  const root = place === undefined ? { ...schema, 'x-kubernetes-embedded-resource': true } : schema;
  const self = toCel(root, value);
  const hasOld = old !== undefined && old !== null;
  let oldSelf: unknown;
  for (const { rule, program, message, usesOldSelf } of rules) {
    if (usesOldSelf && !hasOld && rule.optionalOldSelf !== true) continue;
    if (!usesOldSelf && unchanged) continue;
    if (usesOldSelf && hasOld) oldSelf ??= toCel(root, old);
    const context: Record<string, unknown> = { self };
    if (usesOldSelf) {
      context['oldSelf'] = rule.optionalOldSelf === true ? (hasOld ? Optional.of(oldSelf) : Optional.none()) : oldSelf;
    }
    let holds: unknown;
    try {
      holds = program(context);
    } catch (thrown) {
      const detail = `${failureText(messageOf(thrown))} evaluating rule: ${(rule.message ?? rule.rule).trim()}`;
      errors.push(fieldError('FieldValueInvalid', place, fieldText(place, true), detail, schema.type ?? ''));
      continue;
    }
    if (holds === true) continue;
    errors.push(brokenRule(rule, schema, value, placeOf(rule, place), messageFor(rule, message, context)));
  }
}

/** The library's words for a failed evaluation, turned into the API server's where the two differ. */
function failureText(message: string): string {
  const line = message.split('\n', 1)[0] ?? message;
  const index = /index out of bounds, index (-?\d+)/.exec(line);
  if (index !== null) return `index out of bounds: ${index[1]}`;
  return line.replace(/^No such key/, 'no such key').replace(/^Division by zero/i, 'division by zero');
}

function messageFor(
  rule: ValidationRule,
  expression: ParseResult | undefined,
  context: Record<string, unknown>,
): string {
  if (expression !== undefined) {
    try {
      const text: unknown = expression(context);
      if (typeof text === 'string' && text.trim() !== '' && !text.trim().includes('\n')) return text.trim();
    } catch {
      // As on the API server: a message that cannot be computed gives way to the fixed one.
    }
  }
  return rule.message === undefined || rule.message === '' ? `failed rule: ${rule.rule.trim()}` : rule.message.trim();
}

const reasons: Readonly<Record<string, FieldErrorReason>> = {
  FieldValueForbidden: 'FieldValueForbidden',
  FieldValueRequired: 'FieldValueRequired',
  FieldValueDuplicate: 'FieldValueDuplicate',
};

function brokenRule(
  rule: ValidationRule,
  schema: Structural,
  value: unknown,
  place: Place | undefined,
  detail: string,
): FieldError {
  const reason = reasons[rule.reason ?? ''] ?? 'FieldValueInvalid';
  const shown = schema.type === 'object' || schema.type === 'array' ? undefined : value;
  const field = fieldText(place, true);
  if (reason === 'FieldValueDuplicate') return fieldError(reason, place, field, '', shown);
  return fieldError(reason, place, field, detail, reason === 'FieldValueInvalid' ? shown : undefined);
}

/** Applies the rule's `fieldPath` (`.a.b`, `['a.b']`) to where it stands. */
function placeOf(rule: ValidationRule, place: Place | undefined): Place | undefined {
  let at = place;
  for (const [, name, quoted] of (rule.fieldPath ?? '').matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    at = name === undefined ? atField(at, (quoted ?? '').replaceAll(/\\(.)/g, '$1')) : atField(at, name);
  }
  return at;
}
