// What looks abandoned, or lost, and what of it may be taken away now. One wrong answer must not cost a fleet:
// 1. Nothing goes at first sight: it has to look abandoned in two looks, some time apart.
// 2. However many look abandoned, only a share of all there are goes per run; the others wait, and an operator can see it.
//    What has a time of its own that comes before its turn would is not kept waiting, and the share counts it.
import type { Clock } from '../../base/index.ts';
import type { Gauge, Metrics } from '../../ports/index.ts';

/** A faulty listing would hit a fifth of a fleet before its next run, and the Warning comes with the first. */
const share = 0.2;
/** Between two looks that count as two: a retry a moment later sees the same wrong answer again. */
const apartMs = 5_000;
/** When the second look should come, and how long an operator has before the next share goes. */
const secondLookMs = 10_000;
export const nextShareMs = 60_000;
/** A whole fleet has gone by shares after this time. */
export const allSharesMs: number = nextShareMs / share;

export interface CollectionOptions<T> {
  /** Name of the controller, in the metric. */
  controller: string;
  clock: Clock;
  metrics: Metrics;
  keyOf(item: T): string;
  /** So many may go however small the fleet is; one unless other sources agreed that they are abandoned. */
  atLeast?: number;
  /** Whether it would be too late for this one when its turn comes. */
  isUrgent?(item: T): boolean;
}

export interface Chosen<T> {
  /** May go now. */
  due: T[];
  /** Abandoned, but more than may go at once. */
  heldBack: T[];
  /** Seen for the first time. */
  suspected: T[];
  /** When to look again; undefined when nothing waits. */
  againMs: number | undefined;
}

/** So many of `total` go in one run. */
export const shareOf = (total: number, atLeast: number): number => Math.max(atLeast, Math.floor(total * share));

export const heldBackGauge = (metrics: Metrics): Gauge =>
  metrics.gauge({
    name: 'kerf_garbage_collection_held_back',
    help: 'What looked abandoned, impaired or about to end at the last run and was kept, because only a share of all there are is taken per run.',
    labels: ['controller'],
  });

export class Collection<T> {
  private readonly options: CollectionOptions<T>;
  private readonly heldBack: Gauge;
  /** When each was first seen abandoned, without a look in between that saw it owned. */
  private since = new Map<string, number>();

  constructor(options: CollectionOptions<T>) {
    this.options = options;
    this.heldBack = heldBackGauge(options.metrics);
  }

  /** One look: what seems abandoned, among `total`; the first go first. */
  choose(abandoned: readonly T[], total: number): Chosen<T> {
    const { clock, keyOf, controller, atLeast = 1, isUrgent = () => false } = this.options;
    const nowMs = clock.elapsed();
    this.since = new Map(abandoned.map((item) => [keyOf(item), this.since.get(keyOf(item)) ?? nowMs]));
    const isConfirmed = (item: T): boolean => nowMs - (this.since.get(keyOf(item)) ?? nowMs) >= apartMs;
    const confirmed = abandoned.filter(isConfirmed);
    const suspected = abandoned.filter((item) => !isConfirmed(item));
    const urgent = confirmed.filter(isUrgent);
    const patient = confirmed.filter((item) => !isUrgent(item));
    const most = Math.max(0, shareOf(total, atLeast) - urgent.length);
    const heldBack = patient.slice(most);
    this.heldBack.set(heldBack.length, { controller });
    const againMs = suspected.length > 0 ? secondLookMs : heldBack.length > 0 ? nextShareMs : undefined;
    return { due: [...urgent, ...patient.slice(0, most)], heldBack, suspected, againMs };
  }
}
