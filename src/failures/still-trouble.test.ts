// Events outlive their trouble: what an object says now decides.
import { expect, test } from 'vitest';
import { condition, diagnoseCase, minutesAgo, now, object } from './case.testing.ts';

const nodeClass = (status: string, reason = 'SubnetsReady', message = ''): object =>
  object('EC2NodeClass', 'default', {
    spec: { subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'prod' } }] },
    status: {
      conditions: [
        condition('SubnetsReady', status, reason, message, 5),
        condition('Ready', status, reason, message, 5),
      ],
    },
  });

const event = (kind: string, name: string, reason: string, message: string, minutes: number): object =>
  object('Event', `${name}.1`, { reason, message, involvedObject: { kind, name }, lastTimestamp: minutesAgo(minutes) });

const ids = (...objects: object[]): string[] =>
  diagnoseCase({ objects, now })
    .findings.map(({ id }) => id)
    .filter((id) => !id.startsWith('crd/'));

const lost =
  'Status condition transitioned, Type: SubnetsReady, Status: Unknown -> False, Reason: SubnetsNotFound, Message: SubnetSelector did not match any Subnets';

test('a condition that turned again is over, whatever its event said', () => {
  expect(ids(nodeClass('True'), event('EC2NodeClass', 'default', 'SubnetsReady', lost, 9))).toEqual([]);
  expect(
    ids(
      nodeClass('False', 'SubnetsNotFound', 'SubnetSelector did not match any Subnets'),
      event('EC2NodeClass', 'default', 'SubnetsReady', lost, 9),
    ),
  ).toEqual(['net/discovery-tag-missing']);
});

test('a budget of last night is not in force now', () => {
  const pool = object('NodePool', 'nights', {
    spec: { disruption: { budgets: [{ nodes: '0', schedule: '0 1 * * *', duration: '8h' }] } },
  });
  const closed = 'No allowed disruptions for disruption reason Underutilized due to blocking budget';
  expect(ids(pool, event('NodePool', 'nights', 'DisruptionBlocked', closed, 300))).toEqual([]);
  expect(ids(pool, event('NodePool', 'nights', 'DisruptionBlocked', closed, 10))).toEqual([
    'disruption/budget-zero-in-force',
  ]);
});
