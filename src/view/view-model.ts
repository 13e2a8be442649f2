// What screens show of the nodes, row by row, with a revision for each change: the first look is every row, a delta the rows
// that changed after a revision.
//
// 1. A row that is set to what it was is not a change.
// 2. What is gone is remembered for a while; a client that is further behind has to look again.
// 3. List and deltas, taken in any number of steps, come to the same as a fresh list.
import type { Cell, CellView, ClusterView, Delta, Dictionaries, DictionaryName, NodeRow, Totals } from './wire.ts';
import { cellColumns, dictionaryNames, emptyDictionaries, nodeFigures, nodeWords, noTotals } from './wire.ts';

export type NodeFacts = Omit<NodeRow, 'key'>;

interface Kept {
  readonly key: number;
  facts: NodeFacts;
  cells: readonly Cell[];
  revision: number;
}

/** Nodes that are gone and still reported one by one. */
const mostRemoved = 10_000;

export class ViewModel {
  private readonly byName = new Map<string, Kept>();
  /** In the order of their revisions: a row that changes goes to the end. */
  private readonly changed = new Map<string, Kept>();
  private readonly removed: { key: number; revision: number }[] = [];
  private readonly words = emptyDictionaries();
  private readonly numbers = new Map<DictionaryName, Map<string, number>>();
  /** At which revision each word came. */
  private readonly since = new Map<DictionaryName, number[]>();
  private nextKey = 1;
  private current = 0;
  private oldest = 0;
  private waitingPods = 0;
  private sums: Totals | undefined;

  get revision(): number {
    return this.current;
  }

  names(): Iterable<string> {
    return this.byName.keys();
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  rows(): Iterable<{ facts: NodeFacts; cells: readonly Cell[] }> {
    return this.byName.values();
  }

  set(facts: NodeFacts, cells: readonly Cell[]): void {
    const known = this.byName.get(facts.name);
    if (known !== undefined && isSame(known, facts, cells)) return;
    this.current += 1;
    this.sums = undefined;
    for (const word of nodeWords) this.numberOf(word, facts[word]);
    for (const { workload, state } of cells) {
      this.numberOf('workload', workload);
      this.numberOf('podState', state);
    }
    const row: Kept = known ?? { key: this.nextKey++, facts, cells, revision: 0 };
    row.facts = facts;
    row.cells = cells;
    row.revision = this.current;
    this.byName.set(facts.name, row);
    this.changed.delete(facts.name);
    this.changed.set(facts.name, row);
  }

  remove(name: string): void {
    const known = this.byName.get(name);
    if (known === undefined) return;
    this.current += 1;
    this.sums = undefined;
    this.byName.delete(name);
    this.changed.delete(name);
    this.removed.push({ key: known.key, revision: this.current });
    if (this.removed.length > mostRemoved) this.oldest = this.removed.shift()?.revision ?? this.oldest;
  }

  /** Pods that wait for a node. */
  setWaiting(pods: number): void {
    if (pods === this.waitingPods) return;
    this.waitingPods = pods;
    this.current += 1;
    this.sums = undefined;
  }

  totals(): Totals {
    this.sums ??= this.summed();
    return this.sums;
  }

  list(time: string): ClusterView {
    const columns = { key: [] as number[], name: [] as string[] } as ClusterView['columns'];
    for (const name of [...nodeWords, ...nodeFigures]) columns[name] = [];
    for (const { key, facts } of this.byName.values()) {
      columns.key.push(key);
      columns.name.push(facts.name);
      for (const word of nodeWords) columns[word].push(this.numberOf(word, facts[word]));
      for (const figure of nodeFigures) columns[figure].push(facts[figure]);
    }
    const dictionaries = this.dictionaries();
    return {
      apiVersion: 'kerf/v1',
      kind: 'ClusterView',
      revision: this.current,
      time,
      totals: this.totals(),
      dictionaries,
      columns,
    };
  }

  /** Of the nodes with these numbers, or of all. */
  cells(keys?: ReadonlySet<number>): CellView {
    const columns = Object.fromEntries(cellColumns.map((name) => [name, [] as number[]])) as CellView['columns'];
    for (const { key, cells } of this.byName.values()) {
      if (keys !== undefined && !keys.has(key)) continue;
      for (const cell of cells) {
        columns.node.push(key);
        columns.workload.push(this.numberOf('workload', cell.workload));
        columns.podState.push(this.numberOf('podState', cell.state));
        columns.count.push(cell.count);
        columns.cpu.push(cell.cpu);
        columns.memory.push(cell.memory);
      }
    }
    return {
      apiVersion: 'kerf/v1',
      kind: 'CellView',
      revision: this.current,
      dictionaries: this.dictionaries(),
      columns,
    };
  }

  /** What changed after the revision, at most about so many bytes of it; undefined if it is too long ago to tell. */
  deltaSince(revision: number, { withCells = false, mostBytes = 64 * 1024 } = {}): Delta | undefined {
    if (revision < this.oldest || revision > this.current) return undefined;
    const { rows, behind } = this.rowsSince(revision, mostBytes, withCells);
    const upTo = rows.length > 0 && behind ? (rows.at(-1) as Kept).revision : this.current;
    const removed = this.removed.filter((gone) => gone.revision > revision && gone.revision <= upTo);
    return {
      kind: 'Delta',
      revision: upTo,
      totals: this.totals(),
      words: this.wordsSince(revision, upTo),
      rows: rows.map(({ key, facts }) => [
        key,
        facts.name,
        ...nodeWords.map((word) => this.numberOf(word, facts[word])),
        ...nodeFigures.map((figure) => facts[figure]),
      ]),
      removed: removed.map(({ key }) => key),
      ...(withCells && { cells: rows.map((row) => this.packed(row)) }),
    };
  }

  /** Oldest change first, until the bytes are used up. */
  private rowsSince(revision: number, mostBytes: number, withCells: boolean): { rows: Kept[]; behind: boolean } {
    const newest: Kept[] = [];
    // The newest are at the end; walking back stops at the first that is known.
    for (const row of [...this.changed.values()].reverse()) {
      if (row.revision <= revision) break;
      newest.push(row);
    }
    newest.reverse();
    const rows: Kept[] = [];
    let bytes = 0;
    for (const row of newest) {
      bytes += row.facts.name.length + 90 + (withCells ? row.cells.length * 18 : 0);
      if (bytes > mostBytes && rows.length > 0) return { rows, behind: true };
      rows.push(row);
    }
    return { rows, behind: false };
  }

  private packed({ key, cells }: Kept): number[] {
    const values = [key];
    for (const { workload, state, count, cpu, memory } of cells) {
      values.push(this.numberOf('workload', workload), this.numberOf('podState', state), count, cpu, memory);
    }
    return values;
  }

  private dictionaries(): Dictionaries {
    return Object.fromEntries(dictionaryNames.map((name) => [name, [...this.words[name]]])) as Dictionaries;
  }

  private wordsSince(revision: number, upTo: number): Partial<Dictionaries> {
    const words: Partial<Dictionaries> = {};
    for (const name of dictionaryNames) {
      const since = this.since.get(name) ?? [];
      const fresh = this.words[name].filter((_, at) => (since[at] ?? 0) > revision && (since[at] ?? 0) <= upTo);
      if (fresh.length > 0) words[name] = fresh;
    }
    return words;
  }

  private numberOf(name: DictionaryName, word: string): number {
    let numbers = this.numbers.get(name);
    if (numbers === undefined) this.numbers.set(name, (numbers = new Map()));
    let number = numbers.get(word);
    if (number === undefined) {
      number = this.words[name].push(word) - 1;
      numbers.set(word, number);
      const since = this.since.get(name) ?? [];
      since.push(this.current);
      this.since.set(name, since);
    }
    return number;
  }

  private summed(): Totals {
    const totals = { ...noTotals, waiting: this.waitingPods };
    for (const { facts } of this.byName.values()) {
      totals.nodes += 1;
      if (facts.state === 'ready') totals.ready += 1;
      totals.pods += facts.pods;
      totals.pricePerHour += facts.pricePerHour;
      if (facts.verdict === 'remove' || facts.verdict === 'replace') totals.goingPerHour += facts.savingsPerHour;
      else totals.blockedPerHour += facts.savingsPerHour;
      totals.cpu += facts.cpu;
      totals.cpuUsed += facts.cpuUsed;
      totals.memory += facts.memory;
      totals.memoryUsed += facts.memoryUsed;
    }
    return totals;
  }
}

function isSame({ facts: before, cells }: Kept, facts: NodeFacts, now: readonly Cell[]): boolean {
  for (const name of [...nodeWords, ...nodeFigures]) if (before[name] !== facts[name]) return false;
  if (cells.length !== now.length) return false;
  return cells.every((cell, at) => {
    const other = now[at] as Cell;
    return (
      cell.workload === other.workload &&
      cell.state === other.state &&
      cell.count === other.count &&
      cell.cpu === other.cpu &&
      cell.memory === other.memory
    );
  });
}
