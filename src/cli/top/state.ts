// What `kerf top` shows, and how keys change it: pure, so that every key can be tried without a terminal.

export const topViews = ['nodes', 'waiting', 'pools', 'decisions', 'cost', 'help'] as const;
export type TopView = (typeof topViews)[number];
export const sorts = ['price', 'cpu', 'memory', 'pods', 'age', 'name', 'pool', 'type', 'zone', 'savings'] as const;
export const groupings = ['none', 'pool', 'zone', 'type', 'capacity'] as const;

export interface Settings {
  sort: (typeof sorts)[number];
  /** Only nodes that stay though their going would save something. */
  onlyKept: boolean;
  filter: string;
  group?: (typeof groupings)[number];
}

export interface TopState extends Settings {
  view: TopView;
  group: (typeof groupings)[number];
  /** What the cursor is on: a node's name, a decision's id. */
  selected: string;
  /** Its details are shown below. */
  isOpen: boolean;
  isFrozen: boolean;
  isTyping: boolean;
}

export type TopAct = { kind: 'quit' } | { kind: 'copy'; id: string };

export const firstState = (sort: Settings['sort']): TopState => ({
  view: 'nodes',
  sort,
  onlyKept: false,
  filter: '',
  group: 'none',
  selected: '',
  isOpen: false,
  isFrozen: false,
  isTyping: false,
});

const viewKeys: Readonly<Record<string, TopView>> = {
  n: 'nodes',
  w: 'waiting',
  p: 'pools',
  d: 'decisions',
  c: 'cost',
  '?': 'help',
};

const pageLines = 10;

/** Where keys move to, of a list of so many, from a place in it; before the first is -1. */
const moves: Readonly<Record<string, (at: number, count: number) => number>> = {
  j: (at) => at + 1,
  k: (at) => at - 1,
  g: () => 0,
  G: (_, count) => count - 1,
  pageDown: (at) => at + pageLines,
  pageUp: (at) => at - pageLines,
};
const alias: Readonly<Record<string, string>> = { down: 'j', up: 'k', home: 'g', end: 'G' };

/** In place; `ids` are those that are listed, in their order. The result is what has to be done beside. */
export function press(state: TopState, key: string, ids: readonly string[]): TopAct | undefined {
  if (key === '\x03') return { kind: 'quit' };
  if (state.isTyping) {
    typed(state, key);
    return undefined;
  }
  if (key === 'q') return { kind: 'quit' };
  const move = moves[alias[key] ?? key];
  if (move !== undefined) {
    const at = move(ids.indexOf(state.selected), ids.length);
    state.selected = ids[Math.max(0, Math.min(ids.length - 1, at))] ?? '';
    return undefined;
  }
  const view = viewKeys[key];
  if (view !== undefined) show(state, view);
  else if (key === '\r' || key === 'e') open(state, ids, key === 'e');
  else if (key === 'escape') close(state);
  else if (key === ' ') state.isFrozen = !state.isFrozen;
  else if (key === 'v') state.onlyKept = !state.onlyKept;
  else if (key === 's') state.sort = after(sorts, state.sort);
  else if (key === 'S') state.sort = before(sorts, state.sort);
  else if (key === 'b') state.group = after(groupings, state.group);
  else if (key === '/') {
    state.isTyping = true;
    state.filter = '';
  } else if (key === 'y') return { kind: 'copy', id: state.selected };
  return undefined;
}

function typed(state: TopState, key: string): void {
  if (key === '\r') state.isTyping = false;
  else if (key === 'escape') {
    state.isTyping = false;
    state.filter = '';
  } else if (key === '\x7f') state.filter = state.filter.slice(0, -1);
  else if (key.length === 1 && key >= ' ') state.filter += key;
}

function show(state: TopState, view: TopView): void {
  state.view = state.view === view && view === 'help' ? 'nodes' : view;
  state.selected = '';
  state.isOpen = false;
}

/** Enter opens and closes; `e` explains, whatever the cursor is on. */
function open(state: TopState, ids: readonly string[], stays: boolean): void {
  if (!ids.includes(state.selected)) state.selected = ids[0] ?? '';
  state.isOpen = (stays || !state.isOpen) && state.selected !== '';
}

/** One step back at a time: details, filter, selection, the nodes. */
function close(state: TopState): void {
  if (state.isOpen) state.isOpen = false;
  else if (state.filter !== '') state.filter = '';
  else if (state.selected !== '') state.selected = '';
  else state.view = 'nodes';
}

const after = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + 1) % all.length] as T;
const before = <T>(all: readonly T[], one: T): T => all[(all.indexOf(one) + all.length - 1) % all.length] as T;

export function footer(state: TopState): string {
  if (state.isTyping) return `filter: ${state.filter}_   enter keeps it, esc drops it`;
  const reported = [
    state.isFrozen ? 'frozen' : '',
    state.filter === '' ? '' : `filter ${state.filter}`,
    state.onlyKept ? 'only kept' : '',
    state.group === 'none' ? '' : `by ${state.group}`,
  ].filter((each) => each !== '');
  const own = state.view === 'nodes' ? `s sort (${state.sort})  b group  v kept  ` : '';
  return `${own}/ filter  enter explain  y copy  space freeze  ? keys  q quit${reported.length === 0 ? '' : `   ${reported.join(', ')}`}`;
}

/** Keys and what they do, in the order in which a newcomer needs them. */
export const keyHelp: readonly (readonly [string, string])[] = [
  ['n w p d c', 'nodes, waiting pods, NodePools, decisions, cost'],
  ['j k ↓ ↑', 'next, previous'],
  ['g G', 'first, last'],
  ['PgDn PgUp', 'ten further, ten back'],
  ['enter', 'show or hide why, for what the cursor is on'],
  ['e', 'explain it (as `kerf explain`)'],
  ['y', 'copy the command that says the same'],
  ['/', 'filter; enter keeps it, esc drops it'],
  ['s S', 'sort nodes by the next, the previous column'],
  ['b', 'group nodes by pool, zone, type, capacity type'],
  ['v', 'only nodes that stay though their going would save something'],
  ['space', 'freeze and go on'],
  ['esc', 'back, one step at a time'],
  ['? q', 'these keys, quit'],
];
