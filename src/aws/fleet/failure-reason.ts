// Why a launch failed, in one word and one sentence: the reason and message of a claim's Launched condition. Dashboards
// and alerts are built on the reasons, so the table is the interface.
import { messageOf } from '../../base/index.ts';
import { type FailureId, pointerTo } from '../../failures/index.ts';
import { awsErrorCode } from '../aws-errors.ts';
import { credentialsMissing } from '../clients/credential-chain.ts';
import { credentialsRefused } from '../clients/credentials.ts';
import { failureTexts } from '../failure-texts.ts';

export interface FailureReason {
  reason: string;
  message: string;
}

interface Rule extends FailureReason {
  /** Texts of which one must be there. */
  anyOf: readonly string[];
  /** A further text that must be there. */
  and?: string;
}

const denied = ['UnauthorizedOperation', 'AccessDenied', 'AuthFailure'];

/** In order: the first that matches is the reason. */
const rules: readonly Rule[] = [
  {
    anyOf: [credentialsRefused],
    reason: 'Unauthorized',
    message: `${credentialsRefused}; renew them, they are read again at the next call, no restart is needed`,
  },
  {
    anyOf: [credentialsMissing],
    reason: 'Unauthorized',
    message:
      'The controller has no AWS credentials; create a Pod Identity association or a role annotation for its service account, no restart is needed',
  },
  {
    anyOf: ['ServiceLinkedRoleCreationNotPermitted'],
    reason: 'SpotSLRCreationFailed',
    message:
      'The service-linked role for spot instances is missing and the controller may not create it; create it once per account: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com',
  },
  {
    anyOf: denied,
    and: 'with an explicit deny in a permissions boundary',
    reason: 'Unauthorized',
    message: 'User is not authorized to perform this operation due to a permission boundary',
  },
  {
    anyOf: denied,
    and: 'Not authorized for images',
    reason: 'AMIAuthorizationFailure',
    message: 'User is not authorized for AMI used in instance launch',
  },
  {
    anyOf: denied,
    and: 'with an explicit deny in a service control policy',
    reason: 'Unauthorized',
    message: 'User is not authorized to perform this operation due to a service control policy',
  },
  {
    anyOf: denied,
    reason: 'Unauthorized',
    message: 'User is not authorized to perform this operation because no identity-based policy allows it',
  },
  {
    anyOf: ['InvalidParameter'],
    and: 'belong to different networks',
    reason: 'SecurityGroupSubnetVPCMismatch',
    message:
      'Security groups and subnets of the node class are in different VPCs; let securityGroupSelectorTerms and subnetSelectorTerms select from one',
  },
  {
    anyOf: ['iamInstanceProfile.name is invalid'],
    reason: 'InstanceProfileNameInvalid',
    message:
      'The instance profile in the status of the node class does not exist; create it or correct spec.instanceProfile, one made for spec.role is made anew within 15 minutes',
  },
  {
    anyOf: ['InvalidLaunchTemplateId.NotFound'],
    reason: 'LaunchTemplateNotFound',
    message: 'The launch template was deleted before the launch; the next try makes it anew',
  },
  {
    anyOf: ['User data is limited to'],
    reason: 'UserDataSizeLimitExceeded',
    message: 'Rendered user data exceeds the EC2 user data size limit',
  },
  {
    anyOf: ['InvalidAMIID.Malformed'],
    reason: 'InvalidAMIID',
    message: 'EC2 cannot read the id of the image; correct it in spec.amiSelectorTerms of the node class',
  },
  {
    anyOf: ['InvalidAMIID.NotFound'],
    reason: 'AMINotFound',
    message:
      'The image no longer exists; spec.amiSelectorTerms of the node class must select another, which is looked up every few minutes',
  },
  {
    anyOf: ['RequestLimitExceeded'],
    reason: 'RequestLimitExceeded',
    message: 'EC2 is throttling requests; the launch is tried again, ever more rarely',
  },
  {
    anyOf: ['InternalError'],
    reason: 'InternalError',
    message: 'EC2 failed with an internal error; the launch is tried again, ever more rarely',
  },
  {
    anyOf: ['not eligible for Free Tier'],
    reason: 'FreeTierIneligible',
    message:
      'The account is limited to instance types of the free tier; upgrade it, or require those types in the NodePool',
  },
  {
    anyOf: ['MaxFleetCountExceeded'],
    reason: 'FleetQuotaExceeded',
    message: 'The quota of EC2 fleets is used up; have it raised in Service Quotas, or delete fleets',
  },
  {
    anyOf: ['PendingVerification'],
    reason: 'AccountPendingVerification',
    message: 'AWS has not finished verifying the account; wait for its mail, or ask AWS Support',
  },
  {
    anyOf: ['MaxSpotInstanceCountExceeded'],
    reason: 'SpotQuotaExceeded',
    message: 'The spot quota is used up; have it raised in Service Quotas, or allow on-demand in the NodePool',
  },
  {
    anyOf: ['VcpuLimitExceeded'],
    reason: 'VCPULimitExceeded',
    message:
      'The vCPU quota is used up; have it raised in Service Quotas, or allow other instance families in the NodePool',
  },
  {
    anyOf: ['InsufficientFreeAddressesInSubnet'],
    reason: 'InsufficientFreeAddressesInSubnet',
    message:
      'The subnet has too few free addresses; let subnetSelectorTerms of the node class select larger or further subnets',
  },
];

/** Of what EC2 says where no one foresaw it; the beginning tells. */
const longestText = 300;

function textOf(error: unknown): string {
  return typeof error === 'string' ? error : `${awsErrorCode(error) ?? ''}: ${messageOf(error)}`;
}

/** Reason and sentence for a launch error; the text may be that of several errors joined. */
export function failureReason(error: unknown): FailureReason {
  const text = textOf(error);
  const found = rules.find(
    ({ anyOf, and }) => anyOf.some((part) => text.includes(part)) && (and === undefined || text.includes(and)),
  );
  if (found !== undefined) return { reason: found.reason, message: found.message };
  return { reason: 'LaunchFailed', message: `The instance could not be launched: ${text.slice(0, longestText)}` };
}

/** Of these the next try knows more: they are not failures of a set-up. */
const passing: readonly string[] = ['RequestLimitExceeded', 'InternalError', 'LaunchTemplateNotFound'];

/** The same for people: the sentence ends with the catalogue's id and the command that looks into it. */
export function reportedFailure(error: unknown): FailureReason {
  const { reason, message } = failureReason(error);
  const id = failureIdOf(error, reason);
  return { reason, message: id === undefined ? message : `${message} (${pointerTo(id)})` };
}

/** The failure of the catalogue that a launch error is a sign of. */
export function failureIdOf(error: unknown, reason = failureReason(error).reason): FailureId | undefined {
  if (passing.includes(reason)) return undefined;
  const found = failureTexts.classify(textOf(error), 'object');
  if (found !== undefined) return found.id;
  return reason === 'Unauthorized' ? 'iam/controller-permission-missing' : 'scheduling/launch-rejected-by-provider';
}
