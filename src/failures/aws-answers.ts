// What AWS answered, as files of the aws command: `<service>-<operation>[-<anything>].json`, and refusals as `.err`. The
// operation is found by the answer's own top-level field, because the rest of a file's name may be anything. A refusal that
// is about the person who collected (no permission, an expired session, a time-out) says nothing about the cluster.
import { isPlain, type Plain } from './fields.ts';

/** The field by which each answer is known. */
const fieldOf = {
  'ec2-describe-images': 'Images',
  'ec2-describe-instances': 'Reservations',
  'ec2-describe-instance-status': 'InstanceStatuses',
  'ec2-describe-key-pairs': 'KeyPairs',
  'ec2-describe-launch-templates': 'LaunchTemplates',
  'ec2-describe-nat-gateways': 'NatGateways',
  'ec2-describe-network-acls': 'NetworkAcls',
  'ec2-describe-route-tables': 'RouteTables',
  'ec2-describe-security-groups': 'SecurityGroups',
  'ec2-describe-subnets': 'Subnets',
  'ec2-describe-vpc-endpoints': 'VpcEndpoints',
  'ec2-describe-vpcs': 'Vpcs',
  'ec2-get-console-output': 'Output',
  'ec2-get-ebs-default-kms-key-id': 'KmsKeyId',
  'ec2-get-ebs-encryption-by-default': 'EbsEncryptionByDefault',
  'eks-describe-access-entry': 'accessEntry',
  'eks-describe-addon': 'addon',
  'eks-describe-cluster': 'cluster',
  'eks-describe-pod-identity-association': 'association',
  'eks-list-access-entries': 'accessEntries',
  'eks-list-addons': 'addons',
  'eks-list-pod-identity-associations': 'associations',
  'events-list-rules': 'Rules',
  'events-list-targets-by-rule': 'Targets',
  'iam-get-instance-profile': 'InstanceProfile',
  'iam-get-open-id-connect-provider': 'Url',
  'iam-get-policy-version': 'PolicyVersion',
  'iam-get-role': 'Role',
  'iam-get-role-policy': 'PolicyDocument',
  'iam-list-attached-role-policies': 'AttachedPolicies',
  'iam-list-instance-profiles': 'InstanceProfiles',
  'iam-list-open-id-connect-providers': 'OpenIDConnectProviderList',
  'iam-list-role-policies': 'PolicyNames',
  'kms-describe-key': 'KeyMetadata',
  'kms-get-key-policy': 'Policy',
  'kms-list-grants': 'Grants',
  'sqs-get-queue-attributes': 'Attributes',
  'sqs-get-queue-url': 'QueueUrl',
  'sqs-list-queues': 'QueueUrls',
  'ssm-describe-instance-information': 'InstanceInformationList',
  'sts-get-caller-identity': 'Arn',
} as const;

export type Operation = keyof typeof fieldOf;

/** Longest first: `iam-get-role-policy` before `iam-get-role`. */
const operations = (Object.keys(fieldOf) as Operation[]).sort((a, b) => b.length - a.length);

export interface Answer {
  operation: Operation;
  /** What follows the operation in the file's name: often the name that was asked about. */
  suffix: string;
  source: string;
  body: Plain;
}

export interface Refusal {
  operation: Operation;
  suffix: string;
  source: string;
  code: string;
  text: string;
}

/** Answers that mean "there is none", whatever the service. */
const absence =
  /NoSuchEntity|QueueDoesNotExist|NonExistentQueue|ResourceNotFoundException|ParameterNotFound|NotFoundException|\b[A-Za-z.]+\.NotFound\b/;

export class AwsAnswers {
  private readonly answers = new Map<Operation, Answer[]>();
  private readonly refusals: Refusal[] = [];

  /** `name` is the file's name without folder and ending. False: no operation that is known here. */
  add(name: string, body: unknown, source: string): boolean {
    // aws prints nothing at all for an empty answer of some operations; an empty object still proves that it was asked.
    const plain = isPlain(body) ? body : {};
    const named = operations.filter((one) => name === one || name.startsWith(`${one}-`));
    const operation = named.find((one) => Object.hasOwn(plain, fieldOf[one])) ?? named[0];
    if (operation === undefined) return false;
    const answer = { operation, suffix: name.slice(operation.length + 1), source, body: plain };
    const known = this.answers.get(operation);
    if (known === undefined) this.answers.set(operation, [answer]);
    else known.push(answer);
    return true;
  }

  addRefusal(name: string, text: string, source: string): boolean {
    const operation = operations.find((one) => name === one || name.startsWith(`${one}-`));
    if (operation === undefined) return false;
    const code = /\(([A-Za-z.]+)\) when calling/.exec(text)?.[1] ?? absence.exec(text)?.[0] ?? '';
    this.refusals.push({ operation, suffix: name.slice(operation.length + 1), source, code, text: text.trim() });
    return true;
  }

  of(operation: Operation): readonly Answer[] {
    return this.answers.get(operation) ?? [];
  }

  /** Refusals that say that the thing does not exist. */
  absent(operation: Operation): readonly Refusal[] {
    return this.refusals.filter((one) => one.operation === operation && absence.test(one.text));
  }

  /** It was asked, and the answer says something: there it is, or there is none. */
  isAnswered(operation: Operation): boolean {
    return this.of(operation).length > 0 || this.absent(operation).length > 0;
  }

  /** Items of a listing over all its files, each with its source. */
  items(operation: Operation): { item: unknown; source: string; suffix: string }[] {
    return this.of(operation).flatMap(({ body, source, suffix }) => {
      const found = body[fieldOf[operation]];
      return Array.isArray(found) ? found.map((item: unknown) => ({ item, source, suffix })) : [];
    });
  }

  /** The one thing that an answer describes, over all files. */
  bodies(operation: Operation): { item: Plain; source: string; suffix: string }[] {
    return this.of(operation).flatMap(({ body, source, suffix }) => {
      const found = body[fieldOf[operation]];
      return isPlain(found) ? [{ item: found, source, suffix }] : [];
    });
  }
}

/** `eks:DescribeCluster`, for what a check needs. */
export function permissionOf(operation: Operation): string {
  const [service = '', ...words] = operation.split('-');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return `${service}:${name.replace('OpenIdConnect', 'OpenIDConnect')}`;
}

/** `iam:GetRole KarpenterNodeRole-prod` for the file `iam-get-role-KarpenterNodeRole-prod`; undefined for what is unknown here. */
export function callOf(name: string): string | undefined {
  const operation = operations.find((one) => name === one || name.startsWith(`${one}-`));
  return operation === undefined ? undefined : `${permissionOf(operation)} ${name.slice(operation.length + 1)}`.trim();
}
