// Every command line of the guide: its command and its flags exist; what needs only files or a cluster runs, in a folder
// with the files that the page speaks of, against the embedded cluster.
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { runKerf } from './run-kerf.ts';

const root = resolve(import.meta.dirname, '../..');
const kerf = join(root, 'bin/kerf');
const folder = mkdtempSync(join(tmpdir(), 'kerf-guide-'));
const kubeconfig = join(folder, 'kubeconfig');
afterAll(() => rmSync(folder, { recursive: true }));

interface Line {
  page: string;
  /** Words after `kerf`, comment, pipe and redirection left out. */
  args: string[];
  command: string;
}

/** Command lines in fences and indented blocks, and those in running text and tables. */
function linesOf(page: string, text: string): Line[] {
  const shown = [
    ...text.matchAll(/^(?: {4})?(?:\$ |.*\| )?kerf ((?:[a-z][^\n]*))$/gm),
    ...text.matchAll(/`(?:[^`\n]*\| )?kerf ([a-z][^`\n]*)`/g),
  ].map(([, rest = '']) =>
    rest
      .replace(/\s+#.*$/, '')
      .replace(/\s[|>].*$/, '')
      .replace(/\s*\\$/, '')
      .replace(/`.*$/, ''),
  );
  return [...new Set(shown)].map((command) => ({ page, command, args: command.trim().split(/\s+/) }));
}

const pages: string[] = [];
for await (const page of glob('docs/guide/*.md', { cwd: root })) pages.push(page);
const lines = pages.sort().flatMap((page) => linesOf(page, readFileSync(join(root, page), 'utf8')));

const helps = new Map<string, Promise<string>>();
function helpOf(words: readonly string[]): Promise<string> {
  const key = words.join(' ');
  let help = helps.get(key);
  if (help === undefined) helps.set(key, (help = runKerf([...words, '--help']).then(({ out, err }) => out + err)));
  return help;
}

test('the guide has commands on most of its pages', () => {
  expect(new Set(lines.map(({ page }) => page)).size).toBeGreaterThanOrEqual(8);
  expect(lines.length).toBeGreaterThan(40);
});

test.each(lines)('$page: kerf $command has only flags that exist', async ({ args }) => {
  const [command = '', second = ''] = args;
  const words = ['iam', 'shadow'].includes(command) && /^[a-z]/.test(second) ? [command, second] : [command];
  const help = await helpOf(words);
  expect(help).toContain(`kerf ${words.join(' ')}`);
  for (const flag of args.filter((arg) => /^--?[a-z]/.test(arg))) expect(help).toContain(flag.replace(/=.*/, ''));
});

describe('on the embedded cluster', () => {
  let cluster: ChildProcess;
  const patience = { timeout: 50_000, interval: 200 };
  beforeAll(async () => {
    cluster = spawn(process.execPath, [kerf, 'up', '--port', '0', '--dashboard-port', '0', '--kubeconfig', kubeconfig]);
    let out = '';
    cluster.stdout?.setEncoding('utf8').on('data', (text: string) => void (out += text));
    const url = await vi.waitFor(() => {
      const found = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(out)?.[1];
      if (found === undefined) throw new Error('not listening yet');
      return found;
    }, patience);
    await vi.waitFor(async () => {
      const pools = (await (await fetch(`${url}/apis/karpenter.sh/v1/nodepools`)).json()) as { items: unknown[] };
      expect(pools.items.length).toBeGreaterThan(0);
    }, patience);
    await fetch(`${url}/api/v1/namespaces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'shop' } }),
    });
    await fetch(`${url}/api/v1/namespaces/shop/pods`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        metadata: { name: 'web-7d4f' },
        spec: { containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '1' } } }] },
      }),
    });
    // The files that the pages speak of.
    writeFileSync(join(folder, 'your-values.yaml'), 'settings: {clusterName: prod}\n');
    copyFileSync(join(root, 'examples/workload.yaml'), join(folder, 'new-deployment.yaml'));
    copyFileSync(join(root, 'examples/kwok-general.yaml'), join(folder, 'new-nodepool.yaml'));
    mkdirSync(join(folder, 'manifests'));
    const old =
      'apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {name: a}, requirements: []}}}\n';
    for (const name of ['old.yaml', 'manifests/a.yaml', 'v1.yaml']) writeFileSync(join(folder, name), old);
  }, 60_000);
  afterAll(() => cluster.kill('SIGKILL'));

  const run = (...args: string[]) => runKerf(args, { cwd: folder, env: { KUBECONFIG: kubeconfig } });

  test('the lines of plan.md about snapshots and pods, one after the other', async () => {
    const page = lines.filter(({ page: each }) => each.endsWith('plan.md')).map(({ args }) => args);
    const wanted = page.filter(([command]) => command === 'snapshot' || command === 'explain' || command === 'plan');
    const runnable = wanted.filter((args) => args.some((arg) => /cluster\.json|new-|web-7d4f/.test(arg)));
    expect(runnable.length).toBeGreaterThanOrEqual(6);
    for (const args of runnable) {
      // The cluster is the current one, which --context means without a name; the pages call theirs prod.
      const here = args.filter((arg) => arg !== 'prod');
      const { code, err } = await run(...here);
      expect({ args: here, code, err: err.split('\n').filter((line) => line.startsWith('error')) }).toEqual({
        args: here,
        code: 0,
        err: [],
      });
    }
  }, 60_000);

  test('the lines of migrate.md on files', async () => {
    const page = lines.filter(
      ({ page: each, command }) => each.endsWith('migrate.md') && /manifests\/|old\.yaml/.test(command),
    );
    expect(page.length).toBeGreaterThanOrEqual(3);
    for (const { args } of page) expect((await run(...args)).code).toBe(0);
  }, 30_000);

  test('the lines of switch.md and troubleshooting.md that only read', async () => {
    const before = await run('preflight', '-o', 'json');
    writeFileSync(join(folder, 'before.json'), before.out);
    const page = lines.filter(
      ({ page: each, command }) =>
        (each.endsWith('switch.md') && /^preflight (--values|--before|-o)/.test(command)) ||
        (each.endsWith('troubleshooting.md') && /^doctor( --collect| --bundle prod.tgz|$)/.test(command)),
    );
    expect(page.length).toBeGreaterThanOrEqual(5);
    for (const { args } of page) {
      const { code, err } = await run(...args);
      expect({ args, isAnswered: code === 0 || code === 1, err }).toMatchObject({ isAnswered: true });
    }
  }, 60_000);
});
