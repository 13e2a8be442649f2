// A shadow's report as a page to pass on: what the cluster costs, what Kerf would have done, beside what was done.
import type { ShadowReport } from '../../ports/index.ts';
import { counted } from '../output/index.ts';

const dollars = (perHour: number): string => `$${perHour.toFixed(3)}`;
const monthly = (perHour: number): string => `$${(perHour * 730).toFixed(0)}`;

export function shadowPage(report: ShadowReport): string {
  const { totals, verdicts } = report;
  const hours = (Date.parse(report.now) - Date.parse(report.since)) / 3_600_000;
  const difference = totals.wouldLaunchPerHour - totals.launchedPerHour;
  const blockers = Object.entries(verdicts.blockers).sort(([, left], [, right]) => right - left);
  return [
    '# What Kerf would have done',
    '',
    `From ${report.since} to ${report.now} (${hours.toFixed(1)} h), beside the autoscaler that runs the cluster. Nothing was changed.`,
    '',
    ...table(
      ['', 'the autoscaler in charge', 'Kerf'],
      [
        ['nodes launched', String(totals.launched), String(totals.wouldLaunch)],
        ['their price per hour', dollars(totals.launchedPerHour), dollars(totals.wouldLaunchPerHour)],
        ['nodes removed', String(totals.removed), `${totals.wouldRemove} (and ${totals.wouldReplace} replaced)`],
      ],
    ),
    '',
    `The cluster has ${counted(report.nodes, 'node')} for ${dollars(report.costPerHour)} per hour (${monthly(report.costPerHour)} a month). ` +
      `Kerf's next command would save ${dollars(report.savingsPerHour)} per hour (${monthly(report.savingsPerHour)} a month).`,
    totals.launched === 0
      ? 'No node was launched in this time.'
      : `For the pods that waited, Kerf's nodes would have cost ${dollars(Math.abs(difference))} per hour ${difference <= 0 ? 'less' : 'more'}.`,
    report.unschedulable === 0
      ? 'Every waiting pod has a place.'
      : `${counted(report.unschedulable, 'waiting pod')} ${report.unschedulable === 1 ? 'fits' : 'fit'} nowhere; \`kerf explain pod NAME\` says why.`,
    '',
    '## Nodes now',
    '',
    `${verdicts.remove} would be removed, ${verdicts.replace} replaced, ${verdicts.keep} kept.`,
    ...(blockers.length === 0
      ? []
      : [
          '',
          ...table(
            ['what keeps nodes', 'nodes'],
            blockers.map(([code, count]) => [code, String(count)]),
          ),
        ]),
    '',
    '## Launches',
    '',
    ...rows(
      report.launches,
      ['time', 'NodePool', 'type', 'capacity', 'zone', 'per hour', 'pods'],
      ({ at, nodePool, instanceType, capacityType, zone, pricePerHour, pods }) => [
        at,
        nodePool,
        instanceType,
        capacityType,
        zone,
        dollars(pricePerHour),
        String(pods.length),
      ],
    ),
    '',
    '## Removals and replacements',
    '',
    ...rows(
      report.moves,
      ['time', 'reason', 'what', 'nodes', 'instead', 'saves per hour'],
      ({ at, reason, decision, nodes, replacements, savingsPerHour }) => [
        at,
        reason,
        decision,
        nodes.join(', '),
        replacements.join(', ') || 'nothing',
        dollars(savingsPerHour),
      ],
    ),
    '',
  ].join('\n');
}

/** The newest; a page stays a page. */
const shown = 50;

function rows<T>(items: readonly T[], head: string[], row: (item: T) => string[]): string[] {
  if (items.length === 0) return ['None.'];
  const newest = items.slice(-shown);
  const note = items.length > newest.length ? ['', `The newest ${newest.length} of ${items.length}.`] : [];
  return [...table(head, newest.map(row)), ...note];
}

function table(head: string[], body: string[][]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, 3, ...body.map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[]): string => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)];
}
