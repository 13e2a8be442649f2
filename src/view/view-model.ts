// What screens show of the nodes, row by row, with a revision for each change: the first look is every row, a delta the rows
// that changed after a revision.
//
// 1. A row that is set to what it was is not a change.
// 2. What is gone is remembered for a while; a client that is further behind has to look again.
// 3. List and deltas, taken in any number of steps, come to the same as a fresh list.
// 4. What is kept grows with the nodes and their pods, not with time: words that are used no more are forgotten now and then.
import type { Cell, CellView, ClusterView, Delta, Dictionaries, DictionaryName, NodeRow, Totals } from './wire.ts';
import { cellColumns, dictionaryNames, emptyDictionaries, nodeFigures, nodeWords, noTotals } from './wire.ts';

export type NodeFacts = Omit<NodeRow, 'key'>;

interface Kept {
  readonly key: number;
  facts: NodeFacts;
  cells: PackedCells;
  revision: number;
}

/** Workload, state, count, cpu, memory again and again: a hundred thousand of them as objects would be many times as much. */
type PackedCells = number[];
const cellSize = 5;

/** Workloads that were met before those that are gone are forgotten: every run of a CronJob is one. */
const leastWorkloads = 5_000;

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
  private mostWorkloads = leastWorkloads;
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

  *facts(): Iterable<NodeFacts> {
    for (const { facts } of this.byName.values()) yield facts;
  }

  *rows(): Iterable<{ facts: NodeFacts; cells: readonly Cell[] }> {
    for (const { facts, cells } of this.byName.values()) yield { facts, cells: this.unpacked(cells) };
  }

  set(facts: NodeFacts, cells: readonly Cell[]): void {
    const known = this.byName.get(facts.name);
    if (known !== undefined && this.isSame(known, facts, cells)) return;
    this.current += 1;
    this.sums = undefined;
    for (const word of nodeWords) this.numberOf(word, facts[word]);
    const row: Kept = known ?? { key: this.nextKey++, facts: { ...facts }, cells: [], revision: 0 };
    // In place: rows live long and change often, and what is replaced would wait among the old for a large collection.
    if (known !== undefined) Object.assign(row.facts, facts);
    this.pack(cells, row.cells);
    row.revision = this.current;
    this.byName.set(facts.name, row);
    this.changed.delete(facts.name);
    this.changed.set(facts.name, row);
    if (this.words.workload.length > this.mostWorkloads) this.forgetWorkloads();
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
      for (let at = 0; at < cells.length; at += cellSize) {
        columns.node.push(key);
        cellColumns.slice(1).forEach((name, part) => columns[name].push(cells[at + part] ?? 0));
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
      ...this.wordsSince(revision, upTo),
      rows: rows.map(({ key, facts }) => [
        key,
        facts.name,
        ...nodeWords.map((word) => this.numberOf(word, facts[word])),
        ...nodeFigures.map((figure) => facts[figure]),
      ]),
      removed: removed.map(({ key }) => key),
      ...(withCells && { cells: rows.map(({ key, cells }) => [key, ...cells]) }),
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
      bytes += row.facts.name.length + 90 + (withCells ? (row.cells.length / cellSize) * 18 : 0);
      if (bytes > mostBytes && rows.length > 0) return { rows, behind: true };
      rows.push(row);
    }
    return { rows, behind: false };
  }

  private pack(cells: readonly Cell[], packed: PackedCells): void {
    packed.length = cells.length * cellSize;
    cells.forEach(({ workload, state, count, cpu, memory }, index) => {
      const at = index * cellSize;
      packed[at] = this.numberOf('workload', workload);
      packed[at + 1] = this.numberOf('podState', state);
      packed[at + 2] = count;
      packed[at + 3] = cpu;
      packed[at + 4] = memory;
    });
  }

  private unpacked(cells: PackedCells): Cell[] {
    return Array.from({ length: cells.length / cellSize }, (_, at) => {
      const [workload = 0, state = 0, count = 0, cpu = 0, memory = 0] = cells.slice(at * cellSize, (at + 1) * cellSize);
      return {
        workload: this.words.workload[workload] ?? '',
        state: this.words.podState[state] ?? '',
        count,
        cpu,
        memory,
      };
    });
  }

  /** Numbers workloads anew, those that have pods; whoever follows has to look again. */
  private forgetWorkloads(): void {
    const old = this.words.workload;
    this.words.workload = [];
    this.numbers.delete('workload');
    this.since.delete('workload');
    this.current += 1;
    for (const { cells } of this.byName.values()) {
      for (let at = 0; at < cells.length; at += cellSize)
        cells[at] = this.numberOf('workload', old[cells[at] ?? 0] ?? '');
    }
    this.mostWorkloads = Math.max(leastWorkloads, this.words.workload.length * 2);
    this.oldest = this.current;
    this.removed.length = 0;
  }

  private isSame({ facts: before, cells }: Kept, facts: NodeFacts, now: readonly Cell[]): boolean {
    for (const name of [...nodeWords, ...nodeFigures]) if (before[name] !== facts[name]) return false;
    if (cells.length !== now.length * cellSize) return false;
    const { workload: workloads, podState: states } = this.words;
    return now.every(({ workload, state, count, cpu, memory }, index) => {
      const at = index * cellSize;
      return (
        workloads[cells[at] ?? 0] === workload &&
        states[cells[at + 1] ?? 0] === state &&
        cells[at + 2] === count &&
        cells[at + 3] === cpu &&
        cells[at + 4] === memory
      );
    });
  }

  private dictionaries(): Dictionaries {
    return Object.fromEntries(dictionaryNames.map((name) => [name, [...this.words[name]]])) as Dictionaries;
  }

  private wordsSince(revision: number, upTo: number): Pick<Delta, 'words' | 'wordsFrom'> {
    const words: Delta['words'] = {};
    const wordsFrom: Delta['wordsFrom'] = {};
    for (const name of dictionaryNames) {
      // In the order in which they came.
      const since = this.since.get(name) ?? [];
      const first = since.findIndex((each) => each > revision);
      if (first < 0) continue;
      const fresh = this.words[name].slice(first).filter((_, at) => (since[first + at] ?? 0) <= upTo);
      if (fresh.length === 0) continue;
      words[name] = fresh;
      wordsFrom[name] = first;
    }
    return { words, wordsFrom };
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
