// Ports that only remember what they were given: events, metrics and log lines, for tests to look at.
import type { Clock } from '../../base/index.ts';
import type { GaugeDefinition, Labels, Log, LogFields, Metrics, RecordedEvent, Recorder } from '../../ports/index.ts';

export function recordedEvents(): Recorder & { list: RecordedEvent[] } {
  const list: RecordedEvent[] = [];
  return { list, publish: (event) => void list.push(event) };
}

export interface RecordedMetrics extends Metrics {
  /** The present value of a series, or the sum of what was observed; undefined if there is none. */
  value(name: string, labels?: Labels): number | undefined;
  /** Every series of a metric. */
  series(name: string): { labels: Labels; value: number }[];
}

export function recordedMetrics(): RecordedMetrics {
  const metrics = new Map<string, Map<string, { labels: Labels; value: number }>>();
  const seriesOf = (name: string) => {
    let series = metrics.get(name);
    if (series === undefined) metrics.set(name, (series = new Map()));
    return series;
  };
  const clocks = new Map<string, Pick<Clock, 'now'>>();
  const collectors = new Map<string, NonNullable<GaugeDefinition['series']>>();
  /** As a scrape shows them. */
  const shown = (name: string): { labels: Labels; value: number }[] => {
    const nowMs = clocks.get(name)?.now();
    const collected = [...(collectors.get(name)?.() ?? [])].map(([labels, value]) => ({ labels, value }));
    return [...collected, ...seriesOf(name).values()].map(({ labels, value }) => ({
      labels,
      value: nowMs === undefined ? value : (nowMs - value) / 1_000,
    }));
  };
  const include = (all: Labels, some: Labels): boolean =>
    Object.entries(some).every(([key, value]) => all[key] === value);
  const define = ({ name, labels: names = [], agesBy, series: collect }: GaugeDefinition) => {
    const series = seriesOf(name);
    if (collect !== undefined) collectors.set(name, collect);
    if (agesBy !== undefined) clocks.set(name, agesBy);
    const change = (labels: Labels, next: (old: number) => number): void => {
      for (const key in labels) if (!names.includes(key)) throw new Error(`${name} has no label ${key}`);
      const key = names.map((each) => labels[each] ?? '').join('\n');
      const known = series.get(key);
      if (known !== undefined) known.value = next(known.value);
      else
        series.set(key, {
          labels: Object.fromEntries(names.map((each) => [each, labels[each] ?? ''])),
          value: next(0),
        });
    };
    return {
      add: (labels: Labels = {}, value = 1) => change(labels, (old) => old + value),
      set: (value: number, labels: Labels = {}) => change(labels, () => value),
      observe: (value: number, labels: Labels = {}) => change(labels, (old) => old + value),
      remove: (labels: Labels) => {
        for (const [key, each] of series) if (include(each.labels, labels)) series.delete(key);
      },
      reset: () => series.clear(),
    };
  };
  return {
    counter: define,
    gauge: define,
    histogram: define,
    summary: define,
    value: (name, labels = {}) => shown(name).find((each) => include(each.labels, labels))?.value,
    series: shown,
  };
}

export interface RecordedLine {
  level: 'debug' | 'info' | 'error';
  message: string;
  error?: unknown;
  fields: LogFields;
}

/** `listener` hears every line at once. */
export function recordedLog(
  listener: (message: string, fields: LogFields) => void = () => {},
): Log & { lines: RecordedLine[] } {
  const lines: RecordedLine[] = [];
  const log = (more: LogFields): Log => {
    const record = (said: Pick<RecordedLine, 'level' | 'message' | 'error'>, fields: LogFields | undefined): void => {
      const line = { ...said, fields: { ...more, ...fields } };
      lines.push(line);
      listener(line.message, line.fields);
    };
    return {
      debug: (message, fields) => record({ level: 'debug', message }, fields),
      info: (message, fields) => record({ level: 'info', message }, fields),
      error: (message, error, fields) => record({ level: 'error', message, error }, fields),
      with: (fields) => log({ ...more, ...fields }),
    };
  };
  return { ...log({}), lines };
}
