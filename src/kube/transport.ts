// One HTTP exchange with an API server: credentials, rate limit, the server's wish to be asked again later, errors.
//
// Promises: a failure is a KubeError with the server's reason, or `Transport` when no answer came; an aborted call rejects
// with its signal's reason. A call is repeated only when the server cannot have acted on it: it said so (401, 429 or 5xx
// with Retry-After), or the call only reads.
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import {
  type AbortSignalLike,
  type Clock,
  KerfError,
  messageOf,
  type RateLimit,
  RateLimiter,
  within,
} from '../base/index.ts';
import { KubeError } from '../ports/index.ts';
import type { ClusterAccess } from './access.ts';
import { Connections } from './connections.ts';
import { whyNoAnswer } from './no-answer.ts';
import { errorFromAnswer, retryAfterSeconds } from './status.ts';

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** What it does, for errors: `patch nodeclaims/default-x7k2p/status`. */
  call: string;
  /** One object that may not be there. */
  isAboutObject?: boolean;
  body?: unknown;
  contentType?: string;
  /** False: a 429 is an answer (an eviction refused by a budget), not a request to wait. */
  waitsWhenBusy?: boolean;
  signal?: AbortSignalLike | undefined;
}

export interface TransportOptions {
  access: ClusterAccess;
  clock: Clock;
  /** `kerf/<version>`. */
  userAgent: string;
  rateLimit: RateLimit;
  /** How long a call may go without progress: until the answer starts, and between two pieces of it. */
  callTimeoutMs?: number;
  /** How long a call may take in all, its wait at the rate limiter and its repeats included; a watch, until it begins. */
  totalTimeoutMs?: number;
  /** Asked right before a write is sent, after every wait: false refuses it. */
  mayWrite?: () => boolean;
  /** Receives the server's time with every answer. */
  onServerTime?: (serverMs: number) => void;
  /** Receives every request sent, repeats included. */
  onRequest?: (facts: RequestFacts) => void;
}

export interface RequestFacts {
  method: Call['method'];
  /** With its query. */
  path: string;
  /** HTTP status, or `<error>` when no answer came, as client-go counts them. */
  code: string;
  /** Until the answer began. */
  tookMs: number;
}

/** The API server itself gives up on a call after 60 s. */
const defaultCallTimeoutMs = 65_000;
/** A call that had to wait, was asked to come back and then lasted a minute is still answered. */
const defaultTotalTimeoutMs = 120_000;
const mostRepeats = 5;
const longestWaitSeconds = 30;

interface Answer {
  status: number;
  body: Readable & { text(): Promise<string>; dump(): Promise<void> };
}

export class Transport {
  private readonly options: TransportOptions;
  private readonly limiter: RateLimiter;
  private readonly connections: Connections;

  constructor(options: TransportOptions) {
    this.options = options;
    this.limiter = new RateLimiter(options.rateLimit, options.clock);
    this.connections = new Connections(options.access);
  }

  /** The parsed body of the answer. */
  async json(call: Call): Promise<unknown> {
    const { bound, late, release } = await this.bounded(call);
    return within(this.options.clock, this.totalMs, this.answerTo(bound), late).finally(release);
  }

  /** The whole of an answer that is not JSON: a log. */
  async text(call: Call): Promise<string> {
    const { bound, late, release } = await this.bounded(call);
    return within(this.options.clock, this.totalMs, this.bodyOf(bound), late).finally(release);
  }

  private async answerTo(call: Call): Promise<unknown> {
    const text = await this.bodyOf(call);
    try {
      return text === '' ? undefined : JSON.parse(text);
    } catch (thrown) {
      throw this.transportError(call, thrown);
    }
  }

  private async bodyOf(call: Call): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.exchange(call, 'calls');
      try {
        return await answer.body.text();
      } catch (thrown) {
        if (!mayRead(call, attempt)) throw this.transportError(call, thrown);
      }
    }
  }

  /** The body of an answer that has no end of its own. The caller destroys it. */
  async stream(call: Call): Promise<Readable> {
    const { bound, late, release } = await this.bounded(call);
    try {
      const { body } = await within(this.options.clock, this.totalMs, this.exchange(bound, 'watches'), late);
      body.once('close', release);
      return body;
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  private get totalMs(): number {
    return this.options.totalTimeoutMs ?? defaultTotalTimeoutMs;
  }

  /** The call with a signal that is aborted by its caller's until `release`, or by `late`, at its total deadline. */
  private async bounded(call: Call): Promise<{ bound: Call; late: () => unknown; release: () => void }> {
    // A person may be asked for these, who takes the time they need; plugins have a limit of their own.
    await this.options.access.credentials.headers();
    const { signal } = call;
    if (signal?.aborted) throw signal.reason;
    const stop = new AbortController();
    const forward = (): void => stop.abort(signal?.reason);
    signal?.addEventListener('abort', forward, { once: true });
    const late = (): unknown => {
      const cause = new Error(`no whole answer within ${this.totalMs / 1000} s`);
      stop.abort(this.transportError({ call: call.call }, cause));
      return stop.signal.reason;
    };
    const release = (): void => signal?.removeEventListener('abort', forward);
    return { bound: { ...call, signal: stop.signal }, late, release };
  }

  async close(): Promise<void> {
    await this.connections.close();
  }

  transportError(call: Pick<Call, 'call' | 'signal'>, thrown: unknown): unknown {
    if (call.signal?.aborted) return call.signal.reason;
    if (thrown instanceof KerfError) return thrown;
    return new KubeError({
      status: 0,
      reason: 'Transport',
      message: `cannot ${call.call} at ${this.options.access.server}: ${whyNoAnswer(thrown)}`,
      call: call.call,
      cause: thrown,
    });
  }

  /** One successful answer, after as many repeats as are allowed. */
  private async exchange(call: Call, pool: 'calls' | 'watches'): Promise<Answer> {
    for (let attempt = 1; ; attempt++) {
      await this.limiter.take(call.signal);
      const startedMs = performance.now();
      let answer: Dispatcher.ResponseData;
      try {
        answer = await this.send(call, pool);
        this.tell(call, String(answer.statusCode), startedMs);
        const { date } = answer.headers;
        if (typeof date === 'string') this.options.onServerTime?.(Date.parse(date));
      } catch (thrown) {
        this.tell(call, '<error>', startedMs);
        if (call.signal?.aborted || !mayRead(call, attempt)) throw this.transportError(call, thrown);
        continue;
      }
      if (answer.statusCode < 300) return { status: answer.statusCode, body: answer.body };
      const waitSeconds = retryAfterSeconds(answer.headers['retry-after'], this.options.clock.now());
      const text = await answer.body.text().catch(messageOf);
      if (answer.statusCode === 401) {
        if (attempt === 1 && this.options.access.credentials.rejected()) continue;
        throw this.notAccepted(call);
      }
      const error = errorFromAnswer(answer.statusCode, text, call, waitSeconds);
      const isBusy = answer.statusCode === 429 || answer.statusCode >= 500;
      if (!isBusy || waitSeconds === undefined || call.waitsWhenBusy === false || attempt > mostRepeats) throw error;
      if (waitSeconds > longestWaitSeconds) throw error;
      await this.options.clock.sleep(waitSeconds * 1000, call.signal);
    }
  }

  /** The server itself says no more than one word. */
  private notAccepted({ call }: Call): KubeError {
    const { server, source } = this.options.access;
    return new KubeError({
      status: 401,
      reason: 'Unauthorized',
      message: `cannot ${call} at ${server}: it does not accept the credentials of ${source}; if they have expired, renew them`,
      call,
    });
  }

  private tell({ method, path }: Call, code: string, startedMs: number): void {
    this.options.onRequest?.({ method, path, code, tookMs: performance.now() - startedMs });
  }

  private async send(call: Call, pool: 'calls' | 'watches'): Promise<Dispatcher.ResponseData> {
    const { access, userAgent, callTimeoutMs = defaultCallTimeoutMs } = this.options;
    const headers = await access.credentials.headers();
    const pools = this.connections.for(await access.credentials.certificate(), await access.tls.caFile?.read());
    if (call.signal?.aborted) throw call.signal.reason;
    if (call.method !== 'GET' && this.options.mayWrite?.() === false) throw notLeading(call);
    return request(`${access.server}${call.path}`, {
      method: call.method,
      dispatcher: pools[pool],
      headers: {
        ...headers,
        accept: 'application/json',
        'user-agent': userAgent,
        ...(call.body === undefined ? {} : { 'content-type': call.contentType ?? 'application/json' }),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      // undici wants the platform's own signal; ours is the part of it that inner rooms know.
      signal: (call.signal as AbortSignal | undefined) ?? null,
      headersTimeout: callTimeoutMs,
      // A quiet watch is healthy; whoever reads it decides when it has been quiet for too long.
      bodyTimeout: pool === 'watches' ? 0 : callTimeoutMs,
    });
  }
}

/** The limiter, credentials and repeats take their time: a term may end meanwhile. */
function notLeading({ call }: Call): KubeError {
  const message = `refused to ${call}: this process no longer leads`;
  return new KubeError({ status: 0, reason: 'NotLeader', message, call });
}

/** A read whose connection broke is tried once more at once: idle connections are closed by servers all the time. */
function mayRead(call: Call, attempt: number): boolean {
  return call.method === 'GET' && attempt === 1 && !call.signal?.aborted;
}
