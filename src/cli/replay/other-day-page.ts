// Two simulated days side by side, and what the recording itself comes to.
import { counted, type Paint, table } from '../output/index.ts';
import { price } from '../plan/money.ts';
import type { DayCost } from './other-day.ts';

export interface OtherDayReport {
  apiVersion: 'kerf/v1';
  kind: 'OtherDay';
  from: string;
  to: string;
  /** What was changed, as it was asked for. */
  change: string;
  /** Prices of the nodes in the recording. */
  recordedDollars: number;
  before: DayCost;
  after: DayCost;
}

const hourMs = 3_600_000;

export function otherDayPage(report: OtherDayReport, paint: Paint): string {
  const { before, after, change, from, to, recordedDollars } = report;
  const hours = (Date.parse(to) - Date.parse(from)) / hourMs;
  const dollars = (usd: number): string => `$${usd.toFixed(usd < 10 ? 3 : 2)}`;
  const row = (name: string, of: (cost: DayCost) => number, text: (value: number) => string = String): string[] => {
    const [left, right] = [of(before), of(after)];
    const difference = right - left;
    const sign = difference > 0 ? '+' : '−';
    return [name, text(left), text(right), text(left) === text(right) ? '' : `${sign}${text(Math.abs(difference))}`];
  };
  const rows = [
    row('dollars', (cost) => cost.dollars, dollars),
    ...(hours > 0 ? [row('dollars a day', (cost) => (cost.dollars / hours) * 24, dollars)] : []),
    row('pods moved', ({ evictions }) => evictions),
    row('nodes launched', ({ launched }) => launched),
    row('nodes removed', ({ removed }) => removed),
    row('most nodes at once', ({ mostNodes }) => mostNodes),
    row(
      'pod hours without a place',
      ({ podHoursWithoutPlace }) => podHoursWithoutPlace,
      (value) => value.toFixed(2),
    ),
  ];
  const columns = [
    { title: '' },
    { title: 'as it was', align: 'right' as const },
    { title: change, align: 'right' as const },
    { title: 'difference', align: 'right' as const },
  ];
  const share = before.dollars === 0 ? 0 : (after.dollars - before.dollars) / before.dollars;
  const verdict =
    Math.abs(share) < 0.0005
      ? 'The change makes no difference in dollars.'
      : `${change}: ${Math.abs(share * 100).toFixed(1)} % ${share < 0 ? 'less' : 'more'}.`;
  return [
    `${paint.bold(verdict)} ${from} to ${to}, ${counted(Math.round(hours * 60), 'minute')}`,
    '',
    table(columns, rows, { heading: paint.dim }).trimEnd(),
    '',
    paint.dim('Both are simulated: the recorded pods on nodes that join at once, beginning with none; without drift,'),
    paint.dim(
      `expiry and interruptions. The nodes of the recording itself cost ${dollars(recordedDollars)}, ${price(hours > 0 ? recordedDollars / hours : 0)}.`,
    ),
    '',
  ].join('\n');
}
