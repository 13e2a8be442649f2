// The series of one gauge. Large clusters have a hundred thousand of them for pods alone, so a series is one string (its
// label values) and a number; text is made on scrape, in pieces. Removal by a part of the labels (all series of one pod)
// is looked up, not searched for: an index is made when first asked for by those labels.
import type { Gauge, GaugeDefinition, Labels } from '../ports/index.ts';

/** Between label values; no value of ours contains it. */
const separator = '\u0000';
/** Lines rendered in one piece. */
const linesPerPiece = 500;

interface Index {
  /** Positions of the labels it is by. */
  readonly positions: readonly number[];
  /** Keys of series by the values of those labels; mostly there is one. */
  readonly keys: Map<string, string | Set<string>>;
}

export class GaugeSeries implements Gauge {
  private readonly definition: GaugeDefinition;
  private readonly names: readonly string[];
  private readonly values = new Map<string, number>();
  private readonly indexes = new Map<string, Index>();

  constructor(definition: GaugeDefinition) {
    this.definition = definition;
    this.names = definition.labels ?? [];
  }

  set(value: number, labels: Labels = {}): void {
    const key = this.keyOf(labels);
    if (!this.values.has(key)) for (const index of this.indexes.values()) enter(index, key);
    this.values.set(key, value);
  }

  remove(labels: Labels): void {
    const given = this.names.filter((name) => labels[name] !== undefined);
    const wanted = given.map((name) => labels[name]).join(separator);
    if (given.length === this.names.length) {
      this.delete(wanted);
      return;
    }
    const found = this.indexBy(given).keys.get(wanted);
    if (typeof found === 'string') this.delete(found);
    else for (const key of found ?? []) this.delete(key);
  }

  reset(): void {
    this.values.clear();
    this.indexes.clear();
  }

  /** The lines of a scrape, in pieces. */
  *render(): Generator<string> {
    const { name, help, agesBy, series } = this.definition;
    const nowMs = agesBy?.now();
    yield `# HELP ${name} ${help}\n# TYPE ${name} gauge\n`;
    let piece: string[] = [];
    for (const [of, value] of series?.() ?? this.values) {
      const shown = nowMs === undefined ? value : (nowMs - value) / 1_000;
      const values = typeof of === 'string' ? of.split(separator) : this.names.map((each) => of[each]);
      piece.push(`${name}${this.labelText(values)} ${valueText(shown)}\n`);
      if (piece.length < linesPerPiece) continue;
      yield piece.join('');
      piece = [];
    }
    yield piece.join('');
  }

  private keyOf(labels: Labels): string {
    let key = '';
    let found = 0;
    for (let at = 0; at < this.names.length; at++) {
      const value = labels[this.names[at] as string];
      if (value !== undefined) found += 1;
      key += at === 0 ? (value ?? '') : separator + (value ?? '');
    }
    const given = Object.keys(labels);
    if (given.length === found) return key;
    const unknown = given.find((name) => !this.names.includes(name));
    if (unknown !== undefined) throw new Error(`${this.definition.name} has no label ${unknown}`);
    return key;
  }

  private labelText(values: readonly (string | undefined)[]): string {
    if (this.names.length === 0) return '';
    return `{${this.names.map((name, at) => `${name}="${escaped(values[at] ?? '')}"`).join(',')}}`;
  }

  private delete(key: string): void {
    if (this.values.delete(key)) for (const index of this.indexes.values()) leave(index, key);
  }

  private indexBy(names: readonly string[]): Index {
    const id = names.join();
    let index = this.indexes.get(id);
    if (index === undefined) {
      index = { positions: names.map((name) => this.names.indexOf(name)), keys: new Map() };
      for (const key of this.values.keys()) enter(index, key);
      this.indexes.set(id, index);
    }
    return index;
  }
}

function placeOf({ positions }: Index, key: string): string {
  const values = key.split(separator);
  return positions.map((position) => values[position]).join(separator);
}

function enter(index: Index, key: string): void {
  const place = placeOf(index, key);
  const there = index.keys.get(place);
  if (there === undefined) index.keys.set(place, key);
  else if (typeof there === 'string') index.keys.set(place, new Set([there, key]));
  else there.add(key);
}

function leave(index: Index, key: string): void {
  const place = placeOf(index, key);
  const there = index.keys.get(place);
  if (there === key) index.keys.delete(place);
  else if (there instanceof Set && there.delete(key) && there.size === 0) index.keys.delete(place);
}

function escaped(value: string): string {
  return /["\\\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"') : value;
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
