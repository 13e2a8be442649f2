// An HTTP handler whose exchanges end: the SDK's own limit is met once headers have come, and a body that stalls after them
// would be waited for without end. Here one limit holds for all of it: a free socket, the headers, the last byte of the body.
import { NodeHttpHandler, type NodeHttpHandlerOptions } from '@smithy/node-http-handler';

type Handle = NodeHttpHandler['handle'];

export class BoundedHttpHandler extends NodeHttpHandler {
  private readonly exchangeMs: number;

  constructor(options: NodeHttpHandlerOptions, exchangeMs: number) {
    super(options);
    this.exchangeMs = exchangeMs;
  }

  override async handle(...[request, options = {}]: Parameters<Handle>): ReturnType<Handle> {
    const given = options.abortSignal as AbortSignal | undefined;
    const stop = new AbortController();
    const forward = (): void => stop.abort(given?.reason);
    if (given?.aborted) forward();
    given?.addEventListener('abort', forward, { once: true });
    let body: { destroy?(error: Error): void } | undefined;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      stop.abort();
      body?.destroy?.(this.late());
    }, this.exchangeMs);
    const release = (): void => {
      clearTimeout(timer);
      given?.removeEventListener('abort', forward);
    };
    try {
      const answer = await super.handle(request, { ...options, abortSignal: stop.signal });
      body = answer.response.body as typeof body;
      const stream = answer.response.body as { once?(event: string, listener: () => void): void } | undefined;
      if (stream?.once === undefined) release();
      else stream.once('close', release);
      return answer;
    } catch (error) {
      release();
      throw isLate ? this.late() : error;
    }
  }

  /** Named so that the SDK counts it among what is worth another try. */
  private late(): Error {
    return Object.assign(new Error(`AWS sent no whole answer within ${this.exchangeMs / 1000} s`), {
      name: 'TimeoutError',
    });
  }
}
