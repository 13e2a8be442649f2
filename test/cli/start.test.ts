// How the command starts and is killed, whatever Node is on the machine.
import { type ChildProcess, type SpawnOptionsWithoutStdio, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';

const kerf = resolve(import.meta.dirname, '../../bin/kerf');
const root = resolve(import.meta.dirname, '../..');
const patience = { timeout: 50_000, interval: 50 };
let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

async function listening(program: string, args: string[], options: SpawnOptionsWithoutStdio) {
  const started = spawn(program, args, options);
  child = started;
  let out = '';
  started.stdout.setEncoding('utf8').on('data', (text: string) => void (out += text));
  const url = await vi.waitFor(() => {
    const found = /listens on (http:\/\/127\.0\.0\.1:\d+)/.exec(out)?.[1];
    if (found === undefined) throw new Error(`not listening yet: ${out}`);
    return found;
  }, patience);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  return { started, url, out: () => out };
}

/** Makes the first process believe that it is an older Node, and only that one. */
const older =
  'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.2" } }); delete process.env.NODE_OPTIONS;';
const pretence = `data:text/javascript,${encodeURIComponent(older)}`;

test.each([
  ['run as a program', kerf, [], {}],
  ['run by Node', process.execPath, [kerf], {}],
  ['run by a Node that is too old', process.execPath, [kerf], { NODE_OPTIONS: `--import=${pretence}` }],
] as const)('%s and killed, it leaves no one behind', async (_, program, args, env) => {
  const { started, url } = await listening(program, [...args, 'up', '--port', '0'], {
    env: { ...process.env, ...env },
  });
  started.kill('SIGKILL');
  await vi.waitFor(() => expect(fetch(`${url}/healthz`)).rejects.toThrow(), patience);
});

test.each([
  ['alone', 1],
  ['with all it started, as by a terminal', -1],
] as const)('npm start that is interrupted %s ends cleanly', async (_, sign) => {
  const { started, url, out } = await listening('npm', ['start', '--', '--port', '0'], { cwd: root, detached: true });
  process.kill(sign * (started.pid ?? 0), 'SIGINT');
  await new Promise((done) => started.once('close', done));
  expect(out()).toMatch(/stopping\n$/);
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});

test('an installed package says on an older Node what to do, in one sentence', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kerf-installed-'));
  try {
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    const env = { ...process.env, NODE_OPTIONS: `--import=${pretence}` };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'bin', 'kerf'), 'plan'], {
      env,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(
      /^kerf needs Node 24 or newer, this is v\S+ Install Node 24, or let npx bring it: npx -p node@24 -p KERF kerf, where KERF is .*\n$/,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('npm does not warn of the Node that runs it: the project brings its own', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  expect(engines.node).toBe('>=18');
});
