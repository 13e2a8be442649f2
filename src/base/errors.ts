// The one error class of the project. A thrown error has a code of the list in `error-codes.ts`, the object it concerns,
// and says whether trying again can help. Its message answers: what was tried, on what, what to do.
import type { ErrorCode } from './error-codes.ts';

export interface KerfErrorOptions {
  /** What the error concerns, as a person would name it: `NodePool default`, `file pods.yaml`. */
  subject?: string;
  /** True when the same call may succeed later without anyone changing anything. */
  retryable?: boolean;
  /** True when only a change by a person helps; by default the opposite of `retryable`. */
  isFinal?: boolean;
  cause?: unknown;
}

export class KerfError extends Error {
  readonly code: ErrorCode;
  readonly subject: string | undefined;
  readonly retryable: boolean;
  readonly isFinal: boolean;

  constructor(code: ErrorCode, message: string, options: KerfErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'KerfError';
    this.code = code;
    this.subject = options.subject;
    this.retryable = options.retryable ?? false;
    this.isFinal = options.isFinal ?? !this.retryable;
  }
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What it answers, or the message of the error it ends with; an error that is not ours goes on. */
export function attempt<T>(read: () => T): { value: T; problem?: undefined } | { value?: undefined; problem: string } {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof KerfError) return { problem: error.message };
    throw error;
  }
}
