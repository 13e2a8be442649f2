// Aligned tables for people. Columns are as wide as their widest cell; numbers stand right; the last column is never
// padded, so piping into other tools leaves no trailing blanks. Cells may carry colour.
import { textWidth } from './text-width.ts';
import { oneLine } from './visible.ts';

export interface Column {
  title: string;
  /** Numbers read best right-aligned. */
  align?: 'left' | 'right';
  /** Says the same in fewer columns. */
  narrow?: (cell: string) => string;
}

export interface TableOptions {
  /** Text before every line. */
  indent?: string;
  /** How the heading looks; by default it stands as it is. */
  heading?: (text: string) => string;
}

const gap = '  ';

/** The table as text, every line ended; empty text when there are no rows. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions = {},
): string {
  if (rows.length === 0) return '';
  const indent = options.indent ?? '';
  const heading = options.heading ?? ((text: string) => text);
  const titles = columns.map((column) => column.title);
  const widths = columns.map((column, index) =>
    rows.reduce((widest, row) => Math.max(widest, textWidth(oneLine(row[index] ?? ''))), textWidth(column.title)),
  );
  const layOut = (cells: readonly string[], brush: (text: string) => string): string => {
    const parts = columns.map((column, index) => {
      const cell = oneLine(cells[index] ?? '');
      const blanks = ' '.repeat((widths[index] ?? 0) - textWidth(cell));
      if (column.align === 'right') return blanks + brush(cell);
      return index === columns.length - 1 ? brush(cell) : brush(cell) + blanks;
    });
    return `${indent}${parts.join(gap)}`.trimEnd();
  };
  const head = titles.some((title) => title !== '') ? [layOut(titles, heading)] : [];
  return `${[...head, ...rows.map((row) => layOut(row, (text) => text))].join('\n')}\n`;
}

export interface FittingOptions extends TableOptions {
  /** Columns of the terminal. */
  width: number;
  /** Titles of columns, the first to go first. One that can be narrowed is narrowed when named first, and goes when named again. */
  expendable: readonly string[];
}

/** Of a name on a narrow terminal, at least this much is left. */
const shortestName = 12;

/** A table that is no wider than the terminal: columns go one by one, then names in the first column lose their middle. */
export function fittingTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: FittingOptions,
): string {
  const text = table(columns, rows, options);
  const over = Math.max(...text.split('\n').map(textWidth)) - options.width;
  if (over <= 0) return text;
  const [title, ...expendable] = options.expendable;
  if (title === undefined) return table(columns, withShortNames(rows, over), options);
  const at = columns.findIndex((column) => column.title === title);
  const column = columns[at];
  if (column === undefined) return fittingTable(columns, rows, { ...options, expendable });
  const { narrow, ...rest } = column;
  const changed = narrow === undefined ? [] : [rest];
  return fittingTable(
    columns.toSpliced(at, 1, ...changed),
    rows.map((row) => row.toSpliced(at, 1, ...(narrow === undefined ? [] : [narrow(row[at] ?? '')]))),
    { ...options, expendable },
  );
}

function withShortNames(rows: readonly (readonly string[])[], over: number): string[][] {
  const widest = Math.max(...rows.map(([name = '']) => textWidth(name)));
  const room = Math.max(shortestName, widest - over);
  return rows.map(([name = '', ...rest]) => [shortName(name, room), ...rest]);
}

/** `kwok-defau…1hvf97g`: both ends tell nodes apart. */
function shortName(name: string, room: number): string {
  const characters = [...name];
  if (characters.length <= room) return name;
  const end = Math.floor((room - 1) / 2);
  return `${characters.slice(0, room - 1 - end).join('')}…${characters.slice(-end).join('')}`;
}
