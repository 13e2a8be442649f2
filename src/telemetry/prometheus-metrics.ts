// The Metrics port: counters and distributions are the Prometheus client library's, gauges our own, because they have a
// series for every pod and node. One registry per process, rendered on scrape.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Histogram, Registry, Summary } from '@prometheus-io/client';
import type {
  Distribution,
  HistogramDefinition,
  Labels,
  MetricDefinition,
  Metrics,
  Counter as PortCounter,
  SummaryDefinition,
} from '../ports/index.ts';
import { GaugeSeries } from './gauge-series.ts';

const range = (from: number, to: number, step: number): number[] =>
  Array.from({ length: Math.round((to - from) / step) + 1 }, (_, index) => Number((from + index * step).toFixed(3)));

/** 5 ms to 10 min: the buckets users' dashboards were built on. */
export const durationBuckets: readonly number[] = [
  0.005,
  0.01,
  0.025,
  0.05,
  ...range(0.1, 0.5, 0.05),
  ...range(0.6, 1, 0.1),
  ...range(1.25, 2, 0.25),
  ...range(2.5, 5, 0.5),
  ...range(6, 10, 1),
  ...range(15, 30, 5),
  40,
  50,
  60,
  120,
  150,
  300,
  450,
  600,
];

/** After a piece of text of this length others have a turn: a scrape of a large cluster has many. */
const longPiece = 10_000;

/** How often the lag of the event loop is measured, which is also the least it shows. Every 10 ms takes half a percent of a core. */
const lagEveryMs = 50;

const defaultQuantiles = [0, 0.5, 0.9, 0.99, 1];

/** Bounds that other clients write with an exponent; a server that compares texts takes two ways of writing for two series. */
const longBound = /le="([0-9]{7,}|0\.0000[0-9]+|[0-9.]+e-[0-9])"/g;

/** As most clients write numbers: 1.296e+06, 1e-08. */
function shortNumber(bound: string): string {
  return Number(bound)
    .toExponential()
    .replace(/e([+-])([0-9])$/, 'e$10$2');
}

export interface PrometheusMetrics extends Metrics {
  readonly contentType: string;
  /** The text of one scrape. */
  render(): Promise<string>;
}

export function prometheusMetrics(options: { processMetrics?: boolean } = {}): PrometheusMetrics {
  const registry = new Registry();
  if (options.processMetrics) collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  const defined = new Map<string, unknown>();
  const gauges: GaugeSeries[] = [];
  const once = <T>(name: string, make: () => T): T => {
    if (!defined.has(name)) defined.set(name, make());
    return defined.get(name) as T;
  };
  const common = (definition: MetricDefinition) => ({
    name: definition.name,
    help: definition.help,
    labelNames: definition.labels ?? [],
    registers: [registry],
  });
  return {
    contentType: registry.contentType,
    async render() {
      const pieces = [
        (await registry.metrics()).replaceAll(longBound, (_, bound: string) => `le="${shortNumber(bound)}"`),
      ];
      for (const gauge of gauges) {
        for (const piece of gauge.render()) {
          pieces.push(piece);
          if (piece.length > longPiece) await nextTurn();
        }
      }
      return pieces.join('');
    },
    counter: (definition) => once(definition.name, () => counter(new Counter(common(definition)), definition)),
    gauge: (definition) =>
      once(definition.name, () => {
        const gauge = new GaugeSeries(definition);
        gauges.push(gauge);
        return gauge;
      }),
    histogram: (definition: HistogramDefinition) =>
      once(definition.name, () =>
        distribution(
          new Histogram({ ...common(definition), buckets: [...(definition.buckets ?? durationBuckets)] }),
          definition,
        ),
      ),
    summary: (definition: SummaryDefinition) =>
      once(definition.name, () =>
        distribution(
          new Summary({ ...common(definition), percentiles: [...(definition.quantiles ?? defaultQuantiles)] }),
          definition,
        ),
      ),
  };
}

/** Every declared label with a value: absent ones are "", unknown ones are a programming error caught by the library. */
function complete(definition: MetricDefinition, labels: Labels = {}): Labels {
  const values: Labels = {};
  for (const name of definition.labels ?? []) values[name] = labels[name] ?? '';
  for (const name of Object.keys(labels)) values[name] = labels[name] ?? '';
  return values;
}

function counter(metric: Counter<string>, definition: MetricDefinition): PortCounter {
  return { add: (labels, value = 1) => metric.inc(complete(definition, labels), value) };
}

function distribution(metric: Histogram<string> | Summary<string>, definition: MetricDefinition): Distribution {
  return { observe: (value, labels) => metric.observe(complete(definition, labels), value) };
}
