// Reads what /metrics answers: samples by name and labels.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export class MetricsPage {
  readonly samples: readonly Sample[];
  /** Types by metric name, as reported by the page. */
  readonly types: ReadonlyMap<string, string>;

  constructor(text: string) {
    const lines = text.split('\n');
    this.types = new Map(
      lines.flatMap((line) => {
        const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
        return name === '' ? [] : [[name, type] as const];
      }),
    );
    this.samples = lines.flatMap((line) => sampleOf(line) ?? []);
  }

  of(name: string, labels: Record<string, string> = {}): Sample[] {
    const wanted = Object.entries(labels);
    return this.samples.filter(
      (sample) => sample.name === name && wanted.every(([key, value]) => sample.labels[key] === value),
    );
  }

  /** Sum over the series that carry these labels; 0 when there is none. */
  sum(name: string, labels: Record<string, string> = {}): number {
    return this.of(name, labels).reduce((total, { value }) => total + value, 0);
  }
}

function sampleOf(line: string): Sample | undefined {
  const [, name = '', inside = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(line) ?? [];
  if (name === '') return undefined;
  const labels: Record<string, string> = {};
  for (const [, key = '', text = ''] of inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    labels[key] = text.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return { name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) };
}
