// What EventBridge would put into the interruption queue, in its own envelope.
import { randomUUID } from 'node:crypto';

export type Interruption =
  | { kind: 'spot-interruption'; instanceId: string }
  | { kind: 'rebalance-recommendation'; instanceId: string }
  | { kind: 'state-change'; instanceId: string; state: string }
  | { kind: 'scheduled-change'; instanceIds: string[]; service?: string; category?: string }
  | { kind: 'capacity-reservation-interruption'; instanceId: string };

export interface InterruptionMessage {
  version: string;
  id: string;
  source: string;
  'detail-type': string;
  account: string;
  region: string;
  time: string;
  resources: string[];
  detail: Record<string, unknown>;
}

export function interruptionMessage(
  event: Interruption,
  { region, atMs }: { region: string; atMs: number },
): InterruptionMessage {
  const account = '123456789012';
  const arn = (id: string): string => `arn:aws:ec2:${region}:${account}:instance/${id}`;
  const ids = event.kind === 'scheduled-change' ? event.instanceIds : [event.instanceId];
  return {
    version: '0',
    id: randomUUID(),
    account,
    region,
    time: new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    resources: ids.map(arn),
    ...contentOf(event),
  };
}

function contentOf(event: Interruption): Pick<InterruptionMessage, 'source' | 'detail-type' | 'detail'> {
  const ec2 = (type: string, detail: Record<string, unknown>) => ({ source: 'aws.ec2', 'detail-type': type, detail });
  switch (event.kind) {
    case 'spot-interruption':
      return ec2('EC2 Spot Instance Interruption Warning', {
        'instance-id': event.instanceId,
        'instance-action': 'terminate',
      });
    case 'rebalance-recommendation':
      return ec2('EC2 Instance Rebalance Recommendation', { 'instance-id': event.instanceId });
    case 'state-change':
      return ec2('EC2 Instance State-change Notification', { 'instance-id': event.instanceId, state: event.state });
    case 'capacity-reservation-interruption':
      return ec2('EC2 Capacity Reservation Instance Interruption Warning', {
        'instance-id': event.instanceId,
        'instance-action': 'terminate',
      });
    case 'scheduled-change':
      return {
        source: 'aws.health',
        'detail-type': 'AWS Health Event',
        detail: {
          service: event.service ?? 'EC2',
          eventTypeCategory: event.category ?? 'scheduledChange',
          eventTypeCode: 'AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED',
          affectedEntities: event.instanceIds.map((entityValue) => ({ entityValue })),
        },
      };
  }
}
