// Three processes contend for one lease on a real API server. The leader is killed, the next one cut off from the
// network, the next one frozen: never two leaders, and a new one within the lease time.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { useControlPlane } from '../setup/use-control-plane.ts';
import { TcpProxy } from './tcp-proxy.ts';

const program = fileURLToPath(new URL('./contender-process.ts', import.meta.url));

/** As in contender-process.ts. */
const leaseMs = 6_000;
const retryMs = 800;
/** The last renewal may have been seen one retry late, the free lease found one retry late; the rest is a busy machine. */
const takeoverMs = leaseMs + 2 * 1.2 * retryMs + 3_000;

interface Said {
  name: string;
  what: 'started' | 'acted' | 'lost' | 'stopped';
  atMs: number;
}

const cluster = useControlPlane();
const contenders = new Map<string, { child: ChildProcess; proxy: TcpProxy }>();
const said: Said[] = [];

afterAll(async () => {
  for (const { child, proxy } of contenders.values()) {
    child.kill('SIGKILL');
    await proxy.stop();
  }
});

async function start(name: string): Promise<void> {
  const proxy = await TcpProxy.start(Number(new URL(cluster().url).port));
  const kubeconfig = join(cluster().folder, `${name}.kubeconfig`);
  const text = readFileSync(cluster().kubeconfig, 'utf8');
  writeFileSync(kubeconfig, text.replaceAll(cluster().url, `https://127.0.0.1:${proxy.port}`));
  const child = spawn(process.execPath, [program, name, kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  contenders.set(name, { child, proxy });
  let rest = '';
  child.stdout?.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) said.push(JSON.parse(line));
  });
}

/** Who acted since `sinceMs`, waiting until someone did who is not `except`. */
async function nextLeader(sinceMs: number, except: string): Promise<{ name: string; afterMs: number }> {
  const find = (): Said | undefined =>
    said.find(({ what, name, atMs }) => what === 'acted' && atMs > sinceMs && name !== except);
  await expect.poll(find, { timeout: takeoverMs + 5_000, interval: 20 }).toBeDefined();
  const { name, atMs } = find() as Said;
  return { name, afterMs: atMs - sinceMs };
}

const heard = (name: string, what: Said['what']): number =>
  said.filter((one) => one.name === name && one.what === what).length;

/** Stretches of acting without a pause of a lease time, per contender. */
function stretches(): { name: string; fromMs: number; toMs: number }[] {
  const all: { name: string; fromMs: number; toMs: number }[] = [];
  for (const name of contenders.keys()) {
    let current: (typeof all)[number] | undefined;
    for (const { what, atMs } of said.filter((one) => one.name === name)) {
      if (what === 'started') current = undefined;
      if (what !== 'acted') continue;
      if (current === undefined) {
        current = { name, fromMs: atMs, toMs: atMs };
        all.push(current);
      }
      current.toMs = atMs;
    }
  }
  return all.sort((a, b) => a.fromMs - b.fromMs);
}

test('of three processes, one killed, one cut off and one frozen, there are never two leaders', async () => {
  for (const name of ['a', 'b', 'c']) await start(name);
  const part = (name: string) => contenders.get(name) as { child: ChildProcess; proxy: TcpProxy };
  const first = await nextLeader(0, '');

  const killedMs = Date.now();
  part(first.name).child.kill('SIGKILL');
  const second = await nextLeader(killedMs, first.name);
  expect(second.afterMs).toBeLessThan(takeoverMs);

  const cutMs = Date.now();
  part(second.name).proxy.cut();
  const third = await nextLeader(cutMs, second.name);
  expect(third.afterMs).toBeLessThan(takeoverMs);
  expect(third.name).not.toBe(first.name);
  await expect.poll(() => heard(second.name, 'lost'), { timeout: 10_000 }).toBe(1);
  part(second.name).proxy.fix();

  const frozenMs = Date.now();
  part(third.name).child.kill('SIGSTOP');
  const fourth = await nextLeader(frozenMs, third.name);
  expect(fourth).toMatchObject({ name: second.name });
  // The cut-off one first has to find its way back; then it waits out the lease.
  expect(fourth.afterMs).toBeLessThan(takeoverMs + 5_000);
  const resumedMs = Date.now();
  part(third.name).child.kill('SIGCONT');
  await expect.poll(() => heard(third.name, 'lost'), { timeout: 10_000 }).toBe(1);
  expect(said.some(({ name, what, atMs }) => name === third.name && what === 'acted' && atMs > resumedMs)).toBe(false);

  const stoppedMs = Date.now();
  part(fourth.name).child.kill('SIGTERM');
  const fifth = await nextLeader(stoppedMs, fourth.name);
  // Released, not expired: no need to wait for the lease to run out.
  expect(fifth.afterMs).toBeLessThan(leaseMs - 1_000);

  const all = stretches();
  expect(all.length).toBeGreaterThanOrEqual(5);
  const overlaps = all.filter(({ fromMs }, index) => fromMs <= (all[index - 1]?.toMs ?? 0));
  expect(overlaps).toEqual([]);
});
