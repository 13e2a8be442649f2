// What is wrong with one field, in the API server's own words and with its reasons, so that our validator, the embedded
// API server and a real one can be compared answer by answer.

export type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueTypeInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany';

export interface FieldError {
  reason: FieldErrorReason;
  /** The field as the API server writes it: `spec.taints[0].key`. */
  field: string;
  /** What is wrong with it, without the field: `Invalid value: 101: …`. */
  message: string;
  /** The field as keys and indices, to find it in a document. */
  path: (string | number)[];
}

/** One line, as in the API server's answer. */
export const fieldErrorText = (error: FieldError): string => `${error.field}: ${error.message}`;

/** A place in an object, linked to its parent so that walking costs next to nothing. */
export interface Place {
  parent: Place | undefined;
  segment: string | number;
  /** The segment is a key of a map, not the name of a field. */
  mapKey: boolean;
}

export const atField = (parent: Place | undefined, segment: string): Place => ({ parent, segment, mapKey: false });
export const atKey = (parent: Place | undefined, segment: string): Place => ({ parent, segment, mapKey: true });
export const atIndex = (parent: Place | undefined, segment: number): Place => ({ parent, segment, mapKey: false });

function segmentsOf(place: Place | undefined): Place[] {
  const list: Place[] = [];
  for (let at = place; at !== undefined; at = at.parent) list.push(at);
  return list.reverse();
}

/** Schema errors join map keys with dots, all others write them in brackets; the API server does both. */
export function fieldText(place: Place | undefined, keysInBrackets: boolean): string {
  if (place === undefined) return '<nil>';
  let text = '';
  for (const { segment, mapKey } of segmentsOf(place)) {
    if (typeof segment === 'number' || (mapKey && keysInBrackets)) text += `[${segment}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

const titles: Readonly<Record<FieldErrorReason, string>> = {
  FieldValueRequired: 'Required value',
  FieldValueInvalid: 'Invalid value',
  FieldValueTypeInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
};

/** Builds an error; `value` is shown unless left out. */
export function fieldError(
  reason: FieldErrorReason,
  place: Place | undefined,
  field: string,
  detail: string,
  value?: unknown,
): FieldError {
  const shown = value === undefined ? '' : `: ${JSON.stringify(value)}`;
  return {
    reason,
    field,
    message: `${titles[reason]}${shown}${detail === '' ? '' : `: ${detail}`}`,
    path: segmentsOf(place).map(({ segment }) => segment),
  };
}
