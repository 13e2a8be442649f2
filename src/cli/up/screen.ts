// Shows the cluster as it changes: on a terminal a table that is drawn over again, in a pipe one line per change.
import type { Terminal } from '../command.ts';
import { counted, fittingTable, type Paint, paintFor, table, textWidth, wrapLines, wrapText } from '../output/index.ts';
import type { NodeRow, Overview, WorkloadRow } from './overview.ts';

export interface Screen {
  /** `decisions` are the last ones, in words; `idea` is what to try in another terminal. */
  show(overview: Overview, time: string, decisions?: readonly string[], idea?: string): void;
  /** Leaves the last picture standing. */
  end(): void;
}

/** Lines of the terminal kept for the prompt and the heading. */
const reserved = 12;
const fallbackRows = 30;
const barSteps = 4;
/** Columns of nodes that a narrow terminal does without, the first to go first; bars become figures before they go. */
const expendable = ['POOL', 'ZONE', 'CAPACITY', 'AGE', 'TYPE', 'CPU', 'MEMORY', 'PODS', 'MEMORY', 'CPU'];

/** `heading` stands above the picture; it is said again when a terminal of another size has jumbled both. */
export function screenFor(terminal: Terminal, rows: () => number | undefined, heading = ''): Screen {
  terminal.out(heading);
  const isLive = terminal.isTerminal && terminal.env['TERM'] !== 'dumb';
  return isLive ? liveScreen(terminal, rows, heading) : lineScreen(terminal);
}

function liveScreen(terminal: Terminal, rows: () => number | undefined, heading: string): Screen {
  const paint = paintFor(terminal);
  /** Controls and texts in turn, in one piece where the terminal does not tell them apart. */
  const draw = (...parts: [string, string, string, string]): void => {
    const { control } = terminal;
    if (control === undefined) return terminal.out(parts.join(''));
    parts.forEach((part, index) => (index % 2 === 0 ? control(part) : terminal.out(part)));
  };
  let drawn = 0;
  let [width, height] = [terminal.columns, rows()];
  return {
    show(overview, time, decisions = [], idea) {
      const reported = decisions.flatMap((each) => wrapLines(each, terminal.columns).split('\n'));
      const tried =
        idea === undefined ? [] : ['', ...wrapLines(`try  ${idea}`, terminal.columns).split('\n').map(paint.cyan)];
      const below = [...(reported.length === 0 ? [] : ['', ...reported.map(paint.dim)]), ...tried];
      const most = Math.max(6, (rows() || fallbackRows) - reserved - below.length);
      const all = [...picture(overview, time, most, paint, terminal.columns), ...below];
      const lines = all.map((line) => cut(line, terminal.columns));
      const isResized = width !== terminal.columns || height !== rows();
      [width, height] = [terminal.columns, rows()];
      // Back to the first line of the last picture, then everything below is wiped.
      const start = isResized ? '\x1b[2J\x1b[H' : drawn > 0 ? `\x1b[${drawn}A\r` : '';
      draw(start, isResized ? heading : '', '\x1b[J', `${lines.join('\n')}\n`);
      drawn = lines.length;
    },
    end: () => terminal.out('\n'),
  };
}

function lineScreen(terminal: Terminal): Screen {
  let last = '';
  return {
    show(overview, time) {
      const text = summary(overview);
      if (text === last) return;
      last = text;
      terminal.out(`${time}  ${text}\n`);
    },
    end: () => undefined,
  };
}

export function summary({ nodes, readyNodes, running, waiting, priceUsdPerHour }: Overview): string {
  const price = `$${priceUsdPerHour.toFixed(3)}/h`;
  return `${counted(nodes.length, 'node')} (${readyNodes} ready), ${counted(running, 'pod')} running, ${waiting} waiting, ${price}`;
}

export function picture(
  overview: Overview,
  time: string,
  mostRows: number,
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const nodeRows = Math.max(3, Math.floor(mostRows * 0.6));
  const workloadRows = Math.max(3, mostRows - Math.min(nodeRows, overview.nodes.length));
  return [
    ...wrapText(`${paint.bold(time)}  ${summary(overview)}`, width),
    '',
    ...nodeTable(overview.nodes, nodeRows, paint, width),
    '',
    ...workloadTable(overview.workloads, workloadRows, paint),
  ];
}

function nodeTable(nodes: readonly NodeRow[], most: number, paint: Paint, width: number): string[] {
  if (nodes.length === 0) return [paint.dim('no nodes yet')];
  const right = 'right' as const;
  const columns = [
    { title: 'NODE', cell: (node: NodeRow) => node.name },
    { title: 'POOL', cell: (node: NodeRow) => node.pool },
    { title: 'TYPE', cell: (node: NodeRow) => node.type },
    { title: 'ZONE', cell: (node: NodeRow) => node.zone },
    { title: 'CAPACITY', cell: (node: NodeRow) => node.capacity },
    {
      title: 'STATUS',
      cell: ({ status }: NodeRow) => (status === 'Ready' ? paint.green(status) : paint.yellow(status)),
    },
    { title: '$/H', align: right, cell: (node: NodeRow) => price(node.priceUsdPerHour) },
    { title: 'AGE', align: right, cell: (node: NodeRow) => age(node.ageMs) },
    { title: 'PODS', align: right, cell: (node: NodeRow) => String(node.pods) },
    { title: 'CPU', narrow: figureOf, cell: (node: NodeRow) => bar(node.cpu, paint) },
    { title: 'MEMORY', narrow: figureOf, cell: (node: NodeRow) => bar(node.memory, paint) },
    ...(nodes.some(({ verdict }) => verdict !== '')
      ? [{ title: 'VERDICT', cell: ({ verdict }: NodeRow) => paint.dim(verdict) }]
      : []),
  ];
  const cells = nodes.slice(0, most).map((node) => columns.map(({ cell }) => cell(node)));
  const drawn = lines(fittingTable(columns, cells, { heading: paint.dim, width, expendable }));
  const more = nodes.length > most ? [paint.dim(`… and ${nodes.length - most} more`)] : [];
  return [...drawn, ...more];
}

function workloadTable(workloads: readonly WorkloadRow[], most: number, paint: Paint): string[] {
  if (workloads.length === 0) return [paint.dim('no pods yet')];
  const columns = [
    { title: 'NAMESPACE' },
    { title: 'WORKLOAD' },
    { title: 'RUNNING', align: 'right' as const },
    { title: 'WAITING', align: 'right' as const },
    { title: 'ENDING', align: 'right' as const },
  ];
  const count = (value: number, brush: (text: string) => string): string => (value === 0 ? '-' : brush(String(value)));
  const rows = workloads
    .slice(0, most)
    .map(({ namespace, name, running, waiting, ending }) => [
      namespace,
      name,
      count(running, paint.green),
      count(waiting, paint.yellow),
      count(ending, paint.dim),
    ]);
  const more = workloads.length > most ? [paint.dim(`… and ${workloads.length - most} more`)] : [];
  return [...lines(table(columns, rows, { heading: paint.dim })), ...more];
}

const price = (usdPerHour: number): string => (usdPerHour === 0 ? '-' : usdPerHour.toFixed(3));

const lines = (text: string): string[] => text.trimEnd().split('\n');

const figureOf = (drawn: string): string => drawn.slice(drawn.lastIndexOf(' ') + 1);

/** A few steps from empty to full: narrow enough for both to fit a usual terminal. */
function bar(share: number, paint: Paint): string {
  const full = Math.max(0, Math.min(barSteps, Math.round(share * barSteps)));
  return `${paint.cyan('█'.repeat(full))}${paint.dim('·'.repeat(barSteps - full))} ${String(Math.round(share * 100)).padStart(3)}%`;
}

export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** A line longer than the terminal would wrap and spoil the next drawing. */
function cut(line: string, columns: number): string {
  if (textWidth(line) <= columns) return line;
  let width = 0;
  let result = '';
  for (const part of line.split(/(\x1b\[[0-9;]*m)/)) {
    if (part.startsWith('\x1b')) result += part;
    else {
      const room = columns - width;
      const shown = [...part].slice(0, Math.max(0, room)).join('');
      result += shown;
      width += textWidth(shown);
    }
  }
  return result;
}
