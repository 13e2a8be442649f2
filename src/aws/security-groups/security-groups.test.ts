import { setImmediate } from 'node:timers/promises';
import type { DescribeSecurityGroupsCommandInput } from '@aws-sdk/client-ec2';
import { expect, test } from 'vitest';
import { VirtualClock } from '../../base/index.ts';
import { fakeEc2 } from '../fake-client.testing.ts';
import { nodeClass } from '../node-class.testing.ts';
import { SecurityGroups } from './security-groups.ts';

function open(answer: () => unknown) {
  const clock = new VirtualClock({ settle: () => setImmediate() });
  const ec2 = fakeEc2({ DescribeSecurityGroups: answer });
  return {
    clock,
    groups: new SecurityGroups({ ec2: ec2.client, clock, refreshMs: 60_000 }),
    inputs: () => ec2.inputs<DescribeSecurityGroupsCommandInput>('DescribeSecurityGroups'),
  };
}

test('one question per tag term, one for all ids, one for all names; id before name before tags', async () => {
  const { groups, inputs } = open(() => ({ SecurityGroups: [] }));
  await groups.list(
    nodeClass({
      securityGroupSelectorTerms: [
        { tags: { a: 'b' } },
        { id: 'sg-1', name: 'ignored' },
        { id: 'sg-2', tags: { ignored: 'x' } },
        { name: 'nodes', tags: { ignored: 'x' } },
        { name: 'more' },
      ],
    }),
  );
  expect(inputs().map(({ Filters }) => Filters)).toEqual([
    [{ Name: 'group-id', Values: ['sg-1', 'sg-2'] }],
    [{ Name: 'group-name', Values: ['nodes', 'more'] }],
    [{ Name: 'tag:a', Values: ['b'] }],
  ]);
  expect(inputs()[0]?.MaxResults).toBe(500);
});

test('groups are listed by id with their names, each once, and believed for a minute', async () => {
  const { groups, inputs, clock } = open(() => ({
    SecurityGroups: [
      { GroupId: 'sg-2', GroupName: 'two' },
      { GroupId: 'sg-1', GroupName: 'one' },
      { GroupId: 'sg-2', GroupName: 'two' },
    ],
  }));
  expect(await groups.list(nodeClass())).toEqual([
    { id: 'sg-1', name: 'one' },
    { id: 'sg-2', name: 'two' },
  ]);
  await groups.list(nodeClass());
  expect(inputs()).toHaveLength(1);
  await groups.list(nodeClass({}, { metadata: { generation: 2 } }));
  expect(inputs()).toHaveLength(2);
  await clock.runFor(60_000);
  await groups.list(nodeClass());
  expect(inputs()).toHaveLength(3);
});
