// Random schemas and values: another validator must agree on what is valid, and preparing an object twice must do no more
// than preparing it once.
import { Ajv } from 'ajv';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { admit, compileSchema, type Structural } from '../index.ts';

const keys = ['a', 'b', 'c', 'constructor', '__proto__'];

const schemas = fc.letrec<{ schema: Structural }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record<Structural>(
      {
        type: fc.constant('string'),
        minLength: fc.nat(3),
        maxLength: fc.integer({ min: 2, max: 5 }),
        pattern: fc.constantFrom('^a', 'b$', '^[ab]+$'),
        enum: fc.constant(['a', 'ab', 'abc']),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record<Structural>(
      { type: fc.constantFrom('integer', 'number'), minimum: fc.nat(3), maximum: fc.integer({ min: 2, max: 6 }) },
      { requiredKeys: ['type'] },
    ),
    fc.record<Structural>({ type: fc.constant('boolean') }),
    fc.record<Structural>(
      {
        type: fc.constant('array'),
        items: tie('schema'),
        minItems: fc.nat(1),
        maxItems: fc.nat(3),
        uniqueItems: fc.boolean(),
      },
      { requiredKeys: ['type', 'items'] },
    ),
    fc.record<Structural>(
      {
        type: fc.constant('object'),
        additionalProperties: tie('schema'),
        maxProperties: fc.nat(2),
        minProperties: fc.nat(1),
      },
      { requiredKeys: ['type', 'additionalProperties'] },
    ),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), tie('schema'), { maxKeys: 3 })
      .map((properties): Structural => ({ type: 'object', properties, required: Object.keys(properties).slice(0, 1) })),
  ),
})).schema;

const values = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom('', 'a', 'ab', 'abc', 'bbbbbb', 'x'),
    fc.integer({ min: -1, max: 8 }),
    fc.constantFrom(1.5, true, false),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 3 }),
  ),
})).value;

const ajv = new Ajv({ strict: false, ownProperties: true });

test('another validator agrees on what is valid', () => {
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const wrapped: Structural = { type: 'object', properties: { spec: schema } };
      // Unknown fields are pruned here and ignored there; both judge what is left.
      const { object, errors } = admit(compileSchema(wrapped), { spec: value });
      const agrees = ajv.validate(JSON.parse(JSON.stringify(wrapped)), object);
      expect(errors.length === 0).toBe(agrees);
    }),
    { seed: 7, numRuns: 600 },
  );
});

test('what was prepared once is not changed by preparing it again', () => {
  const withDefault = (schema: Structural): Structural => ({
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { ...schema, default: 'x' }, b: schema } } },
  });
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const compiled = compileSchema(withDefault(schema));
      const once = admit(compiled, { spec: { b: value }, z: 1 });
      const twice = admit(compiled, once.object);
      expect(twice.object).toEqual(once.object);
      expect(twice.unknownFields).toEqual([]);
      expect(twice.errors).toEqual(once.errors);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('an unchanged object is never refused', () => {
  fc.assert(
    fc.property(schemas, values, (schema, value) => {
      const compiled = compileSchema({ type: 'object', properties: { spec: schema } });
      const stored = admit(compiled, { spec: value }).object;
      expect(admit(compiled, stored, stored).errors).toEqual([]);
    }),
    { seed: 7, numRuns: 300 },
  );
});
