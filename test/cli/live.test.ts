// Plan and explain beside a controller at work, on the embedded cluster: they say what it does, not what it would do if
// nothing had happened.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runKerf } from './run-kerf.ts';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
const patience = { timeout: 50_000, interval: 200 };
let folder: string;
let kubeconfig: string;
let url: string;
let cluster: ChildProcess;

const faults = { insufficientCapacity: [{ zones: ['us-east-1a'] }] };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-live-'));
  kubeconfig = join(folder, 'kubeconfig');
  const args = ['up', '--port', '0', '--kubeconfig', kubeconfig, '--speed', '10', '--faults', JSON.stringify(faults)];
  cluster = spawn(process.execPath, [kerf, ...args, '--feature-gates', 'SpotToSpotConsolidation=true']);
  let out = '';
  cluster.stdout?.setEncoding('utf8').on('data', (text: string) => void (out += text));
  url = await vi.waitFor(() => {
    const found = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(out)?.[1];
    if (found === undefined) throw new Error('not listening yet');
    return found;
  }, patience);
  await vi.waitFor(async () => {
    const pools = (await (await fetch(`${url}/apis/karpenter.sh/v1/nodepools`)).json()) as { items: unknown[] };
    expect(pools.items).toHaveLength(2);
  }, patience);
}, 60_000);

afterAll(() => {
  cluster.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const create = (name: string, nodeSelector: Record<string, string>): Promise<Response> =>
  fetch(`${url}/api/v1/namespaces/default/pods`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      metadata: { name },
      spec: { nodeSelector, containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: '1' } } }] },
    }),
  });
const run = (...args: string[]) => runKerf(args, { env: { KUBECONFIG: kubeconfig } });

test('a pod that waits for offerings whose launches failed names them, and that is the plan', async () => {
  await create('tied', { 'topology.kubernetes.io/zone': 'us-east-1a' });
  await vi.waitFor(async () => {
    const { out } = await run('explain', 'po', 'tied', '-n', 'default');
    expect(out).toMatch(/^default\/tied {2}finds no place\n {2}pool default: .*launches failed/);
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /in us-east-1a \(on-demand, spot\) until \S+: insufficient capacity \(NoOffering\)/,
    );
  }, patience);
  const { out, err } = await run('plan', '--context');
  expect(out).toContain('1 pod to place: 1 without a place.');
  expect(err).toMatch(
    /^note: settings of the controller with Lease kube-system\/karpenter-leader-election, gates on: .*SpotToSpot/,
  );
});

test('the controllers serve their metrics, and what cannot run here says so', async () => {
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('karpenter_nodepools_limit{');
  const answer = await fetch(`${url}/api/v1/namespaces/default/pods/tied/exec?command=ls`, { method: 'POST' });
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('this cluster is simulated')]);
});

test('a snapshot carries what the controller is set to and what failed', async () => {
  const { out } = await run('snapshot');
  const snapshot = JSON.parse(out) as { settings: { featureGates: object }; failedOfferings: unknown[] };
  expect(snapshot.settings.featureGates).toMatchObject({ SpotToSpotConsolidation: true });
  expect(snapshot.failedOfferings.length).toBeGreaterThan(100);
});
