// What validation finds, field by field, in the API server's own words. The shape is that of src/api's findings, so
// built-in and custom kinds report alike.
import type { FieldErrorReason } from '../../api/index.ts';

export interface FieldError {
  reason: FieldErrorReason | 'FieldValueNotFound';
  field: string;
  /** Without the field: `Invalid value: 101: …`. */
  message: string;
}

/** Go prints values in JSON, whole objects too. */
const shown = (value: unknown): string => (value === undefined ? 'null' : JSON.stringify(value));

export const describe = ({ field, message }: FieldError): string => `${field}: ${message}`;

export const causeOf = ({
  reason,
  field,
  message,
}: FieldError): { reason: string; message: string; field: string } => ({
  reason,
  message,
  field,
});

const tail = (detail: string | undefined): string => (detail === undefined || detail === '' ? '' : `: ${detail}`);

export const required = (field: string, detail?: string): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  message: `Required value${tail(detail)}`,
});
export const invalidValue = (field: string, value: unknown, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${shown(value)}${tail(detail)}`,
});
export const notSupported = (field: string, value: unknown, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map((item) => JSON.stringify(item)).join(', ')}`,
});
export const duplicate = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueDuplicate',
  field,
  message: `Duplicate value: ${shown(value)}`,
});
export const forbiddenField = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: `Forbidden: ${detail}`,
});
export const tooLong = (field: string, limit: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: may not be more than ${limit} bytes`,
});
export const notFoundValue = (field: string, value: unknown): FieldError => ({
  reason: 'FieldValueNotFound',
  field,
  message: `Not found: ${shown(value)}`,
});
