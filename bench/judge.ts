// Which bars a result meets, and how time grows with size. Missed bars are shown; only growth beyond its limit fails the
// run, because times on shared machines are too noisy to fail on.
import type { Bench, Growth } from './bench.ts';
import type { PeerResult } from './peer.ts';
import type { Result } from './run.ts';

export function missedBars(bench: Bench, result: Result): string[] {
  const { bar } = bench;
  if (result.error !== undefined) return ['failed'];
  if (bar === undefined) return [];
  const missed: string[] = [];
  const check = (limit: number | undefined, value: number | undefined, text: (limit: number) => string): void => {
    if (limit !== undefined && value !== undefined && value > limit) missed.push(text(limit));
  };
  check(bar.maxMs, result.bestMs, (limit) => `over ${limit} ms`);
  check(bar.maxRssMiB, result.peakRssMiB, (limit) => `over ${limit} MiB`);
  check(bar.maxPauseMs, result.longestPauseMs, (limit) => `holds others up for over ${limit} ms`);
  if (result.greedyPricePerHour !== undefined && result.pricePerHour !== undefined) {
    const ratio = result.pricePerHour / result.greedyPricePerHour;
    check(bar.maxGreedyRatio, ratio, (limit) => `over ${limit} x greedy`);
  }
  check(bar.maxNodes, result.nodes, (limit) => `over ${limit} nodes`);
  if (result.boundPerHour !== undefined && result.pricePerHour !== undefined) {
    check(bar.maxBoundRatio, result.pricePerHour / result.boundPerHour, (limit) => `over ${limit} x bound`);
  }
  if ((result.pricePerHour ?? 0) > (result.greedyPricePerHour ?? Number.POSITIVE_INFINITY) * (1 + 1e-9)) {
    missed.push('dearer than greedy');
  }
  missed.push(...(result.broken ?? []));
  if ((result.unplaced ?? 0) > 0) missed.push(`${result.unplaced} pods without a place`);
  return missed;
}

/** Cold, in a fresh process and beside the peer: undefined where there is no bar or the peer has no such work. */
export function peerMargin(bench: Bench, result: Result, peer: readonly PeerResult[]): PeerMargin | undefined {
  const least = bench.bar?.minPeerRatio;
  const theirs = peer.find(({ name }) => name === bench.name);
  if (least === undefined || theirs === undefined || result.coldMs === undefined) return undefined;
  const ratio = theirs.ms / result.coldMs;
  return { name: bench.name, ratio, least, met: ratio >= least };
}

export interface PeerMargin {
  name: string;
  ratio: number;
  least: number;
  met: boolean;
}

export interface GrowthResult {
  name: string;
  exponent: number;
  max: number;
  met: boolean;
}

export function growthOf(growth: Growth, results: readonly Result[]): GrowthResult | undefined {
  const time = (name: string): number | undefined => results.find((result) => result.name === name)?.bestMs;
  const from = time(growth.from.bench);
  const to = time(growth.to.bench);
  if (from === undefined || to === undefined) return undefined;
  const exponent = Math.log(to / from) / Math.log(growth.to.size / growth.from.size);
  return { name: growth.name, exponent, max: growth.max, met: exponent <= growth.max };
}
