import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import type { CommandRunner, Terminal } from '../command.ts';
import { configure } from './crds.ts';

const all = [
  'nodepools.karpenter.sh',
  'nodeclaims.karpenter.sh',
  'nodeoverlays.karpenter.sh',
  'capacitybuffers.autoscaling.x-k8s.io',
  'ec2nodeclasses.karpenter.k8s.aws',
  'kwoknodeclasses.karpenter.kwok.sh',
];

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kerf-crds-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs `kerf crds` with these arguments: what it printed and its exit code. */
async function crds(...args: string[]): Promise<{ out: string; code: number }> {
  let out = '';
  let code = -1;
  const terminal: Terminal = {
    stdin: Readable.from([]),
    out: (text) => {
      out += text;
    },
    err: () => undefined,
    isTerminal: false,
    errIsTerminal: false,
    columns: 80,
    env: {},
  };
  const run: CommandRunner =
    (action) =>
    async (...given) => {
      code = await action(terminal, ...(given as never[]));
    };
  const command = new Command('crds').exitOverride();
  configure(command, run);
  await command.parseAsync(args, { from: 'user' });
  return { out, code };
}

const namesIn = (yaml: string): unknown[] =>
  parseAllDocuments(yaml).map((document) => (document.toJS() as { metadata: { name: string } }).metadata.name);

test('a reader of YAML 1.1 finds the same definitions', async () => {
  const { out } = await crds();
  const asText = parseAllDocuments(out).map((document) => document.toJS() as unknown);
  expect(parseAllDocuments(out, { version: '1.1' }).map((document) => document.toJS() as unknown)).toEqual(asText);
});

test('prints every definition as one YAML stream', async () => {
  const { out, code } = await crds();
  expect(code).toBe(0);
  expect(namesIn(out)).toEqual(all);
});

test.each([
  [['NodePool'], ['nodepools.karpenter.sh']],
  [
    ['ec2nc', 'NODEPOOLS'],
    ['nodepools.karpenter.sh', 'ec2nodeclasses.karpenter.k8s.aws'],
  ],
  [['nodeclaims.karpenter.sh', 'nodeclaim'], ['nodeclaims.karpenter.sh']],
])('%j selects by any name', async (wanted, expected) => {
  expect(namesIn((await crds(...wanted)).out)).toEqual(expected);
});

test('an unknown name is refused with the names there are', async () => {
  await expect(crds('pods')).rejects.toThrow(
    'cannot print "pods": no such definition; write one of nodepools, nodeclaims',
  );
});

test('-o json gives a list', async () => {
  const list = JSON.parse((await crds('-o', 'json', 'overlays')).out) as { kind: string; items: unknown[] };
  expect(list).toMatchObject({ kind: 'List', items: [{ metadata: { name: 'nodeoverlays.karpenter.sh' } }] });
});

test('--out writes one file per definition and says which', async () => {
  const { out } = await crds('--out', join(folder, 'new'));
  const files = readdirSync(join(folder, 'new'));
  expect(files).toHaveLength(6);
  expect(files).toContain('karpenter.k8s.aws_ec2nodeclasses.yaml');
  expect(out.trim().split('\n')).toHaveLength(6);
  const text = readFileSync(join(folder, 'new', 'karpenter.sh_nodepools.yaml'), 'utf8');
  expect(parse(text)).toMatchObject({ kind: 'CustomResourceDefinition' });
});

test('--out with -o json writes JSON files', async () => {
  await crds('--out', folder, '-o', 'json', 'cb');
  const text = readFileSync(join(folder, 'autoscaling.x-k8s.io_capacitybuffers.json'), 'utf8');
  expect(JSON.parse(text)).toMatchObject({ spec: { scope: 'Namespaced' } });
});

test('a folder that cannot be written is named', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(crds('--out', file)).rejects.toThrow(`cannot write to ${file}`);
});

test('a folder that can never be made is not tried for ever', async () => {
  await expect(crds('--out', '/proc/none/crds')).rejects.toThrow('cannot write to /proc/none/crds');
});
