// Parts of the world as one process sees them, until it is killed. A killed process gets no answer any more and its
// timers never ring: as after SIGKILL, nothing of it can do anything, in the middle of whatever it was doing.
import { type AbortSignalLike, type Clock, sleepWith, type Timer } from '../../../src/base/index.ts';
import type { Kube, KubeObject, WatchEvent } from '../../../src/ports/index.ts';

/** A promise of its own for each who waits: one for all would keep every world that ever ended. */
const never = (): Promise<never> => new Promise(() => {});

export class Life {
  private readonly timers = new Set<Timer>();
  private readonly ending = new AbortController();
  private writes = 0;
  private lastWrite = Number.POSITIVE_INFINITY;
  private previous: Promise<unknown> = Promise.resolve();
  /** If set, writes are carried out one after the other, and this is called after each. */
  onWritten: (() => void) | undefined;

  get isOver(): boolean {
    return this.ending.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** Writes asked for so far. */
  get writeCount(): number {
    return this.writes;
  }

  /** Ends with that write: the world gets it, the process does not hear of it. */
  endWithWrite(count: number): void {
    this.lastWrite = count;
  }

  end(): void {
    this.ending.abort();
    for (const timer of this.timers) timer.dispose();
    this.timers.clear();
  }

  kube(world: Kube): Kube {
    const read = <T>(call: () => Promise<T>): Promise<T> => this.answered(call);
    const write = <T>(call: () => Promise<T>): Promise<T> => {
      if (this.isOver) return never();
      this.writes += 1;
      const isLast = this.writes === this.lastWrite;
      const answer = this.answered(() => (this.onWritten === undefined ? call() : this.inTurn(call, this.onWritten)));
      if (isLast) this.end();
      return answer;
    };
    return {
      get: (resource, ref, options) => read(() => world.get(resource, ref, options)),
      list: (resource, options) => read(() => world.list(resource, options)),
      watch: <T extends KubeObject>(...[resource, options]: Parameters<Kube['watch']>) =>
        this.watched(world.watch(resource, { ...options, signal: this.whileAlive(options?.signal) })) as AsyncIterable<
          WatchEvent<T>
        >,
      create: (resource, object, options) => write(() => world.create(resource, object, options)),
      replace: (resource, object, options) => write(() => world.replace(resource, object, options)),
      patch: (resource, ref, patch, options) => write(() => world.patch(resource, ref, patch, options)),
      delete: (resource, ref, options) => write(() => world.delete(resource, ref, options)),
      evict: (ref, options) => write(() => world.evict(ref, options)),
      bind: (ref, node, options) => write(() => world.bind(ref, node, options)),
    };
  }

  clock(world: Clock): Clock {
    const after = (delayMs: number, task: () => void): Timer => {
      if (this.isOver) return { dispose: () => {} };
      const timer = world.after(delayMs, () => {
        this.timers.delete(timer);
        task();
      });
      this.timers.add(timer);
      return {
        dispose: () => {
          timer.dispose();
          this.timers.delete(timer);
        },
      };
    };
    return {
      now: () => world.now(),
      elapsed: () => world.elapsed(),
      after,
      sleep: (delayMs, signal) => (this.isOver ? never() : sleepWith(after, delayMs, signal)),
    };
  }

  private inTurn<T>(call: () => Promise<T>, onWritten: () => void): Promise<T> {
    const mine = this.previous.then(call).finally(onWritten);
    this.previous = mine.catch(() => {});
    return mine;
  }

  private async answered<T>(call: () => Promise<T>): Promise<T> {
    if (this.isOver) return never();
    try {
      const answer = await call();
      return this.isOver ? never() : answer;
    } catch (error) {
      if (this.isOver) return never();
      throw error;
    }
  }

  private async *watched<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      for await (const event of events) {
        if (this.isOver) await never();
        yield event;
      }
    } catch (error) {
      if (this.isOver) await never();
      throw error;
    }
  }

  /** Watches of a dead process must not go on listening. */
  private whileAlive(signal: AbortSignalLike | undefined): AbortSignalLike {
    return signal === undefined ? this.signal : AbortSignal.any([signal as AbortSignal, this.signal]);
  }
}
