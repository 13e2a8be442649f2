// Calls of many callers, made as one. A caller's request waits a moment for others that can share its call; when no one
// came for the idle time, or the first has waited for the longest time, or the batch is full, one call answers all of them.
//
// Promises:
// 1. Every caller gets exactly one answer or error: its own.
// 2. Requests of different buckets never share a call.
// 3. At most `mostCalls` calls are under way at once; further batches wait their turn.
import type { Clock, Timer } from '../../base/index.ts';
import { KerfError } from '../../base/index.ts';
import type { Distribution, Metrics } from '../../ports/index.ts';

export interface BatcherOptions<Request, Answer> {
  /** Label `batcher` of the metrics. */
  name: string;
  clock: Clock;
  metrics: Metrics;
  idleMs: number;
  longestMs: number;
  mostItems: number;
  mostCalls?: number;
  /** Requests with equal text can share a call. */
  bucketOf(request: Request): string;
  /** One result per request, in their order. */
  execute(requests: readonly Request[]): Promise<PromiseSettledResult<Answer>[]>;
}

interface Waiting<Request, Answer> {
  request: Request;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Bucket<Request, Answer> {
  items: Waiting<Request, Answer>[];
  openedMs: number;
  idle: Timer;
  longest: Timer;
}

/** Powers and tens up to the largest batch there is. */
const sizeBuckets = [1, 2, 4, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000];

const defaultMostCalls = 100;

export class CallBatcher<Request, Answer> {
  private readonly options: BatcherOptions<Request, Answer>;
  private readonly buckets = new Map<string, Bucket<Request, Answer>>();
  private readonly ready: Waiting<Request, Answer>[][] = [];
  private readonly sizes: Distribution;
  private readonly times: Distribution;
  private underWay = 0;

  constructor(options: BatcherOptions<Request, Answer>) {
    this.options = options;
    const labels = ['batcher'];
    this.sizes = options.metrics.histogram({
      name: 'karpenter_cloudprovider_batcher_batch_size',
      help: 'Requests that shared one call.',
      labels,
      buckets: sizeBuckets,
    });
    this.times = options.metrics.histogram({
      name: 'karpenter_cloudprovider_batcher_batch_time_seconds',
      help: 'How long a batch was open for others to join.',
      labels,
    });
  }

  add(request: Request): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { clock, idleMs, longestMs, mostItems } = this.options;
      const key = this.options.bucketOf(request);
      const close = (): void => this.close(key);
      let bucket = this.buckets.get(key);
      if (bucket === undefined) {
        const longest = clock.after(longestMs, close);
        this.buckets.set(
          key,
          (bucket = { items: [], openedMs: clock.elapsed(), longest, idle: clock.after(idleMs, close) }),
        );
      } else {
        bucket.idle.dispose();
        bucket.idle = clock.after(idleMs, close);
      }
      bucket.items.push({ request, resolve, reject });
      if (bucket.items.length >= mostItems) close();
    });
  }

  private close(key: string): void {
    const bucket = this.buckets.get(key);
    if (bucket === undefined) return;
    this.buckets.delete(key);
    bucket.idle.dispose();
    bucket.longest.dispose();
    const labels = { batcher: this.options.name };
    this.sizes.observe(bucket.items.length, labels);
    this.times.observe((this.options.clock.elapsed() - bucket.openedMs) / 1000, labels);
    this.ready.push(bucket.items);
    this.startReady();
  }

  private startReady(): void {
    while (this.underWay < (this.options.mostCalls ?? defaultMostCalls)) {
      const items = this.ready.shift();
      if (items === undefined) return;
      this.underWay += 1;
      void this.run(items).finally(() => {
        this.underWay -= 1;
        this.startReady();
      });
    }
  }

  private async run(items: readonly Waiting<Request, Answer>[]): Promise<void> {
    try {
      const results = await this.options.execute(items.map(({ request }) => request));
      items.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result?.status === 'fulfilled') resolve(result.value);
        else
          reject(result?.reason ?? new KerfError('BatchIncomplete', `${this.options.name} left a caller unanswered`));
      });
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
  }
}
