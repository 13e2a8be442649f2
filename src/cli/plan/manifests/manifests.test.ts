import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SnapshotObject } from '../../../core/index.ts';
import { collectManifests } from './collect.ts';
import { objectsOf } from './objects-of.ts';

const container = { name: 'main', resources: { requests: { cpu: '1' } } };
const template = (spec: object = {}) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [container], ...spec },
});
const object = (kind: string, name: string, rest: object = {}, metadata: object = {}): SnapshotObject => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'shop', ...metadata },
  ...rest,
});
const deployment = (replicas: number | undefined, spec: object = {}) =>
  object('Deployment', 'web', { spec: { ...(replicas === undefined ? {} : { replicas }), template: template(spec) } });
const ofKind = (objects: SnapshotObject[], kind: string) => objects.filter((one) => one.kind === kind);
const names = (objects: SnapshotObject[], kind: string) => ofKind(objects, kind).map(({ metadata }) => metadata.name);

describe('workloads', () => {
  test('a Deployment becomes its replicas, waiting, with names and UIDs that never change', () => {
    const { objects } = objectsOf([deployment(3)]);
    const pods = ofKind(objects, 'Pod');
    expect(pods.map(({ metadata }) => metadata.name)).toEqual(['web-1', 'web-2', 'web-3']);
    expect(new Set(pods.map(({ metadata }) => metadata.uid)).size).toBe(3);
    expect(pods[0]).toMatchObject({
      metadata: { namespace: 'shop', labels: { app: 'web' }, ownerReferences: [{ kind: 'ReplicaSet', name: 'web' }] },
      spec: { containers: [container] },
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    });
    expect(objectsOf([deployment(3)])).toEqual({ objects, notes: [] });
  });

  test('without a replica count there is one; replicas share their spec', () => {
    expect(names(objectsOf([deployment(undefined)]).objects, 'Pod')).toEqual(['web-1']);
    const [first, second] = ofKind(objectsOf([deployment(2)]).objects, 'Pod');
    expect(first?.['spec']).toBe(second?.['spec']);
  });

  test('a ReplicaSet that a Deployment among the manifests owns is not expanded again', () => {
    const replicaSet = object(
      'ReplicaSet',
      'web-abc',
      { spec: { replicas: 3, template: template() } },
      {
        ownerReferences: [{ kind: 'Deployment', name: 'web' }],
      },
    );
    expect(names(objectsOf([deployment(3), replicaSet]).objects, 'Pod')).toHaveLength(3);
    expect(names(objectsOf([replicaSet]).objects, 'Pod')).toHaveLength(3);
  });

  test('pods that exist already count, found through their ReplicaSet or its hash', () => {
    const pod = (name: string, phase: string) =>
      object(
        'Pod',
        name,
        { spec: { containers: [], nodeName: 'n' }, status: { phase } },
        {
          labels: { 'pod-template-hash': 'abc' },
          ownerReferences: [{ kind: 'ReplicaSet', name: 'web-abc', controller: true }],
        },
      );
    const { objects } = objectsOf([deployment(3), pod('web-abc-1', 'Running'), pod('web-abc-2', 'Failed')]);
    expect(names(objects, 'Pod').sort()).toEqual(['web-1', 'web-2', 'web-abc-1', 'web-abc-2']);
    const inCluster = objectsOf([deployment(3)], [pod('web-abc-1', 'Running')]);
    expect(names(inCluster.objects, 'Pod')).toEqual(['web-1', 'web-2']);
  });

  test('what the cluster holds of workloads is there for their pods only: it makes none', () => {
    const replicaSet = object('ReplicaSet', 'web-abc', { spec: { selector: { matchLabels: { app: 'web' } } } });
    const { objects } = objectsOf([object('Service', 'web', { spec: { selector: { app: 'web' } } })], [replicaSet]);
    expect(objects.map(({ kind }) => kind)).toEqual(['Service', 'Namespace']);
  });

  test('the selector of a workload stays, because pods without a spread of their own may be spread by it', () => {
    const selector = { matchLabels: { app: 'web' } };
    const { objects } = objectsOf([
      object('Deployment', 'web', { spec: { replicas: 1, selector, template: template() } }),
      object('StatefulSet', 'db', { spec: { selector, template: template() } }),
      object('Job', 'once', { spec: { template: template() } }),
    ]);
    const owners = objects.filter(({ kind }) => kind.endsWith('Set'));
    expect(owners).toEqual([
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web', namespace: 'shop' }, spec: { selector } },
      { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'db', namespace: 'shop' }, spec: { selector } },
    ]);
  });

  test('a StatefulSet counts from its first ordinal and brings a claim per volume', () => {
    const set = object('StatefulSet', 'db', {
      spec: {
        replicas: 2,
        ordinals: { start: 5 },
        template: template(),
        volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { storageClassName: 'fast' } }],
      },
    });
    const { objects } = objectsOf([set]);
    expect(names(objects, 'Pod')).toEqual(['db-5', 'db-6']);
    expect(names(objects, 'PersistentVolumeClaim')).toEqual(['data-db-5', 'data-db-6']);
    expect(ofKind(objects, 'Pod')[0]?.['spec']).toMatchObject({
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-5' } }],
    });
    expect(ofKind(objects, 'Pod')[0]?.metadata['ownerReferences']).toMatchObject([{ kind: 'StatefulSet' }]);
  });

  test('a Job runs its parallelism, no more than its completions, and nothing while suspended', () => {
    const job = (spec: object) => objectsOf([object('Job', 'job', { spec: { template: template(), ...spec } })]);
    expect(names(job({ parallelism: 5, completions: 3 }).objects, 'Pod')).toHaveLength(3);
    expect(names(job({ parallelism: 5 }).objects, 'Pod')).toHaveLength(5);
    expect(names(job({ completions: 4 }).objects, 'Pod')).toHaveLength(1);
    expect(job({ suspend: true }).notes).toEqual(['Job shop/job is suspended: no pods planned']);
  });

  test('a CronJob is left out, with a note', () => {
    const { objects, notes } = objectsOf([object('CronJob', 'nightly', { spec: {} })]);
    expect(ofKind(objects, 'Pod')).toEqual([]);
    expect(notes).toEqual(['CronJob shop/nightly is not planned: its pods run only at its times']);
  });
});

describe('pods', () => {
  const pod = (spec: object, status?: object, metadata: object = {}) =>
    object('Pod', 'p', { spec: { containers: [container], ...spec }, ...(status ? { status } : {}) }, metadata);
  const waits = (value: SnapshotObject): boolean =>
    JSON.stringify(ofKind(objectsOf([value]).objects, 'Pod')[0]?.['status'] ?? {}).includes('Unschedulable');

  test('a pod from a file waits, unless it runs, ended, is leaving, is gated or has a node in sight', () => {
    expect(waits(pod({}))).toBe(true);
    expect(waits(pod({}, { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False' }] }))).toBe(true);
    expect(waits(pod({ nodeName: 'n' }))).toBe(false);
    expect(waits(pod({}, { phase: 'Succeeded' }))).toBe(false);
    expect(waits(pod({}, undefined, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe(false);
    expect(waits(pod({ schedulingGates: [{ name: 'wait' }] }))).toBe(false);
    expect(waits(pod({}, { nominatedNodeName: 'n' }))).toBe(false);
  });

  test('pods of one generateName are numbered', () => {
    const made = object('Pod', '', { spec: { containers: [] } }, { generateName: 'run-', name: undefined });
    expect(names(objectsOf([made, made]).objects, 'Pod')).toEqual(['run-1', 'run-2']);
  });

  test('a LimitRange gives requests to containers that make none, in its namespace', () => {
    const range = object('LimitRange', 'limits', {
      spec: { limits: [{ type: 'Container', default: { cpu: '2' }, defaultRequest: { memory: '1Gi' } }] },
    });
    const plain = object('Pod', 'plain', {
      spec: { containers: [{ name: 'a', resources: { limits: { memory: '3Gi' } } }] },
    });
    const elsewhere = object('Pod', 'other', { spec: { containers: [{ name: 'a' }] } }, { namespace: 'else' });
    const { objects } = objectsOf([range, plain, elsewhere]);
    const [first, second] = ofKind(objects, 'Pod');
    expect(first?.['spec']).toMatchObject({ containers: [{ resources: { requests: { cpu: '2', memory: '3Gi' } } }] });
    expect(second?.['spec']).toEqual({ containers: [{ name: 'a' }] });
  });

  test('a RuntimeClass adds its overhead, selector and tolerations', () => {
    const runtime = object('RuntimeClass', 'gvisor', {
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { runtime: 'gvisor' }, tolerations: [{ key: 'gvisor', operator: 'Exists' }] },
    });
    const { objects } = objectsOf([runtime, pod({ runtimeClassName: 'gvisor' })]);
    expect(ofKind(objects, 'Pod')[0]?.['spec']).toMatchObject({
      overhead: { cpu: '250m' },
      nodeSelector: { runtime: 'gvisor' },
      tolerations: [{ key: 'gvisor' }],
    });
  });

  test('an ephemeral volume has its claim, with the newest default storage class where it names none', () => {
    const storage = (name: string, creationTimestamp: string) =>
      object(
        'StorageClass',
        name,
        { provisioner: 'x' },
        {
          creationTimestamp,
          annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
        },
      );
    const volumes = [{ name: 'scratch', ephemeral: { volumeClaimTemplate: { spec: {} } } }];
    const { objects } = objectsOf([
      storage('new', '2026-02-01T00:00:00Z'),
      storage('old', '2026-01-01T00:00:00Z'),
      pod({ volumes }),
    ]);
    expect(ofKind(objects, 'PersistentVolumeClaim')).toMatchObject([
      { metadata: { name: 'p-scratch', namespace: 'shop' }, spec: { storageClassName: 'new' } },
    ]);
  });
});

describe('the rest', () => {
  test('a claim that names a volume which is there counts as bound; what it says about itself stands', () => {
    const claim = (volumeName: string, status: object = {}) =>
      object('PersistentVolumeClaim', 'data', { spec: { volumeName }, ...status });
    const volume = object('PersistentVolume', 'disk', { spec: {} });
    const read = (value: SnapshotObject) => ofKind(objectsOf([value, volume]).objects, 'PersistentVolumeClaim')[0];
    expect(read(claim('disk'))).toMatchObject({
      metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } },
      status: { phase: 'Bound' },
    });
    expect(read(claim('other'))?.['status']).toBeUndefined();
    expect(read(claim('disk', { status: { phase: 'Lost' } }))?.['status']).toEqual({ phase: 'Lost' });
  });

  test('a NodePool without a verdict is ready; one with a verdict keeps it', () => {
    const pool = (status?: object) => object('NodePool', 'default', { spec: {}, ...(status ? { status } : {}) });
    const ready = (value: SnapshotObject) => ofKind(objectsOf([value]).objects, 'NodePool')[0]?.['status'];
    expect(ready(pool())).toMatchObject({ conditions: [{ type: 'Ready', status: 'True' }] });
    const notReady = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(ready(pool(notReady))).toEqual(notReady);
  });

  test('every namespace in use exists, with the label Kubernetes gives it', () => {
    const { objects } = objectsOf([deployment(1)]);
    expect(ofKind(objects, 'Namespace')).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'shop', labels: { 'kubernetes.io/metadata.name': 'shop' } },
      },
    ]);
  });
});

describe('files', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kerf-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const collect = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return collectManifests([join(folder, name)], { stdin: Readable.from([]) });
  };

  test('objects without a namespace are in default; kinds that are not planned are counted', async () => {
    const { objects, ignored } = await collect(
      'a.yaml',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n---\napiVersion: v1\nkind: Ingress\nmetadata: {name: s}\n---\n\n',
    );
    expect(objects.map(({ metadata }) => metadata.namespace)).toEqual(['default']);
    expect([...ignored]).toEqual([['Ingress', 1]]);
  });

  test('every mistake is named with file, line and field', async () => {
    const text = [
      'apiVersion: v1',
      'kind: Pod',
      'metadata: {name: a}',
      'spec:',
      '  containers:',
      '  - resources:',
      '      requests:',
      '        cpu: lots',
      '---',
      'apiVersion: karpenter.sh/v1beta1',
      'kind: NodePool',
      'metadata: {name: old}',
      'spec: {template: {spec: {nodeClassRef: {group: a, kind: b, name: c}}}}',
      '---',
      'just text',
      '',
    ].join('\n');
    await expect(collect('b.yaml', text)).rejects.toThrow(
      /b\.yaml:8: spec\.containers\[0\]\.resources\.requests\.cpu must be a quantity.*\(Pod\)\n.*b\.yaml:10: apiVersion must be karpenter\.sh\/v1.*kerf convert.*\n.*b\.yaml:15: the document is not a manifest/s,
    );
  });

  describe('a folder', () => {
    const folderOf = (files: Record<string, string>) => {
      const root = mkdtempSync(join(folder, 'repo-'));
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(join(root, dirname(name)), { recursive: true });
        writeFileSync(join(root, name), text);
      }
      return { root, collected: collectManifests([root], { stdin: Readable.from([]) }) };
    };
    const podText = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n';

    test('of a repository is planned without the files of other tools and the templates of charts, and that is said', async () => {
      const { root, collected } = folderOf({
        'pod.yaml': podText,
        'package.json': '{"name": "shop"}',
        'tsconfig.json': '{ // comments\n "strict": true, }',
        '.github/ci.yaml': 'on: push\n',
        'ci.yaml': 'on: push\njobs: {}\n',
        'list.json': '[1, 2]',
        'chart/templates/web.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: {{ .Release.Name }}}\n',
      });
      const { objects, notes } = await collected;
      expect(objects.map(({ metadata }) => metadata.name)).toEqual(['a']);
      expect(notes).toEqual([
        `skipped 4 files without a manifest: ${root}/ci.yaml, ${root}/list.json, ${root}/package.json and 1 more`,
        `skipped 1 file with templates of Helm: ${root}/chart/templates/web.yaml; render them: helm template CHART | kerf plan -f -`,
      ]);
    });

    test('with a manifest that is broken is not planned', async () => {
      await expect(folderOf({ 'pod.yaml': `${podText}kind: Pod\n` }).collected).rejects.toThrow('written twice');
      await expect(folderOf({ 'pod.yaml': `${podText}a: [\n` }).collected).rejects.toThrow('pod.yaml:5');
    });

    test('that is a kustomization says how to render it, whether its patches look like mistakes or not', async () => {
      const kustomization = { 'base/kustomization.yaml': 'kind: Kustomization\nresources: [pod.yaml]\n' };
      const whole = folderOf({ ...kustomization, 'base/pod.yaml': podText });
      const hint = (root: string): string => `kubectl kustomize ${root}/base | kerf plan -f -`;
      expect((await whole.collected).notes).toEqual([expect.stringContaining(hint(whole.root))]);
      const patched = folderOf({
        ...kustomization,
        'base/patch.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 2}\n',
      });
      await expect(patched.collected).rejects.toThrow(hint(patched.root));
    });
  });

  test('a template that was named is a mistake that says what to do', async () => {
    await expect(collect('t.yaml', 'kind: Pod\nmetadata: {name: {{ .x }}}\n')).rejects.toThrow('helm template CHART');
  });

  test('the same object in two places is a mistake that names both', async () => {
    const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n';
    await expect(collect('c.yaml', `${pod}---\n${pod}`)).rejects.toThrow(
      /c\.yaml:6: a second Pod default\/a.*c\.yaml:1/s,
    );
  });
});
