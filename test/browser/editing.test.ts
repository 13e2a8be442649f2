// Changes that a person tries on the page, and what the page says of them: a NodePool edited by its form, planned with and
// applied; a pod without a place, a node that a PodDisruptionBudget keeps, a budget that is closed; a part of the time looked at;
// a moment handed on as a link.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openBrowser } from './chromium.ts';
import { DemoCluster, patience } from './demo-cluster.ts';
import { violations, visit } from './visit.ts';

const demo = new DemoCluster();
let browser: Browser | undefined;

beforeAll(async () => {
  browser = await openBrowser();
  await demo.start();
  await demo.grown(5);
}, 240_000);
beforeEach(() => demo.calm());
afterAll(async () => {
  demo.end();
  await browser?.close();
});

const inBrowser = (name: string, run: (browser: Browser) => Promise<void>): void =>
  test(name, { timeout: 400_000 }, async ({ skip }) => {
    if (browser === undefined) return skip('there is no browser');
    return run(browser);
  });

inBrowser(
  'the form of a NodePool: what changes is said, planned with, refused by its line, and applied',
  async (own) => {
    const { page, complaints, close } = await visit(own, `${demo.url}/#/what-if`);
    await page.getByLabel('edit NodePool').selectOption('default');
    await page.getByLabel('limit of cpu').fill('900');
    await page.getByLabel('consolidateAfter').fill('1h');
    await page.getByText('limits.cpu 1000 → 900 · consolidateAfter 30s → 1h').waitFor();
    const manifests = page.getByRole('textbox', { name: 'manifests' });
    expect(await manifests.inputValue()).toContain('consolidateAfter: "1h"');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'run', exact: true }).click();
    await page.getByRole('cell', { name: 'dollars an hour' }).waitFor();
    await page.getByLabel('limit of cpu').fill('many');
    await page.getByRole('button', { name: 'run', exact: true }).click();
    await page
      .getByText(/^line \d+: .*limits\.cpu/)
      .first()
      .waitFor();
    await page.getByLabel('limit of cpu').fill('800');
    await page.getByRole('button', { name: 'apply', exact: true }).click();
    await page.getByText('applied', { exact: true }).waitFor();
    await vi.waitFor(async () => {
      const { spec } = await demo.read<{ spec: { limits: object } }>('pools/default');
      expect(spec.limits).toEqual({ cpu: '800' });
    }, patience);
    expect(complaints).toEqual([]);
    await close();
  },
);

inBrowser('a pool whose requirements change says which nodes would drift', async (own) => {
  const { page, close } = await visit(own, `${demo.url}/#/what-if?pool=default`);
  const keys = page.getByRole('textbox', { name: /^key of requirement/ });
  await keys.first().waitFor();
  const names = await keys.evaluateAll((all) => all.map((each) => (each as HTMLInputElement).value));
  const at = names.indexOf('karpenter.sh/capacity-type') + 1;
  expect(at).toBeGreaterThan(0);
  await page.getByLabel(`values of requirement ${at}`, { exact: true }).fill('on-demand');
  await page.getByRole('button', { name: 'run', exact: true }).click();
  await page.getByText(/nodes? of default would drift \(their labels do not meet/).waitFor();
  await close();
});

inBrowser('a part of the time is dragged over, is in the address, and is given up again', async (own) => {
  const { page, complaints, close } = await visit(own, `${demo.url}/#/decisions`);
  await page.locator('.lanes .dot').first().waitFor();
  const picture = await page.locator('.lanes svg').boundingBox();
  if (picture === null) throw new Error('the timeline is not shown');
  const { x, y, width, height } = picture;
  await page.mouse.move(x + width * 0.2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.7, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await page.getByRole('button', { name: 'the whole time' }).waitFor();
  const asked = new URLSearchParams(page.url().split('?')[1]);
  const lengthMs = (): number => {
    const query = new URLSearchParams(page.url().split('?')[1]);
    return Date.parse(query.get('to') ?? '') - Date.parse(query.get('from') ?? '');
  };
  expect(asked.get('from')).toMatch(/^\d{4}-/);
  const before = lengthMs();
  expect(before).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Longer' }).click();
  await vi.waitFor(() => {
    const isWhole = !page.url().includes('from=');
    if (!isWhole) expect(lengthMs()).toBeGreaterThan(before);
  }, patience);
  await page.goto(`${demo.url}/#/decisions?${asked}`);
  await page.getByRole('button', { name: 'the whole time' }).click();
  await vi.waitFor(() => expect(page.url()).not.toContain('from='), patience);
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('a link to a moment shows that moment, on every page, until someone goes back to now', async (own) => {
  const first = await visit(own, `${demo.url}/#/map`);
  const slider = first.page.getByRole('slider', { name: 'Moment' });
  await slider.focus();
  await first.page.keyboard.press('Home');
  await first.page.getByText('The cluster as it was at').waitFor();
  await first.page.getByRole('link', { name: 'Pools' }).click();
  await vi.waitFor(() => expect(first.page.url()).toMatch(/#\/pools\?at=\d{4}-/), patience);
  const link = first.page.url();
  await first.page.getByRole('button', { name: 'back to now' }).click();
  await vi.waitFor(() => expect(first.page.url()).not.toContain('at='), patience);
  await first.close();
  const second = await visit(own, link);
  await second.page.getByText('The cluster as it was at').waitFor();
  expect(await demo.read('info')).toMatchObject({ isPast: true });
  expect(second.complaints).toEqual([]);
  await second.close();
});

const manifest = (kind: string, apiVersion: string, name: string, spec: object): string =>
  JSON.stringify({ apiVersion, kind, metadata: { name, namespace: 'shop' }, spec });

inBrowser('a link to a pod that fits nowhere says why, and what would help', async (own) => {
  const resources = { requests: { cpu: '4000' } };
  const spec = { containers: [{ name: 'main', image: 'registry.example.com/huge:1', resources }] };
  await demo.play({ manifests: manifest('Pod', 'v1', 'huge', spec) });
  // Answers come from looks that are a moment old: a link to a pod that is not in one yet leads to a 404 in the console.
  await vi.waitFor(async () => {
    expect(await demo.read('pods/shop/huge')).toMatchObject({ pod: 'shop/huge' });
  }, patience);
  const { page, complaints, close } = await visit(own, `${demo.url}/#/waiting/shop/huge`);
  await page.getByRole('heading', { name: 'shop/huge' }).waitFor();
  await page.locator('.reasons li code').first().waitFor();
  await page.goto(`${demo.url}/#/waiting`);
  const group = page.locator('.card', { hasText: 'shop/huge' });
  await group.getByText('no place', { exact: true }).waitFor();
  expect(await page.getByText('Event').count()).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

inBrowser('a node that a PodDisruptionBudget keeps says so; with the budget loosened it is free', async (own) => {
  const budget = (maxUnavailable: number): Promise<void> =>
    demo.play({
      manifests: manifest('PodDisruptionBudget', 'policy/v1', 'checkout', {
        maxUnavailable,
        selector: { matchLabels: { app: 'checkout' } },
      }),
    });
  const held = async (): Promise<string[]> => {
    const { columns, dictionaries } = await demo.read<{
      columns: { name: string[]; code: number[] };
      dictionaries: { code: string[] };
    }>('nodes');
    return columns.name.filter((_, at) => dictionaries.code[columns.code[at] ?? 0] === 'PodBudgetExhausted');
  };
  await budget(0);
  await demo.play({ speed: 20 });
  const [name = ''] = await vi.waitFor(
    async () => {
      const names = await held();
      expect(names.length).toBeGreaterThan(0);
      return names;
    },
    { timeout: 180_000, interval: 500 },
  );
  // It must not go, or change its reason, while it is looked at.
  await demo.play({ paused: true });
  const { page, close } = await visit(own, `${demo.url}/#/map?node=${name}`);
  await page
    .getByRole('complementary', { name: `Node ${name}` })
    .getByText(/shop\/checkout/)
    .first()
    .waitFor();
  await close();
  await budget(5);
  await demo.play({ paused: false });
  await vi.waitFor(async () => expect(await held()).not.toContain(name), { timeout: 180_000, interval: 500 });
});

inBrowser('a budget that is closed says when it opens', async (own) => {
  const { spec } = await demo.read<{ spec: Record<string, object> }>('pools/default');
  // Closed for eight hours from the hour that has begun.
  const { time } = await demo.read<{ time: string }>('info');
  const schedule = `0 ${new Date(Date.parse(time)).getUTCHours()} * * *`;
  const disruption = { ...spec['disruption'], budgets: [{ nodes: '0', schedule, duration: '8h' }, { nodes: '10%' }] };
  const pool = { apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'default' } };
  await demo.play({ manifests: JSON.stringify({ ...pool, spec: { ...spec, disruption } }) });
  const { page, complaints, close } = await visit(own, `${demo.url}/#/pools`);
  const card = page.locator('.card', { hasText: 'default' }).first();
  await card
    .getByText(/^opens in/)
    .first()
    .waitFor();
  await card.getByRole('img', { name: /When nodes may go/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
  await demo.play({ manifests: JSON.stringify({ ...pool, spec }) });
});
