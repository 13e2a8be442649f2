// Checks a value against a structural schema and reports every field that is wrong, as the API server does: types, enums,
// patterns, bounds, lengths, required fields and the anyOf/oneOf/allOf/not constructs. Rules (CEL) and list types are
// checked elsewhere, after this.
//
// On an update, a part that did not change is not judged again (the API server ratchets): tightening a schema never blocks
// edits elsewhere in an object that was valid under the looser one.
import { isIdentical } from '../../base/index.ts';
import {
  atField,
  atIndex,
  atKey,
  type FieldError,
  type FieldErrorReason,
  fieldError,
  fieldText,
  type Place,
} from './field-error.ts';
import { isKnownFormat, matchesFormat } from './formats.ts';
import { isObject, type JsonObject, jsonType, own } from './json.ts';
import { correlatedItems } from './list-types.ts';
import { compilePattern } from './pattern.ts';
import type { Structural } from './structural.ts';

/** Value and schema errors of a whole object; `old` is the stored one on an update. */
export function validateValue(schema: Structural, value: unknown, old?: unknown): FieldError[] {
  const errors: FieldError[] = [];
  new Walker(errors).check(schema, value, old, undefined);
  return errors;
}

class Walker {
  readonly errors: FieldError[];

  constructor(errors: FieldError[]) {
    this.errors = errors;
  }

  /** Adds an error whose detail is a sentence about the field, as most are. */
  fail(
    place: Place | undefined,
    sentence: string,
    value: unknown,
    reason: FieldErrorReason = 'FieldValueInvalid',
  ): void {
    const field = fieldText(place, false);
    const subject = place === undefined ? '' : field;
    this.errors.push(fieldError(reason, place, field, `${subject} in body ${sentence}`, value ?? ''));
  }

  /** Some errors reach users without their field; the detail names it, and the path is kept for finding it. */
  failNameless(place: Place | undefined, detail: string): void {
    this.errors.push(fieldError('FieldValueInvalid', place, '<nil>', detail, ''));
  }

  add(reason: FieldErrorReason, place: Place | undefined, detail: string, value?: unknown): void {
    this.errors.push(fieldError(reason, place, fieldText(place, false), detail, value));
  }

  check(schema: Structural, value: unknown, old: unknown, place: Place | undefined): void {
    if (old !== undefined && isIdentical(value, old)) return;
    const type = jsonType(value);
    this.checkType(schema, type, place);
    if (type !== 'null') {
      this.checkCombinations(schema, value, place);
      if (typeof value === 'string') this.checkString(schema, value, place);
      else if (typeof value === 'number') this.checkNumber(schema, value, place);
      else if (Array.isArray(value)) this.checkList(schema, value, old, place);
    }
    if (schema.enum !== undefined && !schema.enum.some((allowed) => isIdentical(allowed, value))) {
      const supported = schema.enum.map((allowed) =>
        JSON.stringify(typeof allowed === 'string' ? allowed : JSON.stringify(allowed)),
      );
      this.add('FieldValueNotSupported', place, `supported values: ${supported.join(', ')}`, value ?? null);
    }
    if (isObject(value)) this.checkObject(schema, value, old, place);
  }

  checkType(schema: Structural, type: ReturnType<typeof jsonType>, place: Place | undefined): void {
    const wanted = schema['x-kubernetes-int-or-string'] === true ? 'integer,string' : schema.type;
    if (wanted === undefined || wanted === '') return;
    if (type === 'null' && schema.nullable === true) return;
    if (type === wanted || (type === 'integer' && wanted === 'number')) return;
    if (wanted === 'integer,string' && (type === 'integer' || type === 'string')) return;
    // With a format the API server names that, not the type, and looks no closer at lists.
    if (isKnownFormat(schema.format) && type !== 'string' && type !== 'null') {
      if (type === 'array' && wanted !== 'integer' && wanted !== 'number') return;
      if (type !== 'array') {
        const found = type === 'number' ? 'float64' : type === 'integer' ? 'int64' : '';
        this.fail(place, `must be of type ${schema.format}: ${JSON.stringify(found)}`, found, 'FieldValueTypeInvalid');
        return;
      }
    }
    this.fail(place, `must be of type ${wanted}: ${JSON.stringify(type)}`, type, 'FieldValueTypeInvalid');
  }

  checkString(schema: Structural, value: string, place: Place | undefined): void {
    // Characters, not UTF-16 units, as the API server counts. Only text longer in units can be longer in characters.
    if (schema.maxLength !== undefined && value.length > schema.maxLength && [...value].length > schema.maxLength) {
      const unit = schema.maxLength === 1 ? 'byte' : 'bytes';
      this.add('FieldValueTooLong', place, `may not be more than ${schema.maxLength} ${unit}`);
    } else if (schema.minLength !== undefined && [...value].length < schema.minLength) {
      this.fail(place, `should be at least ${schema.minLength} chars long`, value);
    } else if (schema.pattern !== undefined && compilePattern(schema.pattern)?.test(value) === false) {
      this.fail(place, `should match '${schema.pattern}'`, value);
    }
    if (schema.format !== undefined && !matchesFormat(schema.format, value)) {
      this.fail(place, `must be of type ${schema.format}: ${JSON.stringify(value)}`, value, 'FieldValueTypeInvalid');
    }
  }

  checkNumber(schema: Structural, value: number, place: Place | undefined): void {
    const { minimum, maximum, multipleOf } = schema;
    if (schema.type === 'integer') {
      const most = schema.format === 'int32' ? 2 ** 31 : 2 ** 63;
      if (!Number.isInteger(value) || value < -most || value >= most) {
        const format = schema.format === undefined ? '(default format)' : `with format ${schema.format}`;
        this.failNameless(place, `Checked value must be of type integer ${format} in ${fieldText(place, false)}`);
      }
    }
    if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
      this.fail(place, `should be a multiple of ${multipleOf}`, value);
    }
    if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)) {
      const bound = schema.exclusiveMinimum === true ? 'greater than' : 'greater than or equal to';
      this.fail(place, `should be ${bound} ${minimum}`, value);
    }
    if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)) {
      const bound = schema.exclusiveMaximum === true ? 'less than' : 'less than or equal to';
      this.fail(place, `should be ${bound} ${maximum}`, value);
    }
  }

  checkList(schema: Structural, value: unknown[], old: unknown, place: Place | undefined): void {
    if (schema.items !== undefined) {
      const oldItem = correlatedItems(schema, old);
      for (const [index, item] of value.entries()) {
        this.check(schema.items, item, oldItem(item), atIndex(place, index));
      }
    }
    if (schema.minItems !== undefined && value.length < schema.minItems) {
      this.fail(place, `should have at least ${schema.minItems} items`, value.length);
    }
    if (schema.maxItems !== undefined && value.length > schema.maxItems) {
      this.tooMany(schema.maxItems, value.length, place);
    }
    if (
      schema.uniqueItems === true &&
      value.some((item, i) => value.slice(0, i).some((other) => isIdentical(item, other)))
    ) {
      this.fail(place, "shouldn't contain duplicates", '');
    }
  }

  checkObject(schema: Structural, value: JsonObject, old: unknown, place: Place | undefined): void {
    const size = Object.keys(value).length;
    if (schema.minProperties !== undefined && size < schema.minProperties) {
      this.fail(place, `should have at least ${schema.minProperties} properties`, size);
    }
    if (schema.maxProperties !== undefined && size > schema.maxProperties) {
      this.tooMany(schema.maxProperties, size, place);
    }
    const properties = schema.properties ?? {};
    const oldObject = isObject(old) ? old : {};
    // `apiVersion` and `kind` of the object itself may differ between versions of the stored object: always judged.
    const before = (key: string): unknown =>
      place === undefined && (key === 'apiVersion' || key === 'kind') ? undefined : own(oldObject, key);
    if (schema.additionalProperties === false) {
      for (const key of Object.keys(value)) {
        if (!Object.hasOwn(properties, key)) {
          this.errors.push(
            fieldError(
              'FieldValueInvalid',
              place,
              fieldText(place, false),
              `${fieldText(atField(place, key), false)} in body is a forbidden property`,
              key,
            ),
          );
        }
      }
    } else if (typeof schema.additionalProperties === 'object') {
      for (const key of Object.keys(value)) {
        if (!Object.hasOwn(properties, key)) {
          this.check(schema.additionalProperties, value[key], before(key), atKey(place, key));
        }
      }
    }
    for (const key of Object.keys(properties)) {
      const property = properties[key];
      if (property !== undefined && Object.hasOwn(value, key)) {
        this.check(property, value[key], before(key), atField(place, key));
      }
    }
    for (const key of schema.required ?? []) {
      if (!Object.hasOwn(value, key)) this.add('FieldValueRequired', atField(place, key), '');
    }
  }

  tooMany(most: number, size: number, place: Place | undefined): void {
    this.add('FieldValueTooMany', place, `must have at most ${most} ${most === 1 ? 'item' : 'items'}`, size);
  }

  /** The errors of one alternative on its own. Alternatives are never ratcheted. */
  alternative(schema: Structural, value: unknown, place: Place | undefined): FieldError[] {
    const errors: FieldError[] = [];
    new Walker(errors).check(schema, value, undefined, place);
    return errors;
  }

  checkCombinations(schema: Structural, value: unknown, place: Place | undefined): void {
    const { anyOf, oneOf, allOf, not } = schema;
    if (anyOf === undefined && oneOf === undefined && allOf === undefined && not === undefined) return;
    const name = JSON.stringify(place === undefined ? '' : fieldText(place, false));
    const combined = (sentence: string): void => this.failNameless(place, `${name} must ${sentence}`);
    if (anyOf !== undefined && anyOf.length > 0) {
      const results = anyOf.map((alternative) => this.alternative(alternative, value, place));
      if (results.every((errors) => errors.length > 0)) {
        combined('validate at least one schema (anyOf)');
        this.errors.push(...fewest(results));
      }
    }
    if (oneOf !== undefined && oneOf.length > 0) {
      const results = oneOf.map((alternative) => this.alternative(alternative, value, place));
      const valid = results.filter((errors) => errors.length === 0).length;
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        combined(`validate one and only one schema (oneOf). ${found}`);
        if (valid === 0) this.errors.push(...fewest(results));
      }
    }
    if (allOf !== undefined && allOf.length > 0) {
      const results = allOf.map((alternative) => this.alternative(alternative, value, place));
      const valid = results.filter((errors) => errors.length === 0).length;
      this.errors.push(...results.flat());
      if (valid < allOf.length) {
        combined(`validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
      }
    }
    if (not !== undefined && this.alternative(not, value, place).length === 0) {
      combined('not validate the schema (not)');
    }
  }
}

/** Of several failed alternatives, the one that came closest says most. */
function fewest(results: FieldError[][]): FieldError[] {
  return results.reduce((best, errors) => (errors.length < best.length ? errors : best));
}
