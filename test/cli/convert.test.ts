import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runKerf } from './run-kerf.ts';

const guide = resolve(import.meta.dirname, '../fixtures/documents/old-guide.txt');
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kerf-convert-'));
});
afterAll(() => rm(folder, { recursive: true }));

const old = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a} # mine
spec:
  template:
    spec:
      nodeClassRef: {name: a}
      requirements: []
`;

test('the samples of an old guide come out as manifests that validate, and stay so', async () => {
  const first = await runKerf(['convert', '-f', guide, '--notes', 'none']);
  expect([first.code, first.err]).toEqual([0, '']);
  expect(first.out.match(/^kind: /gm)).toHaveLength(5);
  expect(await runKerf(['validate', '-f', '-'], { stdin: first.out })).toMatchObject({ code: 0 });
  expect(await runKerf(['convert', '-f', '-'], { stdin: first.out })).toEqual({
    code: 0,
    out: first.out,
    err: 'nothing to change\n',
  });
});

test('the result goes to standard output, notes go beside it', async () => {
  const { code, out, err } = await runKerf(['convert', '-f', '-'], { stdin: old });
  expect(code).toBe(0);
  expect(out).toContain('metadata: {name: a} # mine\n');
  expect(out).toContain('nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}\n');
  expect(err).toContain('stdin:1 NodePool a\n');
  expect(err).toContain('2 changes, 0 things to decide\n');
});

test('--write changes files that need it and leaves the others alone', async () => {
  const [changed, kept] = [join(folder, 'old.yaml'), join(folder, 'other.yaml')];
  const other = 'kind:  ConfigMap\napiVersion: v1\n';
  await writeFile(changed, old);
  await writeFile(kept, other);
  const readme = join(folder, 'README.md');
  await writeFile(readme, `\`\`\`yaml\n${old}\`\`\`\n`);
  const { out, err, code } = await runKerf(['convert', '-f', folder, '--write']);
  expect([code, out]).toEqual([0, `changed ${changed}\n`]);
  // Documents are skipped, not a reason to write nothing.
  expect(err).toContain(`skipped ${readme}: --write changes YAML and JSON files only`);
  expect(await readFile(changed, 'utf8')).toContain('apiVersion: karpenter.sh/v1\n');
  expect(await readFile(kept, 'utf8')).toBe(other);
});

test.each([
  ['no files', [], 'nothing to convert: give files'],
  ['a missing file', ['-f', 'missing.yaml'], 'there is no file or folder missing.yaml'],
  ['an odd place for notes', ['-f', '-', '--notes', 'paper'], 'write --notes stderr, inline or none'],
  ['writing a document', ['-f', guide, '--write'], 'there is no YAML or JSON file; omit --write to print'],
  ['empty input', ['-f', '-'], 'stdin holds no manifest'],
  ['an unknown flag', ['--nope'], "unknown option '--nope'"],
])('%s ends with exit code 2 and says why', async (_name, args, message) => {
  const { code, out, err } = await runKerf(['convert', ...args]);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
});
