import { NoSuchEntityException } from '@aws-sdk/client-iam';
import { ParameterNotFound } from '@aws-sdk/client-ssm';
import { expect, test } from 'vitest';
import {
  awsErrorCode,
  isAlreadyThere,
  isAwsNotFound,
  isServerError,
  isThrottled,
  isUnauthorized,
  wouldHaveWorked,
} from './aws-errors.ts';
import { awsRefusal } from './fake-client.testing.ts';

const facts = { message: 'no', $metadata: {} };

test.each([
  new NoSuchEntityException(facts),
  new ParameterNotFound(facts),
  awsRefusal('NoSuchEntity'),
  awsRefusal('InvalidLaunchTemplateName.NotFoundException'),
  awsRefusal('InvalidInstanceID.NotFound'),
])('%s means that it does not exist', (error) => {
  expect(isAwsNotFound(error)).toBe(true);
});

test('other refusals are distinguished by their codes', () => {
  expect(isAlreadyThere(awsRefusal('EntityAlreadyExistsException'))).toBe(true);
  expect(isUnauthorized(awsRefusal('UnauthorizedOperation', 'no', 403))).toBe(true);
  expect(wouldHaveWorked(awsRefusal('DryRunOperation', 'yes', 412))).toBe(true);
  expect(isThrottled(awsRefusal('RequestLimitExceeded', 'slow', 503))).toBe(true);
  expect(isServerError(awsRefusal('InternalError', 'oh', 500))).toBe(true);
  expect(isServerError(awsRefusal('UnauthorizedOperation', 'no', 403))).toBe(false);
});

test('an error of the network or of ours has no code', () => {
  expect(awsErrorCode(new Error('socket hang up'))).toBeUndefined();
  expect(awsErrorCode('text')).toBeUndefined();
  expect(isAwsNotFound(new Error('socket hang up'))).toBe(false);
  expect(isServerError(undefined)).toBe(false);
});
