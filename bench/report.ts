// Results as a table for people.
import { type Column, table } from '../src/cli/output/index.ts';
import type { Bench } from './bench.ts';
import { type GrowthResult, missedBars, type PeerMargin } from './judge.ts';
import type { PeerResult } from './peer.ts';
import type { Result } from './run.ts';

/** Best times of an earlier run on some machine, by bench name. */
export type Baseline = Record<string, { bestMs: number }>;

const right = (title: string): Column => ({ title, align: 'right' });
const columns: Column[] = [
  { title: 'work' },
  right('best'),
  right('cold'),
  right('per second'),
  right('nodes'),
  right('$/h'),
  right('÷ greedy'),
  right('÷ bound'),
  right('pause'),
  right('peak RSS'),
  right('÷ baseline'),
  { title: 'bars' },
  { title: 'all runs (ms)' },
];

export const milliseconds = (ms: number): string => {
  if (Number.isNaN(ms)) return '–';
  if (ms >= 10_000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`;
};

const ratio = (value: number | undefined, by: number | undefined, digits = 3): string =>
  value === undefined || by === undefined || by === 0 ? '' : (value / by).toFixed(digits);

/** All of them; of many short ones the fastest dozen and how many more there were. */
function allRuns(runsMs: readonly number[]): string {
  const shown = runsMs.length <= 12 ? runsMs : [...runsMs].sort((a, b) => a - b).slice(0, 12);
  const more = runsMs.length - shown.length;
  return `${shown.map((ms) => ms.toFixed(ms < 10 ? 2 : 0)).join(' ')}${more > 0 ? ` and ${more} slower` : ''}`;
}

export function resultTable(benches: readonly Bench[], results: readonly Result[], baseline: Baseline): string {
  const rows = results.map((result) => {
    const bench = benches.find((candidate) => candidate.name === result.name);
    const missed = bench === undefined ? [] : missedBars(bench, result);
    return [
      result.name,
      milliseconds(result.bestMs),
      result.coldMs === undefined ? '' : milliseconds(result.coldMs),
      Math.round(result.itemsPerSecond).toLocaleString('en'),
      String(result.nodes ?? ''),
      result.pricePerHour?.toFixed(2) ?? '',
      ratio(result.pricePerHour, result.greedyPricePerHour),
      ratio(result.pricePerHour, result.boundPerHour),
      result.longestPauseMs === undefined ? '' : milliseconds(result.longestPauseMs),
      `${Math.round(result.peakRssMiB)} MiB`,
      ratio(result.bestMs, baseline[result.name]?.bestMs, 2),
      missed.length === 0 ? 'met' : missed.join(', '),
      allRuns(result.runsMs),
    ];
  });
  return table(columns, rows);
}

export function growthLines(growths: readonly GrowthResult[]): string {
  return growths
    .map(
      ({ name, exponent, max, met }) =>
        `growth ${name}: exponent ${exponent.toFixed(3)} (at most ${max}: ${met ? 'met' : 'missed'})\n`,
    )
    .join('');
}

export function marginLine({ name, ratio, least, met }: PeerMargin): string {
  const verdict = met ? 'met' : 'missed';
  return `${name} cold, in a fresh process: ${ratio.toFixed(0)} x faster than the peer (at least ${least}: ${verdict})\n`;
}

export function peerTable(peer: readonly PeerResult[], results: readonly Result[]): string {
  const rows = peer.map((theirs) => {
    const ours = results.find((result) => result.name === theirs.name);
    return [
      theirs.name,
      milliseconds(theirs.ms),
      ours === undefined ? '' : milliseconds(ours.bestMs),
      ours === undefined ? '' : `${(theirs.ms / ours.bestMs).toFixed(1)} x`,
      String(theirs.nodes ?? ''),
      String(ours?.nodes ?? ''),
      theirs.megabytes === undefined ? '' : `${theirs.megabytes.toFixed(0)} MB`,
      theirs.pricePerHour?.toFixed(2) ?? '',
      theirs.pricePerHour === undefined ? '' : (ours?.pricePerHour?.toFixed(2) ?? ''),
      ratio(ours?.pricePerHour, theirs.pricePerHour),
      theirs.unplaced ? `${theirs.unplaced} pods without a place` : '',
    ];
  });
  return table(
    [
      { title: 'work' },
      right('peer'),
      right('kerf'),
      right('faster'),
      right('peer nodes'),
      right('kerf nodes'),
      right('peer allocated'),
      right('peer $/h'),
      right('kerf $/h'),
      right('kerf ÷ peer'),
      { title: '' },
    ],
    rows,
  );
}
