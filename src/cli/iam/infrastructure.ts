// The AWS resources of one cluster as plain data; the two template languages print the same list.
import {
  type ClusterAccount,
  checksPart,
  controllerPolicies,
  controllerRoleName,
  eventRules,
  managedPolicyArn,
  nodePolicies,
  nodeRoleArn,
  nodeRoleName,
  nodeTrust,
  type PolicyDocument,
  type PolicyPart,
  policyName,
  policyParts,
  queueArn,
  queuePolicy,
  retentionSeconds,
  ruleNameOf,
} from '../../aws/catalogue.ts';

export interface PolicyResource {
  kind: 'policy';
  id: string;
  name: string;
  document: PolicyDocument;
}

export interface RoleResource {
  kind: 'role';
  id: string;
  name: string;
  trust: PolicyDocument;
  policyArns: string[];
}

export interface QueueResource {
  kind: 'queue';
  id: string;
  name: string;
  arn: string;
  retentionSeconds: number;
  policy: PolicyDocument;
  rules: { id: string; name: string; description: string; pattern: object }[];
}

/** Lets instances with the role join the cluster. */
export interface AccessEntryResource {
  kind: 'accessEntry';
  id: string;
  cluster: string;
  roleId: string;
  type: string;
}

/** Lets a service account use the role. */
export interface PodIdentityResource {
  kind: 'podIdentity';
  id: string;
  cluster: string;
  account: ServiceAccountName;
  roleId: string;
}

export interface ServiceAccountName {
  namespace: string;
  name: string;
}

export type InfrastructureResource =
  | PolicyResource
  | RoleResource
  | QueueResource
  | AccessEntryResource
  | PodIdentityResource;

export function policyResources(
  of: ClusterAccount,
  options: { nodeRole?: string; queue: string; only?: PolicyPart; withChecks?: boolean },
): PolicyResource[] {
  const role = options.nodeRole === undefined ? nodeRoleArn(of) : roleArn(of, options.nodeRole);
  const documents = controllerPolicies({ ...of, nodeRoleArn: role, queueName: options.queue });
  const parts = options.withChecks === true || options.only === checksPart ? [...policyParts, checksPart] : policyParts;
  return (parts as readonly PolicyPart[])
    .filter((part) => options.only === undefined || part === options.only)
    .map((part) => ({
      kind: 'policy',
      id: `KarpenterController${part}Policy`,
      name: policyName(part, of.cluster),
      document: documents[part],
    }));
}

export function nodeRoleResources(of: ClusterAccount, windows: boolean): InfrastructureResource[] {
  const id = 'KarpenterNodeRole';
  return [
    {
      kind: 'role',
      id,
      name: nodeRoleName(of.cluster),
      trust: nodeTrust(of),
      policyArns: nodePolicies.map((name) => managedPolicyArn(of, name)),
    },
    {
      kind: 'accessEntry',
      id: 'KarpenterNodeAccessEntry',
      cluster: of.cluster,
      roleId: id,
      type: windows ? 'EC2_WINDOWS' : 'EC2_LINUX',
    },
  ];
}

const controllerRoleId = 'KarpenterControllerRole';

export function controllerRole(
  of: ClusterAccount,
  trust: PolicyDocument,
  { withChecks = false }: { withChecks?: boolean } = {},
): RoleResource {
  const parts: readonly PolicyPart[] = withChecks ? [...policyParts, checksPart] : policyParts;
  return {
    kind: 'role',
    id: controllerRoleId,
    name: controllerRoleName(of.cluster),
    trust,
    policyArns: parts.map((part) => `arn:${of.partition}:iam::${of.account}:policy/${policyName(part, of.cluster)}`),
  };
}

export function podIdentity({ cluster }: ClusterAccount, account: ServiceAccountName): PodIdentityResource {
  return { kind: 'podIdentity', id: 'KarpenterPodIdentity', cluster, account, roleId: controllerRoleId };
}

export function queueResource(of: ClusterAccount, name: string): QueueResource {
  return {
    kind: 'queue',
    id: 'KarpenterInterruptionQueue',
    name,
    arn: queueArn(of, name),
    retentionSeconds,
    policy: queuePolicy(of, name),
    rules: eventRules.map(({ id, description, pattern }) => ({
      id,
      name: ruleNameOf(of.cluster, id),
      description: `Kerf, cluster ${of.cluster}: ${description}`,
      pattern,
    })),
  };
}

function roleArn({ partition, account }: ClusterAccount, role: string): string {
  return role.startsWith('arn:') ? role : `arn:${partition}:iam::${account}:role/${role}`;
}
