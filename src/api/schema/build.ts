// Words for writing our kinds: a schema built with them is a structural schema and a TypeScript type at once. They wrap
// typebox where its JSON differs from what CustomResourceDefinitions allow (enums need a type, maps are
// `additionalProperties`, int-or-string is a marker). Every field carries a description: `kubectl explain` prints it.
import * as Type from 'typebox';
import type { Structural, ValidationRule } from './structural.ts';

type Options = Omit<Structural, 'type' | 'properties' | 'required' | 'items' | 'additionalProperties' | 'enum'>;

/** A CEL rule with the message users see when it fails. */
export const rule = (expression: string, message: string): ValidationRule => ({ rule: expression, message });

/** The option that attaches rules to a schema. */
export const rules = (...list: ValidationRule[]): Options => ({ 'x-kubernetes-validations': list });

export const text = (description: string, options: Options = {}) => Type.String({ description, ...plain(options) });

export const flag = (description: string) => Type.Boolean({ description });

export const int32 = (description: string, options: Options = {}) =>
  Type.Integer({ description, format: 'int32', ...plain(options) });

/** Of no size of its own; the API server then speaks of an integer in its refusals, not of an int64. */
export const integer = (description: string, options: Options = {}) => Type.Integer({ description, ...plain(options) });

export const int64 = (description: string, options: Options = {}) =>
  Type.Integer({ description, format: 'int64', ...plain(options) });

export const oneOf = <const V extends readonly string[]>(description: string, values: V, options: Options = {}) =>
  Type.Unsafe<V[number]>({ type: 'string', description, enum: values, ...options });

export const object = <P extends Type.TProperties>(description: string, properties: P, options: Options = {}) =>
  Type.Object(properties, { description, ...plain(options) });

export const listOf = <T extends Type.TSchema>(description: string, items: T, options: Options = {}) =>
  Type.Array(items, { description, ...plain(options) });

export const mapOf = <T extends Type.TSchema>(description: string, values: T, options: Options = {}) =>
  Type.Unsafe<Record<string, Type.Static<T>>>({
    type: 'object',
    description,
    additionalProperties: values,
    ...options,
  });

export const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(schema);

export const time = (description: string) => Type.String({ description, format: 'date-time' });

/** Kubernetes' quantity grammar: a decimal number and an optional suffix or exponent. */
export const quantityPattern =
  '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?([0-9]+([.][0-9]*)?|[.][0-9]+))?$';

/** A whole number, or text that stands for one. */
export const integerOrText = (description: string, options: Options = {}) =>
  Type.Unsafe<string | number>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    description,
    ...options,
    'x-kubernetes-int-or-string': true,
  });

/** An amount of a resource: `2`, `500m`, `1.5Gi`. */
export const quantity = () =>
  Type.Unsafe<string | number>({
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    pattern: quantityPattern,
    'x-kubernetes-int-or-string': true,
  });

export const resourceList = (description: string, options: Options = {}) => mapOf(description, quantity(), options);

/** `plain` copies options for typebox's own constructors, whose option types know nothing of `x-kubernetes-*`. */
function plain(options: Options): Record<string, unknown> {
  return { ...options };
}
