// Prints resources as a CloudFormation template. Text with ${…} in it becomes a Fn::Sub.
import { yamlText } from '../output/yaml.ts';
import type { InfrastructureResource } from './infrastructure.ts';

export function cloudFormation(description: string, resources: readonly InfrastructureResource[]): string {
  const template = {
    AWSTemplateFormatVersion: '2010-09-09',
    Description: description,
    Resources: Object.assign({}, ...resources.map((each) => substituted(withOrder(each, resources)))) as object,
  };
  return yamlText(template);
}

/** A role names its policies by ARN: those of the same template have to be there first. */
function withOrder(resource: InfrastructureResource, all: readonly InfrastructureResource[]): Record<string, unknown> {
  const made = resourcesOf(resource);
  if (resource.kind !== 'role') return made;
  const before = all.flatMap((each) =>
    each.kind === 'policy' && resource.policyArns.some((arn) => arn.endsWith(`/${each.name}`)) ? [each.id] : [],
  );
  if (before.length === 0) return made;
  return { [resource.id]: { ...(made[resource.id] as object), DependsOn: before } };
}

function resourcesOf(resource: InfrastructureResource): Record<string, unknown> {
  switch (resource.kind) {
    case 'policy':
      return {
        [resource.id]: {
          Type: 'AWS::IAM::ManagedPolicy',
          Properties: { ManagedPolicyName: resource.name, PolicyDocument: resource.document },
        },
      };
    case 'role':
      return {
        [resource.id]: {
          Type: 'AWS::IAM::Role',
          Properties: {
            RoleName: resource.name,
            AssumeRolePolicyDocument: resource.trust,
            ManagedPolicyArns: resource.policyArns,
          },
        },
      };
    case 'accessEntry':
      return {
        [resource.id]: {
          Type: 'AWS::EKS::AccessEntry',
          Properties: {
            ClusterName: resource.cluster,
            PrincipalArn: { 'Fn::GetAtt': [resource.roleId, 'Arn'] },
            Type: resource.type,
          },
        },
      };
    case 'podIdentity':
      return {
        [resource.id]: {
          Type: 'AWS::EKS::PodIdentityAssociation',
          Properties: {
            ClusterName: resource.cluster,
            Namespace: resource.account.namespace,
            ServiceAccount: resource.account.name,
            RoleArn: { 'Fn::GetAtt': [resource.roleId, 'Arn'] },
          },
        },
      };
    case 'queue': {
      const target = { Id: 'KarpenterInterruptionQueueTarget', Arn: { 'Fn::GetAtt': [resource.id, 'Arn'] } };
      return {
        [resource.id]: {
          Type: 'AWS::SQS::Queue',
          Properties: {
            QueueName: resource.name,
            MessageRetentionPeriod: resource.retentionSeconds,
            SqsManagedSseEnabled: true,
          },
        },
        [`${resource.id}Policy`]: {
          Type: 'AWS::SQS::QueuePolicy',
          Properties: { Queues: [{ Ref: resource.id }], PolicyDocument: resource.policy },
        },
        ...Object.fromEntries(
          resource.rules.map(({ id, name, description, pattern }) => [
            id,
            {
              Type: 'AWS::Events::Rule',
              Properties: { Name: name, Description: description, EventPattern: pattern, Targets: [target] },
            },
          ]),
        ),
      };
    }
  }
}

function substituted(value: unknown): unknown {
  if (typeof value === 'string') return value.includes('${') ? { 'Fn::Sub': value } : value;
  if (Array.isArray(value)) return value.map(substituted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, substituted(each)]));
}
