// What the doctor found last: asked for while the page is open, shown by the header of every page and by the doctor's own.
import { signal } from '@preact/signals';
import { read } from '../api.ts';
import { info } from '../store.ts';

export interface Finding {
  id: string;
  severity: 'critical' | 'high' | 'medium' | 'low';
  confidence: string;
  harmless?: boolean;
  summary: string;
  objects: { kind: string; name: string; namespace?: string }[];
  evidence: { source: string; text: string }[];
  fix: string[];
  consequences?: { id: string; summary: string }[];
}

export interface Examination {
  findings: Finding[];
  checks: { id: string; outcome: string; needs?: string }[];
}

export const examined = signal<{ report: Examination | undefined; failed: boolean }>({
  report: undefined,
  failed: false,
});

const everyMs = 30_000;

export const realFindings = ({ findings }: Examination): Finding[] =>
  findings.filter(({ harmless }) => harmless !== true);

/** Findings that cannot wait. */
export const seriousFindings = (): Finding[] =>
  examined.value.report === undefined
    ? []
    : realFindings(examined.value.report).filter(({ severity }) => severity === 'critical' || severity === 'high');

const notYetMs = 500;

/** Until the page is closed. */
export async function keepExamined(): Promise<void> {
  const hasDoctor = info.peek()?.capabilities.doctor;
  if (hasDoctor !== true) {
    if (hasDoctor === false) examined.value = { report: undefined, failed: true };
    setTimeout(() => void keepExamined(), hasDoctor === false ? everyMs : notYetMs);
    return;
  }
  try {
    examined.value = { report: await read<Examination>('findings'), failed: false };
  } catch {
    examined.value = { ...examined.peek(), failed: true };
  }
  setTimeout(() => void keepExamined(), everyMs);
}
