// The dashboard as a person uses it, in a real browser, on a simulated cluster of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runKerf } from '../cli/run-kerf.ts';
import { openBrowser } from './chromium.ts';
import { DemoCluster, patience } from './demo-cluster.ts';
import { violations, visit } from './visit.ts';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
let browser: Browser | undefined;
let url = '';
const demo = new DemoCluster();
const read = <T>(path: string): Promise<T> => demo.read<T>(path);

beforeAll(async () => {
  browser = await openBrowser();
  await demo.start();
  ({ url } = demo);
  await demo.grown(9);
}, 240_000);
beforeEach(() => demo.calm());
afterAll(async () => {
  demo.end();
  await browser?.close();
});

/** Where no browser is available, tests say so and end; `openBrowser` has said why. */
const inBrowser = (name: string, run: (browser: Browser) => Promise<void>): void =>
  test(name, { timeout: 400_000 }, async ({ skip }) => {
    if (browser === undefined) return skip('there is no browser');
    return run(browser);
  });

inBrowser('the first line is the address, and the map behind it lives', async (own) => {
  expect(demo.output.split('\n')[0]).toMatch(/^Dashboard http:\/\/127\.0\.0\.1:\d+$/);
  const { page, complaints, close } = await visit(own, url);
  await page.getByText('● live').waitFor();
  await page.getByRole('application', { name: /Map of \d+ nodes/ }).waitFor();
  const before = await page.locator('.clock dd').textContent();
  await vi.waitFor(async () => expect(await page.locator('.clock dd').textContent()).not.toBe(before), patience);
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('more load: pods wait, nodes come, and the decision says why', async (own) => {
  const { page, complaints, close } = await visit(own, url);
  await page.getByText('● live').waitFor();
  const { totals } = await read<{ totals: { nodes: number } }>('nodes');
  await page.getByRole('combobox', { name: 'Workload' }).selectOption('shop/web');
  await page.getByRole('button', { name: '×3' }).click();
  await vi.waitFor(async () => {
    const now = await read<{ totals: { nodes: number } }>('nodes');
    expect(now.totals.nodes).toBeGreaterThan(totals.nodes);
  }, patience);
  await page.getByRole('link', { name: 'Decisions' }).click();
  // Lines move down while decisions come: the one in focus is opened, wherever it is by then.
  await page.locator('.log .line', { hasText: 'launch' }).first().focus();
  await page.keyboard.press('Enter');
  await page
    .getByText(/fits? on no node that is there or on its way/)
    .first()
    .waitFor();
  await page.getByText(/snapshot s-[0-9a-f]{12}/).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('what the page says of a node and of a pod is what kerf explain says', async (own) => {
  const { page, close } = await visit(own, url);
  await page.getByText('● live').waitFor();
  // The answer comes when what was under way has come to rest.
  const atRest = page.waitForResponse((response) => response.url().endsWith('/kerf/v1/player'));
  await page.getByRole('button', { name: 'pause' }).click();
  await page.getByRole('button', { name: 'go on' }).waitFor();
  await atRest;
  const kubeconfig = /KUBECONFIG=(\S+)/.exec(demo.output)?.[1] ?? '';
  const { columns } = await read<{ columns: { name: string[]; pods: number[] } }>('nodes');
  const name = columns.name[columns.pods.findIndex((pods) => pods > 0)] ?? '';
  const bare = (verdicts: { ageSeconds?: number; since?: string }[]) =>
    verdicts.map(({ ageSeconds: _age, since: _since, ...rest }) => rest);
  const explained = await runKerf(['explain', 'node', name, '--context', '--kubeconfig', kubeconfig, '-o', 'json']);
  // A busy process answers from a look that it took a moment ago; the cluster stands still, so that it must catch up.
  await vi.waitFor(async () => {
    expect(bare(await read<[]>(`nodes/${name}`))).toEqual(bare(JSON.parse(explained.out) as []));
  }, patience);
  // Time stands still for readers too: what is said of a node does not change while it does.
  await vi.waitFor(async () => {
    const shown = await read<[]>(`nodes/${name}`);
    await new Promise((wait) => setTimeout(wait, 1_500));
    expect(await read(`nodes/${name}`)).toEqual(shown);
  }, patience);
  const pods = await read<{ items: { pod: string }[] }>(`pods?node=${name}`);
  const pod = pods.items.at(-1)?.pod ?? '';
  const story = await runKerf(['explain', 'pod', pod, '--context', '--kubeconfig', kubeconfig, '-o', 'json']);
  const { message, outcome } = JSON.parse(story.out) as { message: string; outcome: string };
  await vi.waitFor(async () => {
    expect(await read(`pods/${pod}`)).toMatchObject({ pod, message, outcome });
  }, patience);
  await close();
});

inBrowser('keys alone lead to a node and its verdict, and the table says the same as the map', async (own) => {
  // What is looked at must not go meanwhile.
  await demo.play({ paused: true });
  const { page, complaints, close } = await visit(own, url);
  await page.getByRole('application').focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('complementary', { name: /^Node / }).waitFor();
  const name = (await page.getByRole('complementary').locator('h2').textContent()) ?? '';
  expect(await page.locator('[aria-live=polite]').first().textContent()).toContain(name);
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  await page.getByRole('button', { name, exact: true }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('pool=nothing');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(0);
  await page.keyboard.press('Control+k');
  await page.keyboard.type('pools');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /NodePool/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('a what-if with an error says where, a good one shows before and after', async (own) => {
  const { page, complaints, close } = await visit(own, `${url}/#/what-if`);
  const manifests = page.getByRole('textbox', { name: 'manifests' });
  await manifests.fill(
    'apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: default\nspec:\n  limitz: {}\n',
  );
  await page.getByRole('button', { name: 'run' }).click();
  await page
    .getByText(/line \d+: .*limitz/)
    .first()
    .waitFor();
  await manifests.fill('');
  await page.getByLabel('a zone is gone').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'run' }).click();
  await page.getByRole('cell', { name: 'dollars an hour' }).waitFor();
  await page.getByText(/pods? would have to move/).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('the player pauses and speeds up, and a fault shows', async (own) => {
  const { page, complaints, close } = await visit(own, url);
  await page.getByRole('button', { name: 'pause' }).click();
  await page.getByText('paused').first().waitFor();
  const time = await page.locator('.clock time').textContent();
  await page.waitForTimeout(1_500);
  expect(await page.locator('.clock time').textContent()).toBe(time);
  await page.getByRole('button', { name: '60×' }).click();
  await page.getByText('60×').first().waitFor();
  await page.getByRole('button', { name: 'throttle' }).click();
  await page.getByRole('button', { name: 'throttle', pressed: true }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('a story tells what happens, and can be ended', async (own) => {
  const inZone = async (zone = 'us-east-1a'): Promise<string[]> => {
    const { columns, dictionaries } = await read<{
      columns: { name: string[]; zone: number[] };
      dictionaries: { zone: string[] };
    }>('nodes');
    return columns.name.filter((_, at) => dictionaries.zone[columns.zone[at] ?? 0] === zone);
  };
  const lost = await vi.waitFor(async () => {
    const names = await inZone();
    expect(names.length).toBeGreaterThan(0);
    return names;
  }, patience);
  const { page, complaints, close } = await visit(own, url);
  await page.getByRole('combobox', { name: 'Story' }).selectOption('lost zone');
  await page.getByText(/lost zone.*1 of 4: A zone is lost/).waitFor();
  await page.getByRole('button', { name: 'zone out', pressed: true }).waitFor();
  // A machine that is lost is not reported; its node goes once the cloud is asked.
  await vi.waitFor(async () => {
    const now = await inZone();
    expect(lost.some((name) => !now.includes(name))).toBe(true);
  }, patience);
  await page.getByRole('combobox', { name: 'Story' }).selectOption('');
  await page.getByRole('button', { name: 'zone out', pressed: false }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('the slider goes back to what was, and back to now', async (own) => {
  const { page, complaints, close } = await visit(own, url);
  const { recorded, time } = await read<{ recorded: { fromMs: number }; time: string }>('info');
  const slider = page.getByRole('slider', { name: 'Moment' });
  await slider.focus();
  await page.keyboard.press('Home');
  await page.getByText('The cluster as it was at').waitFor();
  const then = await read<{ time: string; isPast: boolean }>('info');
  expect(then.isPast).toBe(true);
  expect(Date.parse(then.time)).toBeLessThan(recorded.fromMs + 60_000);
  expect(Date.parse(then.time)).toBeLessThan(Date.parse(time));
  expect(await page.getByRole('group', { name: 'Faults' }).count()).toBe(0);
  await page.getByRole('button', { name: 'back to now' }).click();
  await page.getByRole('group', { name: 'Faults' }).waitFor();
  expect(Date.parse((await read<{ time: string }>('info')).time)).toBeGreaterThanOrEqual(Date.parse(time));
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('a decision is made again and is equal, and what it looked at can be kept and planned from', async (own) => {
  const { items } = await read<{ items: { id: string }[] }>('decisions?what=launch');
  const id = items.at(-1)?.id ?? '';
  const { page, complaints, close } = await visit(own, `${url}/#/decisions/${id}`);
  await page.getByRole('button', { name: 'replay' }).click();
  await page.getByText('made again: equal, byte for byte').waitFor();
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'download snapshot' }).click();
  const file = await (await coming).path();
  const planned = await runKerf(['plan', '--snapshot', file, '-o', 'json']);
  expect(JSON.parse(planned.out)).toMatchObject({ kind: 'Plan' });
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('what a node really uses stands beside what its pods request', async (own) => {
  await demo.play({ paused: true });
  const { columns } = await read<{ columns: { name: string[]; pods: number[] } }>('nodes');
  const name = columns.name[columns.pods.indexOf(Math.max(...columns.pods))] ?? '';
  const { page, complaints, close } = await visit(own, `${url}/#/map?node=${name}`);
  await page.getByText(/cores requested/).waitFor();
  await page
    .getByText(/in use$/)
    .first()
    .waitFor();
  await page.getByText('really in use').waitFor();
  expect(await page.title()).toBe('Map · simulated · Kerf');
  expect(complaints).toEqual([]);
  await close();
});

const pages = ['map', 'map?as=table', 'waiting', 'pools', 'decisions', 'cost', 'what-if', 'doctor'];

inBrowser(
  'every page: nothing to complain about for axe, at any size and light, and nothing wider than the screen',
  async (own) => {
    for (const [width, height, colorScheme] of [
      [1440, 900, 'light'],
      [390, 844, 'dark'],
    ] as const) {
      const { page, complaints, close } = await visit(own, url, { viewport: { width, height }, colorScheme });
      await page.getByText('● live').waitFor();
      for (const path of pages) {
        await page.goto(`${url}/#/${path}`);
        await page
          .getByText(/^(Working out|Examining)/)
          .first()
          .waitFor({ state: 'hidden' });
        await page.waitForTimeout(250);
        expect([path, await violations(page)]).toEqual([path, []]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect([path, overflow]).toEqual([path, 0]);
      }
      expect(complaints).toEqual([]);
      await close();
    }
  },
);

inBrowser('the doctor says what it found, with evidence and a fix', async (own) => {
  await demo.play({ speed: 60 });
  const first = async (): Promise<{ id: string; summary: string }> => {
    const { findings } = await read<{ findings: { id: string; summary: string; harmless?: boolean }[] }>('findings');
    const found = findings.find(({ harmless }) => harmless !== true);
    if (found === undefined) throw new Error('nothing is found yet');
    return found;
  };
  await vi.waitFor(first, { timeout: 180_000, interval: 1_000 });
  // Findings count what happens; here they must say the same twice.
  await demo.play({ paused: true });
  const { page, complaints, close } = await visit(own, `${url}/#/doctor`);
  await page.getByText(/\d+ checks: \d+ clear, \d+ not made/).waitFor();
  await vi.waitFor(
    async () => {
      const { id, summary } = await first();
      const card = page.locator('.card', { hasText: id }).filter({ hasText: summary }).first();
      expect(await card.locator('.evidence').count()).toBeGreaterThan(0);
      expect(await card.getByRole('button', { name: 'copy' }).count()).toBe(1);
    },
    { timeout: 120_000, interval: 1_000 },
  );
  expect(complaints).toEqual([]);
  await close();
});

test('kerf top on a terminal: keys move, explain, change the view and quit', { timeout: 400_000 }, async () => {
  const command = `${process.execPath} ${kerf} top --url ${url}`;
  // A terminal of its own, as wide as most.
  const terminal = spawn('script', ['-qfec', `stty cols 120 rows 30; ${command}`, '/dev/null'], {
    env: { ...process.env, NO_COLOR: '1', TERM: 'xterm' },
  });
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => void (shown += text));
  const ended = new Promise<number | null>((resolve) => {
    terminal.on('exit', resolve);
  });
  const press = async (keys: string, expected: RegExp): Promise<void> => {
    shown = '';
    terminal.stdin.write(keys);
    await vi.waitFor(() => expect(shown).toMatch(expected), patience);
  };
  await vi.waitFor(() => expect(shown).toMatch(/NODE .*VERDICT/), patience);
  await press('j', /▸\S/);
  await press('e', /(stays|would be|on its way out)/);
  await press('y', /copied: kerf explain node/);
  await press('b', /by pool/);
  await press('d', /DECISION/);
  await press('?', /these keys, quit/);
  terminal.stdin.write('q');
  expect(await ended).toBe(0);
});

inBrowser('a server that is gone is noticed, and taken up again without a reload', async (own) => {
  const { page, close } = await visit(own, url);
  await page.getByText('● live').waitFor();
  await page.evaluate(() => Object.assign(globalThis, { sameDocument: true }));
  demo.kill();
  await page.getByText('○ not live').waitFor();
  await demo.start();
  await page.getByText('● live').waitFor();
  expect(await page.evaluate(() => Reflect.get(globalThis, 'sameDocument'))).toBe(true);
  await close();
});

inBrowser('the picture in the README is what the page shows', async (own) => {
  await demo.grown(11);
  const { page, close } = await visit(own, url, { viewport: { width: 1200, height: 640 } });
  await page.getByText('● live').waitFor();
  await page.waitForTimeout(2_500);
  const picture = await page.screenshot({ type: 'png' });
  expect(picture.length).toBeGreaterThan(20_000);
  if (process.env['KERF_WRITE_PICTURES']) {
    mkdirSync('docs/pictures', { recursive: true });
    writeFileSync('docs/pictures/map.png', picture);
  }
  await close();
});
