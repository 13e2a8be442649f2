import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../run-command.testing.ts';
import { configure } from './iam.ts';

const here = ['--cluster', 'one', '--region', 'us-west-2', '--account', '123456789012'];
const iam = async (...args: string[]): Promise<string> => {
  const { code, out } = await runCommand(configure, args);
  expect(code).toBe(0);
  return out;
};
const policies = async (...args: string[]): Promise<Record<string, Document>> =>
  JSON.parse(await iam('policy', ...here, ...args)) as Record<string, Document>;

interface Document {
  Statement: { Sid: string; Action: string | string[]; Resource: string | string[]; Condition?: object }[];
}
const actionsOf = (documents: Document[]): Set<string> =>
  new Set(documents.flatMap(({ Statement }) => Statement).flatMap(({ Action }) => Action));

describe('the policies of the controller', () => {
  test('are joined on request by one that only reads, for the checks before launches', async () => {
    const documents = await policies('--with-checks');
    expect(Object.keys(documents)).toHaveLength(7);
    const alone = JSON.parse(await iam('policy', ...here, '--only', 'LaunchChecks')) as Document;
    expect(Object.values(documents).at(-1)).toEqual(alone);
    for (const action of actionsOf([alone])) expect(action).toMatch(/^[a-z0-9]+:(?:Get|List|Describe)/);
  });

  test('are six, named after the cluster, each within the size IAM allows', async () => {
    const documents = await policies();
    expect(Object.keys(documents)).toEqual(
      ['NodeLifecycle', 'IAMIntegration', 'EKSIntegration', 'Interruption', 'ZonalShift', 'ResourceDiscovery'].map(
        (part) => `KarpenterController${part}Policy-one`,
      ),
    );
    for (const document of Object.values(documents)) expect(JSON.stringify(document).length).toBeLessThan(6_144);
  });

  test('allow nothing with effects without a condition on tags, except reading what launches are made of', async () => {
    const statements = Object.values(await policies()).flatMap(({ Statement }) => Statement);
    const writes = statements.filter(({ Action }) =>
      [Action].flat().some((each) => !/:(Describe|Get|List|Receive|DeleteMessage)/.test(each)),
    );
    const open = writes.filter(({ Condition }) => Condition === undefined).map(({ Sid }) => Sid);
    expect(open).toEqual(['AllowScopedEC2InstanceAccessActions']);
    for (const { Action } of statements) for (const each of [Action].flat()) expect(each).not.toContain('*');
  });

  test('let tags be added to own instances only, and only ours', async () => {
    const { 'KarpenterControllerNodeLifecyclePolicy-one': lifecycle } = await policies();
    const statement = lifecycle?.Statement.find(({ Sid }) => Sid === 'AllowScopedResourceTagging');
    expect(statement).toMatchObject({
      Resource: 'arn:aws:ec2:us-west-2:*:instance/*',
      Condition: {
        StringEquals: { 'aws:ResourceTag/kubernetes.io/cluster/one': 'owned' },
        StringLike: { 'aws:ResourceTag/karpenter.sh/nodepool': '*' },
        StringEqualsIfExists: { 'aws:RequestTag/eks:eks-cluster-name': 'one' },
        'ForAllValues:StringEquals': { 'aws:TagKeys': ['eks:eks-cluster-name', 'karpenter.sh/nodeclaim', 'Name'] },
      },
    });
  });

  test('one part is printed alone, as `aws iam create-policy` wants it', async () => {
    const document = JSON.parse(await iam('policy', ...here, '--only', 'Interruption', '--queue', 'q')) as Document;
    expect(document.Statement[0]?.Resource).toBe('arn:aws:sqs:us-west-2:123456789012:q');
  });

  test.each([
    ['cn-north-1', 'arn:aws-cn:eks:cn-north-1:'],
    ['us-gov-west-1', 'arn:aws-us-gov:eks:us-gov-west-1:'],
    ['us-isob-east-1', 'arn:aws-iso-b:eks:us-isob-east-1:'],
    ['eusc-de-east-1', 'arn:aws-eusc:eks:eusc-de-east-1:'],
  ])('know the partition of %s', async (region, prefix) => {
    const text = await iam(
      'policy',
      '--cluster',
      'one',
      '--region',
      region,
      '--account',
      '123456789012',
      '--only',
      'EKSIntegration',
    );
    expect(text).toContain(prefix);
  });
});

/** Every action the code can call, from the SDK commands and paginators it imports; questions to the account apart. */
function calledActions(isAboutAccount = false): Set<string> {
  const called = new Set<string>();
  const isWanted = (file: string): boolean =>
    !/\.test(ing)?\.ts$/.test(file) && file.includes('aws/account/') === isAboutAccount;
  for (const file of globSync('src/aws*/**/*.ts').filter(isWanted)) {
    const imports = /import\s+(?:type\s+)?\{([^}]*)\}\s+from '@aws-sdk\/client-([a-z0-9]+)'/g;
    for (const [, names = '', service = ''] of readFileSync(file, 'utf8').matchAll(imports)) {
      for (const [, command, paged] of names.matchAll(/(?<!type )\b(?:(\w+)Command|paginate(\w+))\b/g))
        called.add(`${service}:${command ?? paged}`);
    }
  }
  return called;
}

describe('the policies and the code agree', () => {
  /** No one needs a permission for it. */
  const free = new Set(['sts:GetCallerIdentity']);
  /** Needed by what is called, without a command of its own: a signed request, a fleet's instances, tags, the role. */
  const implied = new Set([
    'arc-zonal-shift:GetManagedResource',
    'ec2:RunInstances',
    'ec2:CreateTags',
    'iam:PassRole',
    'iam:TagInstanceProfile',
  ]);

  test('every action that the code calls is allowed', async () => {
    const granted = actionsOf(Object.values(await policies()));
    const called = [...calledActions()].filter((action) => !free.has(action));
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter((action) => !granted.has(action))).toEqual([]);
  });

  test('every action that is allowed is called', async () => {
    const called = calledActions();
    const idle = [...actionsOf(Object.values(await policies()))].filter(
      (action) => !called.has(action) && !implied.has(action),
    );
    expect(idle).toEqual([]);
  });

  test('what is asked of the account before launches is allowed by the optional policy, and nothing else is in it', async () => {
    const optional = actionsOf([JSON.parse(await iam('policy', ...here, '--only', 'LaunchChecks')) as Document]);
    const granted = actionsOf(Object.values(await policies()));
    /** Asked by the doctor alone, with the rights of the person who calls it. */
    const ofDoctor = new Set([
      'eks:DescribePodIdentityAssociation',
      'eks:ListPodIdentityAssociations',
      'iam:ListOpenIDConnectProviders',
    ]);
    /** Signed requests without a command. */
    const signed = [
      'events:ListRules',
      'events:ListTargetsByRule',
      'kms:DescribeKey',
      'kms:GetKeyPolicy',
      'kms:ListGrants',
    ];
    const asked = [...calledActions(true), ...signed].filter((action) => !granted.has(action) && !ofDoctor.has(action));
    expect([...optional].sort()).toEqual([...new Set(asked)].sort());
  });
});

describe('templates', () => {
  const commands = [
    ['policy'],
    ['node-role'],
    ['trust'],
    ['trust', '--oidc-issuer', 'https://oidc.example/id/X'],
    ['queue'],
  ];

  test.each(commands)('%s as CloudFormation names no account and substitutes what it needs', async (...args) => {
    const text = await iam(...args, '--cluster', 'one', '-o', 'cloudformation');
    const template = parse(text) as { Resources: Record<string, { Type: string }> };
    expect(Object.keys(template.Resources).length).toBeGreaterThan(0);
    for (const line of text.split('\n').filter((each) => each.includes('${'))) expect(line).toContain('Fn::Sub');
  });

  test.each(commands)('%s as Terraform has whole JSON documents and balanced blocks', async (...args) => {
    const text = await iam(...args, '--cluster', 'one', '--region', 'us-west-2', '-o', 'terraform');
    const documents = [...text.matchAll(/<<-JSON\n([\s\S]*?)\n\s*JSON\n/g)];
    for (const [, document = ''] of documents) JSON.parse(document.replaceAll(/\$\{[^}]*\}/g, 'x'));
    const rest = text.replaceAll(/<<-JSON\n[\s\S]*?\n\s*JSON\n/g, '\n');
    expect(rest.match(/^resource "\w+" "\w+" \{$/gm)?.length).toBe(rest.match(/^\}$/gm)?.length);
  });

  test('Terraform of all commands can stand in one folder: nothing is defined twice', async () => {
    const outputs = [['policy'], ['node-role'], ['trust'], ['queue']].map((args) =>
      iam(...args, '--cluster', 'one', '--region', 'us-west-2', '-o', 'terraform'),
    );
    const text = (await Promise.all(outputs)).join('');
    const defined = [...text.matchAll(/^(?:resource|data) "(\w+)" "(\w+)"/gm)].map(
      ([, type, name]) => `${type}.${name}`,
    );
    expect(defined.length).toBeGreaterThan(20);
    expect(new Set(defined).size).toBe(defined.length);
    for (const [, used] of text.matchAll(/\$\{data\.([\w.]+)\.account_id\}/g)) expect(defined).toContain(used);
  });

  test('the queue keeps messages for five minutes, encrypted, refuses plain HTTP, and has five rules', async () => {
    const { Resources } = parse(await iam('queue', '--cluster', 'one', '-o', 'cloudformation')) as {
      Resources: Record<string, { Type: string; Properties: Record<string, unknown> }>;
    };
    const ofType = (type: string) => Object.values(Resources).filter(({ Type }) => Type === type);
    expect(ofType('AWS::SQS::Queue')[0]?.Properties).toEqual({
      QueueName: 'one',
      MessageRetentionPeriod: 300,
      SqsManagedSseEnabled: true,
    });
    expect(ofType('AWS::Events::Rule')).toHaveLength(5);
    expect(JSON.stringify(ofType('AWS::SQS::QueuePolicy'))).toMatch(
      /events.amazonaws.com.*sqs.amazonaws.com.*SecureTransport/,
    );
  });

  test('the node role has what nodes need, and may join', async () => {
    const text = await iam('node-role', '--cluster', 'one', '-o', 'cloudformation');
    for (const name of ['CNI_Policy', 'WorkerNodePolicy', 'ContainerRegistryPullOnly', 'SSMManagedInstanceCore'])
      expect(text).toContain(name);
    expect(text).toContain('EC2_LINUX');
    expect(await iam('node-role', ...here, '--windows')).toContain('EC2_WINDOWS');
  });

  test('the trust of a web identity names issuer, audience and subject', async () => {
    const trust = JSON.parse(await iam('trust', ...here, '--oidc-issuer', 'https://oidc.example/id/X')) as object;
    expect(trust).toMatchObject({
      Statement: [
        {
          Principal: { Federated: 'arn:aws:iam::123456789012:oidc-provider/oidc.example/id/X' },
          Condition: {
            StringEquals: {
              'oidc.example/id/X:aud': 'sts.amazonaws.com',
              'oidc.example/id/X:sub': 'system:serviceaccount:kube-system:karpenter',
            },
          },
        },
      ],
    });
  });
});

describe('mistakes', () => {
  test.each([
    [['policy', '--region', 'us-west-2', '--account', '123456789012'], /required option '--cluster/],
    [['policy', '--cluster', 'one', '--region', 'us-west-2'], /--account is missing: write --account 123456789012/],
    [['queue', '--cluster', 'one', '-o', 'terraform'], /--region is missing/],
    [['policy', '--cluster', 'one', '-o', 'pulumi'], /Allowed choices are json, terraform, cloudformation/],
    [['trust', '--cluster', 'one"'], /--cluster <name>' argument 'one"' is invalid.*letters, digits/],
    [['queue', '--cluster', 'x'.repeat(101)], /--cluster <name>' argument 'x+' is invalid.*at most 100/],
    [['policy', ...here, '--account', '12345'], /--account <id>' argument '12345' is invalid.*twelve digits/],
    [['policy', ...here, '--region', 'Frankfurt'], /--region <name>' argument 'Frankfurt' is invalid.*eu-west-1/],
    [['policy', ...here, '--queue', 'a queue'], /--queue <name>' argument 'a queue' is invalid.*at most 80/],
    [['policy', ...here, '--queue', 'https://sqs.eu-west-1.amazonaws.com/1/q'], /its name, not its URL/],
    [['policy', ...here, '--node-role', 'arn:aws:iam::123456789012:instance-profile/nodes'], /the role, not the/],
    [['policy', ...here, '--node-role', 'x'.repeat(65)], /--node-role <name>' argument 'x+' is invalid.*at most 64/],
    [['trust', ...here, '--oidc-issuer', 'oidc.example/id'], /is invalid.*https:/],
    [['trust', ...here, '--service-account', 'Karpenter'], /--service-account <name>' argument 'Karpenter' is invalid/],
  ])('%j', async (args, message) => {
    await expect(iam(...args)).rejects.toThrow(message);
  });

  test('the longest names a cluster can have make names of policies and rules that fit, and do not meet', async () => {
    const names = async (cluster: string): Promise<Record<'policies' | 'rules' | 'queues', string[]>> => {
      const rules = parse(await iam('queue', '--cluster', cluster, '-o', 'cloudformation')) as {
        Resources: Record<string, { Properties: { Name?: string; QueueName?: string } }>;
      };
      return {
        policies: Object.keys(JSON.parse(await iam('policy', '--cluster', cluster, ...here.slice(2))) as object),
        rules: Object.values(rules.Resources).flatMap(({ Properties: { Name } }) => Name ?? []),
        queues: Object.values(rules.Resources).flatMap(({ Properties: { QueueName } }) => QueueName ?? []),
      };
    };
    const [left, right] = [await names(`${'x'.repeat(99)}a`), await names(`${'x'.repeat(99)}b`)];
    expect(Math.max(...left.policies.map((name) => name.length))).toBeLessThanOrEqual(128);
    expect(Math.max(...left.rules.map((name) => name.length))).toBeLessThanOrEqual(64);
    expect(left.queues[0]?.length).toBe(80);
    const all = [left, right].flatMap(({ policies, rules, queues }) => [...policies, ...rules, ...queues]);
    expect(new Set(all).size).toBe(24);
    const interruption = await iam(
      'policy',
      '--cluster',
      `${'x'.repeat(99)}a`,
      ...here.slice(2),
      '--only',
      'Interruption',
    );
    expect(interruption).toContain(`:${left.queues[0]}"`);
  });

  test('CloudFormation, which reads YAML 1.1, is given dates and odd names of clusters as text', async () => {
    const text = await iam('trust', '--cluster', 'on', '-o', 'cloudformation');
    expect(text).toMatch(/Version: ["']2012-10-17["']/);
    expect(await iam('node-role', '--cluster', 'on', '-o', 'cloudformation')).toMatch(/ClusterName: ["']on["']/);
  });

  test('a role name that IAM would refuse for its length is shortened with a hash', async () => {
    const long = 'x'.repeat(90);
    const [role] = JSON.parse(await iam('node-role', '--cluster', long, ...here.slice(2))) as {
      name: string;
    }[];
    expect(role?.name).toMatch(/^KarpenterNodeRole-x+-[0-9a-f]{8}$/);
    expect(role?.name.length).toBeLessThanOrEqual(64);
  });
});

test('all of it is one template, in which roles wait for the policies they name', async () => {
  const { code, out } = await runCommand(configure, ['all', '--cluster', 'prod']);
  const { Resources } = parse(out) as {
    Resources: Record<string, { Type: string; DependsOn?: string[]; Properties: { RoleName?: unknown } }>;
  };
  const ofType = (type: string): string[] => Object.keys(Resources).filter((id) => Resources[id]?.Type === type);
  expect(code).toBe(0);
  expect(ofType('AWS::IAM::Role')).toHaveLength(2);
  expect(ofType('AWS::SQS::Queue')).toHaveLength(1);
  expect(ofType('AWS::EKS::AccessEntry')).toHaveLength(1);
  const waiting = Object.values(Resources).filter(({ DependsOn }) => DependsOn !== undefined);
  expect(waiting.map(({ DependsOn }) => DependsOn)).toEqual([ofType('AWS::IAM::ManagedPolicy')]);
  // What CloudFormation takes without a bucket.
  expect(out.length).toBeLessThan(51_200);
});

test('all of it lets the service account use the role, and attaches what the checks need where it is asked for', async () => {
  const flags = ['--cluster', 'prod', '--namespace', 'nodes', '--service-account', 'kerf', '--with-checks'];
  const { out } = await runCommand(configure, ['all', ...flags]);
  const { Resources } = parse(out) as { Resources: Record<string, { Properties: Record<string, unknown> }> };
  expect(Resources['KarpenterPodIdentity']?.Properties).toEqual({
    ClusterName: 'prod',
    Namespace: 'nodes',
    ServiceAccount: 'kerf',
    RoleArn: { 'Fn::GetAtt': ['KarpenterControllerRole', 'Arn'] },
  });
  expect(Resources['KarpenterControllerRole']?.Properties['ManagedPolicyArns']).toHaveLength(7);
  const trust = await runCommand(configure, ['trust', '--cluster', 'prod', '--with-checks', '-o', 'cloudformation']);
  const { Resources: ofTrust } = parse(trust.out) as { Resources: typeof Resources };
  expect(ofTrust['KarpenterControllerRole']?.Properties['ManagedPolicyArns']).toHaveLength(7);
});
