// The cluster as it travels to a screen: columns with dictionaries for the first look, rows for what changed since. Names are
// sent once and then meant by number; a node keeps its number as long as it lives. Pure and without imports, so that the
// page in the browser and the server agree by using the same code.

/** What a node's row says by name; sent as numbers into the dictionary of the same name. */
export const nodeWords = ['pool', 'type', 'zone', 'capacityType', 'state', 'verdict', 'code'] as const;
export const nodeFigures = [
  'pricePerHour',
  'savingsPerHour',
  'createdMs',
  'cpu',
  'memory',
  'cpuUsed',
  'memoryUsed',
  'cpuDaemons',
  'memoryDaemons',
  'pods',
] as const;

type NodeWord = (typeof nodeWords)[number];
type NodeFigure = (typeof nodeFigures)[number];

/**
 * One node. `state`: ready, joining, coming (no Node yet), notReady, cordoned, leaving. `verdict`: keep, remove, replace or
 * unknown, with the code of what keeps it. `savingsPerHour` is what its going would save, now or were it freed. Cpu in
 * thousandths, memory in MiB; used means requested, as a scheduler counts.
 */
export type NodeRow = { key: number; name: string } & Record<NodeWord, string> & Record<NodeFigure, number>;

/** Pods of one workload in one state on one node. State: running, starting, ending; daemons are marked. */
export interface Cell {
  workload: string;
  state: string;
  count: number;
  cpu: number;
  memory: number;
}

export type DictionaryName = NodeWord | 'workload' | 'podState';
export type Dictionaries = Record<DictionaryName, string[]>;
export const dictionaryNames: readonly DictionaryName[] = [...nodeWords, 'workload', 'podState'];

export interface Totals {
  nodes: number;
  ready: number;
  pods: number;
  waiting: number;
  pricePerHour: number;
  /** Of nodes that would be removed or replaced by themselves. */
  goingPerHour: number;
  /** What freeing every kept node would save, node by node: figures overlap, so this is a bound. */
  blockedPerHour: number;
  cpu: number;
  cpuUsed: number;
  memory: number;
  memoryUsed: number;
}

export interface ClusterView {
  apiVersion: 'kerf/v1';
  kind: 'ClusterView';
  revision: number;
  time: string;
  totals: Totals;
  dictionaries: Dictionaries;
  columns: { key: number[]; name: string[] } & Record<NodeWord | NodeFigure, number[]>;
}

/** Columns of cells: node (its number), workload and state (dictionaries), count, cpu, memory. */
export interface CellView {
  apiVersion: 'kerf/v1';
  kind: 'CellView';
  revision: number;
  dictionaries: Dictionaries;
  columns: Record<CellColumn, number[]>;
}
export const cellColumns = ['node', 'workload', 'podState', 'count', 'cpu', 'memory'] as const;
type CellColumn = (typeof cellColumns)[number];

/** Changes after a revision. Rows and cells are arrays in the order of the columns; last value per key wins. */
export interface Delta {
  kind: 'Delta';
  revision: number;
  totals: Totals;
  /** New words of each dictionary, and the number of the first: who has read further may know some of them. */
  words: Partial<Dictionaries>;
  wordsFrom: Partial<Record<DictionaryName, number>>;
  /** key, name, words as numbers, figures. */
  rows: (string | number)[][];
  removed: number[];
  /** All cells of each node that changed: node, then workload, state, count, cpu, memory again and again. */
  cells?: number[][];
}

/** What a client holds. */
export interface Shown {
  revision: number;
  totals: Totals;
  dictionaries: Dictionaries;
  nodes: Map<number, NodeRow>;
  cells: Map<number, Cell[]>;
}

export function emptyDictionaries(): Dictionaries {
  return Object.fromEntries(dictionaryNames.map((name) => [name, [] as string[]])) as Dictionaries;
}

export const noTotals: Totals = {
  nodes: 0,
  ready: 0,
  pods: 0,
  waiting: 0,
  pricePerHour: 0,
  goingPerHour: 0,
  blockedPerHour: 0,
  cpu: 0,
  cpuUsed: 0,
  memory: 0,
  memoryUsed: 0,
};

/** A first look, as a client holds it. */
export function shownFrom(view: ClusterView): Shown {
  const nodes = new Map<number, NodeRow>();
  const { columns, dictionaries } = view;
  for (let at = 0; at < columns.key.length; at++) {
    const values: (string | number)[] = [columns.key[at] ?? 0, columns.name[at] ?? ''];
    for (const word of nodeWords) values.push(columns[word][at] ?? 0);
    for (const figure of nodeFigures) values.push(columns[figure][at] ?? 0);
    const row = rowFrom(values, dictionaries);
    nodes.set(row.key, row);
  }
  return { revision: view.revision, totals: view.totals, dictionaries, nodes, cells: new Map() };
}

/** Cells of a `CellView` put where they belong. */
export function takeCells(shown: Shown, { columns, dictionaries }: CellView): void {
  for (const [name, words] of Object.entries(dictionaries) as [DictionaryName, string[]][]) {
    if (words.length > shown.dictionaries[name].length) shown.dictionaries[name] = words;
  }
  for (const node of new Set(columns.node)) shown.cells.set(node, []);
  for (let at = 0; at < columns.node.length; at++) {
    const values = cellColumns.slice(1).map((name) => columns[name][at] ?? 0);
    shown.cells.get(columns.node[at] ?? 0)?.push(cellFrom(values, 0, shown.dictionaries));
  }
}

/** In place. A delta may be taken twice; one that is older than what is shown changes nothing. */
export function takeDelta(shown: Shown, delta: Delta): void {
  for (const [name, words] of Object.entries(delta.words) as [DictionaryName, string[]][]) {
    const from = delta.wordsFrom[name] ?? shown.dictionaries[name].length;
    words.forEach((word, at) => {
      shown.dictionaries[name][from + at] = word;
    });
  }
  for (const values of delta.rows) {
    const row = rowFrom(values, shown.dictionaries);
    shown.nodes.set(row.key, row);
  }
  for (const [node = 0, ...values] of delta.cells ?? []) {
    const cells: Cell[] = [];
    for (let at = 0; at < values.length; at += 5) cells.push(cellFrom(values, at, shown.dictionaries));
    shown.cells.set(node, cells);
  }
  for (const key of delta.removed) {
    shown.nodes.delete(key);
    shown.cells.delete(key);
  }
  shown.totals = delta.totals;
  shown.revision = delta.revision;
}

function rowFrom(values: readonly (string | number)[], dictionaries: Dictionaries): NodeRow {
  const row: Record<string, string | number> = { key: Number(values[0]), name: String(values[1]) };
  nodeWords.forEach((word, at) => {
    row[word] = dictionaries[word][Number(values[2 + at])] ?? '';
  });
  nodeFigures.forEach((figure, at) => {
    row[figure] = Number(values[2 + nodeWords.length + at]);
  });
  return row as NodeRow;
}

function cellFrom(values: readonly number[], at: number, dictionaries: Dictionaries): Cell {
  return {
    workload: dictionaries.workload[values[at] ?? 0] ?? '',
    state: dictionaries.podState[values[at + 1] ?? 0] ?? '',
    count: values[at + 2] ?? 0,
    cpu: values[at + 3] ?? 0,
    memory: values[at + 4] ?? 0,
  };
}
