import { expect, test } from 'vitest';
import { examination } from './examine.ts';

const empty = {
  podLog: async () => '',
  list: async () => ({ items: [], resourceVersion: '1' }),
  get: () => Promise.reject(new Error('not there')),
} as never;

test('an examination is what kerf doctor -o json prints, and those who ask at once share one', async () => {
  let opened = 0;
  let closed = 0;
  const ask = examination(
    async () => {
      opened += 1;
      return { kube: empty, nowMs: Date.parse('2026-01-01T00:00:00Z'), close: async () => void (closed += 1) };
    },
    { env: {} },
  );
  const [first, second] = await Promise.all([ask(), ask()]);
  expect(first).toMatchObject({ findings: expect.any(Array), checks: expect.any(Array), input: expect.any(Object) });
  expect(second).toBe(first);
  expect([opened, closed]).toEqual([1, 1]);
});

test('evidence of a live cluster names objects and logs, not files', async () => {
  const controller = {
    metadata: { name: 'karpenter-a', namespace: 'kube-system', labels: { 'app.kubernetes.io/name': 'karpenter' } },
    status: { phase: 'Running', containerStatuses: [{ name: 'controller', restartCount: 0 }] },
  };
  const waiting = {
    metadata: { name: 'web.17d2', namespace: 'shop' },
    involvedObject: { kind: 'Pod', name: 'web', namespace: 'shop' },
    reason: 'FailedScheduling',
    message: 'incompatible requirements, label "role" does not have known values',
    lastTimestamp: '2026-01-01T00:00:00Z',
  };
  const kube = {
    list: async ({ plural }: { plural: string }) => ({
      items: plural === 'pods' ? [controller] : plural === 'events' ? [waiting] : [],
      resourceVersion: '1',
    }),
    get: () => Promise.reject(new Error('not there')),
    podLog: async () =>
      'starting\npanic: failed to setup nodeclaim provider id indexer: no matches for kind "NodeClaim"\n',
  } as never;
  const ask = examination(
    async () => ({ kube, nowMs: Date.parse('2026-01-01T00:01:00Z'), close: async () => undefined }),
    { env: {} },
  );
  const { findings } = (await ask()) as { findings: { evidence: { source: string }[] }[] };
  const sources = findings.flatMap(({ evidence }) => evidence.map(({ source }) => source));
  expect(sources).toEqual(
    expect.arrayContaining(['Event shop/web.17d2', 'log of kube-system/karpenter-a (controller):2']),
  );
  expect(sources.filter((source) => /^(?:objects|logs|aws)\//.test(source))).toEqual([]);
});

const inKubeSystem = (name: string): object => ({ name, namespace: 'kube-system' });

test.each<[string, string, Record<string, object[]>]>([
  [
    'crd/admission-webhook-unreachable',
    'ValidatingWebhookConfiguration validation.webhook.karpenter.sh',
    {
      validatingwebhookconfigurations: [
        {
          metadata: { name: 'validation.webhook.karpenter.sh' },
          webhooks: [
            {
              name: 'validation.webhook.karpenter.sh',
              failurePolicy: 'Fail',
              clientConfig: { service: { ...inKubeSystem('karpenter'), port: 8443 } },
            },
          ],
        },
      ],
    },
  ],
  [
    'startup/kubernetes-permission-missing',
    'Deployment kube-system/karpenter',
    {
      deployments: [
        {
          metadata: { ...inKubeSystem('karpenter'), labels: { 'app.kubernetes.io/name': 'karpenter' } },
          spec: { template: { spec: { serviceAccountName: 'karpenter', containers: [{ name: 'controller' }] } } },
        },
      ],
      clusterrolebindings: [
        {
          metadata: { name: 'karpenter-core' },
          roleRef: { name: 'karpenter-core' },
          subjects: [{ kind: 'ServiceAccount', name: 'karpenter', namespace: 'karpenter' }],
        },
      ],
    },
  ],
  [
    'registration/unregistered-taint-missing',
    'NodeClaim default-1',
    {
      nodeclaims: [
        {
          metadata: { name: 'default-1' },
          status: { conditions: [{ type: 'Registered', status: 'False', reason: 'UnregisteredTaintNotFound' }] },
        },
      ],
    },
  ],
])('%s is seen in a live cluster', async (id, source, objects) => {
  const kube = {
    list: async ({ plural }: { plural: string }) => ({ items: objects[plural] ?? [], resourceVersion: '1' }),
    get: () => Promise.reject(new Error('not there')),
    podLog: async () => '',
  } as never;
  const ask = examination(async () => ({ kube, nowMs: Date.now(), close: async () => undefined }), { env: {} });
  const { findings } = (await ask()) as { findings: { id: string; evidence: { source: string }[] }[] };
  const [found] = findings.filter((one) => one.id === id);
  expect(found?.evidence[0]?.source).toBe(source);
});

test('one that failed is not given to the next who asks', async () => {
  let opened = 0;
  const ask = examination(
    async () => {
      opened += 1;
      throw new Error('no cluster');
    },
    { env: {} },
  );
  await expect(ask()).rejects.toThrow('no cluster');
  await expect(ask()).rejects.toThrow('no cluster');
  expect(opened).toBe(2);
});
