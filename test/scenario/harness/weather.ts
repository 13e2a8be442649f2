// The API server as our controllers meet it, on good days and bad ones: calls that take a while, calls that are refused
// (conflict, too many requests, internal error), answers that are lost although the call was carried out, watches that
// lag and watches that are cut. Changes while the cluster runs; calm unless set otherwise.
import type { Clock } from '../../../src/base/index.ts';
import { type Kube, KubeError, type KubeObject, type WatchEvent } from '../../../src/ports/index.ts';

export interface Conditions {
  /** This share of the calls fails, half of them after they were carried out. */
  failureRate: number;
  /** A call takes up to this long, and so does the news of a watch. */
  mostDelayMs: number;
}

const refusals = [
  { status: 409, reason: 'Conflict', message: 'the object has been modified' },
  { status: 429, reason: 'TooManyRequests', message: 'the server is busy' },
  { status: 500, reason: 'InternalError', message: 'the server failed' },
];
const lost = (message: string): KubeError => new KubeError({ status: 0, reason: 'Transport', message });

export class Weather {
  private readonly clock: Clock;
  private readonly random: () => number;
  private conditions: Conditions = { failureRate: 0, mostDelayMs: 0 };
  private cutting = new AbortController();

  constructor(clock: Clock, random: () => number) {
    this.clock = clock;
    this.random = random;
  }

  become(conditions: Conditions): void {
    this.conditions = conditions;
  }

  /** Every watch ends with an error; whoever watches has to begin again. */
  cutWatches(): void {
    this.cutting.abort(lost('the connection was closed'));
    this.cutting = new AbortController();
  }

  kube(world: Kube): Kube {
    const call = async <T>(carryOut: () => Promise<T>): Promise<T> => {
      await this.delay();
      const { failureRate } = this.conditions;
      if (failureRate === 0 || this.random() >= failureRate) return carryOut();
      if (this.random() < 0.5) {
        await carryOut();
        throw lost('the answer was lost');
      }
      throw new KubeError(
        refusals[Math.floor(this.random() * refusals.length)] ?? { status: 500, reason: '', message: '' },
      );
    };
    return {
      get: (resource, ref, options) => call(() => world.get(resource, ref, options)),
      list: (resource, options) => world.list(resource, options),
      watch: <T extends KubeObject>(...[resource, options]: Parameters<Kube['watch']>) => {
        const cut = this.cutting.signal;
        const signal = options?.signal === undefined ? cut : AbortSignal.any([options.signal as AbortSignal, cut]);
        return this.delayed(world.watch(resource, { ...options, signal })) as AsyncIterable<WatchEvent<T>>;
      },
      create: (resource, object, options) => call(() => world.create(resource, object, options)),
      replace: (resource, object, options) => call(() => world.replace(resource, object, options)),
      patch: (resource, ref, patch, options) => call(() => world.patch(resource, ref, patch, options)),
      delete: (resource, ref, options) => call(() => world.delete(resource, ref, options)),
      evict: (ref, options) => call(() => world.evict(ref, options)),
      bind: (ref, node, options) => call(() => world.bind(ref, node, options)),
    };
  }

  private async *delayed<T>(events: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const event of events) {
      await this.delay();
      yield event;
    }
  }

  private async delay(): Promise<void> {
    const { mostDelayMs } = this.conditions;
    if (mostDelayMs > 0) await this.clock.sleep(Math.floor(this.random() * mostDelayMs));
  }
}
