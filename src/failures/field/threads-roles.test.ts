// Lines of public threads about roles, permissions and queues, with what people write around them;
// labelled before the doctor saw them.
import type { FailureId } from '../failure.ts';
import type { Where } from './field.testing.ts';
import { reportsAreRead } from './issue-reports.testing.ts';

const named: readonly [FailureId, Where, string][] = [
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2025-02-09T08:12:01.120Z","logger":"controller","message":"failed resolving cluster endpoint","commit":"058c665","error":"failed to resolve cluster endpoint, operation error EKS: DescribeCluster, https response error StatusCode: 403, RequestID: 1f6b1d2e-47dd-4c9f-a2a3-111111111111, api error AccessDeniedException: User: arn:aws:sts::111122223333:assumed-role/kctl/1739089921 is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:eu-west-1:111122223333:cluster/blue"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    "Status condition transitioned, Type: Ready, Status: True -> False, Reason: UnhealthyDependents, Message: ValidationSucceeded=False\n\nStatus condition transitioned, Type: ValidationSucceeded, Status: True -> False, Reason: RunInstancesAuthCheckFailed, Message: Controller isn't authorized to call ec2:RunInstances",
  ],
  [
    'iam/spot-service-linked-role-missing',
    'log',
    '2024-02-08T10:02:01.441Z\tERROR\tcontroller\tReconciler error\t{"commit": "17d6c05", "controller": "nodeclaim.lifecycle", "NodeClaim": {"name":"spot-kx8ds"}, "error": "launching nodeclaim, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."}',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2026-01-10T16:26:41.804Z","logger":"controller","caller":"controller/controller.go:474","message":"Reconciler error","commit":"1ad0d78","controller":"instanceprofile.garbagecollection","namespace":"","name":"","reconcileID":"c21b77ab-9df2-4d77-9afd-208c51bc1d23","aws-error-code":"AccessDenied","aws-operation-name":"ListInstanceProfiles","aws-request-id":"9feb3d6b-17de-47b9-94c1-fe1312ebc017","aws-service-name":"IAM","aws-status-code":403,"error":"listing instance profiles, listing instance profiles, operation error IAM: ListInstanceProfiles, https response error StatusCode: 403, RequestID: 9feb3d6b-17de-47b9-94c1-fe1312ebc017, api error AccessDenied: User: arn:aws:sts::808842816990:assumed-role/karpenter.kube-system.sa.e2e/1768062234299783051 is not authorized to perform: iam:ListInstanceProfiles on resource: arn:aws:iam::808842816990:instance-profile/karpenter/eu-west-1/e2e/ because no identity-based policy allows the iam:ListInstanceProfiles action"}',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2024-11-12T16:46:59.426Z","logger":"controller","message":"Reconciler error","commit":"fb4d75f","controller":"nodeclaim.lifecycle","controllerGroup":"karpenter.sh","controllerKind":"NodeClaim","NodeClaim":{"name":"default-w2zlj"},"namespace":"","name":"default-w2zlj","reconcileID":"7a1e88bc","error":"launching nodeclaim, creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::123456789012:assumed-role/karpeter-controller-role/1731429849551905269 is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-east-2:123456789012:instance/* with an explicit deny in a service control policy. Encoded authorization failure message: g4oZPBqZ4Bni8dE5dGjxYTnOZ"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    '{\n  "eventTime": "2026-01-19T12:21:42Z",\n  "eventSource": "ec2.amazonaws.com",\n  "eventName": "CreateFleet",\n  "awsRegion": "us-west-2",\n  "userAgent": "aws-sdk-go-v2/1.36.3 ua/2.1 os/linux lang/go#1.24.2 karpenter.sh-1.5.0 m/h",\n  "errorCode": "Client.UnauthorizedOperation",\n  "errorMessage": "You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/abc-Karpenter-Role/1768825272022703283 is not authorized to perform: ec2:CreateFleet on resource: arn:aws:ec2:us-west-2:111122223333:launch-template/* because no identity-based policy allows the ec2:CreateFleet action. Encoded authorization failure message: XXXX"\n}',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '2022-09-05T12:16:18.813Z\tERROR\tcontroller.aws.pricing\tupdating spot pricing, UnauthorizedOperation: You are not authorized to perform this operation.\n\tstatus code: 403, request id: 8f99fa14-17a2-4e44-b2f3-7b9b4b0a5b0a, using existing pricing data from 2022-08-23T16:45:53Z\t{"commit": "3d87474"}',
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2023-11-09T10:22:08.767Z","logger":"controller","message":"Reconciler error","commit":"3a61217","controller":"nodeclass","EC2NodeClass":{"name":"nodeclass"},"name":"nodeclass","error":"resolving instance profile, getting instance profile \\"prod_4067990795380418201\\", AccessDenied: User: arn:aws:sts::111122223333:assumed-role/KarpenterIRSA-prod/1699525328 is not authorized to perform: iam:GetInstanceProfile on resource: instance profile prod_4067990795380418201 because no identity-based policy allows the iam:GetInstanceProfile action\\n\\tstatus code: 403, request id: 7bd2"}',
  ],
  [
    'iam/irsa-trust-subject-mismatch',
    'log',
    '{"level":"FATAL","time":"2024-01-04T20:42:05.150Z","logger":"controller","message":"Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\\n\\tstatus code: 403, request id: 97ec51e8-f5f8-4aee-bb04-e08f323ebc8a","commit":"2dd7fdc"}',
  ],
  [
    'iam/irsa-trust-subject-mismatch',
    'asked',
    'getting amis, getting AMI queries, failed to discover AMIs for alias "al2023@latest"; getting subnets, describing subnets [{"Name":"tag:Name","Values":["private-us-east-1a"]}], operation error EC2: DescribeSubnets, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 40b2, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity; getting security groups, describing security groups [[{Name:0x4003199980 Values:[karpenter-node] noSmithyDocumentSerde:{}}]]',
  ],
  [
    'iam/oidc-provider-missing',
    'log',
    '{"level":"ERROR","time":"2025-04-02T04:11:00.000Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"058c665","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 400, RequestID: 15810d8a-d7cf, InvalidIdentityToken: No OpenIDConnect provider found in your account for https://oidc.eks.eu-west-3.amazonaws.com/id/707D847494D1D4808B28D63A2BD0DAF7"}',
  ],
  [
    'iam/oidc-provider-missing',
    'log',
    '2023-06-08 10:12:01 ERROR controller Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\ncaused by: InvalidIdentityToken: The web identity token provided could not be validated\n\tstatus code: 400, request id: d3971115-8cf9-4478-866c-034a2b27afe4 {"commit": "698f22f-dirty", "service": "karpenter"}',
  ],
  [
    'iam/pod-identity-association-wrong',
    'log',
    '{"level":"ERROR","time":"2026-02-09T08:00:00.000Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"aa11bb2","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, no EC2 IMDS role found, operation error ec2imds: GetMetadata, canceled, context deadline exceeded"}',
  ],
  [
    'iam/pod-identity-association-wrong',
    'log',
    '{"level":"error","msg":"Error fetching credentials: error getting credentials to cache: unable to fetch credentials from EKS Auth: (AccessDeniedException): Unauthorized Exception! EKS does not have permissions to assume the associated role., fault: client","client-addr":"10.0.14.3:40112","cluster-name":"prod","time":"2026-02-09T08:00:00Z"}',
  ],
  [
    'iam/node-role-name-too-long',
    'cli',
    "KarpenterNodeRole (KarpenterNodeRole8E2C) 1 validation error detected: Value 'KarpenterNodeRole-EksBlueprintDevClusterStackEksCluster3F5C2B7A-a1b2c3d4e5f64c8a' at 'roleName' failed to satisfy constraint: Member must have length less than or equal to 64 (Service: AmazonIdentityManagement; Status Code: 400; Error Code: ValidationError; Request ID: 9b1c)",
  ],
  [
    'iam/node-role-name-too-long',
    'cli',
    '│ Error: expected length of name to be in the range (1 - 64), got KarpenterNodeRole-platform-engineering-production-eu-central-1-blue-2\n│   with module.karpenter.aws_iam_role.node[0],',
  ],
  [
    'iam/node-role-policies-missing',
    'node',
    '{"level":"error","ts":"2024-02-22T08:05:13.164Z","caller":"ipamd/ipamd.go:463","msg":"Failed to call ec2:DescribeNetworkInterfaces for [eni-0e9f]: UnauthorizedOperation: You are not authorized to perform this operation.\\n\\tstatus code: 403, request id: 11b5"}',
  ],
  [
    'iam/node-role-policies-missing',
    'node',
    'Sep 17 10:06:08 localhost nodeadm[2495]: SDK 2025/09/17 10:06:08 DEBUG request failed with unretryable error https response error StatusCode: 403, RequestID: 3a1f, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-stage/i-0f00ba4 is not authorized to perform: ec2:DescribeInstances because no identity-based policy allows the ec2:DescribeInstances action\nSep 17 10:06:08 localhost nodeadm[2495]: {"level":"fatal","ts":1758103568.1,"caller":"nodeadm/main.go:36","msg":"Command failed","error":"operation error EC2: DescribeInstances, https response error StatusCode: 403, RequestID: 3a1f, api error UnauthorizedOperation: You are not authorized to perform this operation."}\nSep 17 10:06:08 localhost systemd[1]: nodeadm-config.service: Main process exited, code=exited, status=1/FAILURE',
  ],
  [
    'iam/node-role-policies-missing',
    'cli',
    '  Warning  Failed     12s (x3 over 58s)  kubelet            Failed to pull image "111122223333.dkr.ecr.eu-west-1.amazonaws.com/shop/web:1.4": failed to pull and unpack image "111122223333.dkr.ecr.eu-west-1.amazonaws.com/shop/web:1.4": failed to resolve reference "111122223333.dkr.ecr.eu-west-1.amazonaws.com/shop/web:1.4": unexpected status from HEAD request to https://111122223333.dkr.ecr.eu-west-1.amazonaws.com/v2/shop/web/manifests/1.4: 403 Forbidden',
  ],
  [
    'iam/node-role-trust-wrong',
    'node',
    '[   18.201133] cloud-init[1672]: nodeadm[1601]: {"level":"warn","msg":"operation error ec2imds: GetMetadata, http response error StatusCode: 404, request to EC2 IMDS failed"}\n[   18.301133] cloud-init[1672]: no EC2 IMDS role found, operation error ec2imds: GetMetadata, http response error StatusCode: 404, request to EC2 IMDS failed\n/latest/meta-data/iam/security-credentials/ 404 - Not Found',
  ],
  [
    'iam/node-role-trust-wrong',
    'cli',
    '$ curl -H "X-aws-ec2-metadata-token: $TOKEN" http://169.254.169.254/latest/meta-data/iam/info\n{\n  "Code" : "AssumeRoleUnauthorizedAccess",\n  "Message" : "EC2 cannot assume the role KarpenterNodeRole-stage. Please see documentation at https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_iam-ec2.html#troubleshoot_iam-ec2_errors-info-doc.",\n  "LastUpdated" : "2026-02-09T10:24:11Z"\n}',
  ],
  [
    'iam/pass-role-denied',
    'log',
    '{"level":"ERROR","time":"2024-01-26T23:17:39.643Z","logger":"controller","message":"Reconciler error","commit":"1072d3b","controller":"nodeclass","controllerGroup":"karpenter.k8s.aws","controllerKind":"EC2NodeClass","EC2NodeClass":{"name":"default"},"name":"default","error":"resolving instance profile, adding role \\"karpenter-repro-20240126\\" to instance profile \\"reproduction_1945827343076045061\\", AccessDenied: User: arn:aws-us-gov:sts::367652197469:assumed-role/karpenter-20240126230250710400000006/1706310212742318132 is not authorized to perform: iam:PassRole on resource: arn:aws-us-gov:iam::367652197469:role/karpenter-repro-20240126 because no identity-based policy allows the iam:PassRole action\\n\\tstatus code: 403, request id: cf4801ad"}',
  ],
  [
    'iam/ebs-kms-key-denied',
    'cli',
    "aws ec2 describe-instances --instance-ids i-0b2d7a4 --query 'Reservations[].Instances[].[State.Name,StateTransitionReason,StateReason.Message]' --output text\nterminated\tServer.InternalError\tClient.InternalError: Client error on launch",
  ],
  [
    'iam/ebs-kms-key-denied',
    'log',
    '2023-10-02T08:11:00.102Z\tERROR\tcontroller.machine.lifecycle\tlaunching machine, creating instance, with fleet error(s), InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state\t{"commit": "322822a"}',
  ],
  [
    'interruption/events-not-delivered',
    'log',
    '{"level":"ERROR","time":"2025-09-08T10:53:02.469Z","logger":"controller","message":"Reconciler error","commit":"13242ea","controller":"interruption","aws-operation-name":"GetQueueUrl","aws-service-name":"SQS","aws-status-code":400,"error":"creating sqs provider, operation error SQS: GetQueueUrl, https response error StatusCode: 400, RequestID: 3514901e-3130-5978-a080-f12686feab15, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist. (aws-operation-name=GetQueueUrl)"}',
  ],
  [
    'interruption/events-not-delivered',
    'log',
    'ERROR    controller.interruption    getting messages from queue, discovering queue url, fetching queue url, AWS.SimpleQueueService.NonExistentQueue: T\nhe specified queue does not exist for this wsdl version.',
  ],
  [
    'pricing/api-unreachable',
    'log',
    '{"level":"ERROR","time":"2025-10-01T10:00:00.001Z","logger":"controller","message":"Reconciler error","controller":"providers.pricing","error":"retreiving on-demand pricing data, operation error Pricing: GetProducts, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://api.pricing.us-east-1.amazonaws.com/\\": dial tcp 3.217.5.4:443: i/o timeout"}',
  ],
  [
    'iam/irsa-trust-subject-mismatch',
    'asked',
    'Hallo zusammen, nach dem Umzug von Namespace karpenter nach kube-system startet der Controller nicht mehr. Helm sagt deployed, aber:\n\n{"level":"ERROR","time":"2025-09-30T06:14:55.421Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"6c7a1b2","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 1e7d, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"}\n\nDer OIDC-Provider ist da (aws iam list-open-id-connect-providers zeigt ihn). Was fehlt?',
  ],
  [
    'iam/node-role-policies-missing',
    'node',
    '{"level":"info","ts":"2025-04-13T12:24:31.015Z","caller":"entrypoint.sh","msg":"Install CNI binaries.."}\n{"level":"info","ts":"2025-04-13T12:24:31.031Z","caller":"entrypoint.sh","msg":"Starting IPAM daemon in the background ... "}\n{"level":"info","ts":"2025-04-13T12:24:31.032Z","caller":"entrypoint.sh","msg":"Checking for IPAM connectivity ... "}\n{"level":"error","ts":"2025-04-13T12:24:36.101Z","caller":"ipamd/ipamd.go:500","msg":"Failed to call ec2:DescribeNetworkInterfaces for [eni-0aa]: operation error EC2: DescribeNetworkInterfaces, https response error StatusCode: 403, RequestID: 77, api error UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-x/i-0aa is not authorized to perform: ec2:DescribeNetworkInterfaces because no identity-based policy allows the ec2:DescribeNetworkInterfaces action"}\n{"level":"info","ts":"2025-04-13T12:24:41.1Z","caller":"entrypoint.sh","msg":"Retrying waiting for IPAM-D"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    'Terraform apply fine, but nodeclass not ready. kubectl describe:\n    Message:               Controller isn\'t authorized to call ec2:CreateLaunchTemplate\n    Reason:                CreateLaunchTemplateAuthCheckFailed\n    Status:                False\n    Type:                  ValidationSucceeded\nI already decoded with aws sts decode-authorization-message --encoded-message abc | jq and it shows "allowed": false, "action": "ec2:CreateLaunchTemplate"',
  ],
  [
    'interruption/queue-not-configured',
    'asked',
    'spot nodes vanish without drain. kubectl -n kube-system get deploy karpenter -o yaml | grep -A1 INTERRUPTION\n        - name: INTERRUPTION_QUEUE\n          value: ""\nNodePool: karpenter.sh/capacity-type In ["spot"]',
  ],
  [
    'interruption/rebalance-not-acted-on',
    'asked',
    'Normal  RebalanceRecommendation  5m  karpenter  Spot rebalance recommendation event was triggered',
  ],
  [
    'interruption/nth-relaunch-loop',
    'log',
    '2026/02/01 01:00:00 INF Adding new event to the event store event={"Description":"Rebalance recommendation received. Instance will be cordoned at 2026-02-01T01:00:00Z","EventID":"rebalance-recommendation-1","Kind":"REBALANCE_RECOMMENDATION","NodeName":"ip-10-0-1-1"}\n2026/02/01 01:00:02 INF Cordoning the node because of a rebalance recommendation\n2026/02/01 01:00:02 INF Draining the node\n2026/02/01 01:00:32 INF Node successfully cordoned and drained node_name=ip-10-0-1-1 reason="Rebalance recommendation received."',
  ],
  [
    'pricing/api-unreachable',
    'log',
    '2022-09-09T00:19:52.000Z ERROR   controller.aws.pricing  updating on-demand pricing, RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout; RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout, using existing pricing data from 2022-08-17T00:19:52Z  {"commit": "4b5f953"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    '{"level":"ERROR","time":"2026-02-01T01:00:00.001Z","logger":"controller","message":"Reconciler error","controller":"instanceprofile.garbagecollection","error":"listing instance profiles, operation error IAM: ListInstanceProfiles, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: arn:aws:sts::111122223333:assumed-role/karp/17 is not authorized to perform: iam:ListInstanceProfiles on resource: arn:aws:iam::111122223333:instance-profile/ because no identity-based policy allows the iam:ListInstanceProfiles action"}\n--- node journal\nFeb 01 01:03:10 ip-10-3-9-1 kubelet[1701]: E0201 01:03:10.001 1701 kubelet_node_status.go:107] "Unable to register node with API server" err="Unauthorized" node="ip-10-3-9-1"',
  ],
  [
    'iam/spot-service-linked-role-missing',
    'log',
    '{"level":"ERROR","time":"2026-02-01T01:00:00.001Z","logger":"controller","message":"failed launching nodeclaim","NodeClaim":{"name":"a"},"error":"creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.; InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet \'subnet-0783288fba3453a60\' to satisfy the requested number of instances."}\n{"level":"ERROR","time":"2026-02-01T01:05:00.001Z","logger":"controller","message":"failed launching nodeclaim","NodeClaim":{"name":"b"},"error":"creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.; InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet \'subnet-0783288fba3453a60\' to satisfy the requested number of instances."}',
  ],
  [
    'iam/node-role-policies-missing',
    'node',
    'cloud-init[1700]: An error occurred (AccessDeniedException) when calling the DescribeCluster operation: User: arn:aws:sts::111122223333:assumed-role/KarpenterNodeRole-prod/i-0f1e2d3c4b5a69788 is not authorized to perform: eks:DescribeCluster on resource: arn:aws:eks:us-east-1:111122223333:cluster/prod\ncloud-init[1700]: Exited with error on line 361',
  ],
  [
    'interruption/events-not-delivered',
    'log',
    '{"level":"ERROR","time":"2026-04-01T10:00:00.000Z","logger":"controller","message":"Reconciler error","controller":"interruption","error":"creating sqs provider, operation error SQS: GetQueueUrl, https response error StatusCode: 403, RequestID: 1, api error AccessDenied: User: arn:aws:sts::1:assumed-role/k/1 is not authorized to perform: sqs:getqueueurl on resource: arn:aws:sqs:eu-west-1:111122223333:prod"}',
  ],
];

const calm: readonly [Where, string][] = [
  [
    'node',
    '[    2.1] systemd[1]: Started Journal Service.\n[   10.0] cloud-init[1601]: Cloud-init v. 22.2.2 running \'modules:final\' at Wed, 10 Jun 2026 13:44:01 +0000. Up 10.0 seconds.\n[   12.0] nodeadm[1650]: {"level":"info","msg":"Finished post-launch tasks"}\n[   12.2] kubelet[1700]: I0610 13:44:05.1 1700 kubelet_node_status.go:79] "Successfully registered node" node="ip-10-0-1-1"\nAmazon Linux 2023.7\nip-10-0-1-1 login:',
  ],
  [
    'asked',
    '# terraform apply\naws_eks_access_entry.node: Creating...\naws_eks_access_entry.node: Creation complete after 1s [id=prod:arn:aws:iam::111122223333:role/KarpenterNodeRole-prod]\nApply complete! Resources: 12 added, 0 changed, 0 destroyed.',
  ],
  [
    'asked',
    '$ kubectl get events -A | tail -4\nshop   12s   Warning  FailedScheduling  pod/web-1  0/3 nodes are available: 3 Insufficient cpu.\nshop   11s   Normal   Nominated         pod/web-1  Pod should schedule on: nodeclaim/default-x1\nshop   2s    Normal   Scheduled         pod/web-1  Successfully assigned shop/web-1 to ip-10-0-1-1',
  ],
];

reportsAreRead(named, calm);
