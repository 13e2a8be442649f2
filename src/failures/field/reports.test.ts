// What people paste when they ask for help, shortened: logs of old and new releases, transcripts cut by a terminal, events, AWS
// messages, other languages around them. The one cause is named, and what belongs to a neighbour is left alone.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

const reports: readonly [FailureId, Where, string][] = [
  [
    'registration/node-role-not-mapped',
    'asked',
    '"message": "Enable succeeded: \\n[stdout]\\n\\"\\nDec 15 12:29:41 ip-10-1-2-3 kubelet[7478]: E1215 12:29:41.312278  7478 kubelet_node_status.go:107] \\\\\\"Unable to register node with API server\\\\\\" err=\\\\\\"Unauthorized\\\\\\" node=\\\\\\"ip-10-1-2-3\\\\\\"\\nDec 15 12:29:42 kubelet[7478]: I1215 csi_plugin.go:988] Failed to contact API server when waiting for CSINode publishing: Unauthorized"',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'asked',
    '{"level":"INFO","time":"2024-10-25T00:35:10.489Z","logger":"controller","message":"Starting Controller","commit":"0ebc224","controller":"state.nodepool","controllerGroup":"karpenter.sh","controllerKind":"NodePool"}\n{"level":"ERROR","time":"2024-10-25T00:35:11.489Z","logger":"webhook.ConversionWebhook","message":"Reconcile error","commit":"0ebc224","knative.dev/traceid":"3f","knative.dev/key":"nodeclaims.karpenter.sh","duration":"146.3µs","error":"custom resource \\"nodeclaims.karpenter.sh\\" isn\'t configured for webhook conversion"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    '2022-03-17T20:10:26.710Z\tDEBUG\tcontroller.provisioning\tExcluding instance type m6gd.medium because there are not enough resources for daemons\t{"commit": "4b14787", "provisioner": "default"}\n2022-03-17T20:10:28.710Z\tERROR\tcontroller.provisioning\tCould not launch node, launching instances, creating fleet UnauthorizedOperation: You are not authorized to perform this operation. Encoded authorization failure message: HZ_vAbc123-xyz\t{"commit": "4b14787"}',
  ],
  [
    'iam/controller-permission-missing',
    'asked',
    '{\n    "allowed": false,\n    "explicitDeny": false,\n    "matchedStatements": { "items": [] },\n    "failures": { "items": [] },\n    "context": {\n        "principal": { "id": "AROAX:123", "arn": "arn:aws:sts::111122223333:assumed-role/karpenter-controller-prod/123" },\n        "action": "ec2:RunInstances",\n        "resource": "arn:aws:ec2:us-east-1:111122223333:launch-template/lt-0638ed6a3b7addbf5",\n        "conditions": { "items": [] }\n    }\n}',
  ],
  [
    'scheduling/daemonset-overhead-ignored',
    'asked',
    '2022-01-19T02:44:37.678Z        DEBUG   controller.provisioning Excluding instance type m5a.2xlarge because there are not enough resources for daemons {"commit": "5047f3c", "provisioner": "linux-amd64"}\n2022-01-19T02:44:37.680Z        ERROR   controller.provisioning Failed to find instance type option(s) for [default/inflate-6b88c9fb68-wlzxv default/inflate-6b88c9fb68-gbnmk] {"commit": "5047f3c", "provisioner": "linux-amd64"}',
  ],
  [
    'startup/sts-dns-timeout',
    'asked',
    '2022-02-10T10:33:35.421Z\tERROR\tcontroller.controller.provisioning\tReconciler error\t{"commit": "2346ed5", "reconciler kind": "Provisioner", "error": "fetching instance types using ec2.DescribeInstanceTypes, WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.eu-west-1.amazonaws.com/\\": dial tcp: i/o timeout"}',
  ],
  [
    'interruption/events-not-delivered',
    'asked',
    '{\n    "level":"ERROR",\n    "time":"2025-09-08T10:53:02.469Z",\n    "message":"Reconciler error",\n    "controller":"interruption",\n    "aws-operation-name":"GetQueueUrl",\n    "aws-service-name":"SQS",\n    "error":"creating sqs provider,\n            operation error SQS: GetQueueUrl,\n            https response error StatusCode: 400,\n            RequestID: 3514901e-3130-5978-a080-f12686feab15,\n            AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist. (aws-operation-name=GetQueueUrl,\n            aws-status-code=400)"\n}',
  ],
  [
    'ami/none-for-cluster-version',
    'asked',
    '{"level":"ERROR","time":"2024-12-19T15:32:00.620Z","logger":"controller","message":"Reconciler error","commit":"3298d91","controller":"nodeclass.status","EC2NodeClass":{"name":"default"},"error":"getting amis, getting AMI queries, failed to discover AMIs for alias \\"al2023@v20241213\\""}',
  ],
  [
    'crd/consolidate-after-not-allowed-v1beta1',
    'asked',
    'NodePool/nodepool dry-run failed (Invalid): NodePool.karpenter.sh "nodepool" is invalid: [spec.disruption.consolidateAfter: Required value, <nil>: Invalid value: "null": some validation rules were no\nt checked because the object was invalid; correct the existing errors to complete validation]',
  ],
  [
    'iam/spot-service-linked-role-missing',
    'asked',
    '{"level":"ERROR","time":"2024-01-05T15:34:02.997Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","NodeClaim":\n{"name":"default-wdftd"},"error":"launching nodeclaim, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPerm\nitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."}',
  ],
  [
    'scheduling/pool-limit-reached',
    'asked',
    '2023-11-16T15:11:49.499Z\tDEBUG\tcontroller.provisioner\t445 out of 613 instance types were excluded because they would breach provisioner limits\t{"commit": "dc3af1a"}\n2023-11-16T15:11:49.499Z\tERROR\tcontroller.provisioner\tCould not schedule pod, all available instance types exceed provisioner limits; incompatible with provisioner "eng-eck-logs-warm-c", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone In [eu-central-1b] not in topology.kubernetes.io/zone In [eu-central-1c]; incompatible with provisioner "eng-shared", incompatible requirements, label "role" does not have known values',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'asked',
    '現象\nStatus:\n  Conditions:\n    Message:               object is awaiting reconciliation\n    Reason:                AwaitingReconciliation\n    Status:                Unknown\n    Type:                  Initialized\n    Last Transition Time:  2024-12-18T04:37:19Z\n    Message:               Error getting launch template configs\n    Reason:                LaunchFailed\n    Status:                Unknown\n    Type:                  Launched\n    Message:               Node not registered with cluster\n    Reason:                NodeNotFound\n    Status:                Unknown\n    Type:                  Registered',
  ],
  [
    'startup/replicas-exceed-unmanaged-nodes',
    'asked',
    'Name:             karpenter-5d7f8c9b4-x2x9z\nNamespace:        karpenter\nStatus:           Pending\nEvents:\n  Type     Reason            Age   From               Message\n  Warning  FailedScheduling  3m    default-scheduler  0/1 nodes are available: 1 Insufficient memory.',
  ],
  [
    'iam/node-role-policies-missing',
    'asked',
    '{"level":"error","ts":"2022-01-19T14:52:50.585Z","caller":"ipamd/ipamd.go:444","msg":"Failed to call ec2:DescribeNetworkInterfaces for [eni-0b70601dc9\n523f511]: UnauthorizedOperation: You are not authorized to perform this operation.\\n\\tstatus code: 403, request id: f4fab8d0-6cd2-411b-972f-2445b5ebff\n3b"}',
  ],
  [
    'helm/chart-not-found-or-generic-error',
    'asked',
    '│ Error: could not download chart: public.ecr.aws/karpenter-crd:v0.33.1: not found',
  ],
  [
    'iam/oidc-provider-missing',
    'asked',
    '현재 파드에 대한 에러 로그는 아래와 같습니다.\nroot@ip-10-100-254-142:~/karpenter-cli# kubectl logs -n karpenter karpenter-8546b4689b-pblkh\n{"level":"FATAL","time":"2024-02-24T06:47:45.483Z","logger":"controller","message":"Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: InvalidIdentityToken: No OpenIDConnect provider found in your account for https://oidc.eks.ap-northeast-2.amazonaws.com/id/4F92A25FA10F98F239811FC0A7386160\\n\\tstatus code: 400, request id: e47bad4f","commit":"596ea97"}',
  ],
  [
    'disruption/consolidation-thrash',
    'asked',
    '2023-08-09T07:52:34.278Z\tINFO\tcontroller.deprovisioning\tdeprovisioning via consolidation delete, terminating 1 machines ip-10-75-34-18.eu-central-1.compute.internal/t3.xlarge/on-demand\t{"commit": "d01ea11-dirty"}\n2023-08-09T07:52:43.848Z\tINFO\tcontroller.termination\tdeleted node\t{"commit": "d01ea11-dirty", "node": "ip-10-75-43-48"}\n2023-08-09T07:53:06.590Z\tINFO\tcontroller.provisioner\tlaunching machine with 1 pods requesting {"cpu":"995m"} from types t3.xlarge, t3.2xlarge\t{"commit": "d01ea11-dirty", "provisioner": "default"}\n2023-08-09T07:57:34.278Z\tINFO\tcontroller.deprovisioning\tdeprovisioning via consolidation delete, terminating 1 machines ip-10-75-34-19.eu-central-1.compute.internal/t3.xlarge/on-demand\t{"commit": "d01ea11-dirty"}\n2023-08-09T07:58:06.590Z\tINFO\tcontroller.provisioner\tlaunching machine with 1 pods requesting {"cpu":"995m"} from types t3.xlarge, t3.2xlarge\t{"commit": "d01ea11-dirty", "provisioner": "default"}\n2023-08-09T08:02:34.278Z\tINFO\tcontroller.deprovisioning\tdeprovisioning via consolidation delete, terminating 1 machines ip-10-75-34-20.eu-central-1.compute.internal/t3.xlarge/on-demand\t{"commit": "d01ea11-dirty"}\n2023-08-09T08:03:06.590Z\tINFO\tcontroller.provisioner\tlaunching machine with 1 pods requesting {"cpu":"995m"} from types t3.xlarge, t3.2xlarge\t{"commit": "d01ea11-dirty", "provisioner": "default"}',
  ],
  [
    'registration/service-endpoints-unreachable',
    'asked',
    'failed to run Kubelet: could not init cloud provider "aws": error finding instance Post https://ec2.eu-west-1.amazonaws.com/: dial tcp timeout on the node',
  ],
  [
    'iam/node-role-name-too-long',
    'asked',
    '│ Error: "name_prefix" cannot be longer than 38 characters: KarpenterNodeRole-my-very-long-cluster-name-in-production-\n│   with module.karpenter.aws_iam_role.this[0],',
  ],
  [
    'iam/pass-role-denied',
    'asked',
    '部署过程中,Karpenter日志会显示如下错误信息:\nlaunching nodeclaim, creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws-cn:sts::xxxxx:assumed-role/xxxx-karpenter-controller-role/xxxxx is not authorized to perform: iam:PassRole on resource: arn:aws-cn:iam::xxxx:role/xxxxx-karpenter-node-role because no identity-based policy allows the iam:PassRole action.',
  ],
  [
    'init/never-initialised-never-removed',
    'asked',
    "Normal  DisruptionBlocked  12m (x4 over 3h)  karpenter  Node isn't initialized",
  ],
  [
    'net/cluster-dns-unreachable-from-node',
    'asked',
    "[ warn] [net] getaddrinfo(host='kubernetes.default.svc', err=12): Timeout while contacting DNS servers",
  ],
  [
    'net/discovery-tag-not-cluster-scoped',
    'asked',
    '2023-02-13T10:21:48.282Z        ERROR    controller.provisioner  launching machine, creating cloud provider instance, creating instance, with fleet error(s), InvalidParameter: Security group sg-058cbd54d320cfffb and subnet subnet-05554aec17a3027d0 belong to different networks.    {"commit": "8c27519-dirty", "provisioner": "spot"}',
  ],
  [
    'net/discovery-tag-not-cluster-scoped',
    'asked',
    '    Message:               Security groups and subnets must be in the same VPC.\n    Reason:                SecurityGroupSubnetVPCMismatch\n    Status:                Unknown\n    Type:                  Launched',
  ],
  [
    'net/discovery-tag-missing',
    'asked',
    '{"level":"ERROR","time":"2024-08-05T12:02:06.478Z","logger":"controller","message":"Reconciler error","commit":"490ef94","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-gz4qh"},"error":"launching nodeclaim, resolving ec2nodeclass, Failed to resolve security groups"}',
  ],
  [
    'crd/nodepool-not-ready-because-nodeclass',
    'asked',
    '{"level":"ERROR","time":"2024-05-29T12:23:15.877Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-9rqkc"},"error":"launching nodeclaim, resolving ec2nodeclass, object is awaiting reconciliation"}',
  ],
  [
    'ami/containerd-config-missing',
    'node',
    '[   15.514103] cloud-init[10650]: /var/lib/cloud/instance/scripts/part-001: line 1: apiVersion:: command not found\n[   15.515847] cloud-init[10650]: /var/lib/cloud/instance/scripts/part-001: line 2: kind:: command not found\n[   15.520892] cloud-init[10650]: Jun 26 15:31:05 cloud-init[10650]: util.py[WARNING]: Failed running /var/lib/cloud/instance/scripts/part-001 [127]',
  ],
  [
    'crd/removed-api-version',
    'asked',
    '│ Error: karpenter/gpu-serve failed to fetch resource from kubernetes: the server could not find the requested resource\n│ \n│   with kubectl_manifest.karpenter_provisioner["apiVersion: karpenter.k8s.aws/v1alpha1\\nkind: AWSNodeTemplate\\nmetadata:\\n  name: gpu-serve"],',
  ],
  [
    'startup/controller-starved',
    'asked',
    '    Name:         karpenter-7f9c8d6b5-abcde\n    Containers:\n      controller:\n        State:          Waiting\n          Reason:       CrashLoopBackOff\n        Last State:     Terminated\n          Reason:       OOMKilled\n          Exit Code:    137\n        Restart Count:  58',
  ],
  [
    'tooling/expired-credentials',
    'asked',
    'error: You must be logged in to the server (Unauthorized)\n$ aws sts get-caller-identity\nAn error occurred (ExpiredToken) when calling the GetCallerIdentity operation: The security token included in the request is expired',
  ],
  [
    'windows/dns-group-missing',
    'asked',
    'E0811 reflector.go:138] k8s.io/client-go/informers/factory.go:134: Failed to watch *v1.EndpointSlice: failed to list *v1.EndpointSlice: endpointslices.discovery.k8s.io is forbidden: User "system:node:ip-10-0-1-2.ec2.internal" cannot list resource "endpointslices" in API group "discovery.k8s.io" at the cluster scope',
  ],
  [
    'startup/kubernetes-permission-missing',
    'asked',
    'k8s.io/client-go@v0.30.3/tools/cache/reflector.go:232: failed to list *v1.CustomResourceDefinition: customresourcedefinitions.apiextensions.k8s.io is forbidden: User "system:serviceaccount:kube-system:karpenter" cannot list resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope',
  ],
  [
    'crd/admission-webhook-unreachable',
    'asked',
    'Error from server (InternalError): error when creating "test.yaml": Internal error occurred: failed calling webhook "defaulting.webhook.karpenter.k8s.aws": failed to call webhook: Post "https://karpenter.karpenter.svc:443/default/karpenter.k8s.aws?timeout=10s": no endpoints available for service "karpenter"',
  ],
];

/** Of other components, other providers, or nothing to worry about. */
const calm: readonly [Where, string][] = [
  [
    'asked',
    '[discovery] Successfully established connection with API Server "10.100.1.20:6443"\n[kubelet] Downloading configuration for the kubelet from the "kubelet-config-1.11" ConfigMap in the kube-system namespace\nUnauthorized',
  ],
  [
    'log',
    '{"level":"error","ts":1657324768.868449,"logger":"controller-runtime.manager.controller.targetGroupBinding","msg":"Reconciler error","reconciler group":"elbv2.k8s.aws","reconciler kind":"TargetGroupBinding","name":"k8s-default-backends-6d61d3952a","namespace":"default","error":"WebIdentityErr: failed to retrieve credentials\\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity\\n\\tstatus code: 403, request id: 5c3f"}',
  ],
  [
    'asked',
    'Error: INSTALLATION FAILED: Unable to continue with install: Namespace "karpor" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "karpor"',
  ],
  [
    'asked',
    'FailedCreatePodSandBox   Pod    kubelet, gke-prow-containerd-pool-bigger-170c3937-fzx9   (combined from similar events): Failed create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "42bf93": failed to allocate for range 0: no IP addresses available in range set: 10.60.28.1-10.60.28.254',
  ],
  [
    'asked',
    'OpenSearchCluster in version "v1" cannot be handled as a OpenSearchCluster: strict decoding error: unknown field "spec.nodePools[0].NodeSelector", unknown field "spec.nodePools[1].NodeSelector"',
  ],
  [
    'asked',
    'controller 2022-07-07T11:05:15.303Z    INFO    controller.aws.pricing    Assuming isolated VPC, pricing information will not be updated    {"commit": "1f7a67b"}',
  ],
  [
    'log',
    'E1214 16:38:22.116057       1 driver.go:125] "GRPC error" err=<\n\trpc error: code = Internal desc = Could not create volume "pvc-fe9ed2a2": could not create volume in EC2: NoCredentialProviders: no valid providers in chain\n\tcaused by: EnvAccessKeyNotFound: failed to find credentials in the environment.\n\tCredentialsEndpointError: invalid endpoint host, "169.254.170.23", only loopback hosts are allowed.',
  ],
  [
    'asked',
    "1 validation error detected: Value 'long-stack-name-CFN-Resource-Custom-EC2-Key-Pair' at 'roleName' failed to satisfy constraint: Member must have length less than or equal to 64 (Service: AmazonIdentityManagement; Status Code: 400; Error Code: ValidationError)",
  ],
  [
    'asked',
    'E0622 12:01:45.308936 garbagecollector.go:242] timed out waiting for dependency graph builder sync during GC sync (attempt 73)\nW0622 reflector.go:324] failed to list *v1.PartialObjectMetadata: conversion webhook for serving.knative.dev/v1, Kind=Service failed: Post "https://webhook.knative-serving.svc:443/": no endpoints available for service "webhook"',
  ],
  ['asked', 'vmware-system-capw   capi-controller-manager-644998658d-64m5m   0/2     OOMKilled        132        6d3h'],
  [
    'asked',
    '{"level":"ERROR","message":"could not schedule pod","error":"unsatisfiable topology constraint for pod anti-affinity, key=kubernetes.io/hostname"}',
  ],
];

const aboveLow = (where: Where, text: string): FailureId[] =>
  diagnoseCase(evidenceIn(where, text))
    .findings.filter(({ confidence }) => confidence !== 'possible')
    .map(({ id }) => id);

describe('a report names its cause and nothing else', () => {
  for (const [id, where, text] of reports)
    test(`${id}: ${text.slice(0, 60)}`, () => {
      expect(aboveLow(where, text)).toEqual([id]);
    });
});

describe('a report about something else names nothing', () => {
  for (const [where, text] of calm)
    test(text.slice(0, 80), () => {
      expect(aboveLow(where, text)).toEqual([]);
    });
});
