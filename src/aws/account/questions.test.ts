// Lists of an account are read to their end: what stands on the second page is there all the same.
import { expect, test } from 'vitest';
import { accountQuestions, answerOf, furtherQuestions } from './questions.ts';

type Clients = Parameters<typeof accountQuestions>[0];

/** Answers by command; `pages` are given one after the other, with the service's own token. */
function clientsWith(pages: Record<string, object[]>): Clients {
  const at: Record<string, number> = {};
  const client = {
    send: async (command: { constructor: { name: string }; input: Record<string, unknown> }) => {
      const name = command.constructor.name;
      const index = at[name] ?? 0;
      at[name] = index + 1;
      const page = pages[name]?.[index];
      if (page === undefined) throw Object.assign(new Error(`no page ${index} of ${name}`), { name: 'NoSuchEntity' });
      const { token } = command.input as { token?: string };
      return { ...page, token };
    },
  };
  return { ec2: client, eks: client, iam: client, sqs: client } as unknown as Clients;
}

const asked = {
  clusterName: 'prod',
  nodeRoles: ['nodes'],
  controllerRole: undefined,
  queue: undefined,
  subnets: [],
  groups: [],
  images: [],
  silentInstances: [],
};

async function answer(pages: Record<string, object[]>, name: string): Promise<object | undefined> {
  const question = accountQuestions(clientsWith(pages), asked).find((one) => one.name === name);
  const given = question === undefined ? undefined : await answerOf(question);
  return given?.kind === 'answer' ? given.body : undefined;
}

test.each([
  [
    'eks-list-access-entries',
    'ListAccessEntriesCommand',
    [{ accessEntries: ['a'], nextToken: '2' }, { accessEntries: ['b'] }],
    { accessEntries: ['a', 'b'] },
  ],
  [
    'ec2-describe-instances',
    'DescribeInstancesCommand',
    [{ Reservations: [1], NextToken: '2' }, { Reservations: [2], NextToken: '3' }, { Reservations: [3] }],
    { Reservations: [1, 2, 3] },
  ],
  [
    'iam-list-attached-role-policies-nodes',
    'ListAttachedRolePoliciesCommand',
    [
      { AttachedPolicies: ['x'], IsTruncated: true, Marker: 'm' },
      { AttachedPolicies: ['y'], IsTruncated: false },
    ],
    { AttachedPolicies: ['x', 'y'] },
  ],
])('%s is read over all its pages', async (name, command, pages, expected) => {
  expect(await answer({ [command]: pages }, name)).toEqual(expected);
});

test('a list without an end is a refusal, not half a list', async () => {
  const endless = Array.from({ length: 60 }, () => ({ accessEntries: ['a'], nextToken: 'again' }));
  expect(await answer({ ListAccessEntriesCommand: endless }, 'eks-list-access-entries')).toBeUndefined();
});

test("the role of the controller's association is asked for, that of others is not", async () => {
  const associations = [
    { clusterName: 'prod', associationId: 'a-1', namespace: 'kube-system', serviceAccount: 'karpenter' },
    { clusterName: 'prod', associationId: 'a-2', namespace: 'kube-system', serviceAccount: 'aws-node' },
  ];
  const roleArn = 'arn:aws:iam::111122223333:role/KarpenterController';
  const clients = clientsWith({ DescribePodIdentityAssociationCommand: [{ association: { roleArn } }] });
  const [first, ...rest] = furtherQuestions(clients, {
    name: 'eks-list-pod-identity-associations',
    kind: 'answer',
    body: { associations },
  });
  expect(rest).toEqual([]);
  expect(first?.name).toBe('eks-describe-pod-identity-association-a-1');
  expect(first && (await answerOf(first))).toMatchObject({ kind: 'answer', body: { association: { roleArn } } });
});

test("of a key that is the account's own, policy and grants are asked for by its ARN", () => {
  const clients = clientsWith({});
  const described = (KeyManager: string) => ({
    name: 'kms-describe-key-volumes',
    kind: 'answer' as const,
    body: { KeyMetadata: { KeyId: '1', Arn: 'arn:1', KeyManager } },
  });
  expect(furtherQuestions(clients, described('CUSTOMER')).map(({ name }) => name)).toEqual([
    'kms-get-key-policy-1',
    'kms-list-grants-1',
  ]);
  expect(furtherQuestions(clients, described('AWS'))).toEqual([]);
});
