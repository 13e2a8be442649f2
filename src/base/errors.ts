// The one error class of the project. A thrown error has a stable code that documentation lists, the object it concerns,
// and says whether trying again can help. Its message answers: what was tried, on what, what to do.

export interface KerfErrorOptions {
  /** What the error concerns, as a person would name it: `NodePool default`, `file pods.yaml`. */
  subject?: string;
  /** True when the same call may succeed later without anyone changing anything. */
  retryable?: boolean;
  cause?: unknown;
}

export class KerfError extends Error {
  readonly code: string;
  readonly subject: string | undefined;
  readonly retryable: boolean;

  constructor(code: string, message: string, options: KerfErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KerfError';
    this.code = code;
    this.subject = options.subject;
    this.retryable = options.retryable ?? false;
  }
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
