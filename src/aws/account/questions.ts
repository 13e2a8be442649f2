// What there is to ask an AWS account about a cluster, as the aws command names it (`iam-get-role-<name>`): the questions of
// `kerf doctor` and of the checks before launches. Only reads; every call has the deadline of the clients.
import {
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
  GetConsoleOutputCommand,
  GetEbsDefaultKmsKeyIdCommand,
  GetEbsEncryptionByDefaultCommand,
} from '@aws-sdk/client-ec2';
import {
  DescribeAccessEntryCommand,
  DescribeClusterCommand,
  DescribePodIdentityAssociationCommand,
  ListAccessEntriesCommand,
  ListPodIdentityAssociationsCommand,
  type PodIdentityAssociationSummary,
} from '@aws-sdk/client-eks';
import {
  GetInstanceProfileCommand,
  GetRoleCommand,
  ListAttachedRolePoliciesCommand,
  ListOpenIDConnectProvidersCommand,
  ListRolePoliciesCommand,
} from '@aws-sdk/client-iam';
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { KerfError, messageOf } from '../../base/index.ts';
import { awsErrorCode } from '../aws-errors.ts';
import type { AwsClients } from '../clients/clients.ts';
import type { JsonServices } from '../clients/json-services.ts';

/** Names that the objects gave. */
export interface AccountQuestions {
  clusterName: string;
  nodeRoles: readonly string[];
  controllerRole: string | undefined;
  queue: string | undefined;
  subnets: readonly string[];
  groups: readonly string[];
  images: readonly string[];
  /** Profiles that node classes name instead of a role. */
  profiles?: readonly string[];
  /** Keys of volumes that node classes name. */
  keys?: readonly string[];
  /** Instances whose nodes did not join; a few are enough. */
  silentInstances: readonly string[];
}

export type AccountClients = Pick<AwsClients, 'ec2' | 'eks' | 'iam' | 'sqs' | 'json'>;

/** `eks-describe-cluster`, with what it was about behind it. */
export interface AccountQuestion {
  name: string;
  ask(): Promise<object>;
}

/** The answer as the aws command prints it, or the refusal in its words. */
export type AccountAnswer =
  | { name: string; kind: 'answer'; body: object }
  | { name: string; kind: 'refusal'; text: string };

/** More than this many silent instances tell the same story. */
const mostConsoles = 3;
/** The largest accounts have some thousand of these; a list that goes on for longer is not read to its end. */
const mostPages = 50;

export function accountQuestions(
  { ec2, eks, iam, sqs, json }: AccountClients,
  asked: AccountQuestions,
): AccountQuestion[] {
  const { clusterName: name } = asked;
  const questions: AccountQuestion[] = [];
  const add = (question: string, ask: () => Promise<object>): void => void questions.push({ name: question, ask });
  add('eks-describe-cluster', () => eks.send(new DescribeClusterCommand({ name })));
  add('eks-list-access-entries', () =>
    allPages('accessEntries', (page) => eks.send(new ListAccessEntriesCommand({ clusterName: name, ...page }))),
  );
  add('eks-list-pod-identity-associations', () =>
    allPages('associations', (page) =>
      eks.send(new ListPodIdentityAssociationsCommand({ clusterName: name, ...page })),
    ),
  );
  add('iam-list-open-id-connect-providers', () => iam.send(new ListOpenIDConnectProvidersCommand({})));
  const spotRole = 'AWSServiceRoleForEC2Spot';
  add(`iam-get-role-${spotRole}`, () => iam.send(new GetRoleCommand({ RoleName: spotRole })));
  add('ec2-get-ebs-encryption-by-default', () => ec2.send(new GetEbsEncryptionByDefaultCommand({})));
  add('ec2-get-ebs-default-kms-key-id', () => ec2.send(new GetEbsDefaultKmsKeyIdCommand({})));
  add('ec2-describe-vpc-endpoints', () =>
    allPages('VpcEndpoints', (page) => ec2.send(new DescribeVpcEndpointsCommand(page))),
  );
  add('ec2-describe-route-tables', () =>
    allPages('RouteTables', (page) => ec2.send(new DescribeRouteTablesCommand(page))),
  );
  const ofCluster = [{ Name: `tag:kubernetes.io/cluster/${name}`, Values: ['owned', 'shared'] }];
  add('ec2-describe-instances', () =>
    allPages('Reservations', (page) => ec2.send(new DescribeInstancesCommand({ Filters: ofCluster, ...page }))),
  );
  add('ec2-describe-security-groups', () =>
    allPages('SecurityGroups', (page) => ec2.send(new DescribeSecurityGroupsCommand(page))),
  );
  const controllerRole = asked.controllerRole === undefined ? [] : [asked.controllerRole];
  for (const RoleName of new Set([...asked.nodeRoles, ...controllerRole])) {
    add(`iam-get-role-${RoleName}`, () => iam.send(new GetRoleCommand({ RoleName })));
    add(`iam-list-attached-role-policies-${RoleName}`, () =>
      allPages('AttachedPolicies', (page) => iam.send(new ListAttachedRolePoliciesCommand({ RoleName, ...page }))),
    );
  }
  for (const RoleName of new Set(asked.nodeRoles)) {
    add(`iam-list-role-policies-${RoleName}`, () =>
      allPages('PolicyNames', (page) => iam.send(new ListRolePoliciesCommand({ RoleName, ...page }))),
    );
    add(`eks-describe-access-entry-${RoleName}`, () => accessEntryOf({ eks, iam }, name, RoleName));
  }
  for (const InstanceProfileName of new Set(asked.profiles ?? []))
    add(`iam-get-instance-profile-${InstanceProfileName}`, () =>
      iam.send(new GetInstanceProfileCommand({ InstanceProfileName })),
    );
  for (const key of new Set(asked.keys ?? [])) questions.push(describeKey(json, key));
  const { subnets, images, queue } = asked;
  if (subnets.length > 0)
    add('ec2-describe-subnets', () => ec2.send(new DescribeSubnetsCommand({ SubnetIds: [...subnets] })));
  if (images.length > 0)
    add('ec2-describe-images', () => ec2.send(new DescribeImagesCommand({ ImageIds: [...images] })));
  if (queue !== undefined)
    add(`sqs-get-queue-attributes-${queue}`, async () => {
      const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: queue }));
      return sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    });
  if (queue !== undefined)
    add('events-list-rules', () => allPages('Rules', (page) => json.ask('events', 'ListRules', { ...page })));
  for (const id of asked.silentInstances.slice(0, mostConsoles))
    add(`ec2-get-console-output-${id}`, () => consoleOutput(ec2, id));
  return questions;
}

/** More rules than this say the same. */
const mostRules = 20;
/** One is the controller's; others are left over. */
const mostAssociations = 5;

/** What an answer leads to: the role of an association, where rules of EventBridge send, and who may use a key. */
export function furtherQuestions({ eks, json }: AccountClients, answer: AccountAnswer): AccountQuestion[] {
  if (answer.kind !== 'answer') return [];
  if (answer.name === 'eks-list-pod-identity-associations') return associationQuestions(eks, answer.body);
  if (answer.name === 'ec2-get-ebs-default-kms-key-id') return defaultKeyQuestions(json, answer.body);
  if (answer.name.startsWith('kms-describe-key')) return keyQuestions(json, answer.body);
  if (answer.name !== 'events-list-rules') return [];
  const { Rules = [] } = answer.body as { Rules?: { Name?: string; EventPattern?: string }[] };
  return Rules.filter(({ EventPattern = '' }) => /aws\.(?:ec2|health)/.test(EventPattern))
    .slice(0, mostRules)
    .map(({ Name = '' }) => ({
      name: `events-list-targets-by-rule-${Name}`,
      ask: () => allPages('Targets', (page) => json.ask('events', 'ListTargetsByRule', { Rule: Name, ...page })),
    }));
}

/** Which role an association gives to the controller: the list does not say. */
function associationQuestions(eks: AwsClients['eks'], body: object): AccountQuestion[] {
  const { associations = [] } = body as { associations?: PodIdentityAssociationSummary[] };
  return associations
    .filter(({ serviceAccount = '' }) => /karpenter|kerf/.test(serviceAccount))
    .slice(0, mostAssociations)
    .map(({ clusterName, associationId = '' }) => ({
      name: `eks-describe-pod-identity-association-${associationId}`,
      ask: () => eks.send(new DescribePodIdentityAssociationCommand({ clusterName, associationId })),
    }));
}

/** The key with which EBS encrypts where a node class names none; AWS's own is open to everyone in the account. */
function defaultKeyQuestions(json: JsonServices, { KmsKeyId = '' }: { KmsKeyId?: string }): AccountQuestion[] {
  return KmsKeyId === '' || KmsKeyId.endsWith('alias/aws/ebs') ? [] : [describeKey(json, KmsKeyId)];
}

const describeKey = (json: JsonServices, KeyId: string): AccountQuestion => ({
  name: `kms-describe-key-${KeyId.split('/').at(-1)}`,
  ask: () => json.ask('kms', 'DescribeKey', { KeyId }),
});

/** A policy is asked for by the key's id: an alias is refused. AWS's own keys have one that cannot be changed. */
function keyQuestions(json: JsonServices, body: object): AccountQuestion[] {
  const { KeyMetadata: { KeyId = '', Arn = KeyId, KeyManager = '' } = {} } = body as {
    KeyMetadata?: { KeyId?: string; Arn?: string; KeyManager?: string };
  };
  if (KeyId === '' || KeyManager === 'AWS') return [];
  return [
    {
      name: `kms-get-key-policy-${KeyId}`,
      ask: () => json.ask('kms', 'GetKeyPolicy', { KeyId: Arn, PolicyName: 'default' }),
    },
    {
      name: `kms-list-grants-${KeyId}`,
      ask: () => allPages('Grants', (page) => json.ask('kms', 'ListGrants', { KeyId: Arn, ...page })),
    },
  ];
}

/** As the aws command prints it: without the SDK's own field; a refusal with its code. */
export async function answerOf({ name, ask }: AccountQuestion): Promise<AccountAnswer> {
  try {
    const { $metadata: _, ...body } = (await ask()) as { $metadata?: unknown };
    return { name, kind: 'answer', body };
  } catch (thrown) {
    const code = thrown instanceof Error ? thrown.name : 'Error';
    const text = `An error occurred (${code.replace(/Exception$/, '')}) when calling ${name}: ${messageOf(thrown)}`;
    return { name, kind: 'refusal', text };
  }
}

/** With the text decoded: EC2 sends it in base64. */
async function consoleOutput(ec2: AwsClients['ec2'], InstanceId: string): Promise<object> {
  const { Output = '', ...rest } = await ec2
    .send(new GetConsoleOutputCommand({ InstanceId, Latest: true }))
    .catch((error: unknown) => {
      // Only instances on Nitro have a latest output.
      if (awsErrorCode(error) !== 'UnsupportedOperation') throw error;
      return ec2.send(new GetConsoleOutputCommand({ InstanceId }));
    });
  return { ...rest, Output: Buffer.from(Output, 'base64').toString('utf8') };
}

/** How each service asks for the next page; only one of them is set. */
interface NextPage {
  NextToken?: string;
  nextToken?: string;
  Marker?: string;
}

type Page<Field extends string> = { [one in Field | keyof NextPage | 'NextMarker' | 'IsTruncated']?: unknown };

/** All pages of a list as one answer: what stands on the second is there all the same, and half a list proves nothing. */
async function allPages<Field extends string>(
  field: Field,
  ask: (page: NextPage) => Promise<Page<Field>>,
): Promise<object> {
  const items: unknown[] = [];
  let next: NextPage = {};
  for (let page = 0; page < mostPages; page += 1) {
    const answer = await ask(next);
    const listed = answer[field];
    if (Array.isArray(listed)) items.push(...listed);
    const following = nextPage(answer);
    if (following === undefined) return { [field]: items };
    next = following;
  }
  throw new KerfError('TooManyPages', `the list of ${field} has more than ${mostPages} pages`);
}

const isToken = (value: unknown): value is string => typeof value === 'string' && value !== '';

function nextPage({ NextToken, nextToken, NextMarker, Marker, IsTruncated }: Page<never>): NextPage | undefined {
  if (isToken(NextToken)) return { NextToken };
  if (isToken(nextToken)) return { nextToken };
  if (isToken(NextMarker)) return { Marker: NextMarker };
  return isToken(Marker) && IsTruncated !== false ? { Marker } : undefined;
}

/** The entry of a role is asked for by its ARN, which IAM knows with its path. */
async function accessEntryOf(
  { eks, iam }: Pick<AwsClients, 'eks' | 'iam'>,
  clusterName: string,
  RoleName: string,
): Promise<object> {
  const { Role } = await iam.send(new GetRoleCommand({ RoleName }));
  return eks.send(new DescribeAccessEntryCommand({ clusterName, principalArn: Role?.Arn }));
}
