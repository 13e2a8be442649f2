// What the page holds: the cluster as rows, kept up to date by the stream, and signals that say when to draw again. Loads the
// list, then follows; when the server is gone it says so, and takes up where it is once it is back.
import { signal } from '@preact/signals';
import type { CellView, ClusterView, Delta, Shown, Totals } from '../view/wire.ts';
import { noTotals, shownFrom, takeCells, takeDelta } from '../view/wire.ts';
import { read } from './api.ts';
import type { Decision, Info, SeriesView, UsageView, WhatIfResult } from './documents.ts';

/** Above so many nodes cells are asked for of the nodes in view alone. */
const mostNodesWithCells = 2_000;
/** As many as one question may name, and how often it is asked again. */
const mostInView = 1_000;
const inViewMs = 3_000;
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
/** By node: what it really uses, where the cluster serves it. */
export const usage = signal<UsageView | undefined>(undefined);
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
  recorded?: Info['recorded'];
  isPast?: boolean;
  story?: Info['story'];
}

export async function start(): Promise<void> {
  try {
    info.value = await read<Info>('info');
    if (info.value.isPast === true) usage.value = undefined;
    build ??= info.value.build;
    await list();
    timeMs.value = Date.parse(info.value.time);
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

let inView = { keys: '', atMs: 0, isAsking: false };

/** Of a large cluster: what is on these nodes, which someone looks at closely. What is on others is forgotten. */
export async function lookCloser(keys: readonly number[]): Promise<void> {
  const { shown } = cluster;
  if (shown === undefined || shown.nodes.size <= mostNodesWithCells || inView.isAsking) return;
  if (keys.length === 0 || keys.length > mostInView) {
    shown.cells.clear();
    inView.keys = '';
    return;
  }
  const text = keys.join();
  if (text === inView.keys && Date.now() - inView.atMs < inViewMs) return;
  inView.isAsking = true;
  try {
    const view = await read<CellView>(`cells?nodes=${text}`);
    if (cluster.shown !== shown) return;
    shown.cells.clear();
    takeCells(shown, view);
    version.value += 1;
  } catch {
    // The boxes say what is requested all the same; it is asked for again.
  } finally {
    inView = { keys: text, atMs: Date.now(), isAsking: false };
  }
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
    if (info.value !== undefined) info.value = withTick(info.value, tick);
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
  // Behind, or another moment is shown: everything is asked for again.
  on('reset', () => {
    source.close();
    void start();
  });
}

/** The same object while nothing changed, so that nothing is drawn again. */
function withTick(now: Info, tick: Tick): Info {
  const { speed = 1, paused = false, faults = [], recorded, isPast = false, story } = tick;
  const isSame =
    now.speed === speed &&
    now.paused === paused &&
    now.faults?.join() === faults.join() &&
    now.recorded?.toMs === recorded?.toMs &&
    (now.isPast ?? false) === isPast &&
    now.story?.caption === story?.caption;
  if (isSame) return now;
  const { recorded: _, isPast: __, story: ___, ...rest } = now;
  return {
    ...rest,
    speed,
    paused,
    faults,
    isPast,
    ...(recorded !== undefined && { recorded }),
    ...(story !== undefined && { story }),
  };
}

const usageMs = 15_000;

/** For as long as the page is open; a cluster that serves none says so. */
export async function keepUsage(): Promise<void> {
  for (;;) {
    if (info.peek()?.capabilities.usage === true && !document.hidden && info.peek()?.isPast !== true) {
      usage.value = await read<UsageView>('usage').catch(() => usage.peek());
    } else if (info.peek()?.isPast === true) usage.value = undefined;
    await new Promise((wait) => setTimeout(wait, usage.peek() === undefined ? 500 : usageMs));
  }
}
