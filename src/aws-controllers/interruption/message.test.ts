import { describe, expect, test } from 'vitest';
import { type Interruption, interruptionMessage } from '../../../test/setup/aws/interruption.ts';
import { readInterruption } from './message.ts';

const read = (event: Interruption) =>
  readInterruption(JSON.stringify(interruptionMessage(event, { region: 'us-east-1', atMs: 0 })));

describe('an event of EventBridge', () => {
  test.each([
    [{ kind: 'spot-interruption', instanceId: 'i-1' }, 'spot_interrupted'],
    [{ kind: 'rebalance-recommendation', instanceId: 'i-1' }, 'rebalance_recommendation'],
    [{ kind: 'capacity-reservation-interruption', instanceId: 'i-1' }, 'capacity_reservation_interrupted'],
    [{ kind: 'state-change', instanceId: 'i-1', state: 'stopping' }, 'instance_stopped'],
    [{ kind: 'state-change', instanceId: 'i-1', state: 'stopped' }, 'instance_stopped'],
    [{ kind: 'state-change', instanceId: 'i-1', state: 'shutting-down' }, 'instance_terminated'],
    [{ kind: 'state-change', instanceId: 'i-1', state: 'terminated' }, 'instance_terminated'],
  ] satisfies [Interruption, string][])('%j is %s', (event, kind) => {
    expect(read(event)).toEqual({ kind, instanceIds: ['i-1'] });
  });

  test('a scheduled change names every instance once', () => {
    const event: Interruption = { kind: 'scheduled-change', instanceIds: ['i-1', 'i-2', 'i-1'] };
    expect(read(event)).toEqual({ kind: 'scheduled_change', instanceIds: ['i-1', 'i-2'] });
  });

  test.each([
    { kind: 'state-change', instanceId: 'i-1', state: 'running' },
    { kind: 'state-change', instanceId: 'i-1', state: 'pending' },
    { kind: 'scheduled-change', instanceIds: ['i-1'], service: 'RDS' },
    { kind: 'scheduled-change', instanceIds: ['i-1'], category: 'accountNotification' },
  ] satisfies Interruption[])('%j concerns no instance', (event) => {
    expect(read(event)).toEqual({ kind: 'no_op', instanceIds: [] });
  });
});

describe('anything else', () => {
  test.each([
    undefined,
    '',
    '{}',
    '{"version":"1","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning","detail":{"instance-id":"i-1"}}',
    '{"version":"0","source":"aws.s3","detail-type":"Object Created","detail":{}}',
  ])('%j is a no-op', (body) => {
    expect(readInterruption(body).kind).toBe('no_op');
  });

  test.each(['not json', '"text"', 'null', '{'])('%j is unreadable', (body) => {
    expect(() => readInterruption(body)).toThrow(/not an EventBridge event/);
  });

  test.each([
    '{"version":"0","source":"aws.health","detail-type":"AWS Health Event","detail":{"service":"EC2","eventTypeCategory":"scheduledChange","affectedEntities":[null,{},{"entityValue":7}]}}',
    '{"version":"0","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning"}',
  ])('an event with odd details names no instance: %s', (body) => {
    expect(readInterruption(body).instanceIds).toEqual([]);
  });
});
