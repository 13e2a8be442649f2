// The command as a user runs it: bundles of every form, texts, exit codes, and what cannot be read.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { catalogue } from '../../failures/index.ts';
import { runCommand } from '../run-command.testing.ts';
import { configure } from './doctor.ts';

let root = '';
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), 'doctor-'))));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function bundle(name: string, files: Record<string, string | Buffer>): string {
  for (const [path, content] of Object.entries(files)) {
    const full = join(root, name, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
  }
  return join(root, name);
}

const claim = JSON.stringify({
  apiVersion: 'v1',
  items: [
    {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { name: 'default-kb85v', creationTimestamp: '2026-03-01T11:30:00Z' },
      spec: { nodeClassRef: { name: 'default' } },
      status: {
        providerID: 'aws:///us-east-1a/i-01d1ff6c07a0e70f9',
        conditions: [
          { type: 'Launched', status: 'True', lastTransitionTime: '2026-03-01T11:31:00Z' },
          {
            type: 'Registered',
            status: 'Unknown',
            reason: 'NodeNotFound',
            message: 'Node not registered with cluster',
          },
        ],
      },
    },
  ],
  kind: 'List',
});
const incident = {
  'bundle.json':
    '{"clusterName":"prod","region":"us-east-1","accountId":"111122223333","collectedAt":"2026-03-01T12:00:00Z"}',
  'objects/nodeclaims.json': claim,
  'objects/nodepools.yaml': 'apiVersion: v1\nitems: []\nkind: List\n',
  'objects/nodeclass.yaml':
    'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: default\nspec:\n  role: KarpenterNodeRole-prod\n  amiSelectorTerms: [{alias: al2023@latest}]\n',
  'aws/eks-describe-cluster.json': '{"cluster":{"name":"prod","accessConfig":{"authenticationMode":"API"}}}',
  'aws/eks-list-access-entries.json': '{"accessEntries":[]}',
  'nodes/i-01d1ff6c07a0e70f9/kubelet.log':
    'E0606 kubelet_node_status.go:96] "Unable to register node with API server" err="Unauthorized" node="ip-10-0-0-1"\n',
  'logs/karpenter.log': '{"level":"INFO","time":"2026-03-01T11:31:00.000Z","message":"launched nodeclaim"}\n',
};

/** A zip archive: each file, then the directory, then its end. */
function zipOf(files: readonly [string, string][]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, text] of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(text);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(text), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(Buffer.byteLength(text), 18);
    facts.writeUInt16LE(name.length, 22);
    const body = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), facts, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'), facts, rest, name]));
    bodies.push(body);
    offset += body.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listed, end]);
}

interface Json {
  findings: {
    id: string;
    severity: string;
    evidence: { source: string }[];
    fix: string[];
    consequences?: { id: string }[];
  }[];
  checks: { id: string; outcome: string; needs?: string }[];
  input: {
    files: number;
    notUnderstood: { path: string; reason: string }[];
    skipped: { path: string; reason: string }[];
  };
}

async function json(...args: string[]): Promise<Json & { code: number }> {
  const { out, code } = await runCommand(configure, [...args, '-o', 'json']);
  return { ...(JSON.parse(out) as Json), code };
}

describe('a bundle', () => {
  test('one cause, with evidence from three places and its consequence folded', async () => {
    const { findings, checks, code } = await json('--bundle', bundle('incident', incident));
    expect(findings.map(({ id }) => id)).toEqual(['registration/node-role-not-mapped']);
    const [finding] = findings;
    expect(finding?.evidence.map(({ source }) => source)).toEqual(
      expect.arrayContaining([
        'aws/eks-list-access-entries.json',
        'objects/nodeclaims.json:1',
        'nodes/i-01d1ff6c07a0e70f9/kubelet.log:1',
      ]),
    );
    expect(finding?.fix[0]).toBe(
      'aws eks create-access-entry --cluster-name prod --principal-arn arn:aws:iam::111122223333:role/KarpenterNodeRole-prod --type EC2_LINUX',
    );
    expect(finding?.consequences?.map(({ id }) => id)).toEqual(['registration/undiagnosed-timeout']);
    expect(checks).toHaveLength(catalogue.length);
    expect(checks.find(({ id }) => id === 'iam/ebs-kms-key-denied')).toMatchObject({ outcome: 'not made' });
    expect(code).toBe(1);
  });

  test('says the same as a tarball, a gzipped one, a zip, and with a folder around', async () => {
    const folder = bundle('same', incident);
    const tar = join(root, 'same.tar');
    execFileSync('tar', ['-cf', tar, '-C', folder, '.']);
    execFileSync('tar', ['-czf', `${tar}.gz`, '-C', root, 'same']);
    const zip = join(root, 'same.zip');
    writeFileSync(zip, zipOf(Object.entries(incident).map(([path, text]) => [`incident/${path}`, text])));
    const expected = (await json('--bundle', folder)).findings;
    for (const path of [tar, `${tar}.gz`, zip]) expect((await json('--bundle', path)).findings).toEqual(expected);
  });

  test('what is not understood, broken or a link is named, and the rest is read', async () => {
    const folder = bundle('odd', {
      ...incident,
      'notes.txt': 'what we think',
      'objects/broken.yaml':
        'apiVersion: v1\nkind: Pod\nmetadata: {name: a\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n',
      'logs/core': Buffer.from([0, 1, 2, 3]),
      'aws/broken.json': '{',
      'nodes/i-0aaaaaaaaaaaaaaaa/messages.gz': gzipSync(
        '"running with swap on is not supported, please disable swap!"\n',
      ),
    });
    symlinkSync('/etc/passwd', join(folder, 'logs', 'passwd'));
    const { findings, input } = await json('--bundle', folder);
    expect(findings.map(({ id }) => id)).toEqual(['registration/node-role-not-mapped', 'ami/swap-blocks-kubelet']);
    expect(input.skipped).toEqual([{ path: 'logs/passwd', reason: 'a link' }]);
    expect(input.notUnderstood.map(({ path }) => path.replace(/:\d+$/, '')).sort()).toEqual([
      'aws/broken.json',
      'logs/core',
      'notes.txt',
      'objects/broken.yaml',
    ]);
  });

  test('an archive that was cut off gives what is there, and no half object', async () => {
    const list = `apiVersion: v1\nkind: List\nitems:\n${['a', 'b']
      .map(
        (name) =>
          `- apiVersion: karpenter.sh/v1\n  kind: NodePool\n  metadata: {name: ${name}}\n  spec:\n    template:\n      spec:\n        nodeClassRef:\n          name: default\n          group: karpenter.k8s.aws\n          kind: EC2NodeClass\n`,
      )
      .join('')}`;
    const logs = '"running with swap on is not supported, please disable swap!"\n';
    bundle('half', { 'nodes/i-0aaaaaaaaaaaaaaaa/messages': logs, 'objects/pools.yaml': list });
    const tar = execFileSync('tar', ['-cf', '-', '-C', join(root, 'half'), 'nodes', 'objects']);
    const end = tar.indexOf('name: default', tar.indexOf('name: b')) + 'name: default\n'.length;
    const packed = gzipSync(tar);
    const half = join(root, 'half.tar');
    writeFileSync(half, tar.subarray(0, end));
    writeFileSync(`${half}.gz`, gzipSync(tar.subarray(0, end)).subarray(0, -8));
    writeFileSync(join(root, 'rest.tgz'), packed.subarray(0, packed.length - 20));
    for (const path of [half, `${half}.gz`]) {
      const { findings, input } = await json('--bundle', path);
      expect(findings.map(({ id }) => id)).toEqual(['ami/swap-blocks-kubelet']);
      expect(input.skipped).toEqual([{ path: 'objects/pools.yaml', reason: 'the archive is cut off in this file' }]);
    }
    expect((await json('--bundle', join(root, 'rest.tgz'))).findings).toHaveLength(1);
  });

  test('of the log collector is read as text from one node', async () => {
    const folder = bundle('eks_i-0abc12345678_2026', {
      'kubelet/kubelet.log': '"running with swap on is not supported, please disable swap!"\n',
      'var_log/messages': 'ok\n',
    });
    const tar = join(root, 'eks_i-0abc12345678.tar.gz');
    execFileSync('tar', ['-czf', tar, '-C', folder, '.']);
    expect((await json('--bundle', tar)).findings.map(({ id }) => id)).toEqual(['ami/swap-blocks-kubelet']);
  });

  test('knows the sizes of instance types', async () => {
    const folder = bundle('sizes', {
      'objects/all.yaml':
        'apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec: {amiSelectorTerms: [{alias: al2023@latest}], kubelet: {maxPods: 110}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n, labels: {node.kubernetes.io/instance-type: t3.medium}}\n---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: aws-node, namespace: kube-system}\nspec: {template: {spec: {containers: [{name: aws-node}]}}}\n',
    });
    expect((await json('--bundle', folder)).findings.map(({ id }) => id)).toContain('net/max-pods-above-ip-capacity');
  });

  test('a file that unfolds without measure is left out, and the rest is read', async () => {
    const zip = join(root, 'bomb.zip');
    const bomb: [string, string] = ['logs/bomb.log', 'a'.repeat(80 * 1024 ** 2)];
    writeFileSync(zip, zipOf([bomb, ['../logs/out.log', 'x'], ...Object.entries(incident)]));
    const { findings, input, code } = await json('--bundle', zip);
    expect(findings.map(({ id }) => id)).toEqual(['registration/node-role-not-mapped']);
    expect(input.skipped).toEqual([
      { path: 'logs/bomb.log', reason: 'the rest was not read: it unfolds to more than 400 times its size' },
      { path: '../logs/out.log', reason: 'its path leaves the bundle' },
    ]);
    expect(code).toBe(1);
  });

  test('paths that leave the folder are skipped', async () => {
    const folder = bundle('leaving', { 'logs/a.log': 'ok\n' });
    const tar = join(root, 'leaving.tar');
    execFileSync('tar', ['-cPf', tar, '-C', folder, '--transform', 's#^logs#../logs#', 'logs/a.log']);
    const { input } = await json('--bundle', tar);
    expect(input.skipped).toEqual([{ path: '../logs/a.log', reason: 'its path leaves the bundle' }]);
  });
});

describe('a text', () => {
  const text = (stdin: string, ...args: string[]) => runCommand(configure, ['-f', '-', ...args], stdin);

  test('is explained, and the exit code follows --fail-on', async () => {
    const line =
      'An error occurred (ExpiredToken) when calling the GetCallerIdentity operation\npanic: "" not a valid CLUSTER_ENDPOINT URL\n';
    expect((await text(line)).code).toBe(1);
    expect((await text('"running with swap on is not supported"\n')).code).toBe(0);
    expect((await text('"running with swap on is not supported"\n', '--fail-on', 'medium')).code).toBe(1);
    expect((await text(line, '--only', 'helm')).code).toBe(0);
    const { out } = await text(line);
    expect(out).toContain('startup/cluster-endpoint-missing');
    expect(out).toContain('stdin:2');
  });

  test('a harmless line is explained as harmless, and is not a failure', async () => {
    const { code, out } = await text(
      "cloud-init: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'# Ka'\n",
      '--fail-on',
      'low',
    );
    expect(code).toBe(0);
    expect(out).toContain('harmless  ami/nodeadm-content-type-warning');
  });

  const refusal = 'E0606 "Unable to register node with API server" err="Unauthorized" node="é"\r\n';
  const little = Buffer.from(refusal, 'utf16le');
  const big = Buffer.from(little).swap16();
  test.each([
    ['UTF-8 with a mark', Buffer.from(`\ufeff${refusal}`)],
    ['UTF-16, little end first', Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
    ['UTF-16, big end first', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['UTF-16 without a mark', little],
    ['UTF-16 without a mark, big end first', big],
  ])('in %s is read', async (name, content) => {
    const file = join(root, `${name}.log`);
    writeFileSync(file, content);
    const { code, out } = await runCommand(configure, ['-f', file, '-o', 'json']);
    expect(JSON.parse(out)).toMatchObject({
      findings: [
        { id: 'registration/node-role-not-mapped', evidence: [{ text: expect.stringContaining('node="é"') }] },
      ],
    });
    expect(code).toBe(1);
  });

  test('that is not text cannot be looked at', async () => {
    const folder = bundle('binary', {
      'core.dump': Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 62, 0]),
      'karpenter.log.gz': gzipSync(refusal.repeat(50)),
    });
    for (const name of ['core.dump', 'karpenter.log.gz'])
      await expect(runCommand(configure, ['-f', join(folder, name)])).rejects.toThrow(
        `${name} as text: it is a binary file; an archive goes with --bundle`,
      );
  });

  test('lines before --since do not count', async () => {
    const lines = '2026-03-01T08:00:00Z panic: "" not a valid CLUSTER_ENDPOINT URL\n2026-03-01T12:00:00Z ok\n';
    expect((await text(lines, '--since', '2h')).code).toBe(0);
    expect((await text(lines, '--since', '6h')).code).toBe(1);
  });
});

test.each([
  [['--bundle', 'a', '-f', 'b'], 'give either --bundle or -f'],
  [['--redact'], 'give --collect too'],
  [['--kubeconfig', '/nowhere/config'], '/nowhere/config'],
  [['-f', '/nowhere/x.log'], 'there is no file /nowhere/x.log'],
  [['--bundle', '/nowhere/x'], 'there is no bundle /nowhere/x'],
  [['-f', '-', '--only', 'nonsense'], 'there is no such area or id'],
  [['-f', '-', '--since', 'yesterday'], 'is not a duration'],
])('%j is refused with what to write', async (args, message) => {
  await expect(runCommand(configure, args)).rejects.toThrow(message);
});
