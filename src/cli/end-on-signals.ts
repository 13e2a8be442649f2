// Ctrl-C and SIGTERM for commands that run until they are asked to end.
export interface Ending {
  signal: AbortSignal;
  /** Resolves when the process was asked to end. */
  ended: Promise<void>;
  abort(): void;
}

/** A terminal, npm and an older Node that started this process each pass the same Ctrl-C on; no one presses it so fast. */
const echoMs = 300;

/** The first signal asks politely; the second does not wait for an answer. */
export function endOnSignals(): Ending {
  const stop = new AbortController();
  let first: { signal: string; atMs: number } | undefined;
  const { promise, resolve: end } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      const atMs = performance.now();
      if (first?.signal === signal && atMs - first.atMs < echoMs) return;
      if (stop.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
      first = { signal, atMs };
      stop.abort();
      end();
    });
  }
  return { signal: stop.signal, ended: promise, abort: () => stop.abort() };
}
