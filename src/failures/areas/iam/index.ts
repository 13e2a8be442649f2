// The entries of iam/, in the order of the catalogue.
import type { Failure } from '../../failure.ts';
import { controllerPermissionMissing } from './controller-permission-missing.ts';
import { controllerPolicyTooBroad } from './controller-policy-too-broad.ts';
import { ebsKmsKeyDenied } from './ebs-kms-key-denied.ts';
import { imdsOpenToPods } from './imds-open-to-pods.ts';
import { irsaTrustSubjectMismatch } from './irsa-trust-subject-mismatch.ts';
import { nodeRoleNameTooLong } from './node-role-name-too-long.ts';
import { nodeRolePoliciesMissing } from './node-role-policies-missing.ts';
import { nodeRoleTrustWrong } from './node-role-trust-wrong.ts';
import { oidcProviderMissing } from './oidc-provider-missing.ts';
import { passRoleDenied } from './pass-role-denied.ts';
import { podIdentityAssociationWrong } from './pod-identity-association-wrong.ts';
import { spotServiceLinkedRoleMissing } from './spot-service-linked-role-missing.ts';

export const iam: readonly Failure[] = [
  spotServiceLinkedRoleMissing,
  controllerPermissionMissing,
  irsaTrustSubjectMismatch,
  oidcProviderMissing,
  podIdentityAssociationWrong,
  nodeRoleNameTooLong,
  nodeRolePoliciesMissing,
  nodeRoleTrustWrong,
  passRoleDenied,
  controllerPolicyTooBroad,
  imdsOpenToPods,
  ebsKmsKeyDenied,
];
