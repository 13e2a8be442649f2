// Wordings from the field, in the places where people meet them: each names its failure.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

/** Failure, text, and where it may stand. */
const wordings: readonly [FailureId, string, string?][] = [
  [
    'iam/spot-service-linked-role-missing',
    '{"level":"ERROR","message":"failed launching nodeclaim","error":"launching nodeclaim, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."}',
    'log,asked',
  ],
  [
    'iam/spot-service-linked-role-missing',
    'Launched False SpotSLRCreationFailed: User: arn:aws:sts::111122223333:assumed-role/x is not authorized to perform: iam:CreateServiceLinkedRole on resource: arn:aws:iam::111122223333:role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot',
    'asked',
  ],
  [
    'iam/controller-permission-missing',
    '{"level":"ERROR","time":"2025-12-01T10:00:00Z","logger":"controller","message":"Reconciler error","controller":"instanceprofile.garbagecollection","error":"listing instance profiles, operation error IAM: ListInstanceProfiles, https response error StatusCode: 403, RequestID: 7d1f, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole-prod/1765 is not authorized to perform: iam:ListInstanceProfiles on resource: arn:aws:iam::111122223333:instance-profile/karpenter/eu-west-1/prod/ because no identity-based policy allows the iam:ListInstanceProfiles action"}',
    'log,asked',
  ],
  [
    'iam/controller-permission-missing',
    '2023-10-10T10:10:10.000Z	ERROR	controller.pricing	updating spot pricing, UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::1:assumed-role/karpenter is not authorized to perform: ec2:DescribeSpotPriceHistory because no identity-based policy allows the ec2:DescribeSpotPriceHistory action',
    'log,asked',
  ],
  [
    'iam/controller-permission-missing',
    'creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole/1 is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-1:111122223333:instance/* because no identity-based policy allows the ec2:RunInstances action. Encoded authorization failure message: A1b2C3d4E5f6-long_encoded',
    'log,asked',
  ],
  [
    'iam/controller-permission-missing',
    "ValidationSucceeded=False CreateFleetAuthCheckFailed: Controller isn't authorized to call ec2:CreateFleet",
    'asked',
  ],
  [
    'iam/irsa-trust-subject-mismatch',
    'panic: WebIdentityErr: failed to retrieve credentials\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\n\tstatus code: 403, request id: 7d1f9c5e-1111-2222-3333-444455556666',
    'log,asked',
  ],
  [
    'iam/irsa-trust-subject-mismatch',
    '{"level":"ERROR","time":"2025-08-25T08:00:00Z","message":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 7d1f, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"}',
    'log,asked',
  ],
  [
    'iam/oidc-provider-missing',
    'api error InvalidIdentityToken: No OpenIDConnect provider found in your account for https://oidc.eks.us-east-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE',
    'log,asked',
  ],
  [
    'iam/oidc-provider-missing',
    'WebIdentityErr: failed to retrieve credentials\\ncaused by: InvalidIdentityToken: No OpenIDConnect provider found in your account for https://oidc.eks.cn-north-1.amazonaws.com.cn/id/ABC\\n\\tstatus code: 400, request id: 1',
    'log,asked',
  ],
  [
    'iam/pod-identity-association-wrong',
    'get credentials: failed to refresh cached credentials, failed to load credentials, : [7d1f]: (AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client',
    'log,asked',
  ],
  [
    'iam/pod-identity-association-wrong',
    'Error fetching credentials: Service account token cannot be empty or An error occurred (ResourceNotFoundException) No pod identity association found for service account kube-system/karpenter-sa',
    'log,asked',
  ],
  [
    'iam/node-role-name-too-long',
    "An error occurred (ValidationError) when calling the CreateRole operation: 1 validation error detected: Value 'KarpenterNodeRole-very-long' at 'roleName' failed to satisfy constraint: Member must have length less than or equal to 64",
    'asked,cli',
  ],
  [
    'iam/node-role-name-too-long',
    '│ Error: expected length of name to be in the range (1 - 64), got KarpenterNodeRole-MyVeryLongCDKGeneratedClusterNameE1B71EXAMPLE-abcdefghijk',
    'asked,cli',
  ],
  [
    'iam/node-role-name-too-long',
    'Resource handler returned message: "1 validation error detected: Value at \'roleName\' failed to satisfy constraint: Member must have length less than or equal to 64 (Service: Iam, Status Code: 400, Request ID: x)"',
    'asked,cli',
  ],
  [
    'iam/pass-role-denied',
    'creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterControllerRole/1 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod because no identity-based policy allows the iam:PassRole action',
    'log,asked',
  ],
  [
    'iam/pass-role-denied',
    'api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/x/y is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/eks/KarpenterNodeRole-prod',
    'log,asked',
  ],
  [
    'iam/controller-permission-missing',
    'creating instance profile, operation error IAM: CreateInstanceProfile, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/x/y is not authorized to perform: iam:CreateInstanceProfile on resource: arn:aws:iam::111122223333:instance-profile/prod_123',
    'log,asked',
  ],
  [
    'iam/ebs-kms-key-denied',
    '"StateReason": { "Code": "Client.InternalError", "Message": "Client.InternalError: Client error on launch" }',
    'asked',
  ],
  ['iam/ebs-kms-key-denied', 'State transition message  Client.InternalError: Client error on launch', 'asked'],
  [
    'iam/ebs-kms-key-denied',
    'Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state',
    'asked',
  ],
  [
    'iam/node-role-trust-wrong',
    'nodeadm[1612]: {"level":"error","msg":"no EC2 IMDS role found, operation error ec2imds: GetMetadata, http response error StatusCode: 404"}',
    'node,asked',
  ],
  [
    'iam/node-role-policies-missing',
    'operation error EKS: DescribeCluster, https response error StatusCode: 403, RequestID: 2c, api error AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-prod/i-0abc1234567890abc is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:us-east-1:111122223333:cluster/prod',
    'node,asked',
  ],
  [
    'iam/node-role-policies-missing',
    'Failed to pull image "602401143452.dkr.ecr.us-east-1.amazonaws.com/amazon-k8s-cni:v1.18.1": failed to pull and unpack image: failed to resolve reference: pulling from host 602401143452.dkr.ecr.us-east-1.amazonaws.com failed with status code [manifests v1.18.1]: 403 Forbidden',
    'asked',
  ],
  [
    'iam/node-role-policies-missing',
    '{"level":"error","caller":"ipamd/ipamd.go:500","msg":"Failed to call ec2:DescribeNetworkInterfaces: UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-prod/i-0abc is not authorized to perform: ec2:DescribeNetworkInterfaces"}',
    'log,asked,node',
  ],
];

describe.each(wordings)('%s', (id, text, places = 'asked') => {
  test.each(places.split(','))(`is named in ${JSON.stringify(text.slice(0, 60))} (%s)`, (where) => {
    expect(diagnoseCase(evidenceIn(where as Where, text)).findings.map((finding) => finding.id)).toContain(id);
  });
});
