// `kerf up` as a user runs it: a process with pipes, an API on a port, signals.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
const patience = { timeout: 50_000, interval: 50 };
let folder: string;
const running = new Set<ChildProcessWithoutNullStreams>();

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-up-'));
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Up {
  child: ChildProcessWithoutNullStreams;
  out: () => string;
  err: () => string;
  ended: Promise<number | null>;
}

function up(...args: string[]): Up {
  const child = spawn(process.execPath, [kerf, 'up', ...args]);
  running.add(child);
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (err += text));
  const ended = new Promise<number | null>((done) => {
    child.on('close', (code) => {
      running.delete(child);
      done(code);
    });
  });
  return { child, out: () => out, err: () => err, ended };
}

async function listening({ out }: Up): Promise<{ url: string; kubeconfig: string }> {
  return vi.waitFor(() => {
    const url = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(out())?.[1];
    const kubeconfig = /KUBECONFIG=(\S+)/.exec(out())?.[1];
    if (url === undefined || kubeconfig === undefined) throw new Error(`not listening yet: ${out()}`);
    return { url, kubeconfig };
  }, patience);
}

interface List {
  items: {
    metadata: { name: string; annotations?: object };
    data?: { version?: string };
    status?: { phase?: string };
  }[];
}
const list = async (url: string, path: string): Promise<List> => (await (await fetch(`${url}${path}`)).json()) as List;

test('says where the API listens, writes a kubeconfig, and ends cleanly on Ctrl-C', async () => {
  const cluster = up('--port', '0');
  const { url, kubeconfig } = await listening(cluster);
  // No one could have prepared the place, and no one else reads it.
  expect(kubeconfig).toMatch(/\/kerf-up-[A-Za-z0-9]{6}\/[^/]+$/);
  expect([statSync(dirname(kubeconfig)).mode & 0o777, statSync(kubeconfig).mode & 0o777]).toEqual([0o700, 0o600]);
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: { server: string } }[] };
  expect(config.clusters[0]?.cluster.server).toBe(url);
  await vi.waitFor(async () => {
    const pools = await list(url, '/apis/karpenter.sh/v1/nodepools');
    expect(pools.items.map(({ metadata }) => metadata.name)).toEqual(['default', 'gpu']);
  }, patience);
  // Plans for this cluster find out from it which machines there are.
  const classes = await list(url, '/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses');
  expect(classes.items[0]?.metadata.annotations).toMatchObject({ 'kerf.sh/catalogue': 'ec2' });
  cluster.child.kill('SIGINT');
  expect(await cluster.ended).toBe(0);
  expect(cluster.err()).toBe('');
  expect(existsSync(kubeconfig)).toBe(false);
});

test('a second signal ends it at once', async () => {
  const cluster = up('--port', '0');
  await listening(cluster);
  // Held still, so that the second arrives before the first is done with; two equal ones would be taken for one. Which of
  // the two comes first is not ours to say, and a clean end would be 0.
  for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) cluster.child.kill(signal);
  expect([130, 143]).toContain(await cluster.ended);
});

test('the demo gets nodes for its pods without anybody doing anything', async () => {
  // A long day, so that a slow machine does not look on at night, when the company needs few pods.
  const cluster = up('--port', '0', '--demo', '--speed', '20', '--day', '24h');
  const { url } = await listening(cluster);
  await vi.waitFor(async () => {
    const pods = await list(url, '/api/v1/namespaces/shop/pods');
    const phases = pods.items.map(({ status }) => status?.phase);
    expect(phases.filter((phase) => phase === 'Running').length).toBeGreaterThan(6);
    const database = await list(url, '/api/v1/namespaces/data/pods?fieldSelector=status.phase=Running');
    expect(database.items).toHaveLength(3);
  }, patience);
  // A pipe gets a line per change.
  expect(cluster.out()).toMatch(/\d\d:\d\d:\d\d {2}\d+ nodes \(\d+ ready\), \d+ pods running, \d+ waiting, \$/);
  cluster.child.kill('SIGTERM');
  expect(await cluster.ended).toBe(0);
});

test('a port that is taken is an error that says what to do', async () => {
  const blocker = createServer();
  await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done));
  const { port } = blocker.address() as { port: number };
  const cluster = up('--port', String(port));
  expect(await cluster.ended).toBe(2);
  expect(cluster.err()).toContain(`port ${port} is taken; name another with --port`);
  blocker.close();
});

test('state outlives the process, also one that is killed while clients write to it', async () => {
  const state = join(folder, 'state.json');
  const path = '/api/v1/namespaces/default/configmaps';
  const headers = { 'content-type': 'application/json' };
  /** The last value of each object that the API has confirmed, and the one it was asked for last. */
  const confirmed = new Map<string, string>();
  const asked = new Map<string, string>();
  const write = async (url: string, name: string, onWritten: () => void): Promise<void> => {
    for (let version = Number(asked.get(name) ?? 0) + 1; ; version++) {
      asked.set(name, String(version));
      const body = JSON.stringify({ metadata: { name }, data: { version: String(version) } });
      const create = { method: 'POST', body, headers };
      const replace = { method: 'PUT', body, headers };
      const answer = await fetch(`${url}${path}/${name}`, replace).then((response) =>
        response.status === 404 ? fetch(`${url}${path}`, create) : response,
      );
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
      await answer.text();
      confirmed.set(name, String(version));
      onWritten();
    }
  };
  for (let round = 0; round < 2; round++) {
    const cluster = up('--port', '0', '--state', state, '--no-controllers');
    const { url } = await listening(cluster);
    let left = 30 + Math.random() * 100;
    const onWritten = (): void => {
      left -= 1;
      if (left < 0 && confirmed.size === 8) cluster.child.kill('SIGKILL');
    };
    const writers = Array.from({ length: 8 }, (_, index) => write(url, `keep-${index}`, onWritten));
    // Each ends with the connection.
    expect((await Promise.allSettled(writers)).map((each) => String((each as PromiseRejectedResult).reason))).toEqual(
      Array(8).fill('TypeError: fetch failed'),
    );
    await cluster.ended;
  }
  const last = up('--port', '0', '--state', state, '--no-controllers');
  const { url } = await listening(last);
  const { items } = await list(url, path);
  expect(confirmed.size).toBe(8);
  for (const [name, version] of confirmed) {
    const kept = items.find(({ metadata }) => metadata.name === name)?.data?.version;
    expect([version, asked.get(name)]).toContain(kept);
  }
  last.child.kill('SIGINT');
  expect(await last.ended).toBe(0);
});

test.each([
  [['--speed', '0'], 'write a number above 0'],
  [['--port', 'http'], 'write a whole number from 0 to 65535'],
  [['--day', 'soon'], 'write a duration'],
  [['--faults', 'many'], 'write a JSON object'],
  [['--faults', '{"vanich":[]}'], 'unknown field spec.faults.vanich'],
])('%j is refused with what to write instead', async (args, message) => {
  const cluster = up(...args);
  expect(await cluster.ended).toBe(2);
  expect(cluster.err()).toContain(message);
});
