// How the command starts and is killed, whatever Node is on the machine.
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
const patience = { timeout: 50_000, interval: 50 };
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** Makes the first process believe that it is an older Node, and only that one. */
const older =
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.2" } }); delete process.env.NODE_OPTIONS;';
const pretence = `data:text/javascript,${encodeURIComponent(older)}`;

test.each([
  ['run as a program', kerf, [], {}],
  ['run by Node', process.execPath, [kerf], {}],
  ['run by a Node that is too old', process.execPath, [kerf], { NODE_OPTIONS: `--import=${pretence}` }],
] as const)('%s and killed, it leaves nobody behind', async (_, program, args, env) => {
  const started = spawn(program, [...args, 'up', '--port', '0'], { env: { ...process.env, ...env } });
  child = started;
  let out = '';
  started.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text));
  const url = await vi.waitFor(() => {
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0];
    if (found === undefined) throw new Error(`not listening yet: ${out}`);
    return found;
  }, patience);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  started.kill('SIGKILL');
  await vi.waitFor(() => expect(fetch(`${url}/healthz`)).rejects.toThrow(), patience);
});
