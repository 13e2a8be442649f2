// What was asked for, by key, and the controller that works it off: nothing is watched, a key is worked at when something is
// asked for under it, and again with growing waits until it is dropped. Nothing is remembered across restarts.
import type { Outcome } from '../runtime/index.ts';
import { type Controller, type ControllerSettings, concurrencyFor } from './context.ts';

export class AskedFor<T> {
  readonly controller: Controller;
  private readonly wanted = new Map<string, T>();
  private wake: ((key: string) => void) | undefined;

  constructor(name: string, settings: ControllerSettings, reconcile: (key: string) => Promise<Outcome>) {
    this.controller = {
      name,
      sources: [],
      listen: (wake) => {
        this.wake = wake;
        for (const key of this.wanted.keys()) wake(key);
      },
      concurrency: concurrencyFor(settings, 100, 5_000),
      backoff: { baseMs: 100, maxMs: 10_000 },
      reconcile,
    };
  }

  get(key: string): T | undefined {
    return this.wanted.get(key);
  }

  ask(key: string, wanted: T): void {
    this.wanted.set(key, wanted);
    this.wake?.(key);
  }

  /** Done with what was wanted; something else that was asked for meanwhile comes next. */
  drop(key: string, wanted: T | undefined = this.wanted.get(key)): void {
    if (this.wanted.get(key) === wanted) this.wanted.delete(key);
    else this.wake?.(key);
  }
}
