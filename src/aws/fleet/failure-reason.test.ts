import { describe, expect, test } from 'vitest';
import { awsRefusal } from '../fake-client.testing.ts';
import { failureReason, reportedFailure } from './failure-reason.ts';

const seen: [code: string, message: string, reason: string][] = [
  ['AuthFailure.ServiceLinkedRoleCreationNotPermitted', 'no', 'SpotSLRCreationFailed'],
  ['UnauthorizedOperation', 'You are not authorized', 'Unauthorized'],
  ['AccessDenied', 'with an explicit deny in a permissions boundary', 'Unauthorized'],
  ['AuthFailure', 'Not authorized for images: [ami-1]', 'AMIAuthorizationFailure'],
  [
    'InvalidParameter',
    'Security group sg-1 and subnet subnet-1 belong to different networks.',
    'SecurityGroupSubnetVPCMismatch',
  ],
  [
    'InvalidParameterValue',
    'Value (x) for parameter iamInstanceProfile.name is invalid.',
    'InstanceProfileNameInvalid',
  ],
  ['InvalidLaunchTemplateId.NotFound', 'gone', 'LaunchTemplateNotFound'],
  ['InvalidUserData.Malformed', 'User data is limited to 16384 bytes', 'UserDataSizeLimitExceeded'],
  ['InvalidAMIID.Malformed', 'bad', 'InvalidAMIID'],
  ['InvalidAMIID.NotFound', 'none', 'AMINotFound'],
  ['RequestLimitExceeded', 'slow', 'RequestLimitExceeded'],
  ['InternalError', 'oops', 'InternalError'],
  ['InvalidParameterCombination', 'type is not eligible for Free Tier', 'FreeTierIneligible'],
  ['MaxFleetCountExceeded', 'many', 'FleetQuotaExceeded'],
  ['PendingVerification', 'wait', 'AccountPendingVerification'],
  ['MaxSpotInstanceCountExceeded', 'many', 'SpotQuotaExceeded'],
  ['VcpuLimitExceeded', 'many', 'VCPULimitExceeded'],
  ['InsufficientFreeAddressesInSubnet', 'full', 'InsufficientFreeAddressesInSubnet'],
  ['SomethingNew', 'never seen', 'LaunchFailed'],
];

test.each(seen)('%s with "%s" is %s', (code, message, reason) => {
  expect(failureReason(awsRefusal(code, message)).reason).toBe(reason);
  expect(failureReason(`${code}: ${message}`).reason).toBe(reason);
});

/** Sentences that others already match on, and the one that ends in EC2's own words. */
const asKnown = ['Unauthorized', 'AMIAuthorizationFailure', 'UserDataSizeLimitExceeded', 'LaunchFailed'];

test.each(seen.filter(([, , reason]) => !asKnown.includes(reason)))(
  '%s with "%s" says what is wrong and what to do about it',
  (code, message) => {
    expect(failureReason(awsRefusal(code, message)).message).toMatch(/^[A-Z].+; .+/);
  },
);

test('a permissions boundary counts before images', () => {
  const text = 'UnauthorizedOperation: Not authorized for images: with an explicit deny in a permissions boundary';
  expect(failureReason(text).reason).toBe('Unauthorized');
});

test('an unknown error is reported in the words of EC2, shortened', () => {
  const text = 'Invalid device name /dev/xvda';
  expect(failureReason(awsRefusal('InvalidBlockDeviceMapping', text))).toEqual({
    reason: 'LaunchFailed',
    message: `The instance could not be launched: InvalidBlockDeviceMapping: ${text}`,
  });
  expect(failureReason(awsRefusal('SomethingNew', 'x'.repeat(5_000))).message.length).toBeLessThan(400);
});

test.each([
  ['with an explicit deny in a permissions boundary', 'due to a permission boundary'],
  ['with an explicit deny in a service control policy', 'due to a service control policy'],
  ['no policy', 'because no identity-based policy allows it'],
])('a denial "%s" is explained: %s', (text, explained) => {
  expect(failureReason(awsRefusal('UnauthorizedOperation', text)).message).toBe(
    `User is not authorized to perform this operation ${explained}`,
  );
});

describe('the failure of the catalogue', () => {
  test.each([
    ['AuthFailure.ServiceLinkedRoleCreationNotPermitted', 'no', 'iam/spot-service-linked-role-missing'],
    [
      'UnauthorizedOperation',
      'User: arn:aws:sts::111122223333:assumed-role/kerf/x is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/nodes',
      'iam/pass-role-denied',
    ],
    ['UnauthorizedOperation', 'You are not authorized to perform this operation.', 'iam/controller-permission-missing'],
    ['InsufficientFreeAddressesInSubnet', 'subnet-1 is full', 'net/subnet-addresses-exhausted'],
    ['InvalidBlockDeviceMapping', 'Invalid device name /dev/xvdz', 'ami/block-device-name-invalid'],
    ['VcpuLimitExceeded', 'many', 'scheduling/launch-rejected-by-provider'],
    ['SomethingNew', 'never seen', 'scheduling/launch-rejected-by-provider'],
  ])('of %s with "%s" is %s, with the command that looks into it', (code, message, id) => {
    const reported = reportedFailure(awsRefusal(code, message)).message;
    expect(reported).toContain(`(${id}: kerf doctor --only ${id}, docs/reference/failures.md#${id.replace('/', '-')})`);
  });

  test.each(['RequestLimitExceeded', 'InternalError'])('%s passes by itself and has none', (code) => {
    expect(reportedFailure(awsRefusal(code, 'busy')).message).not.toContain('kerf doctor');
  });
});
