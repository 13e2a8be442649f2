// The report for people: the verdict first, then what to change, what to know, and what becomes of the settings.
import { counted, type Paint, table, wrapText } from '../output/index.ts';
import type { Comparison, Finding, PreflightReport } from './report.ts';

/** What Kerf does otherwise than Karpenter, in the order in which people ask. */
export const differences: readonly string[] = [
  'Events, conditions and log lines are the same, and there are more of them: every NodeClaim has a condition DisruptionVerdict.',
  'Instances without an owner are terminated only after a second look, and at most a fifth of the fleet per run.',
  'Plans are searched for a cheaper set of nodes after the first packing, so instance types may differ from those of today.',
  'Replacements always start before a node goes; the gates TerminateFirstDrift and TerminateFirstRepair change nothing.',
  'The chart passes on `false`, `0` and empty text under `settings`, which Karpenter’s chart leaves out.',
];

const mostLines = 40;

interface Frame {
  paint: Paint;
  columns: number;
}

export function renderReport(report: PreflightReport, frame: Frame): string {
  const { paint } = frame;
  const { findings, drift, settings, gates, missingRights, notChecked } = report;
  const moved = drift.filter(({ isKnown }) => !isKnown);
  const known = drift.filter(({ isKnown }) => isKnown);
  const stops = findings.filter(({ level }) => level === 'stop');
  const looks = findings.filter(({ level }) => level === 'look');
  const sections = [
    heading(report, paint),
    ...section(
      'Change first',
      stops.flatMap((each) => findingLines(each, frame)),
      paint,
    ),
    ...section(
      `Would drift because of the switch: ${counted(moved.length, 'node')}`,
      moved
        .slice(0, mostLines)
        .map(
          ({ nodeClaim, nodePool, reason, fields }) =>
            `${nodeClaim} (${nodePool}): ${reason}${fields.length === 0 ? '' : `: ${fields.join('; ')}`}`,
        ),
      paint,
    ),
    ...section(
      `Drifted already: ${counted(known.length, 'node')}; either controller replaces them`,
      known.slice(0, mostLines).map(({ nodeClaim, nodePool, reason }) => `${nodeClaim} (${nodePool}): ${reason}`),
      paint,
    ),
    ...section(
      'Know',
      looks.flatMap((each) => findingLines(each, frame)),
      paint,
    ),
    ...(report.since === undefined
      ? []
      : section(`Since the report of ${report.since.from}`, sinceLines(report.since), paint)),
    ...section(
      `Rights that the service account does not have: ${missingRights.length} (charts/kerf brings them)`,
      missingRights.slice(0, mostLines),
      paint,
    ),
    ...(settings.length === 0
      ? []
      : [
          `${paint.bold('Settings')}\n${table(
            [{ title: 'today' }, { title: 'value' }, { title: 'with Kerf' }],
            settings.map(({ name, value, becomes }) => [name, short(value), becomes]),
            { indent: '  ', heading: paint.dim },
          )}`,
        ]),
    ...(report.running.program === 'none' && gates.length === 0
      ? []
      : [`${paint.bold('Feature gates on')}\n  ${gates.length === 0 ? 'none' : gates.join(', ')}\n`]),
    ...section('Not looked at', notChecked, paint),
    ...(report.phase === 'after'
      ? []
      : section(
          'What Kerf does differently',
          differences.flatMap((text) => wrapped(text, frame, '')),
          paint,
        )),
  ];
  return sections.join('\n');
}

function heading({ verdict, phase, running, counts, drift, since }: PreflightReport, paint: Paint): string {
  const who =
    running.program === 'none'
      ? 'No controller was found'
      : `${running.program === 'kerf' ? 'Kerf' : 'Karpenter'}${running.version === undefined ? '' : ` ${running.version}`}` +
        `${running.deployment === undefined ? '' : ` (Deployment ${running.deployment})`} is in charge` +
        (running.lease?.since === undefined ? '' : ` since ${running.lease.since}`);
  const under = [
    ...(counts.launching > 0 ? [`${counts.launching} launching`] : []),
    ...(counts.leaving > 0 ? [`${counts.leaving} on their way out`] : []),
  ];
  const newly = drift.filter(({ isKnown }) => !isKnown).length;
  const isFine = verdict === 'go';
  const line =
    phase === 'after'
      ? isFine
        ? `Switched: ${since === undefined ? '' : `${counted(since.gone.length, 'NodeClaim')} gone, `}nothing drifts because of it.`
        : 'Switched, and something is not as it was: see below.'
      : isFine
        ? 'Go: no node drifts because of the switch.'
        : `No go${newly > 0 ? `: ${counted(newly, 'node')} would be replaced` : ''}.`;
  return (
    `${paint.bold(isFine ? paint.green(line) : paint.red(line))}\n` +
    `${who}. ${counted(counts.nodePools, 'NodePool')}, ${counted(counts.nodeClaims, 'NodeClaim')}${under.length === 0 ? '' : ` (${under.join(', ')}: they go on with either)`}.\n`
  );
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length === 0 ? [] : [`${paint.bold(title)}\n${lines.map((line) => `  ${line}\n`).join('')}`];
}

function findingLines({ about, text, fix }: Finding, frame: Frame): string[] {
  return [...wrapped(`${about}: ${text}`, frame, ''), ...(fix === undefined ? [] : wrapped(`→ ${fix}`, frame, '  '))];
}

function wrapped(text: string, { columns }: Frame, indent: string): string[] {
  return wrapText(text, Math.max(40, columns - 4)).map((line, at) => `${at === 0 ? indent : `${indent}  `}${line}`);
}

function sinceLines({ gone, added, rewritten, newlyDrifted }: Comparison): string[] {
  const line = (title: string, names: readonly string[]): string =>
    `${title}: ${names.length === 0 ? 'none' : `${names.length} (${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''})`}`;
  return [
    line('NodeClaims gone', gone),
    line('new', added),
    line('rewritten (labels, hashes or spec)', rewritten),
    line('drifted that had not', newlyDrifted),
  ];
}

const short = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
