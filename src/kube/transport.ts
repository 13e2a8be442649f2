// One HTTP exchange with an API server: credentials, rate limit, the server's wish to be asked again later, errors.
//
// Promises: a failure is a KubeError with the server's reason, or `Transport` when no answer came; an aborted call rejects
// with its signal's reason. A call is repeated only when the server cannot have acted on it: it said so (401, 429 or 5xx
// with Retry-After), or the call only reads.
import type { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { type AbortSignalLike, type Clock, KerfError, messageOf, type RateLimit, RateLimiter } from '../base/index.ts';
import { KubeError } from '../ports/index.ts';
import type { ClusterAccess } from './access.ts';
import { Connections } from './connections.ts';
import { errorFromAnswer, retryAfterSeconds } from './status.ts';

export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** What it does, for errors: `patch nodeclaims/default-x7k2p/status`. */
  call: string;
  body?: unknown;
  contentType?: string;
  /** False: a 429 is an answer (an eviction refused by a budget), not a request to wait. */
  waitsWhenBusy?: boolean;
  signal?: AbortSignalLike | undefined;
}

export interface TransportOptions {
  access: ClusterAccess;
  clock: Clock;
  userAgent: string;
  rateLimit: RateLimit;
  /** How long a call may go without progress: until the answer starts, and between two pieces of it. */
  callTimeoutMs?: number;
  /** Told about every request sent, repeats included. */
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
    for (let attempt = 1; ; attempt++) {
      const answer = await this.exchange(call, 'calls');
      let text: string;
      try {
        text = await answer.body.text();
      } catch (thrown) {
        if (!mayRead(call, attempt)) throw this.transportError(call, thrown);
        continue;
      }
      try {
        return text === '' ? undefined : JSON.parse(text);
      } catch (thrown) {
        throw this.transportError(call, thrown);
      }
    }
  }

  /** The body of an answer that has no end of its own. The caller destroys it. */
  async stream(call: Call): Promise<Readable> {
    return (await this.exchange(call, 'watches')).body;
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
      message: `cannot ${call.call} at ${this.options.access.server}: ${describe(thrown)}`,
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
      const error = errorFromAnswer(answer.statusCode, text, call.call, waitSeconds);
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
    const pools = this.connections.for(await access.credentials.certificate());
    if (call.signal?.aborted) throw call.signal.reason;
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

/** A read whose connection broke is tried once more at once: idle connections are closed by servers all the time. */
function mayRead(call: Call, attempt: number): boolean {
  return call.method === 'GET' && attempt === 1 && !call.signal?.aborted;
}

/** undici wraps some causes; the innermost one says what happened. */
function describe(thrown: unknown): string {
  if (thrown instanceof AggregateError) return thrown.errors.map(messageOf).join('; ');
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error ? `${messageOf(thrown)}: ${cause.message}` : messageOf(thrown);
}
