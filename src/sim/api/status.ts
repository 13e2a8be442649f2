// Errors as the API server words them. Each becomes a `Status` object on the wire and is a KubeError in process, so both
// roads to the cluster fail in the same way.
import { KubeError } from '../../ports/index.ts';
import type { FieldError } from './field-error.ts';
import { causeOf, describe } from './field-error.ts';

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  retryAfterSeconds?: number;
}

export interface StatusObject {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, string>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

export class StatusError extends KubeError {
  readonly details: StatusDetails | undefined;
  /** Continue token offered with an expired list. */
  readonly continueToken: string | undefined;

  constructor(code: number, reason: string, message: string, details?: StatusDetails, continueToken?: string) {
    super({
      status: code,
      reason,
      message,
      ...(details?.causes && { causes: details.causes }),
      ...(details?.retryAfterSeconds !== undefined && { retryAfterSeconds: details.retryAfterSeconds }),
    });
    this.details = details;
    this.continueToken = continueToken;
  }
}

export function statusObject(error: StatusError): StatusObject {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: error.continueToken === undefined ? {} : { continue: error.continueToken },
    status: 'Failure',
    message: error.message,
    ...(error.reason !== '' && { reason: error.reason }),
    ...(error.details && { details: error.details }),
    code: error.status,
  };
}

/** What an error is about; built-in kinds and custom ones alike. */
export interface Subject {
  group: string;
  plural: string;
  kind: string;
}

const about = (subject: Subject, name: string): StatusDetails => ({
  ...(name !== '' && { name }),
  ...(subject.group !== '' && { group: subject.group }),
  kind: subject.plural,
});
const resourceName = (subject: Subject): string =>
  subject.group === '' ? subject.plural : `${subject.plural}.${subject.group}`;

export const notFound = (subject: Subject, name: string): StatusError =>
  new StatusError(404, 'NotFound', `${resourceName(subject)} "${name}" not found`, about(subject, name));

export const alreadyExists = (subject: Subject, name: string): StatusError =>
  new StatusError(409, 'AlreadyExists', `${resourceName(subject)} "${name}" already exists`, about(subject, name));

export const conflict = (subject: Subject, name: string, why: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${resourceName(subject)} "${name}": ${why}`,
    about(subject, name),
  );

export const modified = (subject: Subject, name: string): StatusError =>
  conflict(
    subject,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );

export const forbidden = (subject: Subject, name: string, why: string, causes?: StatusDetails['causes']): StatusError =>
  new StatusError(
    403,
    'Forbidden',
    name === ''
      ? `${resourceName(subject)} is forbidden: ${why}`
      : `${resourceName(subject)} "${name}" is forbidden: ${why}`,
    { ...about(subject, name), ...(causes && { causes }) },
  );

export function invalid(subject: Subject, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map(describe))];
  return new StatusError(
    422,
    'Invalid',
    `${subject.group === '' ? subject.kind : `${subject.kind}.${subject.group}`} "${name}" is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    {
      ...(name !== '' && { name }),
      ...(subject.group !== '' && { group: subject.group }),
      ...(subject.kind !== '' && { kind: subject.kind }),
      causes: errors.map(causeOf),
    },
  );
}

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message);

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

export const noSuchResource = (subject?: Partial<Subject>): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {
    ...(subject?.group && { group: subject.group }),
    ...(subject?.plural && { kind: subject.plural }),
  });

export const unsupportedMediaType = (message: string): StatusError =>
  new StatusError(415, 'UnsupportedMediaType', message);

export const expired = (message: string, continueToken?: string): StatusError =>
  new StatusError(410, 'Expired', message, undefined, continueToken);

export const tooLargeVersion = (asked: number, current: number): StatusError =>
  new StatusError(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

export const entityTooLarge = (limitBytes: number): StatusError =>
  new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limitBytes}`);

export const internalError = (why: string): StatusError =>
  new StatusError(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] });
