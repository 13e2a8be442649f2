// Cases of iam/.
import { type FailureCase, object } from '../../case.testing.ts';

const issuer = 'oidc.eks.eu-west-1.amazonaws.com/id/3F1AA6C6B518B869FDDAFD647F3DEFB4';
const controller = (namespace = 'kube-system', account = 'karpenter'): object =>
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: { template: { spec: { serviceAccountName: account, containers: [{ name: 'controller' }] } } },
    },
    namespace,
  );
const account = (namespace = 'kube-system', role = 'arn:aws:iam::111122223333:role/KarpenterController'): object =>
  object(
    'ServiceAccount',
    'karpenter',
    { metadata: { annotations: role === '' ? {} : { 'eks.amazonaws.com/role-arn': role } } },
    namespace,
  );
const trust = (subject: string, id = issuer): object => ({
  Statement: [
    {
      Effect: 'Allow',
      Principal: { Federated: `arn:aws:iam::111122223333:oidc-provider/${id}` },
      Action: 'sts:AssumeRoleWithWebIdentity',
      Condition: { StringEquals: { [`${id}:sub`]: subject, [`${id}:aud`]: 'sts.amazonaws.com' } },
    },
  ],
});
const role = (policy: object | string, RoleName = 'KarpenterController'): object => ({
  Role: { RoleName, Arn: `arn:aws:iam::111122223333:role/${RoleName}`, AssumeRolePolicyDocument: policy },
});
const cluster = {
  cluster: {
    name: 'prod',
    arn: 'arn:aws:eks:eu-west-1:111122223333:cluster/prod',
    identity: { oidc: { issuer: `https://${issuer}` } },
  },
};
const right = 'system:serviceaccount:kube-system:karpenter';
const nodeClass = (spec: object = { role: 'KarpenterNodeRole-prod' }): object =>
  object('EC2NodeClass', 'default', { spec });
const policies = (...names: string[]): object => ({
  AttachedPolicies: names.map((PolicyName) => ({ PolicyName, PolicyArn: `arn:aws:iam::aws:policy/${PolicyName}` })),
});
const spotPool = object('NodePool', 'spot', {
  spec: {
    template: {
      spec: { requirements: [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'on-demand'] }] },
    },
  },
});

export const iamCases: readonly FailureCase[] = [
  {
    id: 'iam/spot-service-linked-role-missing',
    name: 'a fleet error',
    text: '{"level":"ERROR","error":"launching nodeclaim, creating instance, with fleet error(s),\n   AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials\n   do not have permission to create the service-linked role for EC2 Spot Instances."}',
    confidence: 'certain',
    fix: ['aws iam create-service-linked-role --aws-service-name spot.amazonaws.com'],
  },
  {
    id: 'iam/spot-service-linked-role-missing',
    name: 'a role that does not exist, and a pool of spot',
    objects: [spotPool],
    refused: {
      'iam-get-role-AWSServiceRoleForEC2Spot':
        'An error occurred (NoSuchEntity) when calling the GetRole operation: The role with name AWSServiceRoleForEC2Spot cannot be found.',
    },
  },
  {
    id: 'iam/spot-service-linked-role-missing',
    name: 'a question that was not allowed',
    nearMiss: true,
    objects: [spotPool],
    refused: {
      'iam-get-role-AWSServiceRoleForEC2Spot':
        'An error occurred (AccessDenied) when calling the GetRole operation: User: arn:aws:iam::111122223333:user/dev is not authorized to perform: iam:GetRole',
    },
  },
  {
    id: 'iam/controller-permission-missing',
    name: 'a call of garbage collection',
    text: '{"level":"ERROR","controller":"instanceprofile.garbagecollection","aws-error-code":"AccessDenied","error":"listing instance profiles, User: arn:aws:sts::069057294951:assumed-role/KarpenterController/1766 is not authorized to perform:\n iam:ListInstanceProfiles on resource: arn:aws:iam::069057294951:instance-profile/"}',
    confidence: 'certain',
    fix: ['iam:ListInstanceProfiles'],
  },
  {
    id: 'iam/controller-permission-missing',
    name: 'an encoded message',
    text: '2022-03-17T20:10:26.710Z\tERROR\tcontroller.provisioning\tCould not launch node, launching instances, creating fleet UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: HZ_vabc123DEF\n\tstatus code: 403, request id: 0f-1',
    fix: ['decode-authorization-message', 'HZ_vabc123DEF'],
  },
  {
    id: 'iam/controller-permission-missing',
    name: 'a dry run',
    objects: [
      object('EC2NodeClass', 'default', {
        status: {
          conditions: [
            {
              type: 'ValidationSucceeded',
              status: 'False',
              reason: 'CreateFleetAuthCheckFailed',
              message: "Controller isn't authorized to call ec2:CreateFleet",
            },
          ],
        },
      }),
    ],
  },
  {
    id: 'iam/controller-permission-missing',
    name: 'an instance profile that may not be created',
    text: '{"level":"ERROR","controller":"nodeclass","error":"creating instance profile, AccessDenied: User: arn:aws:sts::111122223333:assumed-role/karpenter/17 is not authorized to perform: iam:CreateInstanceProfile on resource: arn:aws:iam::111122223333:instance-profile/prod_1 because no identity-based policy allows it"}',
    fix: ['iam:CreateInstanceProfile'],
  },
  {
    id: 'iam/controller-permission-missing',
    name: "the person's own denial",
    nearMiss: true,
    text: 'An error occurred (AccessDenied) when calling the GetRole operation: User: arn:aws:iam::111122223333:user/dev is not authorized to perform: iam:GetRole on resource: role KarpenterNodeRole',
  },
  {
    id: 'iam/controller-permission-missing',
    name: 'a time-out',
    nearMiss: true,
    text: '{"level":"ERROR","controller":"nodeclass","error":"operation error EC2: DescribeSubnets, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://ec2.eu-west-1.amazonaws.com/\\": dial tcp 10.0.0.3:443: i/o timeout"}',
  },
  {
    id: 'iam/irsa-trust-subject-mismatch',
    name: 'a line of the log',
    text: 'WebIdentityErr: failed to retrieve credentials\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\n\tstatus code: 403, request id: a88c1c3c',
    confidence: 'likely',
    fix: ['update-assume-role-policy'],
  },
  {
    id: 'iam/irsa-trust-subject-mismatch',
    name: 'a trust policy for another namespace',
    objects: [controller(), account()],
    aws: { 'iam-get-role-KarpenterController': role(trust('system:serviceaccount:karpenter:karpenter')) },
    confidence: 'certain',
    fix: ['--role-name KarpenterController', right],
  },
  {
    id: 'iam/irsa-trust-subject-mismatch',
    name: 'a trust policy in URL encoding',
    objects: [controller(), account()],
    aws: {
      'iam-get-role': role(encodeURIComponent(JSON.stringify(trust('system:serviceaccount:karpenter:karpenter')))),
    },
    confidence: 'certain',
  },
  {
    id: 'iam/irsa-trust-subject-mismatch',
    name: 'a subject with a wildcard that fits',
    nearMiss: true,
    objects: [controller(), account()],
    aws: { 'iam-get-role-x': role(trust('system:serviceaccount:*:karpenter')) },
  },
  {
    id: 'iam/irsa-trust-subject-mismatch',
    name: 'a name that does not resolve',
    nearMiss: true,
    instead: 'startup/sts-dns-timeout',
    text: 'WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.us-east-1.amazonaws.com/\\": dial tcp: lookup sts.us-east-1.amazonaws.com: i/o timeout',
  },
  {
    id: 'iam/oidc-provider-missing',
    name: 'an explicit answer of STS',
    text: 'operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 400, RequestID: 1, InvalidIdentityToken: No OpenIDConnect provider found in your account for https://oidc.eks.us-west-2.amazonaws.com/id/ABCDEF',
    confidence: 'certain',
    fix: ['associate-iam-oidc-provider'],
  },
  {
    id: 'iam/oidc-provider-missing',
    name: 'a listing without the issuer',
    objects: [controller(), account()],
    aws: {
      'eks-describe-cluster': cluster,
      'iam-get-role': role(trust(right)),
      'iam-list-open-id-connect-providers': { OpenIDConnectProviderList: [] },
    },
    fix: ['--cluster prod'],
  },
  {
    id: 'iam/oidc-provider-missing',
    name: 'a provider that is there',
    nearMiss: true,
    objects: [controller(), account()],
    aws: {
      'eks-describe-cluster': cluster,
      'iam-get-role': role(trust(right)),
      'iam-list-open-id-connect-providers': {
        OpenIDConnectProviderList: [{ Arn: `arn:aws:iam::111122223333:oidc-provider/${issuer}` }],
      },
    },
  },
  {
    id: 'iam/pod-identity-association-wrong',
    name: 'an association for another account',
    objects: [controller('kube-system', 'karpenter-sa'), object('ServiceAccount', 'karpenter-sa', {}, 'kube-system')],
    aws: {
      'eks-list-pod-identity-associations': {
        associations: [{ namespace: 'kube-system', serviceAccount: 'karpenter' }],
      },
    },
    confidence: 'certain',
    fix: ['--service-account karpenter-sa'],
  },
  {
    id: 'iam/pod-identity-association-wrong',
    name: 'an agent that does not answer',
    text: 'panic: get credentials: failed to refresh cached credentials, failed to load credentials, : exceeded maximum number of attempts, 3, : Get "http://169.254.170.23/v1/credentials": dial tcp 169.254.170.23:80: connect: connection refused',
  },
  {
    id: 'iam/pod-identity-association-wrong',
    name: 'no credentials at all',
    text: '{"level":"ERROR","logger":"controller","message":"ec2 api connectivity check failed","commit":"karpenter","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, http response error StatusCode: 404"}',
    confidence: 'likely',
  },
  {
    id: 'iam/pod-identity-association-wrong',
    name: 'an association that fits',
    nearMiss: true,
    objects: [
      controller(),
      account('kube-system', ''),
      object('DaemonSet', 'eks-pod-identity-agent', {}, 'kube-system'),
    ],
    aws: {
      'eks-list-pod-identity-associations': {
        associations: [{ namespace: 'kube-system', serviceAccount: 'karpenter' }],
      },
    },
  },
  {
    id: 'iam/node-role-name-too-long',
    name: 'a validation error',
    text: "An error occurred (ValidationError) when calling the CreateRole operation: 1 validation error detected: Value 'KarpenterNodeRole-ClusterStackEksCluster1234567890ABCDEF1234567890ABCDEF12345' at 'roleName' failed to satisfy constraint: Member must have length less than or equal to 64",
    confidence: 'certain',
  },
  {
    id: 'iam/node-role-name-too-long',
    name: 'a class that names it',
    objects: [nodeClass({ role: `KarpenterNodeRole-${'x'.repeat(60)}` })],
  },
  {
    id: 'iam/node-role-name-too-long',
    name: 'a policy name that is too long',
    nearMiss: true,
    text: "An error occurred (ValidationError) when calling the CreatePolicy operation: Value 'x' at 'policyName' failed to satisfy constraint: Member must have length less than or equal to 128",
  },
  {
    id: 'iam/node-role-policies-missing',
    name: 'a role without the worker policy',
    objects: [nodeClass()],
    aws: {
      'iam-list-attached-role-policies-KarpenterNodeRole-prod': policies(
        'AmazonEKS_CNI_Policy',
        'AmazonEC2ContainerRegistryPowerUser',
        'AmazonSSMManagedInstanceCore',
      ),
    },
    confidence: 'certain',
    fix: ['--role-name KarpenterNodeRole-prod', 'AmazonEKSWorkerNodePolicy'],
  },
  {
    id: 'iam/node-role-policies-missing',
    name: 'a line of the network plugin',
    texts: {
      'nodes/i-0abc12345678/ipamd.log':
        '{"level":"error","ts":"2026-01-01T00:00:00Z","caller":"ipamd/ipamd.go:463","msg":"Failed to call ec2:DescribeNetworkInterfaces: UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-prod/i-0abc12345678 is not authorized to perform: ec2:DescribeNetworkInterfaces"}',
    },
    fix: ['AmazonEKS_CNI_Policy', 'KarpenterNodeRole-prod'],
  },
  {
    id: 'iam/node-role-policies-missing',
    name: 'only the debugging policy missing',
    nearMiss: true,
    objects: [nodeClass()],
    aws: {
      'iam-list-attached-role-policies-KarpenterNodeRole-prod': policies(
        'AmazonEKS_CNI_Policy',
        'AmazonEC2ContainerRegistryPullOnly',
        'AmazonEKSWorkerNodePolicy',
      ),
    },
  },
  {
    id: 'iam/node-role-policies-missing',
    name: 'a network plugin with a role of its own',
    nearMiss: true,
    objects: [
      nodeClass(),
      object(
        'ServiceAccount',
        'aws-node',
        { metadata: { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/cni' } } },
        'kube-system',
      ),
    ],
    aws: {
      'iam-list-attached-role-policies': policies('AmazonEC2ContainerRegistryReadOnly', 'AmazonEKSWorkerNodePolicy'),
    },
  },
  {
    id: 'iam/node-role-trust-wrong',
    name: 'a role for EKS',
    objects: [nodeClass()],
    aws: {
      'iam-get-role-KarpenterNodeRole-prod': role(
        { Statement: [{ Effect: 'Allow', Principal: { Service: 'eks.amazonaws.com' }, Action: 'sts:AssumeRole' }] },
        'KarpenterNodeRole-prod',
      ),
    },
    confidence: 'certain',
    fix: ['ec2.amazonaws.com'],
  },
  {
    id: 'iam/node-role-trust-wrong',
    name: 'what the metadata service says',
    text: '{\n  "Code" : "AssumeRoleUnauthorizedAccess",\n  "Message" : "EC2 cannot assume the role KarpenterNodeRole-prod.  Please see documentation.",',
  },
  {
    id: 'iam/node-role-trust-wrong',
    name: 'a role for EC2 in China',
    nearMiss: true,
    objects: [nodeClass()],
    aws: {
      'iam-get-role-x': role(
        {
          Statement: { Effect: 'Allow', Principal: { Service: ['ec2.amazonaws.com.cn'] }, Action: ['sts:AssumeRole'] },
        },
        'KarpenterNodeRole-prod',
      ),
    },
  },
  {
    id: 'iam/pass-role-denied',
    name: 'a fleet error',
    text: '"error": "launching nodeclaim, creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/prod-karpenter/17170 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod because no identity-based policy allows the iam:PassRole action. Encoded Failure: abc"',
    confidence: 'certain',
    fix: ['arn:aws:iam::111122223333:role/KarpenterNodeRole-prod', 'iam:PassedToService'],
  },
  {
    id: 'iam/pass-role-denied',
    name: 'adding a role to a profile',
    text: 'ERROR controller.nodeclass adding role to instance profile, AccessDenied: User: arn:aws:sts::111122223333:assumed-role/karpenter/1 is not authorized to perform: iam:PassRole on resource: arn:aws:iam::111122223333:role/nodes',
  },
  {
    id: 'iam/pass-role-denied',
    name: 'another action of IAM',
    nearMiss: true,
    instead: 'iam/controller-permission-missing',
    text: '{"level":"ERROR","controller":"nodeclass","error":"AccessDenied: User: arn:aws:sts::111122223333:assumed-role/karpenter/17 is not authorized to perform: iam:AddRoleToInstanceProfile on resource: instance profile prod_1"}',
  },
  {
    id: 'iam/controller-policy-too-broad',
    name: 'PowerUserAccess on the role',
    objects: [controller(), account()],
    aws: { 'iam-list-attached-role-policies-KarpenterController': policies('PowerUserAccess') },
    confidence: 'certain',
    fix: ['detach-role-policy --role-name KarpenterController'],
  },
  {
    id: 'iam/controller-policy-too-broad',
    name: 'a command that attaches it',
    text: 'eksctl create iamserviceaccount \\\n  --cluster eks-lab --namespace kube-system \\\n  --name karpenter \\\n  --attach-policy-arn arn:aws:iam::aws:policy/PowerUserAccess \\\n  --approve',
  },
  {
    id: 'iam/controller-policy-too-broad',
    name: 'statements without conditions',
    aws: {
      'iam-get-role-policy-KarpenterController': {
        RoleName: 'KarpenterController',
        PolicyName: 'karpenter',
        PolicyDocument: {
          Statement: [{ Effect: 'Allow', Action: ['ec2:RunInstances', 'ec2:TerminateInstances'], Resource: '*' }],
        },
      },
    },
  },
  {
    id: 'iam/controller-policy-too-broad',
    name: 'the policy of the release',
    nearMiss: true,
    objects: [controller(), account()],
    aws: {
      'iam-list-attached-role-policies-KarpenterController': policies('KarpenterControllerPolicy-prod'),
      'iam-get-role-policy-KarpenterController': {
        PolicyName: 'karpenter',
        PolicyDocument: {
          Statement: [
            {
              Effect: 'Allow',
              Action: 'ec2:RunInstances',
              Resource: '*',
              Condition: { StringEquals: { 'aws:RequestTag/kubernetes.io/cluster/prod': 'owned' } },
            },
          ],
        },
      },
    },
  },
  {
    id: 'iam/imds-open-to-pods',
    name: 'a hop limit of two',
    objects: [nodeClass({ metadataOptions: { httpPutResponseHopLimit: 2, httpTokens: 'required' } })],
    confidence: 'certain',
    fix: ['kubectl patch ec2nodeclass default'],
  },
  {
    id: 'iam/imds-open-to-pods',
    name: 'optional tokens in a manifest',
    text: 'spec:\n  metadataOptions:\n    httpTokens: optional',
  },
  {
    id: 'iam/imds-open-to-pods',
    name: 'the defaults',
    nearMiss: true,
    objects: [nodeClass({ metadataOptions: { httpPutResponseHopLimit: 1, httpTokens: 'required' } })],
  },
  {
    id: 'iam/node-role-trust-wrong',
    name: 'an instance profile without a role',
    objects: [nodeClass({ instanceProfile: 'nodes-prod' })],
    aws: {
      'iam-get-instance-profile-nodes-prod': { InstanceProfile: { InstanceProfileName: 'nodes-prod', Roles: [] } },
    },
    confidence: 'certain',
    fix: ['aws iam add-role-to-instance-profile --instance-profile-name nodes-prod'],
  },
  {
    id: 'iam/node-role-trust-wrong',
    name: 'an instance profile that does not exist',
    objects: [nodeClass({ instanceProfile: 'nodes-prod' })],
    refused: {
      'iam-get-instance-profile':
        'An error occurred (NoSuchEntity) when calling the GetInstanceProfile operation: Instance Profile nodes-prod cannot be found.',
    },
    confidence: 'certain',
    fix: ['aws iam create-instance-profile --instance-profile-name nodes-prod'],
  },
  {
    id: 'iam/node-role-trust-wrong',
    name: 'an instance profile with its role, and an empty one that no class names',
    nearMiss: true,
    objects: [nodeClass({ instanceProfile: 'nodes-prod' })],
    aws: {
      'iam-get-instance-profile-nodes-prod': {
        InstanceProfile: { InstanceProfileName: 'nodes-prod', Roles: [{ RoleName: 'nodes' }] },
      },
      'iam-get-instance-profile-other': { InstanceProfile: { InstanceProfileName: 'other', Roles: [] } },
    },
  },
];
