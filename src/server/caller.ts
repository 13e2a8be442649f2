// Who is at work: which controller, in which reconcile. Known from the surroundings of a call, so that no one has to pass
// it on; calls to the provider are counted by it, and log lines carry it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';

interface Caller {
  readonly name: string;
  readonly isLoop: boolean;
  /** Made when the first log line needs it. */
  reconcileID?: string;
}

const callers = new AsyncLocalStorage<Caller>();

/** Runs one reconcile of the named controller. */
export function asController<T>(name: string, reconcile: () => T): T {
  return callers.run({ name, isLoop: false }, reconcile);
}

/** Runs a loop of the named controller, from its start to its end. */
export function asLoop<T>(name: string, run: () => T): T {
  return callers.run({ name, isLoop: true }, run);
}

/** Empty outside of any controller. */
export function callerName(): string {
  return callers.getStore()?.name ?? '';
}

/** What a log line says about where it comes from. */
export function callerFields(): { controller?: string; reconcileID?: string } {
  const caller = callers.getStore();
  if (caller === undefined) return {};
  if (caller.isLoop) return { controller: caller.name };
  caller.reconcileID ??= randomUUID();
  return { controller: caller.name, reconcileID: caller.reconcileID };
}
