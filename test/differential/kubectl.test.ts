// An unmodified kubectl against the embedded API and against a real one: the same session must print the same.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customResourceDefinition, kinds } from '../../src/api/index.ts';
import { presentedKubernetes } from '../../src/sim/index.ts';
import { provideControlPlane } from '../setup/control-plane/programs.ts';
import { type ControlPlane, startControlPlane } from '../setup/control-plane.ts';
import { isOtherThan } from '../setup/kubernetes-release.ts';
import { ProgramFailed, runProgram } from '../setup/run-program.ts';
import { type Command, commands } from './kubectl-commands.ts';
import { type EmbeddedServer, embeddedServer } from './servers.ts';

const session = commands(kinds.map((kind) => customResourceDefinition(kind)));

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
  let typed = command.stdin === undefined ? undefined : JSON.stringify(command.stdin);
  if (command.uidOf !== undefined) {
    const read = { args: `get configmap ${command.uidOf} -o jsonpath={.metadata.uid}` };
    typed = typed?.replace('<uid>', (await run(read, kubeconfig)).out);
  }
  const { exitCode, out, err } = await run(command, kubeconfig, typed);
  return { exitCode, out: comparable(out), err: comparable(err) };
}

async function run({ args, editor }: Command, kubeconfig: string, stdin?: string): Promise<Said> {
  const env = {
    ...process.env,
    KUBECACHEDIR: join(folder, `cache-${kubeconfig.replaceAll('/', '-')}`),
    ...(editor !== undefined && { KUBE_EDITOR: editor }),
  };
  const all = ['--kubeconfig', kubeconfig, '--namespace', 'session', ...words(args)];
  try {
    const { stdout, stderr } = await runProgram(kubectl, all, { env, ...(stdin !== undefined && { stdin }) });
    return { exitCode: 0, out: stdout, err: stderr };
  } catch (thrown) {
    if (!(thrown instanceof ProgramFailed)) throw thrown;
    return { exitCode: thrown.exitCode, out: thrown.stdout, err: thrown.stderr };
  }
}

const words = (text: string): string[] => text.split(' ').map((word) => word.replaceAll('␣', ' '));

/** Without times, ids, versions and the spaces that align columns. */
function comparable(text: string): string {
  return (
    text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replaceAll(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, '<date>')
      .replaceAll(/("?[rR]esource ?[vV]ersion"?:\s+)"?\d+"?/g, '$1<version>')
      .replaceAll(/\b\d+d\d+h\b|\b\d+[smhd](\d+s)?\b/g, '<age>')
      .replaceAll(/\b[EWI]\d{4} \d\d:\d\d:\d\d.*\n/g, '')
      .replaceAll(/\/tmp\/\S+/g, '<file>')
      .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, '<server>')
      .replaceAll(/[ \t]+/g, ' ')
      // Accepted: what is the same for every kind is described in our words; so is malformed input, by another parser.
      .replaceAll(
        /^( (?:apiVersion <string>|kind <string>|metadata <ObjectMeta>)\n)(?: (?!<no).+\n)+/gm,
        '$1 <prose>\n',
      )
      .replaceAll(/(error decoding patch: ).*/g, '$1<parser>')
      .replaceAll(/-{3,}/g, '---')
      .trim()
  );
}

const select = (text: string, only: RegExp | undefined): string =>
  only === undefined
    ? text
    : text
        .split('\n')
        .filter((line) => only.test(line))
        .join('\n');

/** Fields and words differ from release to release. */
const isOtherRelease = isOtherThan(presentedKubernetes.minor, 'the embedded API presents itself as that release');

test
  .skipIf(isOtherRelease)
  .for(session.map((command, index) => ({ ...command, index, title: `kubectl ${command.args}` })))(
  '$index $title',
  async (command) => {
    const [ours, theirs] = await Promise.all([say(command, embeddedConfig), say(command, plane.kubeconfig)]);
    const onlyOutput = command.ignoreErrors === true || command.only !== undefined;
    const reported = (said: Said): unknown => (onlyOutput ? select(said.out, command.only) : said);
    expect(reported(ours)).toEqual(reported(theirs));
  },
);
