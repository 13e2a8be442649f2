// What the page holds: the cluster as rows, kept up to date by the stream, and signals that say when to draw again. Loads the
// list, then follows; when the server is gone it says so, and takes up where it is once it is back.
import { signal } from '@preact/signals';
import type { CellView, ClusterView, Delta, Shown, Totals } from '../view/wire.ts';
import { noTotals, shownFrom, takeCells, takeDelta } from '../view/wire.ts';
import { read } from './api.ts';
import type { Decision, Info, SeriesView, WhatIfResult } from './documents.ts';

/** Above so many nodes a map shows no single pods, and cells are not asked for. */
const mostNodesWithCells = 2_000;
const mostDecisions = 500;
const mostPoints = 240;

export const info = signal<Info | undefined>(undefined);
export const totals = signal<Totals>(noTotals);
export const timeMs = signal(Date.now());
export const link = signal<'connecting' | 'live' | 'stale'>('connecting');
/** Moves whenever rows changed. */
export const version = signal(0);
/** Newest first. */
export const recent = signal<readonly Decision[]>([]);
export const prices = signal<readonly number[]>([]);
export const whatIf = signal<WhatIfResult | undefined>(undefined);
export const problem = signal<string | undefined>(undefined);

export const cluster: { shown: Shown | undefined } = { shown: undefined };

let stream: EventSource | undefined;
let build: string | undefined;

interface Tick {
  build: string;
  timeMs: number;
  totals: Totals;
  speed?: number;
  paused?: boolean;
  faults?: string[];
}

export async function start(): Promise<void> {
  try {
    info.value = await read<Info>('info');
    build ??= info.value.build;
    await list();
    const known = await read<{ items: Decision[] }>('decisions');
    recent.value = known.items;
    if (prices.peek().length === 0) await readPrices();
    problem.value = undefined;
    follow();
  } catch (error) {
    link.value = 'stale';
    problem.value = error instanceof Error ? error.message : String(error);
    setTimeout(() => void start(), retryMs);
  }
}

const retryMs = 2_000;

/** Of the last hour, so that the first look says where the cost comes from. */
async function readPrices(): Promise<void> {
  const { series } = await read<SeriesView>('series?names=pricePerHour');
  const known = (series['pricePerHour'] ?? []).filter((each) => each !== null);
  prices.value = known.slice(-mostPoints);
}

async function list(): Promise<void> {
  const view = await read<ClusterView>('nodes');
  const shown = shownFrom(view);
  if (shown.nodes.size <= mostNodesWithCells) takeCells(shown, await read<CellView>('cells'));
  cluster.shown = shown;
  totals.value = shown.totals;
  version.value += 1;
}

function follow(): void {
  stream?.close();
  const shown = cluster.shown;
  if (shown === undefined) return;
  const topics = shown.nodes.size <= mostNodesWithCells ? 'nodes,cells,decisions' : 'nodes,decisions';
  const source = new EventSource(`kerf/v1/stream?since=${shown.revision}&topics=${topics}`);
  stream = source;
  const on = <T>(name: string, take: (data: T) => void): void =>
    source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent<string>).data) as T));
  source.addEventListener('open', () => {
    link.value = 'live';
  });
  source.addEventListener('error', () => {
    // The next list may be of another process, so nothing is taken up in the middle.
    link.value = 'stale';
    source.close();
    if (stream === source) setTimeout(() => void start(), retryMs);
  });
  on<Delta>('delta', (delta) => {
    if (cluster.shown === undefined) return;
    takeDelta(cluster.shown, delta);
    totals.value = delta.totals;
    version.value += 1;
  });
  on<Tick>('tick', (tick) => {
    if (build !== undefined && tick.build !== build) location.reload();
    timeMs.value = tick.timeMs;
    totals.value = tick.totals;
    prices.value = [...prices.value.slice(1 - mostPoints), tick.totals.pricePerHour];
    const now = info.value;
    if (
      now !== undefined &&
      (now.speed !== tick.speed || now.paused !== tick.paused || now.faults?.join() !== tick.faults?.join())
    ) {
      info.value = { ...now, speed: tick.speed ?? 1, paused: tick.paused ?? false, faults: tick.faults ?? [] };
    }
  });
  on<Decision>('decision', (decision) => {
    const others = recent.value.filter(({ id }) => id !== decision.id);
    const at = recent.value.findIndex(({ id }) => id === decision.id);
    recent.value =
      at < 0
        ? [decision, ...others].slice(0, mostDecisions)
        : recent.value.map((each, index) => (index === at ? decision : each));
  });
  on<WhatIfResult>('what-if', (result) => {
    whatIf.value = result;
  });
  on('reset', () => void list().then(follow));
}
