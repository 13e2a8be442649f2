// What the chart makes of values: names and defaults of Karpenter's chart, nothing dropped, nothing wider than needed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { awsSettingDefinitions, parseSettings, settingDefinitions } from '../../src/server/index.ts';
import {
  controllerOf,
  crdChart,
  examplesFolder,
  helm,
  kerfChart,
  only,
  podOf,
  type Rendered,
  refusal,
  render,
  variables,
} from './helm.ts';

const minimal = 'settings: {clusterName: one}';
const karpenterUser = join(import.meta.dirname, 'karpenter-user.yaml');
const examples = readdirSync(examplesFolder).filter((name) => name.endsWith('.yaml'));

test('helm lint has nothing to say against the charts', async () => {
  const { stdout } = await helm(['lint', '--strict', kerfChart, crdChart, '--set', 'settings.clusterName=one']);
  expect(stdout).toContain('0 chart(s) failed');
  expect(stdout).not.toMatch(/WARNING|ERROR/);
});

describe('names', () => {
  const namesOf = async (release: string, values: string): Promise<string[]> => {
    const { stdout } = await helm(['template', release, kerfChart, '-n', 'somewhere', '-f', '-'], { stdin: values });
    return [...stdout.matchAll(/^kind: (\w+)\nmetadata:\n {2}name: (\S+)/gm)].map(
      ([, kind, name]) => `${kind}/${name}`,
    );
  };

  test("are those of Karpenter's chart", async () => {
    expect((await namesOf('karpenter', minimal)).sort()).toEqual([
      'ClusterRole/karpenter',
      'ClusterRole/karpenter-admin',
      'ClusterRole/karpenter-core',
      'ClusterRoleBinding/karpenter',
      'ClusterRoleBinding/karpenter-core',
      'Deployment/karpenter',
      'PodDisruptionBudget/karpenter',
      'Role/karpenter',
      'Role/karpenter-dns',
      'RoleBinding/karpenter',
      'RoleBinding/karpenter-dns',
      'Service/karpenter',
      'ServiceAccount/karpenter',
    ]);
  });

  test.each([
    ['kerf', '', 'Deployment/kerf-karpenter'],
    ['prod-karpenter', '', 'Deployment/prod-karpenter'],
    ['x', 'nameOverride: nodes', 'Deployment/x-nodes'],
    ['x', 'fullnameOverride: autoscaler', 'Deployment/autoscaler'],
  ])('release %s with %s is %s', async (release, values, expected) => {
    expect(await namesOf(release, `${minimal}\n${values}`)).toContain(expected);
  });

  test('labels select what they selected', async () => {
    const deployment = only(await render(minimal), 'Deployment');
    const selector = { 'app.kubernetes.io/name': 'karpenter', 'app.kubernetes.io/instance': 'karpenter' };
    expect(deployment.spec.selector.matchLabels).toEqual(selector);
    expect(deployment.spec.template.spec.containers[0]).toMatchObject({
      name: 'controller',
      ports: [
        { name: 'http-metrics', containerPort: 8080 },
        { name: 'http', containerPort: 8081 },
      ],
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, initialDelaySeconds: 30, timeoutSeconds: 30 },
      readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, initialDelaySeconds: 5, timeoutSeconds: 30 },
    });
  });
});

describe('settings', () => {
  test('at their defaults are those of the process', async () => {
    const given = variables(await render(minimal));
    const fromChart = parseSettings({}, given, 'aws');
    const fromProcess = parseSettings({}, { CLUSTER_NAME: 'one', KARPENTER_SERVICE: 'karpenter' }, 'aws');
    expect(fromChart).toEqual(fromProcess);
  });

  test('are all there', async () => {
    const given = variables(await render(minimal));
    const elsewhere = ['MEMORY_LIMIT', 'CPU_REQUESTS'];
    const all = [settingDefinitions, awsSettingDefinitions].flatMap((table) => Object.values(table));
    expect(all.map(({ env }) => env).filter((env) => !(env in given) && !elsewhere.includes(env))).toEqual([]);
  });

  test('false, 0 and empty text are passed on', async () => {
    const given = variables(
      await render(
        'settings: {clusterName: one, vmMemoryOverheadPercent: 0, ignoreDRARequests: false, preferencePolicy: Ignore, batchIdleDuration: "0"}',
      ),
    );
    expect(given).toMatchObject({
      VM_MEMORY_OVERHEAD_PERCENT: '0',
      IGNORE_DRA_REQUESTS: 'false',
      INTERRUPTION_QUEUE: '',
      ISOLATED_VPC: 'false',
    });
    expect(parseSettings({}, given, 'aws').aws?.vmMemoryOverheadPercent).toBe(0);
  });

  test('null leaves one out', async () => {
    expect(variables(await render('settings: {clusterName: one, amiRefreshInterval: null}'))).not.toHaveProperty(
      'AMI_REFRESH_INTERVAL',
    );
  });

  test('large numbers stay whole', async () => {
    const given = variables(await render('settings: {clusterName: one, kubeClientQps: 1000000}'));
    expect(given['KUBE_CLIENT_QPS']).toBe('1000000');
  });

  test('true and false as text mean what they say', async () => {
    const objects = await render(
      `${minimal}\nhostNetwork: "false"\nserviceMonitor: {enabled: "false"}\nserviceAccount: {create: "false", name: other}`,
      '--api-versions',
      'monitoring.coreos.com/v1',
    );
    expect(podOf(objects)).not.toHaveProperty('hostNetwork');
    expect(objects.map(({ kind }) => kind)).not.toContain('ServiceMonitor');
    expect(objects.map(({ kind }) => kind)).not.toContain('ServiceAccount');
  });

  test('the environment wins, and is there once', async () => {
    const objects = await render(`${minimal}\ncontroller: {env: [{name: BATCH_MAX_DURATION, value: 1m}]}`);
    const { env } = controllerOf(objects);
    expect(env.filter(({ name }) => name === 'BATCH_MAX_DURATION')).toEqual([
      { name: 'BATCH_MAX_DURATION', value: '1m' },
    ]);
  });
});

describe('values that cannot be', () => {
  test.each([
    ['settings: {clusterNmae: one}', '/settings/clusterNmae', 'write clusterName'],
    ['settings: {clustername: one}', '/settings/clustername', 'write clusterName'],
    ['replica: 3', '/replica', 'write replicas'],
    [
      'settings: {clusterName: one, featureGates: {nodeRepiar: true}}',
      '/settings/featureGates/nodeRepiar',
      'nodeRepair',
    ],
    ['controller: {ressources: {}}', '/controller/ressources', 'write resources'],
    ['surprise: 1', "'surprise'", 'not allowed'],
    ['replicas: many', '/replicas', "does not match pattern '^[0-9]+$'"],
    ['settings: {clusterName: one, batchMaxDuration: soon}', '/settings/batchMaxDuration', 'pattern'],
    ['settings: {clusterName: one, preferencePolicy: Sometimes}', '/settings/preferencePolicy', 'Respect|Ignore'],
  ])('%s', async (values, where, what) => {
    const said = await refusal(values);
    expect(said).toContain(where);
    expect(said).toContain(what);
  });

  const withNull = async (path: string) =>
    helm(['template', 'karpenter', kerfChart, '--set', `settings.clusterName=one,${path}=null`]);

  test.each([
    ['podDisruptionBudget', "missing property 'podDisruptionBudget'"],
    ['controller.image', "missing property 'image'"],
    ['settings.featureGates', "missing property 'featureGates'"],
  ])('%s taken away by null', async (path, what) => {
    await expect(withNull(path)).rejects.toThrow(what);
  });

  test.each(['service', 'networkPolicy', 'controller.securityContext'])(
    '%s may be taken away by null',
    async (path) => {
      expect((await withNull(path)).stdout).toContain('kind: Deployment');
    },
  );

  test.each([['{}', 'settings.clusterName is missing: set it to the name of the EKS cluster']])(
    '%s says what to set',
    async (values, what) => {
      expect(await refusal(values)).toContain(what);
    },
  );

  test('a name that is known is not taken for a misspelt one', () => {
    const schema = JSON.parse(readFileSync(join(kerfChart, 'values.schema.json'), 'utf8')) as Schema;
    const inspect = ({ properties = {}, patternProperties = {} }: Schema): void => {
      for (const [name, child] of Object.entries(properties)) {
        for (const pattern of Object.keys(patternProperties)) expect(name).not.toMatch(new RegExp(pattern));
        inspect(child);
      }
    };
    inspect(schema);
  });
});

interface Schema {
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, unknown>;
}

describe('pods', () => {
  test('keep the standard "restricted", and only the controller has the token', async () => {
    const pod = podOf(await render(karpenterUser));
    const [controller, sidecar] = pod.containers;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { fsGroup: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(controller?.securityContext).toEqual({
      privileged: false,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      capabilities: { drop: ['ALL'] },
    });
    expect(controller?.volumeMounts).toEqual([
      { name: 'kube-api-access', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
    ]);
    expect(sidecar?.volumeMounts).toBeUndefined();
  });

  test('without a seccomp profile of their own get the default one', async () => {
    const pod = podOf(await render(`${minimal}\npodSecurityContext: {fsGroup: 1, seccompProfile: null}`));
    expect(pod.containers[0]?.securityContext['seccompProfile']).toEqual({ type: 'RuntimeDefault' });
  });

  test('terms without a selector get that of the pods, others keep theirs', async () => {
    const values = `${minimal}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 1
        podAffinityTerm: {topologyKey: zone}
topologySpreadConstraints:
  - {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}
  - {maxSkew: 2, topologyKey: b, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: other}}}`;
    const pod = podOf(await render(values));
    const own = {
      matchLabels: { 'app.kubernetes.io/name': 'karpenter', 'app.kubernetes.io/instance': 'karpenter' },
    };
    const { podAntiAffinity } = pod.affinity;
    expect(podAntiAffinity['preferredDuringSchedulingIgnoredDuringExecution']).toEqual([
      { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: own } },
    ]);
    expect(podAntiAffinity['requiredDuringSchedulingIgnoredDuringExecution']?.[0]?.labelSelector).toEqual(own);
    expect(pod.topologySpreadConstraints.map((each) => each.labelSelector)).toEqual([
      own,
      { matchLabels: { app: 'other' } },
    ]);
  });
});

describe('a values file of a Karpenter user', () => {
  test('means what it meant', async () => {
    const objects = await render(karpenterUser, '--api-versions', 'monitoring.coreos.com/v1');
    expect(variables(objects)).toMatchObject({
      CLUSTER_NAME: 'prod',
      INTERRUPTION_QUEUE: 'Karpenter-prod',
      BATCH_MAX_DURATION: '20s',
      RESERVED_ENIS: '1',
      VM_MEMORY_OVERHEAD_PERCENT: '0',
      KUBE_CLIENT_QPS: '400',
      LOG_LEVEL: 'debug',
    });
    expect(variables(objects)['FEATURE_GATES']).toMatch(/NodeRepair=true.*SpotToSpotConsolidation=true/);
    expect(only(objects, 'ServiceAccount').metadata.annotations).toMatchObject({
      'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/KarpenterControllerRole-prod',
    });
    expect(only(objects, 'ServiceMonitor').metadata.labels['release']).toBe('kube-prometheus-stack');
    const { containers, nodeSelector } = podOf(objects);
    expect(containers[0]?.image).toMatch(/^kerf:\d/);
    expect(containers.map(({ name }) => name)).toEqual(['controller', 'log-shipper']);
    expect(nodeSelector).toEqual({ 'kubernetes.io/os': 'linux', role: 'system' });
  });
});

describe('rights', () => {
  const rulesOf = (objects: readonly Rendered[]): string[] =>
    objects
      .filter(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && !metadata.name.endsWith('-admin'))
      .flatMap(({ kind, metadata, rules = [] }) =>
        rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [''] }) =>
          resources.flatMap((resource) =>
            verbs.map((verb) =>
              `${kind === 'Role' ? `${metadata.namespace}: ` : ''}${verb} ${resource}.${apiGroups[0]} ${resourceNames[0]}`.trim(),
            ),
          ),
        ),
      );
  const documented = rulesOf(
    [
      ...readFileSync(join(import.meta.dirname, '../../docs/reference/rbac.md'), 'utf8').matchAll(
        /^```yaml\n([\s\S]*?)^```$/gm,
      ),
    ]
      .flatMap(([, text = '']) => text.split('---\n'))
      .map((text) => parse(text) as Rendered),
  ).map((rule) => rule.replace('kerf-system:', 'kube-system:'));

  test('are never wider than documented', async () => {
    const rules = rulesOf(await render(minimal));
    expect(rules.filter((rule) => !documented.includes(rule))).toEqual([]);
    expect(rules.filter((rule) => /secrets|configmaps|\*/.test(rule))).toEqual([
      'kube-system: get configmaps. aws-auth',
    ]);
    expect(rules.filter((rule) => /nodeoverlays|capacitybuffers|resourceclaims|metrics|kwok/.test(rule))).toEqual([]);
  });

  test.each([
    ['settings: {clusterName: one, featureGates: {nodeOverlay: true}}', 'patch nodeoverlays/status.karpenter.sh'],
    [
      'settings: {clusterName: one, featureGates: {capacityBuffer: true}}',
      'watch capacitybuffers.autoscaling.x-k8s.io',
    ],
    ['settings: {clusterName: one, ignoreDRARequests: false}', 'list resourceclaims.resource.k8s.io'],
    ['settings: {clusterName: one, dashboardPort: 8091}', 'list nodes.metrics.k8s.io'],
    ['settings: {clusterName: one, leaderElectionName: mine}', 'kube-system: update leases.coordination.k8s.io mine'],
    ['{provider: kwok, kwok: {fakeKubelets: true}}', 'patch pods/status.'],
    [
      '{settings: {clusterName: one}, controller: {env: [{name: FEATURE_GATES, value: "NodeOverlay=true"}]}}',
      'watch nodeoverlays.karpenter.sh',
    ],
  ])('%s adds %s', async (values, rule) => {
    expect(rulesOf(await render(values))).toContain(rule);
  });

  test('of a shadow change nothing but its lease', async () => {
    const rules = rulesOf(await render(join(examplesFolder, 'values-shadow.yaml')));
    expect(rules.filter((rule) => !/\b(get|list|watch) /.test(rule))).toEqual([
      'kube-system: create leases.coordination.k8s.io',
      'kube-system: update leases.coordination.k8s.io kerf-shadow',
      'kube-system: patch leases.coordination.k8s.io kerf-shadow',
    ]);
  });
});

describe('the image', () => {
  const digest = `sha256:${'1'.repeat(64)}`;
  const imageOf = async (image: string): Promise<string> =>
    controllerOf(await render(`{settings: {clusterName: one}, controller: {image: ${image}}}`)).image;

  test.each([
    ['{repository: registry.example.com/kerf}', 'registry.example.com/kerf:VERSION'],
    [`{repository: registry.example.com/kerf, tag: "2", digest: "${digest}"}`, `registry.example.com/kerf:2@${digest}`],
    // Karpenter's, in a values file of its chart, wherever it was mirrored.
    [`{repository: public.ecr.aws/karpenter/controller, tag: 1.14.1, digest: "${digest}"}`, 'kerf:VERSION'],
    ['{repository: mirror.example.com/karpenter/controller, tag: "1.14"}', 'kerf:VERSION'],
    ['{repository: mirror.example.com/karpenter}', 'kerf:VERSION'],
    ['{repository: karpenter.example.com/kerf}', 'karpenter.example.com/kerf:VERSION'],
    // Ours under the name that policies allow.
    [
      '{repository: mirror.example.com/karpenter/controller, tag: VERSION}',
      'mirror.example.com/karpenter/controller:VERSION',
    ],
  ])('%s is %s', async (given, wanted) => {
    const { version } = parse(readFileSync(join(kerfChart, 'Chart.yaml'), 'utf8')) as { version: string };
    expect(await imageOf(given.replace('VERSION', version))).toBe(wanted.replace('VERSION', version));
  });
});

describe('golden renderings', () => {
  test.each(['defaults', 'karpenter-user', ...examples.map((name) => name.replace(/^values-|\.yaml$/g, ''))])(
    '%s',
    async (name) => {
      const values =
        { defaults: minimal, 'karpenter-user': karpenterUser }[name] ?? join(examplesFolder, `values-${name}.yaml`);
      const objects = await render(values, '--api-versions', 'monitoring.coreos.com/v1');
      const usual = variables(await render(minimal));
      await expect(objects.map((object) => golden(object, usual)).join('---\n')).toMatchFileSnapshot(
        `golden/${name}.yaml`,
      );
    },
  );
});

/** Without the version, and without variables and gates that are as in every installation. */
function golden(object: Rendered, usual: Record<string, string>): string {
  const { 'helm.sh/chart': _, 'app.kubernetes.io/version': __, ...labels } = object.metadata.labels;
  const copy = structuredClone({ ...object, metadata: { ...object.metadata, labels } });
  if (copy.kind === 'Deployment') {
    const container = controllerOf([copy]);
    container.image = container.image.replace(/:\d+\.\d+\.\d+\S*$/, ':VERSION');
    const usualGates = (usual['FEATURE_GATES'] ?? '').split(',');
    container.env = container.env
      .filter(({ name, value }) => value === undefined || usual[name] !== value)
      .map((each) =>
        each.name === 'FEATURE_GATES'
          ? {
              ...each,
              value: (each.value ?? '')
                .split(',')
                .filter((gate) => !usualGates.includes(gate))
                .join(','),
            }
          : each,
      );
  }
  if (copy.data !== undefined) copy.data = Object.fromEntries(Object.keys(copy.data).map((name) => [name, '…']));
  return stringify(copy);
}

describe('definitions', () => {
  test('are kept when the release goes, and are those of kerf crds', async () => {
    const { stdout } = await helm(['template', 'kerf-crd', crdChart]);
    const crds = stdout.split(/^---$/m).flatMap((text) => (text.includes('kind:') ? [parse(text) as Rendered] : []));
    expect(crds.map(({ metadata }) => metadata.name).sort()).toEqual([
      'capacitybuffers.autoscaling.x-k8s.io',
      'ec2nodeclasses.karpenter.k8s.aws',
      'nodeclaims.karpenter.sh',
      'nodeoverlays.karpenter.sh',
      'nodepools.karpenter.sh',
    ]);
    for (const { metadata, spec } of crds) {
      expect(metadata.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep' });
      const [plural, ...group] = metadata.name.split('.');
      const file = join(kerfChart, 'crds', `${group.join('.')}_${plural}.yaml`);
      expect(spec).toEqual((parse(readFileSync(file, 'utf8')) as Rendered).spec);
    }
  });
});
