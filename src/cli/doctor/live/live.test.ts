// A live cluster as files of a bundle, and what is written down of it.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { KubeError } from '../../../ports/index.ts';
import { readBundle } from '../bundle/read-bundle.ts';
import { Gathering } from '../gather.ts';
import { clusterFiles, type LiveFile } from './cluster.ts';
import { controllerLogs } from './controller-logs.ts';
import { questionsOf } from './questions.ts';
import { Redactor } from './redact.ts';
import { writeBundle } from './write-bundle.ts';

const objects: Record<string, object[]> = {
  nodepools: [{ metadata: { name: 'default' }, spec: {} }],
  ec2nodeclasses: [
    { metadata: { name: 'default' }, spec: { role: 'nodes' }, status: { subnets: [{ id: 'subnet-1' }] } },
  ],
  deployments: [
    {
      metadata: { name: 'karpenter', namespace: 'kube-system' },
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'controller',
                env: [
                  { name: 'CLUSTER_NAME', value: 'prod' },
                  { name: 'INTERRUPTION_QUEUE', value: 'prod' },
                ],
              },
            ],
          },
        },
      },
    },
  ],
  pods: [
    {
      metadata: { name: 'web', namespace: 'shop' },
      spec: { containers: [{ name: 'web', env: [{ name: 'PASSWORD', value: 'secret' }] }] },
      status: { hostIP: '10.1.2.3' },
    },
  ],
};

type FakeKube = Parameters<typeof clusterFiles>[0];
const kube = {
  list: async (resource: { plural: string }) => {
    if (resource.plural === 'events') throw new KubeError({ reason: 'Forbidden', status: 403, message: 'no' });
    if (resource.plural === 'provisioners')
      throw new KubeError({ reason: 'NotFound', status: 404, message: 'no such kind' });
    return { items: objects[resource.plural] ?? [], resourceVersion: '1' };
  },
  get: async () => ({
    metadata: { name: 'aws-auth', namespace: 'kube-system' },
    data: { mapRoles: '- rolearn: arn:aws:iam::111122223333:role/nodes' },
  }),
} as unknown as FakeKube;

async function filesOf(): Promise<LiveFile[]> {
  const files: LiveFile[] = [];
  for await (const file of clusterFiles(kube)) files.push(file);
  return files;
}

async function gathered(files: AsyncIterable<LiveFile> | Iterable<LiveFile>): Promise<Gathering> {
  const gathering = new Gathering();
  for await (const { path, text } of files)
    await gathering.add({ kind: 'entry', entry: { path, chunks: bytes(text) } }, 'live');
  return gathering;
}

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('a kind that may not be listed is not collected, one that is not served is absent', async () => {
  const { objects: read } = (await gathered(await filesOf())).soFar();
  expect(read.isCollected('Event')).toBe(false);
  expect(read.isCollected('Provisioner')).toBe(true);
  expect(read.of('Provisioner')).toEqual([]);
  expect(read.find('ConfigMap', 'aws-auth', 'kube-system')).toBeDefined();
});

test('the account is asked about the names in the objects', async () => {
  const evidence = (await gathered(await filesOf())).soFar();
  expect(questionsOf(evidence, undefined)).toMatchObject({
    clusterName: 'prod',
    nodeRoles: ['nodes'],
    queue: 'prod',
    subnets: ['subnet-1'],
  });
});

test('what is written down is read again, redacted the same everywhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'live-'));
  const path = join(folder, 'b.tgz');
  const redactor = new Redactor();
  const files = [
    ...(await filesOf()),
    { path: 'aws/eks-list-access-entries.json', text: '{"accessEntries":["arn:aws:iam::111122223333:role/nodes"]}' },
  ];
  await writeBundle(
    path,
    files.map((file) => redactor.file(file)),
  );
  const gathering = new Gathering();
  let all = '';
  for await (const item of readBundle(path)) {
    if (item.kind !== 'entry') continue;
    const parts: Uint8Array[] = [];
    for await (const part of item.entry.chunks) parts.push(part);
    const text = Buffer.concat(parts).toString();
    all += text;
    await gathering.add({ kind: 'entry', entry: { path: item.entry.path, chunks: bytes(text) } }, 'b');
  }
  rmSync(folder, { recursive: true });
  expect(all).not.toMatch(/111122223333|secret|10\.1\.2\.3/);
  const { objects: read, aws } = gathering.soFar();
  const [entry] = aws.items('eks-list-access-entries');
  expect(String(entry?.item)).toBe(
    /arn:\S+/.exec(JSON.stringify(read.find('ConfigMap', 'aws-auth', 'kube-system')?.object))?.[0].replace(/"}.*$/, ''),
  );
});

test('answers of a live account are named by the call', async () => {
  const gathering = new Gathering({ isLive: true });
  const files = [
    { path: 'aws/iam-get-role-nodes.json', text: '{"Role":{"RoleName":"nodes"}}' },
    { path: 'aws/kms-get-key-policy-1.err', text: 'An error occurred (NotFoundException) when calling x: no' },
  ];
  for (const { path, text } of files)
    await gathering.add({ kind: 'entry', entry: { path, chunks: bytes(text) } }, 'live');
  const { aws } = gathering.soFar();
  expect(aws.bodies('iam-get-role')[0]?.source).toBe('iam:GetRole nodes');
  expect(aws.absent('kms-get-key-policy')[0]?.source).toBe('kms:GetKeyPolicy 1');
});

test('a cluster of an older release is read as v1beta1, which is not the same as having none', async () => {
  const old = {
    list: async (resource: { plural: string; version: string }) => {
      if (resource.plural === 'nodepools' && resource.version === 'v1beta1')
        return { items: [{ metadata: { name: 'default' } }], resourceVersion: '1' };
      throw new KubeError({ reason: 'NotFound', status: 404, message: 'no such version' });
    },
    get: async () => {
      throw new KubeError({ reason: 'NotFound', status: 404, message: 'no such map' });
    },
  } as unknown as FakeKube;
  const files: LiveFile[] = [];
  for await (const file of clusterFiles(old)) files.push(file);
  const textOf = (name: string) => JSON.parse(files.find(({ path }) => path === `objects/${name}.json`)?.text ?? '{}');
  expect(textOf('nodepools').items).toEqual([
    { apiVersion: 'karpenter.sh/v1beta1', kind: 'NodePool', metadata: { name: 'default' } },
  ]);
  expect(textOf('provisioners').items).toEqual([]);
});

test("the controller's logs are read, those before a restart first, and a refusal is not an error", async () => {
  const gathering = new Gathering();
  const pod = (name: string, restartCount: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'kube-system', labels: { 'app.kubernetes.io/name': 'karpenter' } },
    status: { phase: 'Running', containerStatuses: [{ name: 'controller', restartCount }] },
  });
  gathering.addObjects(
    'objects/pods.json',
    JSON.stringify({ kind: 'List', items: [pod('karpenter-a', 2), pod('karpenter-b', 0)] }),
  );
  const podLog = async ({ name }: { name: string }, { isPrevious }: { isPrevious?: boolean }) => {
    if (name === 'karpenter-b') throw new KubeError({ reason: 'Forbidden', status: 403, message: 'no' });
    return isPrevious ? 'panic: "" not a valid CLUSTER_ENDPOINT URL\n' : 'starting\n';
  };
  const files: LiveFile[] = [];
  for await (const file of controllerLogs({ podLog }, gathering.soFar())) files.push(file);
  expect(files.map(({ path }) => path)).toEqual([
    'logs/kube-system/karpenter-a/controller-previous.log',
    'logs/kube-system/karpenter-a/controller.log',
  ]);
});

test('a cluster of which nothing may be read is not called healthy', async () => {
  const refusing: FakeKube = {
    list: async ({ group }) => {
      const isOwn = group.startsWith('karpenter');
      throw new KubeError({ reason: isOwn ? 'NotFound' : 'Forbidden', status: isOwn ? 404 : 403, message: 'no' });
    },
    get: async () => {
      throw new KubeError({ reason: 'Forbidden', status: 403, message: 'no' });
    },
  };
  const read = async (): Promise<void> => {
    for await (const { path } of clusterFiles(refusing))
      expect(path).toMatch(/nodepools|nodeclaims|classes|provisioners|templates/);
  };
  await expect(read()).rejects.toMatchObject({ code: 'ClusterUnreadable' });
});
