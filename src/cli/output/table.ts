// Aligned tables for people. Columns are as wide as their widest cell; numbers stand right; the last column is never
// padded, so piping into other tools leaves no trailing blanks. Cells may carry colour.
import { textWidth } from './text-width.ts';
import { oneLine } from './visible.ts';

export interface Column {
  title: string;
  /** Numbers read best right-aligned. */
  align?: 'left' | 'right';
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
