// What viewers cost the process they look at: five of them on 5,000 nodes and 100,000 pods with 500 changes a second, beside a
// loop that plans and judges as a controller's do. By the clock, so only on a machine that does nothing else; figures are
// printed. `KERF_SOAK_MINUTES` is how long memory is watched.
import { type ChildProcess, fork } from 'node:child_process';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from './chromium.ts';
import { visit } from './visit.ts';

interface Figures {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** On average, and at most; `heap` is what is left after a collection, the middle of several. */
  rss: number;
  mostRss: number;
  heap: number;
  cpuMs: number;
}

const mebi = (bytes: number): number => bytes / 1024 / 1024;
const minutes = Number(process.env['KERF_SOAK_MINUTES'] ?? 10);
/** Long enough for several looks of the loop. */
const measureMs = 120_000;
const heapSamples = 15;
let child: ChildProcess;
let url = '';
let browser: Browser | undefined;

const reply = <T>(): Promise<T> =>
  new Promise((found, failed) => {
    const ended = (code: number | null): void => failed(new Error(`the cluster ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      found(message as T);
    });
  });

async function figures(): Promise<Figures> {
  const answer = reply<Figures>();
  child.send('figures');
  return answer;
}

/** What came to pass within this time, from rest; memory afterwards, for as long: a look of the loop holds much while it lasts. */
async function over(ms: number): Promise<Figures> {
  const before = await figures();
  await sleep(ms);
  const after = await figures();
  const heaps: number[] = [];
  while (heaps.length < heapSamples) {
    await sleep(ms / heapSamples);
    heaps.push((await figures()).heap);
  }
  const heap = heaps.sort((left, right) => left - right)[Math.floor(heaps.length / 2)] as number;
  return { ...after, heap, cpuMs: after.cpuMs - before.cpuMs };
}

/** Follows as a page does: the list, then the stream. */
async function watch(signal: AbortSignal): Promise<number> {
  const { revision } = (await (await fetch(`${url}/kerf/v1/nodes`, { signal })).json()) as { revision: number };
  const { body } = await fetch(`${url}/kerf/v1/stream?since=${revision}&topics=nodes,decisions`, { signal });
  let bytes = 0;
  try {
    for await (const chunk of body ?? []) bytes += (chunk as Uint8Array).length;
  } catch {
    // It was ended.
  }
  return bytes;
}

const text = (name: string, { p50Ms, p99Ms, maxMs, rss, mostRss, heap, cpuMs }: Figures): string =>
  `${name}: loop p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, max ${maxMs.toFixed(0)} ms; ` +
  `heap ${mebi(heap).toFixed(1)}, resident ${mebi(rss).toFixed(0)}, at most ${mebi(mostRss).toFixed(0)} MiB; ${(cpuMs / 1000).toFixed(1)} s of CPU\n`;

beforeAll(async () => {
  browser = await openBrowser();
  const options = { execArgv: ['--expose-gc'], env: { ...process.env, MALLOC_ARENA_MAX: '1' } };
  child = fork(resolve(import.meta.dirname, 'large-cluster.ts'), ['5000', '20', '500', 'shadow'], options);
  ({ url } = await reply<{ url: string }>());
  await reply<{ changing: true }>();
}, 300_000);
afterAll(async () => {
  child.kill('SIGKILL');
  await browser?.close();
});

test('five viewers: the event loop waits less than 50 ms in 99 of 100, and memory grows by at most 25 MiB', async () => {
  await sleep(60_000);
  const alone = await over(measureMs);
  const stop = new AbortController();
  const viewers = Array.from({ length: 5 }, () => watch(stop.signal));
  await sleep(20_000);
  const watched = await over(measureMs);
  stop.abort();
  const bytes = await Promise.all(viewers);
  process.stderr.write(text('without viewers', alone) + text('with five viewers', watched));
  expect(Math.min(...bytes)).toBeGreaterThan(100_000);
  expect(watched.p99Ms).toBeLessThan(50);
  expect(mebi(watched.heap - alone.heap)).toBeLessThanOrEqual(25);
  expect(mebi(watched.rss - alone.rss)).toBeLessThanOrEqual(25);
});

test('memory is flat, of the page and of the process behind it, for as long as one looks', async ({ skip }) => {
  if (browser === undefined) return skip('there is no browser');
  const stop = new AbortController();
  const viewers = Array.from({ length: 4 }, () => watch(stop.signal));
  const { page, complaints, close } = await visit(browser, url);
  await page.getByText('● live').waitFor({ timeout: 60_000 });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const pageHeap = async (): Promise<number> => {
    await cdp.send('HeapProfiler.collectGarbage');
    const { metrics } = await cdp.send('Performance.getMetrics');
    return mebi(metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0);
  };
  const pages: number[] = [];
  const servers: number[] = [];
  for (let minute = 0; minute <= minutes; minute++) {
    if (minute > 0) await sleep(60_000);
    pages.push(await pageHeap());
    servers.push(mebi((await figures()).heap));
  }
  stop.abort();
  await Promise.all(viewers);
  const rounded = (all: number[]): string => all.map((each) => each.toFixed(1)).join(', ');
  process.stderr.write(`heap by the minute, MiB: page ${rounded(pages)}; process ${rounded(servers)}\n`);
  // The first minute fills what is kept (a series of points, words of dictionaries); from then on nothing may be added.
  for (const heaps of [pages, servers]) {
    const [, second = 0] = heaps;
    expect((heaps.at(-1) as number) - second).toBeLessThan(10);
  }
  expect(Math.max(...pages)).toBeLessThan(150);
  expect(complaints).toEqual([]);
  await close();
  return undefined;
});
