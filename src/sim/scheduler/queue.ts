// Pods that wait for a node: the important and then the older first; those that failed wait ever longer (1 s to 10 s) and
// only come back when something changed that may help them, or after five minutes at the latest.
import { type Clock, doubledMs, type Timer } from '../../base/index.ts';

interface Waiting {
  key: string;
  priority: number;
  /** Order of arrival. */
  order: number;
  attempts: number;
  /** Not before this. */
  readyMs: number;
}

const backoffMs = { first: 1_000, most: 10_000 };
/** As kube-scheduler: nothing is left lying about for longer, whatever was missed. */
const longestRestMs = 300_000;
const releaseStepMs = 100;

export class SchedulingQueue {
  private readonly clock: Clock;
  private readonly wake: () => void;
  /** All pods that wait. */
  private readonly known = new Map<string, Waiting>();
  /** Ready now, sorted when taken. */
  private ready: Waiting[] = [];
  private sorted = true;
  /** Failed, and nothing has changed since. */
  private readonly resting = new Map<string, { waiting: Waiting; sinceMs: number }>();
  /** Something has changed; waiting for the end of their back-off. */
  private readonly backingOff = new Set<Waiting>();
  private timer: Timer | undefined;
  private armedForMs = 0;
  private order = 0;

  constructor(clock: Clock, wake: () => void) {
    this.clock = clock;
    this.wake = wake;
  }

  get size(): number {
    return this.known.size;
  }

  add(key: string, priority: number): void {
    if (this.known.has(key)) return;
    const waiting = { key, priority, order: this.order++, attempts: 0, readyMs: 0 };
    this.known.set(key, waiting);
    this.push(waiting);
  }

  remove(key: string): void {
    const waiting = this.known.get(key);
    if (waiting === undefined) return;
    this.known.delete(key);
    this.resting.delete(key);
    this.backingOff.delete(waiting);
    // A key in `ready` is skipped when it is taken.
  }

  take(): string | undefined {
    if (!this.sorted) {
      this.ready.sort((left, right) => left.priority - right.priority || right.order - left.order);
      this.sorted = true;
    }
    for (let next = this.ready.pop(); next !== undefined; next = this.ready.pop()) {
      if (this.known.get(next.key) === next) return next.key;
    }
    return undefined;
  }

  /** The pod found no node: it rests until `retryResting`. */
  failed(key: string): void {
    const waiting = this.known.get(key);
    if (waiting === undefined) return;
    const nowMs = this.clock.now();
    waiting.readyMs = nowMs + doubledMs(backoffMs, waiting.attempts);
    waiting.attempts++;
    this.resting.set(key, { waiting, sinceMs: nowMs });
    this.arm(nowMs + longestRestMs);
  }

  /** Something changed that may help; only these pods, if given. */
  retryResting(only?: Iterable<string>): void {
    if (this.resting.size === 0) return;
    for (const key of only ?? [...this.resting.keys()]) {
      const rest = this.resting.get(key);
      if (rest === undefined) continue;
      this.resting.delete(key);
      if (rest.waiting.readyMs > this.clock.now()) {
        this.backingOff.add(rest.waiting);
        this.arm(rest.waiting.readyMs);
      } else this.push(rest.waiting);
    }
  }

  /** The pod itself changed: try it again now. */
  retryNow(key: string): void {
    const rest = this.resting.get(key);
    if (rest === undefined) return;
    this.resting.delete(key);
    this.push(rest.waiting);
  }

  dispose(): void {
    this.timer?.dispose();
    this.known.clear();
  }

  private release(): void {
    this.timer = undefined;
    const nowMs = this.clock.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const waiting of this.backingOff) {
      if (waiting.readyMs > nowMs) {
        nextMs = Math.min(nextMs, waiting.readyMs);
        continue;
      }
      this.backingOff.delete(waiting);
      this.push(waiting);
    }
    // In the order in which they began to rest.
    for (const [key, { waiting, sinceMs }] of this.resting) {
      if (sinceMs + longestRestMs > nowMs) {
        nextMs = Math.min(nextMs, sinceMs + longestRestMs);
        break;
      }
      this.resting.delete(key);
      this.push(waiting);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.arm(nextMs);
  }

  /** One timer for whatever is due next; ends of back-offs are taken together, a tenth of a second at a time. */
  private arm(dueMs: number): void {
    if (this.timer !== undefined && this.armedForMs <= dueMs) return;
    this.timer?.dispose();
    this.armedForMs = dueMs;
    this.timer = this.clock.after(Math.max(releaseStepMs, dueMs - this.clock.now()), () => this.release());
  }

  private push(waiting: Waiting): void {
    this.ready.push(waiting);
    this.sorted = false;
    this.wake();
  }
}
