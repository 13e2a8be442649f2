// The interruption queue, and the EventBridge rules that fill it.
import type { ClusterAccount } from './account.ts';
import type { PolicyDocument } from './controller-policies.ts';

/** An event that old says nothing any more about an instance. */
export const retentionSeconds = 300;

export const queueArn = ({ partition, region, account }: ClusterAccount, name: string): string =>
  `arn:${partition}:sqs:${region}:${account}:${name}`;

export function queuePolicy(of: ClusterAccount, name: string): PolicyDocument {
  const Resource = queueArn(of, name);
  return {
    Version: '2012-10-17',
    Statement: [
      {
        Sid: 'AllowEvents',
        Effect: 'Allow',
        Principal: { Service: ['events.amazonaws.com', 'sqs.amazonaws.com'] },
        Action: 'sqs:SendMessage',
        Resource,
      },
      {
        Sid: 'DenyHTTP',
        Effect: 'Deny',
        Principal: '*',
        Action: 'sqs:*',
        Resource,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      },
    ],
  };
}

export interface EventRule {
  id: string;
  description: string;
  pattern: { source: string[]; 'detail-type': string[] };
}

const rule = (id: string, source: string, type: string, description: string): EventRule => ({
  id,
  description,
  pattern: { source: [source], 'detail-type': [type] },
});

export const eventRules: readonly EventRule[] = [
  rule('ScheduledChangeRule', 'aws.health', 'AWS Health Event', 'maintenance and retirement of instances'),
  rule('SpotInterruptionRule', 'aws.ec2', 'EC2 Spot Instance Interruption Warning', 'spot capacity taken back'),
  rule('RebalanceRule', 'aws.ec2', 'EC2 Instance Rebalance Recommendation', 'spot capacity at risk'),
  rule('InstanceStateChangeRule', 'aws.ec2', 'EC2 Instance State-change Notification', 'instances that stop or end'),
  rule(
    'CapacityReservationInterruptionRule',
    'aws.ec2',
    'EC2 Capacity Reservation Instance Interruption Warning',
    'reserved capacity taken back',
  ),
];
