import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { type Ran, runCommand } from '../run-command.testing.ts';
import { configure } from './convert.ts';
import { errorsOf } from './errors-of.testing.ts';

const convert = (text: string, ...args: string[]): Promise<Ran> =>
  runCommand(configure, ['-f', '-', ...args], text, { columns: 200 });
const converted = async (text: string): Promise<unknown[]> => {
  const { out } = await convert(text, '--notes', 'none');
  return parseAllDocuments(out).map((document) => document.toJS() as unknown);
};

const oldPool = `# Pools of the shop
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: shop # the name stays
spec:
  # what nodes look like
  template:
    spec:
      nodeClassRef:
        apiVersion: karpenter.k8s.aws/v1beta1
        kind: EC2NodeClass
        name: shop
      requirements: [] # any
      kubelet:
        maxPods: 42 # dense
  disruption:
    consolidationPolicy: WhenUnderutilized
    expireAfter: 48h # two days
    budgets:
      - nodes: '20%'
`;

const oldClass = `apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata:
  name: shop
spec:
  amiFamily: Bottlerocket
  role: shop-nodes
  subnetSelector:
    karpenter.sh/discovery: shop # tag of our subnets
  securityGroupSelector:
    aws-ids: sg-1, sg-2
`;

describe('-o json', () => {
  test('prints every object as one List, those of Lists and JSON included', async () => {
    const list = JSON.stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }],
    });
    const { out, err, code } = await convert(`${oldPool}---\n${oldClass}---\n${list}\n`, '-o', 'json');
    expect(code).toBe(0);
    const { kind, items } = JSON.parse(out) as { kind: string; items: { apiVersion: string; kind: string }[] };
    expect(kind).toBe('List');
    expect(items.map((item) => `${item.apiVersion} ${item.kind}`)).toEqual([
      'karpenter.sh/v1 NodePool',
      'karpenter.k8s.aws/v1 EC2NodeClass',
      'v1 ConfigMap',
    ]);
    expect(err).toContain('to decide');
  });

  test('a document that cannot be read is reported and left out', async () => {
    const { out, err, code } = await convert(
      `${oldPool}---\napiVersion: karpenter.sh/v1beta1\nkind: [\n`,
      '-o',
      'json',
    );
    expect(code).toBe(1);
    expect((JSON.parse(out) as { items: unknown[] }).items).toHaveLength(1);
    expect(err).toContain('left as it is');
  });

  test('is refused with what only text can have', async () => {
    await expect(convert(oldPool, '-o', 'json', '--notes', 'inline')).rejects.toThrow('without comments');
    await expect(convert(oldPool, '-o', 'json', '--write')).rejects.toThrow('without comments');
  });
});

describe('a v1beta1 NodePool with its class', () => {
  test('becomes v1 with every comment, quote and the order of fields kept', async () => {
    const { out, code } = await convert(`${oldPool}---\n${oldClass}`, '--notes', 'none');
    expect(code).toBe(0);
    expect(out).toBe(`# Pools of the shop
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: shop # the name stays
spec:
  # what nodes look like
  template:
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: shop
      requirements: [] # any
      expireAfter: 48h # two days
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    budgets:
      - nodes: '20%'
    consolidateAfter: 0s
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: shop
spec:
  amiFamily: Bottlerocket
  amiSelectorTerms:
    - alias: bottlerocket@latest
  role: shop-nodes
  subnetSelectorTerms:
    - tags:
        karpenter.sh/discovery: shop # tag of our subnets
  securityGroupSelectorTerms:
    - id: sg-1
    - id: sg-2
  kubelet:
    maxPods: 42 # dense
`);
  });

  test('every change and every open question is a note that names file, line, object and rule', async () => {
    const { err } = await convert(`${oldPool}---\n${oldClass}`);
    expect(err).toContain('stdin:2 NodePool shop\n');
    expect(err).toContain('✓ spec.disruption.expireAfter moved to spec.template.spec.expireAfter (M11)');
    expect(err).toContain('kubelet moved to the EC2NodeClass shop (M34)');
    expect(err).toContain('? decide: pin a release instead of bottlerocket@latest');
    expect(err).toMatch(/\d+ changes, 2 things to decide\n$/);
  });

  test('notes can stand in the output as comments', async () => {
    const { out, err } = await convert(oldPool, '--notes', 'inline');
    expect(err).toBe('');
    expect(out).toContain(
      '# NodePool shop: spec.disruption.expireAfter moved to spec.template.spec.expireAfter (M11)\n',
    );
    expect(out).toContain('# NodePool shop: decide: removed kubelet');
    expect(parse(out)).toMatchObject({ apiVersion: 'karpenter.sh/v1' });
  });

  test('kubelet settings without a class at hand, or against other settings, are left to decide', async () => {
    expect((await convert(oldPool)).err).toMatch(/not in the input\); put there: kubelet:\s+\{"maxPods":42\}/);
    const other = oldClass.replace('  role:', '  kubelet: {maxPods: 10}\n  role:');
    expect((await convert(`${oldPool}---\n${other}`)).err).toContain('already has other settings');
  });
});

describe('old ways of writing are put right', () => {
  const pool = (spec: string): string =>
    `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      nodeClassRef: {name: a}\n      requirements: []\n${spec}`;

  test('a nodeClassRef with only a name takes group and kind from the class in the input (M09)', async () => {
    const kwok = 'apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: a}\nspec: {}\n';
    const [onAws] = await converted(pool(''));
    expect(onAws).toMatchObject({
      spec: { template: { spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass' } } } },
    });
    const [onKwok] = await converted(`${pool('')}---\n${kwok}`);
    expect(onKwok).toMatchObject({
      spec: { template: { spec: { nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass' } } } },
    });
  });

  test('misspelt apiVersion (M28), pod fields (M20) and wrong reasons (M14)', async () => {
    const text = pool(
      '      affinity: {x: y}\n  disruption: {consolidateAfter: 1m, budgets: [{nodes: "1", reasons: [Empty, Odd]}, {nodes: "2", reasons: [Odd]}]}\n',
    );
    const [object] = await converted(text.replace('apiVersion', 'appVersion'));
    expect(object).toMatchObject({
      apiVersion: 'karpenter.sh/v1',
      spec: { disruption: { budgets: [{ nodes: '1', reasons: ['Empty'] }] } },
    });
    expect(JSON.stringify(object)).not.toContain('affinity');
  });

  test('a budget window that lacks its other half always holds (M16)', async () => {
    const [object] = await converted(
      pool('  disruption: {consolidateAfter: 1m, budgets: [{nodes: "1", duration: 5m}]}\n'),
    );
    expect(object).toMatchObject({ spec: { disruption: { budgets: [{ nodes: '1' }] } } });
    expect(JSON.stringify(object)).not.toContain('duration');
  });

  test.each([
    ['AL2', { alias: 'al2@latest' }],
    ['AL2023', { alias: 'al2023@latest' }],
    ['Windows2022', { alias: 'windows2022@latest' }],
    ['Ubuntu', { name: 'ubuntu-eks/k8s_*', owner: '099720109477' }],
    ['BOTTLEROCKET', { alias: 'bottlerocket@latest' }],
  ])('amiFamily %s chooses its images explicitly (M04, M05)', async (family, term) => {
    const [object] = await converted(oldClass.replace('Bottlerocket', family));
    expect(object).toMatchObject({ spec: { amiSelectorTerms: [term] } });
    expect(await errorsOf(stringify(object))).toEqual([]);
  });

  test('old names in workloads are replaced, other workloads stay byte for byte', async () => {
    const deployment = `kind: Deployment
apiVersion: apps/v1
spec:
  template:
    metadata:
      annotations: {karpenter.sh/do-not-evict: "true"}
    spec:
      nodeSelector:
        karpenter.sh/provisioner-name: shop # ours
`;
    const { out } = await convert(deployment, '--notes', 'none');
    expect(out).toContain('annotations: {karpenter.sh/do-not-disrupt: "true"}');
    expect(out).toContain('karpenter.sh/nodepool: shop # ours');
    const other = 'kind:   ConfigMap\napiVersion: v1   # odd   spacing\ndata: {a:   b}\n';
    expect((await convert(other, '--notes', 'none')).out).toBe(other);
  });
});

describe('alpha objects', () => {
  const provisioner = `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: shop
spec:
  labels: {team: shop}
  requirements:
    - key: karpenter.sh/capacity-type
      operator: In
      values: [spot]
  limits:
    resources:
      cpu: 100 # cores
  providerRef:
    name: shop
  ttlSecondsAfterEmpty: 30
  ttlSecondsUntilExpired: 86400
  weight: 10
`;

  test('a Provisioner becomes a NodePool that behaves as before', async () => {
    expect(await converted(provisioner)).toEqual([
      {
        apiVersion: 'karpenter.sh/v1',
        kind: 'NodePool',
        metadata: { name: 'shop' },
        spec: {
          template: {
            metadata: { labels: { team: 'shop' } },
            spec: {
              nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'shop' },
              requirements: [
                { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
                { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
                { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] },
                { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
                { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['2'] },
              ],
              expireAfter: '86400s',
            },
          },
          limits: { cpu: 100 },
          disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: '30s' },
          weight: 10,
        },
      },
    ]);
  });

  test('without consolidation or expiry nothing is removed by itself, as before', async () => {
    const quiet = provisioner.replaceAll(/ {2}ttlSeconds.*\n/g, '');
    expect(await converted(quiet)).toMatchObject([
      {
        spec: {
          template: { spec: { expireAfter: 'Never' } },
          disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
        },
      },
    ]);
    const eager = quiet.replace('  weight: 10', '  consolidation: {enabled: true}');
    expect(await converted(eager)).toMatchObject([
      { spec: { disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' } } },
    ]);
  });

  test('an inline provider becomes an EC2NodeClass of its own', async () => {
    const inline = provisioner.replace(
      'providerRef:\n    name: shop',
      'provider:\n    instanceProfile: shop\n    subnetSelector: {Name: a}\n    securityGroupSelector: {Name: a}',
    );
    const { out } = await convert(inline, '--notes', 'none');
    const [pool, nodeClass] = parseAllDocuments(out).map((document) => document.toJS() as unknown);
    expect(pool).toMatchObject({
      spec: { template: { spec: { nodeClassRef: { name: 'shop', kind: 'EC2NodeClass' } } } },
    });
    expect(nodeClass).toMatchObject({
      kind: 'EC2NodeClass',
      metadata: { name: 'shop' },
      spec: { instanceProfile: 'shop', amiSelectorTerms: [{ alias: 'al2@latest' }] },
    });
    expect(await errorsOf(out)).toEqual([]);
  });

  test('an AWSNodeTemplate becomes an EC2NodeClass, its selectors terms', async () => {
    const text = `apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: shop}
spec:
  amiFamily: AL2
  amiSelector: {aws::name: my-image, aws::owners: self}
  subnetSelector: {aws-ids: "subnet-1,subnet-2"}
  securityGroupSelector: {team: shop}
  launchTemplate: old
`;
    const { out, err } = await convert(text);
    expect(parse(out)).toMatchObject({
      apiVersion: 'karpenter.k8s.aws/v1',
      kind: 'EC2NodeClass',
      spec: {
        amiSelectorTerms: [{ name: 'my-image', owner: 'self' }],
        subnetSelectorTerms: [{ id: 'subnet-1' }, { id: 'subnet-2' }],
        securityGroupSelectorTerms: [{ tags: { team: 'shop' } }],
      },
    });
    expect(err).toContain('decide: removed launchTemplate');
    expect(err).toContain('decide: role was added with a placeholder');
    expect(await errorsOf(out)).toEqual([]);
  });

  test('a Machine becomes a NodeClaim', async () => {
    const text =
      'apiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: a}\nspec: {machineTemplateRef: {name: x}, requirements: []}\n';
    expect(await converted(text)).toMatchObject([
      { kind: 'NodeClaim', spec: { nodeClassRef: { name: 'x', kind: 'EC2NodeClass' } } },
    ]);
  });
});

describe('forms of input', () => {
  test('items of a List are converted inside it', async () => {
    const indented = oldPool.replace('# Pools of the shop\n', '').replaceAll('\n', '\n  ').trimEnd();
    const { out } = await convert(`apiVersion: v1\nkind: List\nitems:\n- ${indented}\n`, '--notes', 'none');
    expect(parse(out)).toMatchObject({ kind: 'List', items: [{ apiVersion: 'karpenter.sh/v1' }] });
    expect(await errorsOf(out)).toEqual([]);
  });

  test('JSON stays JSON, also several values in a row', async () => {
    const json = JSON.stringify(parse(oldClass));
    const { out } = await convert(json, '--notes', 'none');
    expect(JSON.parse(out)).toMatchObject({ apiVersion: 'karpenter.k8s.aws/v1' });
    const two = await convert(`${json}\n{"kind":"ConfigMap","apiVersion":"v1"}\n`, '--notes', 'none');
    expect(parseAllDocuments(two.out).map((document) => (document.toJS() as { kind: string }).kind)).toEqual([
      'EC2NodeClass',
      'ConfigMap',
    ]);
  });

  test.each(['', '  '])(
    'a long List is converted item by item, with the same result and the rest untouched',
    async (indent) => {
      const item = (n: number): string =>
        `- ${oldPool.replace('# Pools of the shop\n', '').replaceAll('shop', `shop-${n}`).trimEnd().replaceAll('\n', '\n  ')}\n`.replaceAll(
          /^(?=.)/gm,
          indent,
        );
      const kept = `${indent}- {kind:   ConfigMap,   apiVersion: v1} # odd\n`;
      const list = (count: number): string =>
        `apiVersion: v1\nitems:\n${Array.from({ length: count }, (_, n) => item(n)).join('')}${kept}kind: List # tail\n`;
      expect(list(300).length).toBeGreaterThan(100_000);
      const { out, code } = await convert(list(300), '--notes', 'none');
      const small = await convert(list(2), '--notes', 'none');
      expect(code).toBe(0);
      const [large, short] = [out, small.out].map((text) => (parse(text) as { items: unknown[] }).items);
      expect(large).toHaveLength(301);
      expect(large?.slice(0, 2)).toEqual(short?.slice(0, 2));
      expect(out.endsWith(`${kept}kind: List # tail\n`)).toBe(true);
      expect((await convert(out, '--notes', 'none')).out).toBe(out);
    },
  );

  test('aliases are written out before fields move', async () => {
    const text = oldPool
      .replace('requirements: [] # any', 'requirements: &r [{key: a, operator: Exists}]')
      .replace("nodes: '20%'", "nodes: '20%'\n  x: *r");
    const { out } = await convert(text, '--notes', 'none');
    expect(out).not.toMatch(/[&*]r\b/);
    expect(parse(out)).toMatchObject({
      spec: { template: { spec: { requirements: [{ key: 'a' }] } }, x: [{ key: 'a' }] },
    });
  });

  test('what is not YAML is left as it is, reported, and in the exit code', async () => {
    const broken = 'apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nspec: [\n';
    const { out, err, code } = await convert(`${broken}---\n${oldClass}`);
    expect(code).toBe(1);
    expect(out.startsWith(broken)).toBe(true);
    expect(out).toContain('apiVersion: karpenter.k8s.aws/v1\n');
    expect(err).toContain('stdin:1: left as it is');
  });

  test.each([
    ['of what is around it', 'metadata: &m {name: a, again: *m}', 'no end'],
    [
      'that multiply',
      `metadata: {name: a}\nl0: &l0 [x]\n${Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`).join('\n')}`,
      'alias bomb',
    ],
  ])('aliases %s are not written out, and said', async (_, lines, why) => {
    const { out, err, code } = await convert(`apiVersion: karpenter.sh/v1beta1\nkind: NodePool\n${lines}\n`);
    expect([code, out.includes('v1beta1')]).toEqual([1, true]);
    expect(err).toContain(why);
  });

  test('Windows line ends stay', async () => {
    const { out } = await convert(oldClass.replaceAll('\n', '\r\n'), '--notes', 'none');
    expect(out).toContain('apiVersion: karpenter.k8s.aws/v1\r\n');
    expect(out.replaceAll('\r\n', '')).not.toContain('\n');
  });
});

test('the guide shows what really comes out', async () => {
  const guide = readFileSync('docs/guide/migrate.md', 'utf8');
  const [before = '', after = ''] = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  const { out, err } = await runCommand(configure, ['-f', '-'], before);
  expect(out).toBe(after);
  expect(guide).toContain(`\`\`\`\n${err.replaceAll('stdin:', 'web.yaml:')}\`\`\`\n`);
});

test('comments on fields that go away are kept at the end of their object, those on fields that move go along', async () => {
  const text = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: shop}
spec:
  template:
    spec:
      nodeClassRef: {name: shop}
      # asked for by finance
      resources: {requests: {cpu: 1}} # never worked
      requirements: []
`;
  const { out, err } = await convert(text);
  expect(out).toMatch(/requirements: \[\]\n\n# asked for by finance\n# never worked\n$/);
  expect(err).toContain('comments of fields that are gone stand at the end');
  expect((await convert(out)).out).toBe(out);
  expect((await convert(`${oldPool}---\n${oldClass}`)).out.match(/# dense/g)).toHaveLength(1);
});
