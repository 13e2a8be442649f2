// A failed call to a Kubernetes API, with the API's own words.
import { KerfError } from '../base/index.ts';

export interface KubeErrorFields {
  /** HTTP status; 0 when no answer came. */
  status: number;
  /** The API's reason (`NotFound`, `Conflict`, …), or `Transport`. */
  reason: string;
  message: string;
  /** What was called: `patch nodeclaims/default-x7k2p/status`. */
  call?: string;
  retryAfterSeconds?: number;
  /** Field by field causes of an `Invalid` answer. */
  causes?: { field?: string; reason?: string; message?: string }[];
  cause?: unknown;
}

const retryableReasons = new Set([
  'TooManyRequests',
  'ServerTimeout',
  'Timeout',
  'InternalError',
  'ServiceUnavailable',
  'Transport',
]);

export class KubeError extends KerfError {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: NonNullable<KubeErrorFields['causes']>;

  constructor(fields: KubeErrorFields) {
    super(`Kube${fields.reason}`, fields.message, {
      ...(fields.call === undefined ? {} : { subject: fields.call }),
      // Conflicts and missing objects change by themselves: whoever reconciles tries again.
      isFinal: false,
      retryable: retryableReasons.has(fields.reason) || fields.status >= 500,
      cause: fields.cause,
    });
    this.name = 'KubeError';
    this.status = fields.status;
    this.reason = fields.reason;
    this.retryAfterSeconds = fields.retryAfterSeconds;
    this.causes = fields.causes ?? [];
  }
}

/** True for a KubeError with that reason. */
export function isKubeError(thrown: unknown, reason?: string): thrown is KubeError {
  return thrown instanceof KubeError && (reason === undefined || thrown.reason === reason);
}
