// What an installed service account may do, by trying: on a real API server, with the account's own token, every verb on
// every resource there is. Never wider than the table; what `kerf preflight` says is missing is what is refused.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { circumstancesOf, parseSettings, type Right, rightsFor } from '../../src/server/index.ts';
import { examplesFolder, helm, only, type Rendered, render } from '../chart/helm.ts';
import { runKerf } from '../cli/run-kerf.ts';
import { provideKarpenterChart } from '../setup/karpenter-charts.ts';
import { useControlPlane } from '../setup/use-control-plane.ts';

const cluster = useControlPlane();
const folder = mkdtempSync(join(tmpdir(), 'kerf-rights-'));
afterAll(() => rmSync(folder, { recursive: true }));
const namespace = 'kube-system';
const minimal = 'settings: {clusterName: one}';
const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

interface Question {
  group: string;
  resource: string;
  verb: string;
  namespace?: string;
  name?: string;
}

beforeAll(async () => {
  const { out } = await runKerf(['crds']);
  await cluster().kubectl(['apply', '--server-side', '-f', '-'], { stdin: out });
  await cluster().kubectl(['wait', 'crd', '--all', '--for=condition=Established', '--timeout=60s']);
});

/** Every resource the server has, subresources included. */
async function resources(): Promise<{ group: string; resource: string; namespaced: boolean }[]> {
  const get = async <T>(path: string): Promise<T> => (await cluster().request('GET', path)).body as T;
  const { groups } = await get<{ groups: { name: string; preferredVersion: { groupVersion: string } }[] }>('/apis');
  const versions = [
    { group: '', path: '/api/v1' },
    ...groups.map(({ name, preferredVersion }) => ({ group: name, path: `/apis/${preferredVersion.groupVersion}` })),
  ];
  const found = await Promise.all(
    versions.map(async ({ group, path }) =>
      (await get<{ resources: { name: string; namespaced: boolean }[] }>(path)).resources.map(
        ({ name, namespaced }) => ({ group, resource: name, namespaced }),
      ),
    ),
  );
  return found.flat();
}

/** A kubeconfig with the token of a service account. */
async function asAccount(name: string): Promise<{ kubeconfig: string; token: string }> {
  const token = (await cluster().kubectl(['create', 'token', name, '-n', namespace])).stdout.trim();
  const { url, caFile } = cluster();
  const kubeconfig = join(folder, `${name}.kubeconfig`);
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'own',
      contexts: [{ name: 'own', context: { cluster: 'rig', user: 'own' } }],
      clusters: [{ name: 'rig', cluster: { server: url, 'certificate-authority': caFile } }],
      users: [{ name: 'own', user: { token } }],
    }),
  );
  return { kubeconfig, token };
}

const textOf = ({ group, resource, verb, namespace: inNamespace, name }: Question): string =>
  `${inNamespace ?? '*'}: ${verb} ${resource}.${group}${name === undefined ? '' : ` ${name}`}`;

/** What the server answers the account itself, of these questions. */
async function allowed(account: string, questions: readonly Question[]): Promise<Set<string>> {
  const { token } = await asAccount(account);
  const granted = new Set<string>();
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const waiting = [...questions];
  const worker = async (): Promise<void> => {
    for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
      const [resource = '', subresource] = each.resource.split('/');
      const resourceAttributes = { ...each, resource, ...(subresource === undefined ? {} : { subresource }) };
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes },
      };
      const answer = await cluster().request('POST', path, review, undefined, token);
      const { status } = answer.body as { status: { allowed: boolean } };
      if (status.allowed) granted.add(textOf(each));
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return granted;
}

/** Rights that every account has, such as asking what it may do. */
async function common(questions: readonly Question[]): Promise<Set<string>> {
  await cluster()
    .kubectl(['create', 'serviceaccount', 'bystander', '-n', namespace])
    .catch(() => undefined);
  return allowed('bystander', questions);
}

function* questionsOf({ group, resources: named, verbs: given, names }: Right, inNamespace?: string) {
  for (const resource of named)
    for (const verb of given)
      for (const name of names ?? [undefined])
        yield {
          group,
          resource,
          verb,
          ...(inNamespace === undefined ? {} : { namespace: inNamespace }),
          ...(name === undefined ? {} : { name }),
        };
}

async function install(values: string): Promise<void> {
  const objects = (await render(values)).filter(({ kind }) => /Role|ServiceAccount/.test(kind));
  await cluster().kubectl(['apply', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
}

async function uninstall(values: string): Promise<void> {
  const objects = (await render(values)).filter(({ kind }) => /Role|ServiceAccount/.test(kind));
  await cluster().kubectl(['delete', '--ignore-not-found', '-f', '-'], {
    stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  });
}

describe('what the account may do', () => {
  test.each([
    ['defaults', minimal, {}],
    [
      'every gate',
      `settings: {clusterName: one, ignoreDRARequests: false, featureGates: {nodeOverlay: true, capacityBuffer: true, podDeletionCostManagement: true}}`,
      {
        FEATURE_GATES: 'NodeOverlay=true,CapacityBuffer=true,PodDeletionCostManagement=true',
        IGNORE_DRA_REQUESTS: 'false',
      },
    ],
    [
      'variables',
      `{settings: {clusterName: one}, controller: {env: [{name: FEATURE_GATES, value: "NodeOverlay=true"}, {name: LEADER_ELECTION_NAME, value: mine}, {name: IGNORE_DRA_REQUESTS, value: "false"}]}}`,
      {
        FEATURE_GATES: 'NodeOverlay=true',
        LEADER_ELECTION_NAME: 'mine',
        IGNORE_DRA_REQUESTS: 'false',
      },
    ],
    [
      'a shadow',
      readFileSync(join(examplesFolder, 'values-shadow.yaml'), 'utf8'),
      { LEADER_ELECTION_NAME: 'kerf-shadow' },
    ],
  ] as const)('with %s is the table, line by line, and nothing else', async (name, values, env) => {
    await install(values);
    const { settings } = parseSettings({}, env);
    const needed = rightsFor({
      circumstances: circumstancesOf(settings, 'aws'),
      lease: { name: settings.leaderElectionName, namespace },
      isShadow: name === 'a shadow',
    });
    const wanted = new Set(
      needed.flatMap(({ right, namespace: inNamespace }) => [...questionsOf(right, inNamespace)].map(textOf)),
    );
    const tried: Question[] = (await resources()).flatMap(({ group, resource, namespaced }) =>
      verbs.flatMap((verb) => [
        { group, resource, verb },
        ...(namespaced ? [namespace, 'default'].map((each) => ({ group, resource, verb, namespace: each })) : []),
      ]),
    );
    const byName: Question[] = [
      ...needed.flatMap(({ right, namespace: inNamespace }) =>
        right.names === undefined ? [] : [...questionsOf(right, inNamespace)],
      ),
      // Neighbours of what it may touch by name.
      ...['get', 'update', 'patch', 'delete'].flatMap((verb) => [
        { group: 'coordination.k8s.io', resource: 'leases', verb, namespace, name: 'kube-scheduler' },
        { group: '', resource: 'configmaps', verb, namespace, name: 'coredns' },
        { group: '', resource: 'secrets', verb, namespace, name: 'any' },
      ]),
    ];
    const account =
      name === 'a shadow'
        ? (await render(values)).find(({ kind }) => kind === 'ServiceAccount')?.metadata.name
        : 'karpenter';
    const questions = [...tried, ...byName];
    const everyone = await common(questions);
    const granted = [...(await allowed(account ?? '', questions))].filter((each) => !everyone.has(each));
    // A right in the whole cluster is one in every namespace of it.
    const isWanted = (text: string): boolean => wanted.has(text) || wanted.has(text.replace(/^[^:]+:/, '*:'));
    expect(granted.filter((each) => !isWanted(each))).toEqual([]);
    // Resources of kinds that this server does not have are not among those tried.
    const known = new Set(questions.map(textOf));
    expect([...wanted].filter((each) => known.has(each) && !granted.includes(each))).toEqual([]);
    expect(granted.length).toBeGreaterThan(20);
    await uninstall(values);
  });
});

interface Report {
  verdict: string;
  phase: string;
  missingRights: string[];
  notChecked: string[];
  running: { program: string; serviceAccount?: string };
}

async function preflight(kubeconfig = cluster().kubeconfig): Promise<Report> {
  const { out, err, code } = await runKerf(['preflight', '--kubeconfig', kubeconfig, '-o', 'json'], {
    env: { HOME: folder },
  });
  if (out === '') throw new Error(`preflight said ${code}: ${err}`);
  return JSON.parse(out) as Report;
}

describe('kerf preflight', () => {
  const apply = (objects: readonly object[]) =>
    cluster().kubectl(['apply', '-f', '-'], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    });

  test("finds what Karpenter's own roles lack, and only that; the chart brings it", async () => {
    const chart = join(await provideKarpenterChart('1.14.1', (line) => console.error(line)), 'karpenter');
    const release = ['template', 'karpenter', chart, '--namespace', namespace, '--set', 'settings.clusterName=one'];
    const { stdout } = await helm(release);
    const objects = parseAllDocuments(stdout).flatMap((each) => (each.toJS() as Rendered | null) ?? []);
    await apply(objects.filter(({ kind }) => /Role|ServiceAccount|Deployment/.test(kind)));
    const before = await preflight();
    expect(before).toMatchObject({ verdict: 'go', phase: 'before', running: { program: 'karpenter' } });
    expect(before.missingRights.sort()).toEqual(
      [
        ...['csidrivers', 'csistoragecapacities'].flatMap((each) =>
          ['get', 'list', 'watch'].map((verb) => `${verb} ${each} (storage.k8s.io)`),
        ),
        ...['create', 'delete', 'update', 'patch'].map((verb) => `${verb} nodeclaims/finalizers (karpenter.sh)`),
        ...['update', 'patch'].map((verb) => `${verb} nodepools/finalizers (karpenter.sh)`),
        'get configmaps aws-auth in kube-system',
      ].sort(),
    );
    // As the account itself sees it.
    const refused = await allowed('karpenter', [
      { group: 'storage.k8s.io', resource: 'csidrivers', verb: 'list' },
      { group: '', resource: 'configmaps', verb: 'get', namespace, name: 'aws-auth' },
      { group: '', resource: 'pods', verb: 'list' },
    ]);
    expect([...refused]).toEqual(['*: list pods.']);
    await apply((await render(minimal)).filter(({ kind }) => /Role|ServiceAccount|Deployment/.test(kind)));
    expect(await preflight()).toMatchObject({ verdict: 'go', phase: 'after', missingRights: [] });
  });

  test('after the switch a right that is missing stops it, wherever it was bound', async () => {
    await apply(await render(minimal));
    const core = (await render(minimal)).find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'karpenter-core',
    );
    const rules = core?.rules?.filter(({ resources: named }) => !named.includes('pods/eviction'));
    await apply([{ ...core, rules }]);
    expect(await preflight()).toMatchObject({
      verdict: 'no go',
      phase: 'after',
      missingRights: ['create pods/eviction'],
    });
    // Rights of all accounts of the namespace count as well.
    await cluster().kubectl(['create', 'clusterrole', 'evicts', '--verb=create', '--resource=pods/eviction']);
    const group = `--group=system:serviceaccounts:${namespace}`;
    await cluster().kubectl(['create', 'clusterrolebinding', 'evicts', '--clusterrole=evicts', group]);
    expect(await preflight()).toMatchObject({ verdict: 'go', missingRights: [] });
    await cluster().kubectl(['delete', 'clusterrolebinding', 'evicts']);
  });

  test('someone who may not ask about others gets that as the answer, and nothing is called missing', async () => {
    await cluster().kubectl(['create', 'serviceaccount', 'viewer', '-n', namespace]);
    await cluster().kubectl([
      'create',
      'clusterrole',
      'reads-all',
      '--verb=get,list',
      '--resource=nodepools.karpenter.sh,nodeclaims.karpenter.sh,deployments.apps',
    ]);
    await cluster().kubectl([
      'create',
      'clusterrolebinding',
      'reads-all',
      '--clusterrole=reads-all',
      `--serviceaccount=${namespace}:viewer`,
    ]);
    const { kubeconfig } = await asAccount('viewer');
    const { missingRights, notChecked } = await preflight(kubeconfig);
    expect(missingRights).toEqual([]);
    expect(notChecked).toEqual(
      expect.arrayContaining([
        'leases: you may not list them',
        'rights of the service account: you may not create SubjectAccessReviews',
      ]),
    );
  });
});

describe('pod security', () => {
  const podOf = (objects: readonly Rendered[]) => {
    const { metadata, spec } = only(objects, 'Deployment').spec.template as unknown as {
      metadata: object;
      spec: { serviceAccountName: string };
    };
    return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'tried', namespace: 'strict' }, spec };
  };
  const admitted = async (pod: ReturnType<typeof podOf>): Promise<void> => {
    const { serviceAccountName: name } = pod.spec;
    await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'strict' } });
    await cluster().kubectl(['create', '--dry-run=server', '-f', '-'], { stdin: JSON.stringify(pod) });
  };

  beforeAll(async () => {
    await apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'strict', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
  });
  const apply = (object: object) => cluster().kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(object) });

  test('a namespace that enforces "restricted" admits the pod, and refuses one that asks for more', async () => {
    const pod = podOf(await render(minimal));
    await admitted(pod);
    await expect(admitted(podOf(await render(`${minimal}\nhostNetwork: true`)))).rejects.toThrow(
      /violates PodSecurity "restricted/,
    );
    const open = await render(`${minimal}\npodSecurityContext: {seccompProfile: null}`);
    await admitted(podOf(open));
  });

  test.each(['fargate', 'one-node', 'proxy', 'private-registry', 'fips', 'ipv6', 'isolated-vpc', 'shadow'])(
    'so it does with values-%s.yaml',
    async (name) => {
      await admitted(podOf(await render(join(examplesFolder, `values-${name}.yaml`))));
    },
  );
});
