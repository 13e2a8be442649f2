// Metrics as users' dashboards know them. A metric is defined once, where it is used; the adapter renders all of them.
//
// Contract: defining the same name twice returns the same metric. Label values that are absent render as "". A series
// that concerns a deleted object is removed by whoever set it (`remove`), so that scrapes stay small.

import type { Clock } from '../base/index.ts';

export type Labels = Record<string, string>;

export interface MetricDefinition {
  name: string;
  help: string;
  labels?: readonly string[];
}

export interface GaugeDefinition extends MetricDefinition {
  /**
   * What is set are moments in milliseconds, what a scrape shows is how many seconds ago by this clock they were: ages grow
   * without anyone setting them again.
   */
  agesBy?: Pick<Clock, 'now'>;
  /**
   * The series as they are when a scrape asks, for gauges that only repeat what a model holds anyway: nothing is set, and
   * nothing kept, for them.
   */
  series?: () => Iterable<readonly [labels: Labels, value: number]>;
}

export interface HistogramDefinition extends MetricDefinition {
  /** Upper bounds; the adapter's default is our usual duration buckets. */
  buckets?: readonly number[];
}

export interface SummaryDefinition extends MetricDefinition {
  quantiles?: readonly number[];
}

export interface Counter {
  add(labels?: Labels, value?: number): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Removes every series whose labels include these. */
  remove(labels: Labels): void;
  /** Removes all series, for gauges that are set wholesale. */
  reset(): void;
}

export interface Distribution {
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  counter(definition: MetricDefinition): Counter;
  gauge(definition: GaugeDefinition): Gauge;
  histogram(definition: HistogramDefinition): Distribution;
  summary(definition: SummaryDefinition): Distribution;
}
