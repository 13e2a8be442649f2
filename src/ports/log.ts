// Structured logging. One line per decision or change: a constant message, the facts in fields, names as in Kubernetes.

export type LogFields = Record<string, unknown>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  /** `error` is rendered as text, if there is one; never log and throw the same error. */
  error(message: string, error: unknown, fields?: LogFields): void;
  /** A log whose lines carry these fields too. */
  with(fields: LogFields): Log;
}
