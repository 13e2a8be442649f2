// An unmodified kubectl against the embedded API and against a real one: the same session must print the same.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customResourceDefinition, kinds } from '../../src/api/index.ts';
import { provideControlPlane } from '../setup/control-plane/programs.ts';
import { type ControlPlane, startControlPlane } from '../setup/control-plane.ts';
import { ProgramFailed, runProgram } from '../setup/run-program.ts';
import { type Command, commands } from './kubectl-commands.ts';
import { type EmbeddedServer, embeddedServer } from './servers.ts';

const crds = kinds
  .filter(({ kind }) => kind === 'NodePool' || kind === 'NodeClaim')
  .map((kind) => customResourceDefinition(kind));
const session = commands(crds);

let plane: ControlPlane;
let embedded: EmbeddedServer;
let kubectl: string;
const folder = mkdtempSync(join(tmpdir(), 'kerf-kubectl-'));
const embeddedConfig = join(folder, 'kubeconfig');

beforeAll(async () => {
  kubectl = (await provideControlPlane(() => undefined)).kubectl;
  plane = await startControlPlane({
    controllerManager: true,
    controllerManagerFlags: ['--controllers=serviceaccount-controller,garbage-collector-controller'],
  });
  embedded = await embeddedServer();
  const config = {
    'current-context': 'sim',
    contexts: [{ name: 'sim', context: { cluster: 'sim', user: 'sim' } }],
    clusters: [{ name: 'sim', cluster: { server: embedded.url } }],
    users: [{ name: 'sim', user: {} }],
  };
  writeFileSync(embeddedConfig, JSON.stringify(config));
});

afterAll(async () => {
  await embedded?.stop();
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Said {
  exitCode: number | null;
  out: string;
  err: string;
}

async function say(command: Command, kubeconfig: string): Promise<Said> {
  const args = ['--kubeconfig', kubeconfig, '--namespace', 'session', ...words(command.args)];
  const env = {
    ...process.env,
    KUBECACHEDIR: join(folder, `cache-${kubeconfig.replaceAll('/', '-')}`),
    ...(command.editor !== undefined && { KUBE_EDITOR: command.editor }),
  };
  try {
    const { stdout, stderr } = await runProgram(kubectl, args, {
      env,
      ...(command.stdin !== undefined && { stdin: JSON.stringify(command.stdin) }),
    });
    return { exitCode: 0, out: comparable(stdout), err: comparable(stderr) };
  } catch (thrown) {
    if (!(thrown instanceof ProgramFailed)) throw thrown;
    return { exitCode: thrown.exitCode, out: comparable(thrown.stdout), err: comparable(thrown.stderr) };
  }
}

const words = (text: string): string[] => text.split(' ');

/** Without times, ids, versions and the spaces that align columns. */
function comparable(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, '<date>')
    .replaceAll(/("?[rR]esource ?[vV]ersion"?:\s+)"?\d+"?/g, '$1<version>')
    .replaceAll(/\b\d+d\d+h\b|\b\d+[smhd](\d+s)?\b/g, '<age>')
    .replaceAll(/\b[EWI]\d{4} \d\d:\d\d:\d\d.*\n/g, '')
    .replaceAll(/\/tmp\/\S+/g, '<file>')
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, '<server>')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/-{3,}/g, '---')
    .trim();
}

const select = (text: string, only: RegExp | undefined): string =>
  only === undefined
    ? text
    : text
        .split('\n')
        .filter((line) => only.test(line))
        .join('\n');

test.for(session.map((command, index) => ({ ...command, index, title: `kubectl ${command.args}` })))(
  '$index $title',
  async (command) => {
    const [ours, theirs] = await Promise.all([say(command, embeddedConfig), say(command, plane.kubeconfig)]);
    const onlyOutput = command.ignoreErrors === true || command.only !== undefined;
    const told = (said: Said): unknown => (onlyOutput ? select(said.out, command.only) : said);
    expect(told(ours)).toEqual(told(theirs));
  },
);
