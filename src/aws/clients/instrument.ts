// What every client does around a call, in this order from the outside: say clearly that credentials are refused and try
// once more if new ones are there; count and time the call; per attempt wait for the API's token bucket, count, time.
import type { FinalizeRequestMiddleware, MetadataBearer, MiddlewareStack } from '@smithy/types';
import type { Clock } from '../../base/index.ts';
import { type Credentials, explainCredentialProblem, isCredentialProblem, isSame } from './credentials.ts';
import { isThrottle, type RateLimits } from './rate-limits.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface Instruments {
  clock: Clock;
  env: Record<string, string | undefined>;
  credentials: Credentials;
  limits: RateLimits;
  metrics: RequestMetrics;
}

interface Instrumented {
  config: { serviceId: string };
  /** Of each client's own types of input and output; nothing here looks into them. */
  middlewareStack: unknown;
}

export function instrument<T extends Instrumented>(client: T, instruments: Instruments): T {
  const service = client.config.serviceId;
  const stack = client.middlewareStack as MiddlewareStack<object, MetadataBearer>;
  const { clock, metrics, limits, credentials, env } = instruments;

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
      const startedMs = clock.now();
      const note = (status: number, attempts: number): void =>
        metrics.called(
          { service, action: actionOf(context), status, durationMs: clock.now() - startedMs },
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
    await limits.take(service, action);
    const startedMs = clock.now();
    const note = (status: number): void =>
      metrics.attempted({ service, action, status, durationMs: clock.now() - startedMs });
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

function actionOf(context: { commandName?: string }): string {
  return (context.commandName ?? '').replace(/Command$/, '');
}

function statusOf(error: unknown): number {
  const { $metadata, $response } = error as Partial<MetadataBearer> & { $response?: { statusCode?: number } };
  return $metadata?.httpStatusCode ?? $response?.statusCode ?? 0;
}
