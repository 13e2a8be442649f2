// How serious a finding is, and the mark that shows it: a word in reports, always the same colour.
import type { Paint } from './paint.ts';

export type Severity = 'error' | 'warning' | 'info';

/** Most serious first. */
export const severities: readonly Severity[] = ['error', 'warning', 'info'];

export function severityMark(severity: Severity, paint: Paint): string {
  if (severity === 'error') return paint.red('error');
  return severity === 'warning' ? paint.yellow('warning') : paint.blue('info');
}

/** `3 errors`, `1 warning`; plural by adding an s. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
