// A Markdown table with its columns aligned as the formatter aligns them, so that generated pages pass the format check.

/** A Markdown table as the formatter writes it, so that formatting changes nothing. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [head, widths.map((width) => '-'.repeat(width)), ...body].map(line).concat('').join('\n');
}
