// A page under examination: everything that must never happen is noted from the first moment, and asked for at the end.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Of whatever is waited for: a busy machine is many times slower than an idle one. */
const patienceMs = 90_000;

export interface Visit {
  page: Page;
  /** Console lines, errors, refusals of the content policy, requests to anyone else. */
  complaints: string[];
  close(): Promise<void>;
}

export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  // Axe is put in by the protocol, which the page's own policy would not allow; it is checked by a visit without axe.
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const complaints: string[] = [];
  const origin = new URL(url).origin;
  page.on('console', (line) => complaints.push(`${line.type()}: ${line.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) {
      complaints.push(`a request to ${request.url()}`);
    }
  });
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}

/** What axe finds wrong with the page as it stands. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: judge } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }> };
    };
    const found = await judge.run();
    return found.violations.map(
      ({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)} ${nodes[0]?.failureSummary ?? ''}`,
    );
  });
}
