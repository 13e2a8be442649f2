// The findings as people read them: by file, by object, most of a screen line for what is wrong, and below it what to
// write instead.
import { counted, type Paint, type Severity, severities, severityMark, wrapText } from '../output/index.ts';
import type { Finding } from './finding.ts';

export interface Totals {
  files: number;
  checked: number;
  unchecked: number;
  unreadable: number;
}

export function countBySeverity(findings: readonly Finding[]): Record<Severity, number> {
  const counts: Record<Severity, number> = { error: 0, warning: 0, info: 0 };
  for (const { severity } of findings) counts[severity] += 1;
  return counts;
}

/** Findings of one file, grouped under the objects they concern. */
export function fileReport(file: string, findings: readonly Finding[], paint: Paint, columns: number): string {
  const lineWidth = findings.reduce((widest, { line }) => Math.max(widest, String(line).length), 0);
  const indent = ' '.repeat(4 + lineWidth + 2);
  const room = Math.max(40, Math.min(columns, 110) - indent.length);
  let text = `${paint.bold(file)}\n`;
  const groups = Map.groupBy(findings, headingOf);
  // Notes on the words of a document come after what is wrong with its samples.
  const headings = [...groups.keys()].sort((one, other) => Number(one === prose) - Number(other === prose));
  let group = '';
  for (const [heading, finding] of headings.flatMap((name) =>
    (groups.get(name) ?? []).map((one) => [name, one] as const),
  )) {
    if (heading !== group) text += `  ${paint.cyan(heading)}\n`;
    group = heading;
    const { line, severity, rule, field, message, fix } = finding;
    const mark = `${severityMark(severity, paint)}${' '.repeat(9 - severity.length)}${paint.bold(rule)}`;
    text += `    ${paint.dim(String(line).padStart(lineWidth))}  ${mark}${field === '' ? '' : `  ${field}`}\n`;
    text += block(wrapText(message, room), indent);
    if (fix !== undefined) {
      const [first = '', ...rest] = wrapText(fix, room - 2).map(paint.green);
      text += `${indent}${paint.green('→')} ${first}\n${block(rest, `${indent}  `)}`;
    }
  }
  return text;
}

const prose = 'text';

const block = (lines: readonly string[], indent: string): string => lines.map((line) => `${indent}${line}\n`).join('');

function headingOf({ object, fence }: Finding): string {
  if (object === undefined) return fence === undefined ? prose : `sample, line ${fence}`;
  const name = object.name === '' ? '' : ` ${object.name}`;
  return `${object.kind}${name}${fence === undefined ? '' : ` (sample, line ${fence})`}`;
}

export function summary(findings: readonly Finding[], totals: Totals, paint: Paint): string {
  const counts = countBySeverity(findings);
  const objects = counted(totals.checked + totals.unchecked, 'object');
  const others =
    totals.unchecked === 0
      ? ''
      : `, ${totals.unchecked.toLocaleString('en-US')} of them of kinds kerf has no schema for`;
  const brush = { error: paint.red, warning: paint.yellow, info: paint.blue };
  const parts = severities
    .filter((severity) => counts[severity] > 0)
    .map((severity) => brush[severity](counted(counts[severity], severity === 'info' ? 'note' : severity)));
  if (totals.unreadable > 0) parts.push(paint.red(`${counted(totals.unreadable, 'input')} unreadable`));
  const verdict = parts.length === 0 ? paint.green('no problems') : parts.join(', ');
  const text = `${paint.bold(verdict)} in ${counted(totals.files, 'file')} with ${objects}${others}\n`;
  return (
    text +
    (findings.some(({ rule }) => rule === 'M01') ? paint.dim('kerf convert -f FILE moves old manifests to v1\n') : '')
  );
}
