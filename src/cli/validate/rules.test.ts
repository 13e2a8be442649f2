import { describe, expect, test } from 'vitest';
import { catalogue } from '../../failures/index.ts';
import { runCommand } from '../run-command.testing.ts';
import type { Finding } from './finding.ts';
import { rules } from './rules/index.ts';
import { configure } from './validate.ts';

async function findings(text: string, ...args: string[]): Promise<Finding[]> {
  const { out } = await runCommand(configure, ['-f', '-', '-o', 'json', ...args], text);
  return (JSON.parse(out) as { findings: Finding[] }).findings;
}

const pool = (body: string, version = 'v1'): string => `apiVersion: karpenter.sh/${version}
kind: NodePool
metadata: {name: a}
${body}`;
const template = (lines: string): string => `spec:
  template:
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
      ${lines.replaceAll('\n', '\n      ')}
`;
const goodPool = (rest = ''): string => pool(`${template('requirements: []')}${rest}`);
const nodeClass = (lines: string): string => `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: r
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  ${lines.replaceAll('\n', '\n  ')}
`;
const alias = 'amiSelectorTerms: [{alias: al2023@v20240625}]';
const budget = (lines: string): string =>
  goodPool(`  disruption:\n    consolidateAfter: 1m\n    budgets:\n      - ${lines.replaceAll('\n', '\n        ')}\n`);
const pod = (lines: string): string => `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n${lines}\n`;
const affinity = (term: string): string =>
  pod(
    `spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [${term}]}]}}}}`,
  );
const pdb = (spec: string): string =>
  `apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {${spec}, selector: {matchLabels: {app: x}}}\n`;
const deployment = (replicas: number): string =>
  `---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: ${replicas}, template: {metadata: {labels: {app: x}}, spec: {nodeSelector: {project: p}}}}\n`;
const types = (list: string, capacity: string): string =>
  pool(
    template(
      `requirements:\n- {key: node.kubernetes.io/instance-type, operator: In, values: [${list}]}\n- {key: karpenter.sh/capacity-type, operator: In, values: [${capacity}]}`,
    ),
  );
const document = (block: string): string => `# Guide\n\n\`\`\`yaml\n${block}\`\`\`\n`;

/** For every rule: what breaks it, and nearly the same thing that does not. `at` is the field it points to. */
const cases: { id: string; at?: string; wrong: string; right: string }[] = [
  { id: 'M01', at: 'apiVersion', wrong: goodPool().replace('sh/v1', 'sh/v1beta1'), right: goodPool() },
  {
    id: 'M01',
    at: 'apiVersion',
    wrong: 'apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {}\n',
    right: 'apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: {requirements: []}\n',
  },
  {
    id: 'M02',
    at: 'spec.subnetSelector',
    wrong: nodeClass(`${alias}\nsubnetSelector: {a: b}`),
    right: nodeClass(alias),
  },
  {
    id: 'M03',
    at: 'spec.securityGroupSelector',
    wrong: nodeClass(`${alias}\nsecurityGroupSelector: {a: b}`),
    right: nodeClass(alias),
  },
  { id: 'M04', at: 'spec.amiSelectorTerms', wrong: nodeClass('amiFamily: AL2023'), right: nodeClass(alias) },
  {
    id: 'M05',
    at: 'spec.amiFamily',
    wrong: nodeClass('amiFamily: UBUNTU\namiSelectorTerms: [{id: ami-1}]'),
    right: nodeClass('amiFamily: Custom\namiSelectorTerms: [{id: ami-1}]'),
  },
  {
    id: 'M06',
    at: 'spec.amiFamily',
    wrong: nodeClass('amiFamily: AL2\namiSelectorTerms: [{id: ami-1}]'),
    right: nodeClass(alias),
  },
  { id: 'M07', wrong: nodeClass('amiSelectorTerms: [{alias: al2023@v20240625, owner: "1"}]'), right: nodeClass(alias) },
  {
    id: 'M08',
    at: 'spec.amiSelectorTerms[0].name',
    wrong: nodeClass(
      'amiFamily: AL2023\namiSelectorTerms: [{name: amazon-eks-node-al2023-x86_64-standard-1.33-*, owner: "1"}]',
    ),
    right: nodeClass('amiFamily: AL2023\namiSelectorTerms: [{name: my-image-*, owner: "1"}]'),
  },
  {
    id: 'M09',
    at: 'spec.template.spec.nodeClassRef.group',
    wrong: goodPool().replace('group: karpenter.k8s.aws, ', ''),
    right: goodPool(),
  },
  {
    id: 'M10',
    at: 'spec.template.spec.nodeClassRef.apiVersion',
    wrong: goodPool().replace('{group:', '{apiVersion: x/v1, group:'),
    right: goodPool(),
  },
  {
    id: 'M11',
    at: 'spec.disruption.expireAfter',
    wrong: goodPool('  disruption: {consolidateAfter: 1m, expireAfter: 720h}\n'),
    right: goodPool('  disruption: {consolidateAfter: 1m}\n'),
  },
  {
    id: 'M12',
    at: 'spec.disruption.consolidationPolicy',
    wrong: goodPool('  disruption: {consolidateAfter: 1m, consolidationPolicy: WhenUnderutilized}\n'),
    right: goodPool('  disruption: {consolidateAfter: 1m, consolidationPolicy: Balanced}\n'),
  },
  {
    id: 'M13',
    at: 'spec.disruption.consolidateAfter',
    wrong: goodPool('  disruption: {consolidateAfter: 30s}\n').replace('sh/v1', 'sh/v1beta1'),
    right: goodPool('  disruption: {consolidateAfter: 30s, consolidationPolicy: WhenEmpty}\n').replace(
      'sh/v1',
      'sh/v1beta1',
    ),
  },
  {
    id: 'M14',
    at: 'spec.disruption.budgets[0].reasons[0]',
    wrong: budget('nodes: 10%\nreasons: [UnderutilizedGPU]'),
    right: budget('nodes: 10%\nreasons: [Empty]'),
  },
  {
    id: 'M15',
    at: 'spec.disruption.budgets[0].reasons',
    wrong: budget('nodes: 10%\nreasons: [Empty]').replace('sh/v1', 'sh/v1beta1'),
    right: budget('nodes: 10%\nreasons: [Empty]'),
  },
  {
    id: 'M16',
    at: 'spec.disruption.budgets[0].duration',
    wrong: budget('nodes: 10%\nduration: 5m'),
    right: budget('nodes: 10%'),
  },
  {
    id: 'M17',
    at: 'spec.disruption.budgets[0].schedule',
    wrong: budget('nodes: 10%\nschedule: 0 9 * * 1-5\nduration: 8h'),
    right: budget('nodes: 10%\nschedule: 0 9 * * 1-5 # UTC\nduration: 8h'),
  },
  {
    id: 'M18',
    at: 'spec.disruption.budgets[0].nodes',
    wrong: budget('nodes: "0"').replace('      expireAfter: 720h\n', ''),
    right: budget('nodes: "0"'),
  },
  {
    id: 'M19',
    at: 'spec.limits.cpu',
    wrong: goodPool('  limits: {cpu: 1000m}\n'),
    right: goodPool('  limits: {cpu: "1000"}\n'),
  },
  {
    id: 'M20',
    at: 'spec.template.spec.affinity',
    wrong: pool(template('requirements: []\naffinity: {}')),
    right: pool(template('requirements: []')),
  },
  {
    id: 'M21',
    at: 'spec.template.spec.requirements[0].weight',
    wrong: pool(template('requirements: [{key: a, operator: Exists, weight: 10}]')),
    right: goodPool('  weight: 10\n'),
  },
  { id: 'M22', at: 'instance-type', wrong: 'instance-type: [t3.micro]\n', right: 'values: [t3.micro]\n' },
  {
    id: 'M23',
    at: 'spec.blockDeviceMappings[0].ebs.volumeSize',
    wrong: nodeClass(`${alias}\nblockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 200Gi+}}]`),
    right: nodeClass(`${alias}\nblockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 200Gi}}]`),
  },
  {
    id: 'M24',
    at: 'spec.metadataOptions.httpPutResponseHopLimit',
    wrong: nodeClass(`${alias}\nmetadataOptions: {httpPutResponseHopLimit: 2}`),
    right: nodeClass(`${alias}\nmetadataOptions: {httpPutResponseHopLimit: 1, httpTokens: required}`),
  },
  {
    id: 'M25',
    at: 'metadata.annotations[karpenter.sh/do-not-evict]',
    wrong: pod('spec: {}').replace('{name: a}', '{name: a, annotations: {karpenter.sh/do-not-evict: "true"}}'),
    right: pod('spec: {}').replace('{name: a}', '{name: a, annotations: {karpenter.sh/do-not-disrupt: "true"}}'),
  },
  {
    id: 'M26',
    wrong: affinity('{key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}'),
    right: affinity('{key: karpenter.sh/nodepool, operator: Exists}'),
  },
  {
    id: 'M27',
    at: 'spec.subnetSelectorTerms[0].tags[karpenter.sh/discovery]',
    wrong: nodeClass(alias).replace('discovery: prod', 'discovery: "true"'),
    right: nodeClass(alias),
  },
  { id: 'M28', at: 'appVersion', wrong: goodPool().replace('apiVersion', 'appVersion'), right: goodPool() },
  { id: 'M29', at: 'spec.template', wrong: goodPool().replace('template:', 'template'), right: goodPool() },
  {
    id: 'M30',
    at: 'metadata.labels.project',
    wrong: goodPool().replace('{name: a}', '{name: a, labels: {project: p}}') + deployment(1),
    right: goodPool().replace('{name: a}', '{name: a, labels: {team: x}}') + deployment(1),
  },
  {
    id: 'M31',
    at: 'spec.minAvailable',
    wrong: pdb('minAvailable: 1') + deployment(1),
    right: pdb('minAvailable: 1') + deployment(2),
  },
  {
    id: 'M31',
    at: 'spec.maxUnavailable',
    wrong: pdb('maxUnavailable: 0') + deployment(9),
    right: pdb('maxUnavailable: 1'),
  },
  {
    id: 'M32',
    at: 'metadata.labels[node-role.kubernetes.io/system]',
    wrong: 'apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {node-role.kubernetes.io/system: "true"}}\n',
    right: 'apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {role: system}}\n',
  },
  {
    id: 'M32',
    at: 'managedNodeGroups[0].labels[eks.amazonaws.com/x]',
    wrong:
      'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmanagedNodeGroups: [{labels: {eks.amazonaws.com/x: y}}]\n',
    right: 'apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmanagedNodeGroups: [{labels: {x: y}}]\n',
  },
  {
    id: 'M33',
    at: 'spec.template.spec.requirements[0].values',
    wrong: types('m5.large, c5.large', 'spot'),
    right: types('m5.large, c5.large', 'on-demand'),
  },
  {
    id: 'M34',
    at: 'spec.template.spec.kubelet',
    wrong: pool(template('requirements: []\nkubelet: {maxPods: 20}')),
    right: nodeClass(`${alias}\nkubelet: {maxPods: 20}`),
  },
  {
    id: 'M35',
    at: 'mapRoles',
    wrong: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-auth}\ndata:\nmapRoles: |\n  - rolearn: x\n',
    right: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-auth}\ndata:\n  mapRoles: |\n    - rolearn: x\n',
  },
  {
    id: 'M35',
    at: 'data.mapRoles',
    wrong:
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-auth}\ndata:\n  mapRoles: |\n    - rolearn: x\n        groups: y\n      username: z\n',
    right: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-auth}\ndata:\n  mapRoles: |\n    []\n',
  },
  {
    id: 'M36',
    wrong: `${document('a: 1\n')}Set enableRebalanceDrainin to false.\n`,
    right: `${document('a: 1\n')}Set enableRebalanceDraining to false.\n`,
  },
  {
    id: 'L01',
    at: 'spec.template.spec.requirements[0].values',
    wrong: pool(template('requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [t3, t3a]}]')),
    right: pool(template('requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [t3, m6i]}]')),
  },
  {
    id: 'L03',
    at: 'spec.template.spec.requirements[0].values[1]',
    wrong: pool(template('requirements: [{key: a, operator: In, values: [x, on]}]')),
    right: pool(template('requirements: [{key: a, operator: In, values: [x, "on"]}]')),
  },
  {
    id: 'L04',
    at: 'spec.amiSelectorTerms[0].alias',
    wrong: nodeClass('amiSelectorTerms: [{alias: bottlerocket@latest}]'),
    right: nodeClass('amiSelectorTerms: [{alias: windows2022@latest}]'),
  },
  {
    id: 'L05',
    at: 'spec.role',
    wrong: nodeClass(alias).replace('role: r', `role: ${'r'.repeat(65)}`),
    right: nodeClass(alias).replace('role: r', `role: ${'r'.repeat(64)}`),
  },
  {
    id: 'L05',
    at: 'spec.role',
    wrong: nodeClass(alias).replace('role: r', 'role: arn:aws:iam::1:role/r'),
    right: nodeClass(alias),
  },
  {
    id: 'L06',
    at: 'spec.amiSelectorTerms[0].name',
    wrong: nodeClass('amiFamily: AL2023\namiSelectorTerms: [{name: my-*}]'),
    right: nodeClass('amiFamily: AL2023\namiSelectorTerms: [{name: my-*, owner: self}]'),
  },
  {
    id: 'L07',
    at: 'spec.template.spec.requirements[0].values[0]',
    wrong: pool(
      template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spott, on-demand]}]'),
    ),
    right: pool(template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}]')),
  },
  {
    id: 'L07',
    at: 'spec.template.spec.requirements[0].values[0]',
    wrong: pool(template('requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlrge]}]')),
    right: pool(template('requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}]')),
  },
  {
    // Nothing else may be said about it, as where another field is wrong.
    id: 'L07',
    at: 'spec.template.spec.requirements[0].values[0]',
    wrong: pool(template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spott]}]')),
    right: pool(template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]')),
  },
  {
    id: 'L07',
    at: 'spec.template.spec.requirements[0].values[0]',
    wrong: pool(template('requirements: [{key: kubernetes.io/arch, operator: In, values: [x86_64]}]')),
    right: pool(template('requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]')),
  },
  {
    id: 'L08',
    at: 'spec.role',
    wrong: nodeClass(alias).replace('role: r', 'role: KarpenterNodeRole-<cluster>'),
    right: nodeClass(alias),
  },
  {
    id: 'L09',
    at: 'spec.template.spec.requirements[0].values',
    wrong: `${pool(template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]'))}---\n${nodeClass(alias)}`,
    right: `${pool(template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]'))}---\n${nodeClass(alias)}`,
  },
  {
    id: 'L02',
    at: 'spec.template.spec',
    wrong: goodPool().replace('      expireAfter: 720h\n', ''),
    right: goodPool(),
  },
];

describe('each rule', () => {
  test.each(cases)('$id fires on $at and not on the corrected manifest', async ({ id, at, wrong, right }) => {
    const found = (await findings(wrong)).filter((finding) => finding.rule === id);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(({ field }) => field)).toContain(at ?? found[0]?.field);
    const rule = rules.find((one) => one.id === id);
    expect(found[0]).toMatchObject({ severity: rule?.severity, strict: rule?.strict });
    expect(found.every(({ fix, message }) => fix !== undefined && message !== '')).toBe(true);
    expect((await findings(right)).map((finding) => finding.rule)).not.toContain(id);
  });

  test('has a case here', () => {
    expect(rules.map(({ id }) => id).filter((id) => !cases.some((one) => one.id === id))).toEqual([]);
  });

  test('is listed once, M01 to M36 without a gap', () => {
    const expected = Array.from({ length: 36 }, (_, index) => `M${String(index + 1).padStart(2, '0')}`);
    expect(rules.map(({ id }) => id).filter((id) => id.startsWith('M'))).toEqual(expected);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  });

  test('a correct manifest has no findings at all', async () => {
    expect(await findings(nodeClass(alias))).toEqual([]);
    expect(await findings(goodPool())).toEqual([]);
  });

  test('the v1beta1 policy rule (M13) is silent where budget reasons (M15) show that v1 was meant', async () => {
    const text = goodPool('  disruption: {consolidateAfter: 30s, budgets: [{nodes: 10%, reasons: [Empty]}]}\n').replace(
      'sh/v1',
      'sh/v1beta1',
    );
    expect((await findings(text)).map(({ rule }) => rule)).toEqual(['M01', 'M15']);
  });

  test('a cpu limit below the smallest allowed type says that no node is ever launched; a plain number is then an error', async () => {
    const limited = (limit: string): string => `${types('m5.xlarge', 'on-demand')}  limits: {cpu: ${limit}}\n`;
    expect(await findings(limited('1000m'))).toMatchObject([{ rule: 'M19', severity: 'warning', fix: 'cpu: "1000"' }]);
    expect(await findings(limited('2'))).toMatchObject([
      { rule: 'M19', severity: 'error', message: expect.stringContaining('never launches') },
    ]);
    expect(await findings(limited('4'))).toEqual([]);
  });

  test('AL2 is an error once the cluster is known to be 1.33 or newer', async () => {
    const text = nodeClass('amiSelectorTerms: [{alias: al2@v20240625}]');
    expect(await findings(text, '--kubernetes-version', '1.32')).toMatchObject([{ rule: 'M06', severity: 'warning' }]);
    expect(await findings(text, '--kubernetes-version', 'v1.34.2')).toMatchObject([{ rule: 'M06', severity: 'error' }]);
  });

  test('can be left out', async () => {
    expect(await findings(goodPool().replace('      expireAfter: 720h\n', ''), '--ignore', 'L02,M17')).toEqual([]);
  });
});

describe('labels and taints', () => {
  test.each([
    [
      'a misspelt label of the provider',
      template('requirements: [{key: karpenter.k8s.aws/instance-famly, operator: Exists}]'),
      'schema/rule',
      'spec.template.spec.requirements[0].key',
      'karpenter.k8s.aws/instance-family',
    ],
    [
      'capacity types that do not exist',
      template('requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [cheap]}]'),
      'runtime',
      'spec.template.spec.requirements[0].key',
      undefined,
    ],
    [
      'the same taint twice',
      template('requirements: []\ntaints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]'),
      'runtime',
      'spec.template.spec.taints',
      undefined,
    ],
    [
      'a value no label can have',
      template('requirements: [{key: a, operator: In, values: ["no spaces"]}]'),
      'runtime',
      'spec.template.spec.requirements[0].key',
      undefined,
    ],
  ])('%s', async (_name, body, rule, field, fix) => {
    // A misspelt capacity type is also a value that no machine has.
    const found = (await findings(pool(body))).filter((each) => each.rule !== 'L07');
    expect(found).toMatchObject([{ rule, severity: 'error', field, ...(fix === undefined ? {} : { fix }) }]);
  });

  test('what only the controller refuses is not marked as refused by the API server', async () => {
    const [found] = await findings(pool(template('requirements: [{key: a, operator: In, values: ["no spaces"]}]')));
    expect(found).toMatchObject({ strict: false, message: expect.stringContaining('the controller refuses it') });
  });
});

test('the failures that rules name are those of the catalogue', () => {
  const ids: readonly string[] = catalogue.map(({ id }) => id);
  const named = rules.flatMap(({ failure }) => failure ?? []);
  expect(named.length).toBeGreaterThan(20);
  for (const id of named) expect(ids).toContain(id);
});

describe('reservations that are paid for and not used', () => {
  const poolOf = (values: string): string =>
    pool(template(`requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [${values}]}]`));
  const selecting = nodeClass(`${alias}\ncapacityReservationSelectorTerms: [{tags: {team: a}}]`);
  const found = async (...texts: string[]): Promise<string[]> =>
    (await findings(texts.join('---\n'))).filter(({ rule }) => rule === 'L09').map(({ message }) => message);

  test('are found where the pool allows reserved and its class selects none', async () => {
    expect(await found(poolOf('reserved, on-demand'), nodeClass(alias))).toEqual([
      expect.stringContaining('EC2NodeClass a selects no reservation'),
    ]);
  });

  test('are found where the class selects some and the pool does not allow reserved', async () => {
    expect(await found(selecting, poolOf('on-demand'))).toEqual([expect.stringContaining('does not allow reserved')]);
  });

  test('are not suspected where both agree, or where the class is not among the manifests', async () => {
    expect(await found(selecting, poolOf('reserved, on-demand'))).toEqual([]);
    expect(await found(nodeClass(alias), poolOf('on-demand'))).toEqual([]);
    expect(await found(poolOf('reserved'))).toEqual([]);
  });
});
