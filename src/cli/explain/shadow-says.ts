// What a shadow beside the autoscaler in charge would have done about one pod, node, claim or pool, or about the cluster: a few lines
// under the explanation, and the same as data.
import type { ShadowLaunch, ShadowMove, ShadowReport } from '../../ports/index.ts';
import { counted, type Paint } from '../output/index.ts';

export interface ShadowSays {
  since: string;
  launches: ShadowLaunch[];
  moves: ShadowMove[];
  totals?: ShadowReport['totals'];
}

export interface AboutWhat {
  subject: string;
  /** Names that it may have in the report: of a node also that of its claim. */
  names: readonly string[];
}

/** Lines about one object before the rest is summed up. */
const mostLines = 5;

export function shadowSays(report: ShadowReport, { subject, names }: AboutWhat): ShadowSays {
  const { since, launches, moves, totals } = report;
  const isNamed = (name: string): boolean => names.includes(name);
  switch (subject) {
    case 'pod':
      return { since, launches: launches.filter(({ pods }) => pods.some(isNamed)), moves: [] };
    case 'nodepool':
      return { since, launches: launches.filter(({ nodePool }) => isNamed(nodePool)), moves: [] };
    case 'cluster':
      return { since, launches: [], moves: [], totals };
    default:
      return { since, launches: [], moves: moves.filter(({ nodes }) => nodes.some(isNamed)) };
  }
}

const dollars = (perHour: number): string => `$${perHour.toFixed(3)}/h`;

export function renderShadowSays({ since, launches, moves, totals }: ShadowSays, paint: Paint): string {
  const lines = [
    ...launches.map(
      ({ at, instanceType, capacityType, zone, pricePerHour, pods }) =>
        `${at}: would have launched ${instanceType} (${capacityType}, ${zone}, ${dollars(pricePerHour)}) for ${counted(pods.length, 'pod')}`,
    ),
    ...moves.map(
      ({ at, decision, reason, replacements, savingsPerHour }) =>
        `${at}: would have ${decision === 'delete' ? 'removed it' : `replaced it by ${replacements.join(', ')}`} (${reason}), saving ${dollars(savingsPerHour)}`,
    ),
    ...(totals === undefined
      ? []
      : [
          `would have launched ${counted(totals.wouldLaunch, 'node')} for ${dollars(totals.wouldLaunchPerHour)}, where ${totals.launched} were launched for ${dollars(totals.launchedPerHour)}`,
          `would have removed ${counted(totals.wouldRemove, 'node')} and replaced ${totals.wouldReplace}, where ${totals.removed} were removed`,
        ]),
  ];
  const shown = lines.slice(-mostLines);
  const older = lines.length - shown.length;
  const body = [
    ...(lines.length === 0 ? ['nothing that concerns it'] : shown),
    ...(older > 0 ? [`and ${older} before these: kerf shadow report`] : []),
  ];
  return `\n${paint.bold('Kerf as a shadow')} since ${since} (it changes nothing):\n${body.map((line) => `  ${line}\n`).join('')}`;
}
