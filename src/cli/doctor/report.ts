// What the doctor found, for people and for programs.
import { shortList } from '../../base/index.ts';
import {
  type CheckOutcome,
  type Diagnosis,
  type Finding,
  type ObjectRef,
  pageOf,
  type Severity,
} from '../../failures/index.ts';
import type { Terminal } from '../command.ts';
import { counted, type Paint, paintFor, wrapText } from '../output/index.ts';
import type { Skipped } from './bundle/entry.ts';

export interface Report extends Diagnosis {
  files: number;
  /** Nothing was a file. */
  isLive: boolean;
  skipped: readonly Skipped[];
  notUnderstood: readonly Skipped[];
}

export function jsonReport({ findings, checks, files, skipped, notUnderstood }: Report): object {
  return {
    findings: findings.map((finding) => ({ ...finding, page: pageOf(finding.id) })),
    checks,
    input: { files, notUnderstood, skipped },
  };
}

export function tableReport(report: Report, terminal: Terminal, { isAsked }: { isAsked: boolean }): string {
  const paint = paintFor(terminal);
  const width = Math.max(40, Math.min(terminal.columns, 120));
  const parts = report.findings.map((finding) => findingText(finding, paint, width));
  parts.push(summaryText(report, paint, isAsked));
  if (!isAsked) parts.push(notMadeText(report.checks, paint, width));
  parts.push(filesText('not understood', report.notUnderstood, paint), filesText('skipped', report.skipped, paint));
  return parts.filter((part) => part !== '').join('\n');
}

function findingText(finding: Finding, paint: Paint, width: number): string {
  const { id, severity, confidence, objects, summary, evidence, fix, consequences = [], harmless } = finding;
  const mark = harmless ? paint.green('harmless') : severityText(severity, paint);
  const lines = [
    `${mark}  ${paint.bold(id)}${confidence === 'certain' || harmless ? '' : paint.dim(` (${confidence})`)}`,
  ];
  lines.push(...indented(summary, width));
  if (objects.length > 0) lines.push(...indented(paint.dim(`on ${objectNames(objects)}`), width));
  for (const [index, { source, text }] of evidence.slice(0, 5).entries()) {
    if (evidence[index - 1]?.source !== source) lines.push(`  ${paint.cyan(source)}`);
    lines.push(...quoted(text, width));
  }
  if (evidence.length > 5) lines.push(paint.dim(`  and ${evidence.length - 5} more`));
  for (const { id: other, summary: text } of consequences)
    lines.push(...indented(`${paint.dim('explains')} ${other}: ${text}`, width));
  if (fix.length > 0) lines.push(`  ${paint.green('fix')}`);
  // Whole lines: what is to be pasted must not be broken.
  for (const step of fix) lines.push(`    ${step}`);
  lines.push(paint.dim(`  more in ${pageOf(id)}`));
  return `${lines.join('\n')}\n`;
}

const indented = (text: string, width: number): string[] => wrapText(text, width - 2).map((line) => `  ${line}`);

/** Two lines of what was seen are enough to find it again. */
function quoted(text: string, width: number): string[] {
  const lines = wrapText(text.replaceAll(/\s+/g, ' '), width - 6);
  return lines.slice(0, 2).map((line, index) => {
    const cut = line.length > width - 6 ? `${line.slice(0, width - 7)}…` : line;
    return `    │ ${cut}${index === 1 && lines.length > 2 ? '…' : ''}`;
  });
}

function severityText(severity: Severity, paint: Paint): string {
  if (severity === 'critical') return paint.red(paint.bold('CRITICAL'));
  if (severity === 'high') return paint.red('high');
  return severity === 'medium' ? paint.yellow('medium') : paint.blue('low');
}

export function objectNames(objects: readonly ObjectRef[]): string {
  const names = objects.map(
    ({ kind, name, namespace }) => `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
  );
  return shortList(names, 4, 'more');
}

function summaryText({ findings, checks, files, isLive }: Report, paint: Paint, isAsked: boolean): string {
  const count = (outcome: CheckOutcome['outcome']): number => checks.filter((one) => one.outcome === outcome).length;
  const real = findings.filter(({ harmless }) => harmless !== true);
  const read = isAsked || isLive ? '' : ` in ${counted(files, 'file')}`;
  const found =
    real.length === 0 ? paint.green(`Nothing found${read}.`) : paint.bold(`${counted(real.length, 'finding')}${read}.`);
  return `${found} ${counted(count('clear'), 'check')} clear, ${count('not made')} not made.\n`;
}

/** By what they need: many checks wait for the same file. */
function notMadeText(checks: readonly CheckOutcome[], paint: Paint, width: number): string {
  const byNeed = new Map<string, string[]>();
  for (const check of checks) {
    if (check.outcome !== 'not made') continue;
    const known = byNeed.get(check.needs);
    if (known === undefined) byNeed.set(check.needs, [check.id]);
    else known.push(check.id);
  }
  if (byNeed.size === 0) return '';
  const lines = [paint.bold('Not made')];
  for (const [needs, ids] of byNeed)
    lines.push(
      ...indented(`needs ${needs}:`, width),
      ...wrapText(ids.join(', '), width - 4).map((line) => paint.dim(`    ${line}`)),
    );
  return `${lines.join('\n')}\n`;
}

function filesText(title: string, files: readonly Skipped[], paint: Paint): string {
  if (files.length === 0) return '';
  const shown = files.slice(0, 10).map(({ path, reason }) => `  ${path}: ${reason}`);
  if (files.length > 10) shown.push(`  and ${files.length - 10} more`);
  return `${paint.bold(`Files ${title}`)}\n${shown.join('\n')}\n`;
}
