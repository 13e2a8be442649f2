// Listings that do not end: AWS, or something in front of it, answers every page with the same token.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { VirtualClock } from '../base/index.ts';
import type { Log } from '../ports/index.ts';
import { CapacityReservations } from './capacity-reservations/capacity-reservations.ts';
import { ReservationCounts } from './capacity-reservations/reservation-counts.ts';
import { fakeEc2, fakeIam } from './fake-client.testing.ts';
import { describeImages } from './images/describe-images.ts';
import { InstanceProfiles } from './instance-profiles/instance-profiles.ts';
import { nodeClass } from './node-class.testing.ts';
import { SecurityGroups } from './security-groups/security-groups.ts';
import { SubnetAddresses } from './subnets/subnet-addresses.ts';
import { Subnets } from './subnets/subnets.ts';

const clock = new VirtualClock({ settle: () => setImmediate() });
const log: Log = { debug() {}, info() {}, error() {}, with: () => log };
const endless = () => ({ NextToken: 'again', Marker: 'again', IsTruncated: true });
const ec2 = fakeEc2({
  DescribeImages: endless,
  DescribeSubnets: endless,
  DescribeSecurityGroups: endless,
  DescribeCapacityReservations: endless,
});
const iam = fakeIam({ ListInstanceProfiles: endless });
const terms = { tags: { a: 'b' } };

test.each<[string, () => Promise<unknown>]>([
  ['images', () => describeImages(ec2.client, { filters: [], owners: [] })],
  [
    'subnets',
    () =>
      new Subnets({ ec2: ec2.client, clock, refreshMs: 1, addresses: new SubnetAddresses(clock, 1) }).list(
        nodeClass({ subnetSelectorTerms: [terms] }),
      ),
  ],
  [
    'security groups',
    () =>
      new SecurityGroups({ ec2: ec2.client, clock, refreshMs: 1 }).list(
        nodeClass({ securityGroupSelectorTerms: [terms] }),
      ),
  ],
  [
    'capacity reservations',
    () =>
      new CapacityReservations({ ec2: ec2.client, clock, log, counts: new ReservationCounts(clock) }).list(
        nodeClass({ capacityReservationSelectorTerms: [terms] }),
      ),
  ],
  [
    'instance profiles',
    () => new InstanceProfiles({ iam: iam.client, clock, clusterName: 'c', region: 'r', unique: () => 'u' }).list(),
  ],
])('a list of %s whose pages repeat is given up, not believed', async (_, list) => {
  const asked = ec2.calls.length + iam.calls.length;
  await expect(list()).rejects.toThrow('the same page token');
  expect(ec2.calls.length + iam.calls.length - asked).toBeLessThanOrEqual(3);
});
