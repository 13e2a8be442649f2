import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KerfOptions, type KerfRun, runKerf } from './run-kerf.ts';

interface Finding {
  rule: string;
  severity: string;
  strict: boolean;
  file: string;
  line: number;
  fence?: number;
  object?: { kind: string; name: string };
  field: string;
  message: string;
  fix?: string;
}

const root = resolve(import.meta.dirname, '../..');
const documents = join(root, 'test/fixtures/documents');
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kerf-validate-'));
  await chmod(folder, 0o755);
});
afterAll(() => rm(folder, { recursive: true }));

const validate = (args: readonly string[], options?: KerfOptions): Promise<KerfRun> =>
  runKerf(['validate', ...args], options);

async function report(text: string | Buffer, ...args: string[]): Promise<Finding[]> {
  const { out } = await validate(['-f', '-', '-o', 'json', ...args], { stdin: text });
  return (JSON.parse(out) as { findings: Finding[] }).findings;
}

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const pool = (name: string): string => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: ${name}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
      expireAfter: 720h
      requirements: []
`;

describe('samples in documents', () => {
  /** Ids of one object's findings: what the API server refuses, and the rest. */
  const idsOf = (
    findings: Finding[],
    kind: string,
    name: string,
    fence?: number,
  ): { strict: string[]; lint: string[] } => {
    const own = findings.filter(
      ({ object, fence: at }) => object?.kind === kind && object.name === name && (fence === undefined || at === fence),
    );
    const ids = (strict: boolean): string[] =>
      [...new Set(own.filter((one) => one.strict === strict).map(({ rule }) => rule))].sort();
    return { strict: ids(true), lint: ids(false) };
  };

  test('an old guide: every rule it breaks, on the object that breaks it', async () => {
    const text = await readFile(join(documents, 'old-guide.txt'), 'utf8');
    const findings = await report(text);
    expect(idsOf(findings, 'EC2NodeClass', 'default')).toEqual({
      strict: ['M01', 'M02', 'M03', 'M04'],
      lint: ['M06', 'M24', 'M27'],
    });
    expect(idsOf(findings, 'NodePool', 'default')).toEqual({
      strict: ['M01', 'M09', 'M11'],
      lint: ['M13', 'M19', 'M33'],
    });
    expect(idsOf(findings, 'NodePool', 'production')).toEqual({
      strict: ['M01', 'M09', 'M11', 'M20'],
      lint: ['M15', 'M17', 'M18', 'M33'],
    });
    expect(idsOf(findings, 'EC2NodeClass', 'production')).toEqual({
      strict: ['M01', 'M02', 'M03', 'M04'],
      lint: ['M06', 'M24', 'M27'],
    });
    expect(idsOf(findings, 'NodePool', 'complete')).toEqual({
      strict: ['M01', 'M09', 'M11'],
      lint: ['M13', 'M19', 'M33'],
    });
    expect(idsOf(findings, 'Pod', 'app').lint).toEqual(['M26']);
    expect(idsOf(findings, 'PodDisruptionBudget', 'app').lint).toEqual(['M31']);
    // Each old selector: the old field unknown, the new one required.
    const selectors = findings
      .filter(({ rule, object }) => rule === 'M02' && object?.name === 'default')
      .map(({ field }) => field);
    expect(selectors).toEqual(['spec.subnetSelectorTerms', 'spec.subnetSelector']);
    const lines = text.split('\n');
    const lineOf = (part: string): number => lines.findIndex((line) => line.includes(part)) + 1;
    expect(findings.find(({ rule }) => rule === 'M14')).toMatchObject({
      line: lineOf('UnderutilizedGPU'),
      strict: true,
    });
    expect(findings.find(({ rule }) => rule === 'M16')).toMatchObject({
      line: lineOf('duration: "10m"'),
      strict: true,
    });
    expect(findings.find(({ rule }) => rule === 'M23')).toMatchObject({ line: lineOf('300Gi+'), strict: true });
    expect(findings.filter(({ rule }) => rule === 'M22')).toMatchObject([
      { line: lineOf('instance-type:') },
      { line: lineOf('capacity-type:') },
    ]);
    // What comments and other languages say are notes, not errors.
    const notes = findings.filter(({ severity }) => severity === 'info').map(({ rule, line }) => `${rule} ${line}`);
    expect(notes).toEqual([
      `M05 ${lineOf('UBUNTU')}`,
      `M05 ${lineOf('WINDOWS')}`,
      `M27 ${lineOf('"karpenter.sh/discovery" ')}`,
      `M25 ${lineOf('do-not-evict')}`,
      `M32 ${lineOf('"node-role')}`,
      `M21 ${lineOf('90% spot')}`,
      `M21 ${lineOf('weight: 90')}`,
    ]);
  });

  test('a field report: old and new side by side, and a manifest that works but could be better', async () => {
    const findings = await report(await readFile(join(documents, 'field-report.txt')));
    expect(idsOf(findings, 'NodePool', '').strict).toEqual(['M01', 'M10', 'M12']);
    expect(idsOf(findings, 'NodePool', 'main')).toEqual({ strict: [], lint: ['L01', 'L02'] });
    expect(idsOf(findings, 'EC2NodeClass', 'main')).toEqual({ strict: [], lint: ['M06', 'M08'] });
    expect(findings.filter(({ rule }) => rule === 'syntax')).toMatchObject([{ severity: 'info' }]);
  });

  test('a troubleshooting page: samples that do not parse, are cut short or misspelt', async () => {
    const findings = await report(await readFile(join(documents, 'troubleshooting.txt')));
    expect(idsOf(findings, 'NodePool', 'trunk')).toEqual({ strict: ['M29'], lint: [] });
    const cut = findings.filter(({ object }) => object?.name === '' && object.kind === 'NodePool');
    expect(cut.map(({ rule, field }) => `${rule} ${field}`).sort()).toEqual([
      'schema/required spec.template.spec.nodeClassRef',
      'schema/required spec.template.spec.requirements',
    ]);
    expect(idsOf(findings, 'NodePool', 'everywhere')).toEqual({ strict: ['M28', 'schema/required'], lint: [] });
    expect(idsOf(findings, 'NodePool', 'two-zones')).toEqual({ strict: ['M28', 'schema/required'], lint: ['M30'] });
    expect(idsOf(findings, 'ConfigMap', '').strict).toEqual(['M35']);
    expect(findings.filter(({ severity }) => severity === 'info').map(({ rule }) => rule)).toEqual([
      'M34',
      'M02',
      'M36',
    ]);
  });
});

describe('what people see', () => {
  test('the examples have nothing to report', async () => {
    const { code, out, err } = await validate(['-f', join(root, 'examples'), '--strict']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^no problems in \d+ files with \d+ objects/);
  });

  test('the files of a chart that hold no objects are passed over in a folder', async () => {
    const path = await file('values-prod.yaml', 'replicas: 1\n');
    expect((await validate(['-f', path])).out).toContain('object/none');
    expect((await validate(['-f', dirname(path)])).out).not.toContain('values-prod');
  });

  test('file, line, rule, field, what is wrong and what to write instead', async () => {
    const path = await file(
      'old.yaml',
      pool('a').replace('sh/v1', 'sh/v1beta1').replace('group: karpenter.k8s.aws, ', ''),
    );
    const { code, out } = await validate(['-f', path]);
    expect(code).toBe(1);
    expect(out).toBe(`${path}
  NodePool a
    1  error    M01  apiVersion
       karpenter.sh/v1beta1 is no longer served: Karpenter 1.1 dropped v1beta1,
       0.33 the alpha kinds
       → apiVersion: karpenter.sh/v1  (kerf convert rewrites the whole manifest)
    8  error    M09  spec.template.spec.nodeClassRef.group
       nodeClassRef.group is required
       → group: karpenter.k8s.aws

2 errors in 1 file with 1 object
kerf convert -f FILE moves old manifests to v1
`);
  });

  test('no colour in a pipe, colour when forced', async () => {
    const path = await file('none.yaml', pool('a'));
    expect((await validate([path])).out).not.toContain('\u001b');
    expect((await validate([path], { env: { FORCE_COLOR: '1' } })).out).toContain('\u001b[');
  });

  test('warnings fail only with --strict', async () => {
    const path = await file('warning.yaml', `${pool('a')}  limits: {cpu: 5000m}\n`);
    expect((await validate(['-f', path])).code).toBe(0);
    expect((await validate(['-f', path, '--strict'])).code).toBe(1);
    expect((await validate(['-f', path, '--strict', '--ignore', 'M19'])).code).toBe(0);
  });

  test('an unknown field names the nearest one, or the place where it belongs', async () => {
    const text = pool('a').replace('requirements:', 'requirments: []\n      weight: 5\n      requirements:');
    expect((await report(text)).map(({ field, fix }) => [field, fix])).toEqual([
      ['spec.template.spec.requirments', 'requirements (if that is what is meant)'],
      ['spec.template.spec.weight', 'it belongs at spec.weight'],
    ]);
  });

  test('all problems come at once, also those the API server would only show after the first are fixed', async () => {
    const text = `${pool('a').replace('requirements: []', 'requirements: [{key: a, operator: In, values: []}]')}  weight: 500\n  disruption: {budgets: [{nodes: "5", schedule: "0 8 * * *"}]}\n`;
    expect((await report(text)).map(({ field }) => field).sort()).toEqual([
      'spec.disruption.budgets[0].schedule',
      'spec.disruption.budgets[0].schedule',
      'spec.template.spec.requirements',
      'spec.weight',
    ]);
  });

  test('the reader may stop early', async () => {
    const path = await file(
      'many.yaml',
      Array.from({ length: 3000 }, (_, n) => `${pool(`p${n}`)}  weight: 500\n`).join('---\n'),
    );
    const { stdout, stderr } = await promisify(execFile)(
      'sh',
      ['-c', `"${process.execPath}" bin/kerf validate -f "${path}" | head -1`],
      { cwd: root },
    );
    expect([stdout.trim(), stderr]).toEqual([path, '']);
  });

  test('a disk that is full is reported in one line', async () => {
    const path = await file('one.yaml', pool('a'));
    const run = promisify(execFile)('sh', ['-c', `"${process.execPath}" bin/kerf validate -f "${path}" >/dev/full`], {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1' },
    });
    const { code, stderr } = (await run.catch((error: unknown) => error)) as { code: number; stderr: string };
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: cannot write the output: ENOSPC[^\n]*\n$/)]);
  });
});

describe('forms of input', () => {
  test('standard input, several files and folders together', async () => {
    await mkdir(join(folder, 'sub/deeper'), { recursive: true });
    await writeFile(join(folder, 'sub/deeper/bad.yml'), `${pool('deep')}  weight: 500\n`);
    await writeFile(
      join(folder, 'sub/list.json'),
      JSON.stringify({
        kind: 'List',
        apiVersion: 'v1',
        items: [{ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name: 'j' }, spec: {} }],
      }),
    );
    await writeFile(join(folder, 'sub/ignored.txt.bak'), 'kind: [');
    const { out, code } = await validate(['-f', '-', '-f', join(folder, 'sub'), '-o', 'json'], {
      stdin: `${pool('in')}  weight: 0\n`,
    });
    const { findings, summary } = JSON.parse(out) as { findings: Finding[]; summary: { files: number } };
    expect(code).toBe(1);
    expect(findings.map(({ file: name, line, object }) => [name.replace(folder, ''), line, object?.name])).toEqual([
      ['stdin', 11, 'in'],
      ['/sub/deeper/bad.yml', 11, 'deep'],
      ['/sub/list.json', 1, 'j'],
    ]);
    expect(summary.files).toBe(3);
  });

  test('a byte order mark, Windows line ends and a broken neighbour do not disturb', async () => {
    const text = `\ufeff${pool('a')}---\nkind: {\n---\n${pool('b')}  weight: 500\n`.replaceAll('\n', '\r\n');
    expect((await report(text)).map(({ rule, line }) => [rule, line])).toEqual([
      ['syntax', 12],
      ['schema/range', 24],
    ]);
  });

  test.each([
    ['a tab', pool('a').replace('  template', '\ttemplate'), 6, 'tab'],
    ['a key written twice', `${pool('a')}  weight: 1\n  weight: 2\n`, 12, 'key "weight" is written twice'],
    ['an alias without anchor', `${pool('a')}  weight: *w\n`, 11, 'w'],
  ])('%s is an error with its line', async (_name, text, line, message) => {
    expect(await report(text)).toMatchObject([
      { severity: 'error', line, message: expect.stringContaining(message), fix: expect.any(String) },
    ]);
  });

  test('anchors and aliases are followed, a bomb of them is refused at once', async () => {
    const shared = pool('a').replace('requirements: []', 'requirements: &r [{key: a, operator: Exists}]');
    expect(await report(`${shared}---\n${shared}`)).toEqual([]);
    const layers = Array.from(
      { length: 30 },
      (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(', ')}]`,
    );
    expect(await report(`l0: &l0 [x]\n${layers.join('\n')}\n`)).toMatchObject([{ rule: 'syntax/alias' }]);
  });

  test('50 MB are read in bounded memory, and what is wrong in the middle is found', async () => {
    const pod = (n: number): string =>
      `apiVersion: v1\nkind: Pod\nmetadata:\n  name: pod-${n}\n  labels: {app: web}\nspec:\n  containers:\n    - name: web\n      image: ${'x'.repeat(300)}\n`;
    const size = pod(0).length + 4;
    const pods = Array.from({ length: Math.ceil(50_000_000 / size) }, (_, n) => pod(n));
    const middle = Math.floor(pods.length / 2);
    pods[middle] = `${pool('needle')}  weight: 500\n`;
    pods[middle + 1] = 'kind: Pod\nmetadata: [\n';
    const path = await file('large.yaml', pods.join('---\n'));
    const { out, code } = await validate(['-f', path, '-o', 'json'], {
      env: { NODE_OPTIONS: '--max-old-space-size=400' },
    });
    expect(code).toBe(1);
    const { findings, summary } = JSON.parse(out) as { findings: Finding[]; summary: { objects: number } };
    const firstLine = middle * 10 + 1;
    expect(findings.map(({ rule, line }) => [rule, line])).toEqual([
      ['schema/range', firstLine + 10],
      ['syntax', expect.any(Number)],
    ]);
    expect(summary.objects).toBe(pods.length - 1);
  }, 240_000);
});

describe('what cannot be done ends with exit code 2 and says why', () => {
  test.each([
    ['no files', [], 'nothing to validate: give files or folders with -f'],
    ['a missing file', ['-f', 'no/such/file.yaml'], 'there is no file or folder no/such/file.yaml'],
    [
      'a Windows path that is not here',
      ['-f', 'C:\\manifests\\pool.yaml'],
      'there is no file or folder C:\\manifests\\pool.yaml',
    ],
    ['an unknown flag', ['--nope'], "unknown option '--nope'"],
    ['-f without a file', ['-f'], 'argument missing'],
    ['an unknown output', ['-f', '-', '-o', 'xml'], 'write -o table or -o json'],
    ['an unknown rule', ['-f', '-', '--ignore', 'M99'], 'there is no rule "M99"'],
    ['an odd version', ['-f', '-', '--kubernetes-version', 'new'], 'write --kubernetes-version 1.33'],
    ['empty input', ['-f', '-'], 'stdin holds no manifest'],
  ])('%s', async (_name, args, message) => {
    const { code, err, out } = await validate(args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(out).not.toContain('no problems');
  });

  test('binary garbage, text in another encoding, and an empty folder', async () => {
    const garbage = await file('garbage.yaml', Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256)));
    expect(await validate(['-f', garbage])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is a binary file'),
    });
    const latin = await file('latin.yaml', Buffer.from('name: caf\xe9\n', 'latin1'));
    expect(await validate(['-f', latin])).toMatchObject({ code: 2, err: expect.stringContaining('not text in UTF-8') });
    await mkdir(join(folder, 'empty'), { recursive: true });
    expect(await validate(['-f', join(folder, 'empty')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no manifest'),
    });
  });

  test('a folder and a file without permission', async () => {
    const closed = join(folder, 'closed');
    await mkdir(closed, { recursive: true });
    await chmod(closed, 0o000);
    const secret = await file('secret.yaml', pool('a'));
    await chmod(secret, 0o000);
    // The superuser reads everything, so that the test becomes no one first.
    const options = process.getuid?.() === 0 ? { uid: 65_534, cwd: '/' } : {};
    for (const path of [closed, secret]) {
      expect(await validate(['-f', path], options)).toMatchObject({
        code: 2,
        err: expect.stringContaining(`no permission to read ${path}`),
      });
    }
    await chmod(closed, 0o700);
  });

  test('one unreadable file does not keep the others from being checked', async () => {
    const bad = await file('bad.yaml', `${pool('a')}  weight: 500\n`);
    const { code, out, err } = await validate(['-f', 'missing.yaml', bad, '-o', 'json']);
    expect([code, err]).toEqual([2, '']);
    expect(JSON.parse(out)).toMatchObject({
      unreadable: [{ file: 'missing.yaml' }],
      findings: [{ field: 'spec.weight' }],
    });
  });
});

describe('hints', () => {
  const withRequirement = (text: string): string => pool('a').replace('requirements: []', `requirements: [${text}]`);
  const fixOf = async (text: string, at: string): Promise<string | undefined> =>
    (await report(text)).find(({ field }) => field.endsWith(at))?.fix;

  test('a misspelt label is that of the same name, wherever its domain is', async () => {
    const key = withRequirement('{key: karpenter.k8s.aws/instance-typ, operator: In, values: [m5.large]}');
    expect(await fixOf(key, 'requirements[0].key')).toBe('node.kubernetes.io/instance-type');
    const own = withRequirement('{key: karpenter.k8s.aws/instance-famly, operator: In, values: [m5]}');
    expect(await fixOf(own, 'requirements[0].key')).toBe('karpenter.k8s.aws/instance-family');
  });

  test('a number in a list of texts is shown in quotes, without the number of the item', async () => {
    const text = withRequirement('{key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: [0]}');
    expect(await fixOf(text, 'values[0]')).toBe('"0", in quotes');
  });

  test('a size that its family does not have is found in the catalogue; an unknown family may be newer', async () => {
    const types = withRequirement(
      '{key: node.kubernetes.io/instance-type, operator: In, values: [m5.3xlarge, m5.large, m99.large]}',
    );
    const found = (await report(types)).filter(({ rule }) => rule === 'L07');
    expect(found.map(({ message, severity }) => `${severity}: ${message}`)).toEqual(['warning: EC2 has no m5.3xlarge']);
    expect(found[0]?.fix).toMatch(/^m5\.\d?xlarge$/);
  });

  test('a placeholder among the tags of a selector is pointed out', async () => {
    const text = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: KarpenterNodeRole-prod
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: "\${CLUSTER_NAME}"}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
`;
    expect((await report(text)).filter(({ rule }) => rule === 'L08').map(({ field }) => field)).toEqual([
      'spec.subnetSelectorTerms[0].tags[karpenter.sh/discovery]',
    ]);
  });
});
