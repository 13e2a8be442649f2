// What the AWS account says about a cluster, as the files of a bundle: each answer as the aws command prints it, each refusal
// as an `.err`. Only reads; every call has the deadline of the clients, and one that fails leaves its check not made.
import {
  DescribeImagesCommand,
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
  GetConsoleOutputCommand,
  GetEbsEncryptionByDefaultCommand,
} from '@aws-sdk/client-ec2';
import {
  DescribeClusterCommand,
  ListAccessEntriesCommand,
  ListPodIdentityAssociationsCommand,
} from '@aws-sdk/client-eks';
import {
  GetRoleCommand,
  ListAttachedRolePoliciesCommand,
  ListOpenIDConnectProvidersCommand,
} from '@aws-sdk/client-iam';
import { GetQueueAttributesCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import type { AwsClients } from '../../../aws/index.ts';
import { messageOf } from '../../../base/index.ts';
import type { LiveFile } from './cluster.ts';

/** Names that the objects gave. */
export interface AccountQuestions {
  clusterName: string;
  nodeRoles: readonly string[];
  controllerRole: string | undefined;
  queue: string | undefined;
  subnets: readonly string[];
  groups: readonly string[];
  images: readonly string[];
  /** Instances whose nodes did not join; a few are enough. */
  silentInstances: readonly string[];
}

/** More than this many silent instances tell the same story. */
const mostConsoles = 3;

export async function* accountFiles(clients: AwsClients, asked: AccountQuestions): AsyncGenerator<LiveFile> {
  const { clusterName } = asked;
  const calls: [string, () => Promise<object>][] = [
    ['eks-describe-cluster', () => clients.eks.send(new DescribeClusterCommand({ name: clusterName }))],
    ['eks-list-access-entries', () => clients.eks.send(new ListAccessEntriesCommand({ clusterName }))],
    [
      'eks-list-pod-identity-associations',
      () => clients.eks.send(new ListPodIdentityAssociationsCommand({ clusterName })),
    ],
    ['iam-list-open-id-connect-providers', () => clients.iam.send(new ListOpenIDConnectProvidersCommand({}))],
    [
      'iam-get-role-AWSServiceRoleForEC2Spot',
      () => clients.iam.send(new GetRoleCommand({ RoleName: 'AWSServiceRoleForEC2Spot' })),
    ],
    ['ec2-get-ebs-encryption-by-default', () => clients.ec2.send(new GetEbsEncryptionByDefaultCommand({}))],
    ['ec2-describe-vpc-endpoints', () => clients.ec2.send(new DescribeVpcEndpointsCommand({}))],
    ['ec2-describe-route-tables', () => clients.ec2.send(new DescribeRouteTablesCommand({}))],
    [
      'ec2-describe-instances',
      () =>
        clients.ec2.send(
          new DescribeInstancesCommand({
            Filters: [{ Name: `tag:kubernetes.io/cluster/${clusterName}`, Values: ['owned', 'shared'] }],
          }),
        ),
    ],
    ['ec2-describe-security-groups', () => clients.ec2.send(new DescribeSecurityGroupsCommand({}))],
  ];
  for (const role of new Set([
    ...asked.nodeRoles,
    ...(asked.controllerRole === undefined ? [] : [asked.controllerRole]),
  ])) {
    calls.push([`iam-get-role-${role}`, () => clients.iam.send(new GetRoleCommand({ RoleName: role }))]);
    calls.push([
      `iam-list-attached-role-policies-${role}`,
      () => clients.iam.send(new ListAttachedRolePoliciesCommand({ RoleName: role })),
    ]);
  }
  if (asked.subnets.length > 0)
    calls.push([
      'ec2-describe-subnets',
      () => clients.ec2.send(new DescribeSubnetsCommand({ SubnetIds: [...asked.subnets] })),
    ]);
  if (asked.images.length > 0)
    calls.push([
      'ec2-describe-images',
      () => clients.ec2.send(new DescribeImagesCommand({ ImageIds: [...asked.images] })),
    ]);
  const { queue } = asked;
  if (queue !== undefined)
    calls.push([
      `sqs-get-queue-attributes-${queue}`,
      async () => {
        const { QueueUrl } = await clients.sqs.send(new GetQueueUrlCommand({ QueueName: queue }));
        return clients.sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
      },
    ]);
  for (const [name, call] of calls) yield await answered(name, call);
  for (const id of asked.silentInstances.slice(0, mostConsoles))
    yield await answered(`ec2-get-console-output-${id}`, async () => {
      const { Output = '', ...rest } = await clients.ec2.send(
        new GetConsoleOutputCommand({ InstanceId: id, Latest: true }),
      );
      return { ...rest, Output: Buffer.from(Output, 'base64').toString('utf8') };
    });
}

/** As the aws command prints it: without the SDK's own field; a refusal with its code. */
async function answered(name: string, call: () => Promise<object>): Promise<LiveFile> {
  try {
    const { $metadata: _, ...body } = (await call()) as { $metadata?: unknown };
    return { path: `aws/${name}.json`, text: JSON.stringify(body) };
  } catch (thrown) {
    const code = thrown instanceof Error ? thrown.name : 'Error';
    return {
      path: `aws/${name}.err`,
      text: `An error occurred (${code.replace(/Exception$/, '')}) when calling ${name}: ${messageOf(thrown)}`,
    };
  }
}
