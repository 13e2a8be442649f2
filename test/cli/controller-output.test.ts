// A controller works on when its log cannot be written: the disk of a log file is full, or whoever read it is gone.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../setup/free-port.ts';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
let folder: string;
let api: Server;
let asked = 0;
let child: ChildProcess | undefined;

beforeEach(async () => {
  asked = 0;
  folder = mkdtempSync(join(tmpdir(), 'kerf-output-'));
  // Never well, so that there is always something to log.
  api = createServer((_, response) => {
    asked += 1;
    response.writeHead(503).end();
  });
  await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
  const named = { name: 'away' };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ ...named, cluster: { server: `http://127.0.0.1:${(api.address() as AddressInfo).port}` } }],
    users: [{ ...named, user: {} }],
    contexts: [{ ...named, context: { cluster: 'away', user: 'away' } }],
    'current-context': 'away',
  };
  writeFileSync(join(folder, 'kubeconfig'), JSON.stringify(config));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  api.closeAllConnections();
  await new Promise((done) => api.close(done));
  rmSync(folder, { recursive: true, force: true });
});

async function start(...flags: string[]) {
  const [healthPort, metricsPort] = [await freePort(), await freePort()];
  const ports = ['--health-probe-port', String(healthPort), '--metrics-port', String(metricsPort)];
  const args = ['controller', '--provider', 'kwok', '--kubeconfig', join(folder, 'kubeconfig'), ...ports, ...flags];
  const started = spawn(process.execPath, [kerf, ...args], {
    env: { ...process.env, KERF_BASE_SEED: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child = started;
  const run = { out: '', err: '' };
  started.stdout.on('data', (text: Buffer) => void (run.out += text.toString()));
  started.stderr.on('data', (text: Buffer) => void (run.err += text.toString()));
  const isWell = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${healthPort}/healthz`).catch(() => undefined))?.ok === true;
  /** It tries again and again, which it logs, and its process lives. */
  const worksOn = async (): Promise<void> => {
    const before = asked;
    await vi.waitFor(() => expect(asked).toBeGreaterThan(before + 3), { timeout: 50_000, interval: 100 });
    await sleep(300);
    expect([started.exitCode, started.signalCode, await isWell()]).toEqual([null, null, true]);
  };
  return { started, run, isWell, worksOn };
}

test('the disk of a log file is full', async () => {
  const { run, worksOn } = await start('--log-output-paths', '/dev/full');
  await vi.waitFor(() => expect(run.err).toContain('cannot write the log to /dev/full'), { timeout: 50_000 });
  await worksOn();
}, 120_000);

test('standard output is closed', async () => {
  const { started, run, isWell, worksOn } = await start('--log-level', 'debug');
  await vi.waitFor(() => expect(run.out).not.toBe(''), { timeout: 50_000 });
  await vi.waitFor(async () => expect(await isWell()).toBe(true), { timeout: 50_000 });
  started.stdout?.destroy();
  started.stderr?.destroy();
  await worksOn();
}, 120_000);
