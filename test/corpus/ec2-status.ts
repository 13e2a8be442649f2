// EC2NodeClass: what its status may say.
import { accept, type CorpusCase, each, reject, underRule } from './case.ts';
import { ec2Class, withStatus } from './objects.ts';

const reservation = {
  availabilityZone: 'us-west-2a',
  id: 'cr-1',
  instanceMatchCriteria: 'open',
  instanceType: 'm5.large',
  ownerID: '012345678901',
};
const onStatus = { update: ec2Class(), subresource: 'status' as const };
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  observedGeneration: 1,
};

export const ec2StatusCases: CorpusCase[] = underRule(
  'EC2NodeClass status',
  accept(
    'status: everything',
    withStatus(ec2Class(), {
      subnets: [{ id: 'subnet-1', zone: 'us-west-2a', zoneID: 'usw2-az1' }],
      securityGroups: [{ id: 'sg-1', name: 'nodes' }],
      amis: [
        {
          id: 'ami-1',
          name: 'a',
          deprecated: true,
          requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] }],
        },
      ],
      capacityReservations: [reservation],
      instanceProfile: 'p',
      conditions: [ready],
    }),
    {
      ...onStatus,
      stored: {
        'status.capacityReservations.0.reservationType': 'default',
        'status.capacityReservations.0.state': 'active',
      },
    },
  ),
  accept('status: a condition type twice', withStatus(ec2Class(), { conditions: [ready, ready] }), onStatus),
  ...each(['reason', 'message'], (field) =>
    reject(
      `status: a condition without ${field}`,
      withStatus(ec2Class(), { conditions: [{ ...ready, [field]: undefined }] }),
      `status.conditions[0].${field}`,
      'Required value',
      onStatus,
    ),
  ),
  reject(
    'status: a subnet without a zone',
    withStatus(ec2Class(), { subnets: [{ id: 'subnet-1' }] }),
    'status.subnets[0].zone',
    'Required value',
    onStatus,
  ),
  reject(
    'status: a reservation in another state',
    withStatus(ec2Class(), { capacityReservations: [{ ...reservation, state: 'gone' }] }),
    'status.capacityReservations[0].state',
    'Unsupported value',
    onStatus,
  ),
);
