// What AWS services answer when they refuse, as questions with yes or no. Codes are the services' own; the SDK appends
// `Exception` to some of them and not to others, so both spellings count.

const notFoundCodes = new Set([
  'InvalidCapacityReservationId.NotFound',
  'InvalidInstanceID.NotFound',
  'InvalidLaunchTemplateName.NotFoundException',
  'InvalidLaunchTemplateId.NotFound',
  'QueueDoesNotExist',
  'NoSuchEntity',
  'ParameterNotFound',
]);

const throttlingCodes = new Set(['RequestLimitExceeded', 'Throttling', 'ThrottlingException', 'TooManyRequests']);

/** The service's code for a refusal; undefined for anything else that went wrong (network, bugs). */
export function awsErrorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { Code, $metadata } = thrown as { Code?: unknown; $metadata?: unknown };
  if (typeof Code === 'string') return Code;
  return $metadata === undefined ? undefined : thrown.name;
}

/** The service itself said no: nothing was lost on the way. */
export function isAwsAnswer(thrown: unknown): boolean {
  const { $metadata } = (thrown ?? {}) as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode !== undefined;
}

function isOneOf(codes: ReadonlySet<string>, thrown: unknown): boolean {
  const code = awsErrorCode(thrown);
  return code !== undefined && (codes.has(code) || codes.has(code.replace(/Exception$/, '')));
}

export const isAwsNotFound = (thrown: unknown): boolean => isOneOf(notFoundCodes, thrown);

export const isAlreadyThere = (thrown: unknown): boolean => isOneOf(new Set(['EntityAlreadyExists']), thrown);

export const isUnauthorized = (thrown: unknown): boolean => isOneOf(new Set(['UnauthorizedOperation']), thrown);

/** A dry run that would have worked is refused with this code. */
export const wouldHaveWorked = (thrown: unknown): boolean => isOneOf(new Set(['DryRunOperation']), thrown);

export const isThrottled = (thrown: unknown): boolean => isOneOf(throttlingCodes, thrown);

/** The service itself is in trouble: the same call may work in a moment. */
export function isServerError(thrown: unknown): boolean {
  const status = (thrown as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode;
  return status !== undefined && status >= 500;
}
