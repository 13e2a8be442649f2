// What every client does around a call, in this order from the outside: end it at its total deadline; say clearly that
// credentials are refused and try once more if new ones are there; count and time the call; per attempt wait for the API's
// token bucket, count, time.
import type { FinalizeRequestMiddleware, MetadataBearer, MiddlewareStack } from '@smithy/types';
import { type Clock, KerfError, within } from '../../base/index.ts';
import { type Credentials, explainCredentialProblem, isCredentialProblem, isSame } from './credentials.ts';
import { isThrottle, type RateLimits } from './rate-limits.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface Instruments {
  clock: Clock;
  env: Record<string, string | undefined>;
  credentials: Credentials;
  limits: RateLimits;
  metrics: RequestMetrics;
  /** How long a call may take in all: credentials, waits at the token bucket, attempts and the pauses between them. */
  callMs: number;
  /** Asked right before a call that changes something is sent, every attempt anew: false refuses it. */
  mayWrite(): boolean;
}

interface Instrumented {
  config: { serviceId: string };
  /** Of each client's own types of input and output; nothing here looks into them. */
  middlewareStack: unknown;
}

export function instrument<T extends Instrumented>(client: T, instruments: Instruments): T {
  const service = client.config.serviceId;
  const stack = client.middlewareStack as MiddlewareStack<object, MetadataBearer>;
  const { clock, metrics, limits, credentials, env, callMs, mayWrite } = instruments;
  /** Calls that ran out of time: what is left of them must not be sent any more. */
  const deadlines = new WeakMap<object, AbortController>();

  stack.add(
    (next, context) => async (args) => {
      const deadline = new AbortController();
      deadlines.set(context, deadline);
      return within(clock, callMs, next(args), () => {
        const error = new Error(
          `cannot ${actionOf(context)}: no answer of ${service} within ${callMs / 1000} s in all`,
        );
        deadline.abort(Object.assign(error, { name: 'TimeoutError' }));
        return error;
      });
    },
    { step: 'initialize', priority: 'high', name: 'kerfDeadline' },
  );

  stack.add(
    (next) => async (args) => {
      const used = await credentials.get().catch((error: unknown) => {
        throw error instanceof Error ? explainCredentialProblem(error, env) : error;
      });
      try {
        return await next(args);
      } catch (error) {
        if (!isCredentialProblem(error)) throw error;
        credentials.refuse(used);
        const fresh = await credentials.get().catch(() => used);
        if (isSame(fresh, used)) throw explainCredentialProblem(error, env);
        return await next(args);
      }
    },
    { step: 'initialize', priority: 'high', name: 'kerfCredentials' },
  );

  stack.add(
    (next, context) => async (args) => {
      const startedMs = clock.elapsed();
      const note = (status: number, attempts: number): void =>
        metrics.called(
          { service, action: actionOf(context), status, durationMs: clock.elapsed() - startedMs },
          attempts - 1,
        );
      try {
        const result = await next(args);
        const { httpStatusCode = 200, attempts = 1 } = result.output.$metadata;
        note(httpStatusCode, attempts);
        return result;
      } catch (error) {
        note(statusOf(error), (error as Partial<MetadataBearer>).$metadata?.attempts ?? 1);
        throw error;
      }
    },
    { step: 'initialize', priority: 'low', name: 'kerfRequestMetrics' },
  );

  const attempt: FinalizeRequestMiddleware<object, MetadataBearer> = (next, context) => async (args) => {
    const action = actionOf(context);
    const signal = deadlines.get(context)?.signal;
    await limits.take(service, action, signal);
    if (signal?.aborted) throw signal.reason;
    if (!isRead(action) && !mayWrite()) throw notLeading(service, action);
    const startedMs = clock.elapsed();
    const note = (status: number): void =>
      metrics.attempted({ service, action, status, durationMs: clock.elapsed() - startedMs });
    try {
      const result = await next(args);
      limits.speedUp(service, action);
      note((result.response as { statusCode?: number } | undefined)?.statusCode ?? 200);
      return result;
    } catch (error) {
      if (isThrottle(error)) limits.slowDown(service, action);
      note(statusOf(error));
      throw error;
    }
  };
  stack.addRelativeTo(attempt, {
    relation: 'after',
    toMiddleware: 'retryMiddleware',
    name: 'kerfAttempt',
  });
  return client;
}

/** Receiving a message hides it from others for a while, so it counts as a write. */
const isRead = (action: string): boolean => /^(Describe|Get|List)/.test(action);

function notLeading(service: string, action: string): KerfError {
  return new KerfError('NotLeader', `refused to call ${action} of ${service}: this process no longer leads`, {
    retryable: true,
  });
}

function actionOf(context: { commandName?: string }): string {
  return (context.commandName ?? '').replace(/Command$/, '');
}

function statusOf(error: unknown): number {
  const { $metadata, $response } = error as Partial<MetadataBearer> & { $response?: { statusCode?: number } };
  return $metadata?.httpStatusCode ?? $response?.statusCode ?? 0;
}
