// The same for launches, images, tools around a cluster, and logs of clusters that are well.
import type { FailureId } from '../failure.ts';
import type { Where } from './field.testing.ts';
import { reportsAreRead } from './issue-reports.testing.ts';

const named: readonly [FailureId, Where, string][] = [
  [
    'ami/none-for-cluster-version',
    'log',
    '    {"level":"ERROR","time":"2024-10-14T05:52:56.624Z","logger":"controller","message":"Reconciler error","commit":"6174c75","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"kafka-nodepool-7dd28"},"error":"launching nodeclaim, creating instance, getting launch template configs, getting launch templates, no instance types satisfy requirements of amis [ami-06d9bcac32f727ddb]"}',
  ],
  [
    'ami/none-for-cluster-version',
    'log',
    '{"level":"ERROR","time":"2024-12-19T15:32:00.620Z","logger":"controller","message":"Reconciler error","commit":"3298d91","controller":"nodeclass.status","EC2NodeClass":{"name":"default"},"error":"getting amis, getting AMI queries, failed to discover AMIs for alias \\"al2023@v20241213\\""}',
  ],
  [
    'ami/none-for-cluster-version',
    'asked',
    '{"level":"ERROR","time":"2025-10-05T10:56:48.105Z","logger":"controller","caller":"controller/controller.go:347","message":"Reconciler error","controller":"nodeclass","EC2NodeClass":{"name":"bottlerocket-debug-ami-issue"},"alias":"bottlerocket@1.48.0","error":"getting amis, getting AMI queries, failed to discover any AMIs for alias (alias=bottlerocket@1.48.0)"}',
  ],
  [
    'scheduling/no-instance-type-fits',
    'asked',
    '2022-04-04T13:39:13.718Z\tERROR\tcontroller.provisioning\tFailed to find instance type option(s) for [testing-us-east-2/testing-us-east-2-master-mastermind-2]\t{"commit": "5047f3c", "provisioner": "gpu-worker"}',
  ],
  [
    'crd/nodepool-not-ready-because-nodeclass',
    'log',
    '{"level":"ERROR","time":"2024-05-28T20:49:19.963Z","logger":"controller.disruption","message":"listing instance types for default, resolving node class, EC2NodeClass.karpenter.k8s.aws \\"default\\" not found","commit":"17dd42b"}\n{"level":"ERROR","time":"2024-05-28T20:49:25.665Z","logger":"controller.provisioner","message":"skipping, unable to resolve instance types, resolving node class, EC2NodeClass.karpenter.k8s.aws \\"default\\" not found","commit":"17dd42b","nodepool":"default"}',
  ],
  [
    'ami/eni-max-pods-entry-missing',
    'asked',
    "/etc/eks/bootstrap.sh 'EKS-my-cluster' --container-runtime containerd     --apiserver-endpoint 'https://E94...7.us-east-1.eks.amazonaws.com'\nNo entry for type 'c6a.2xlarge' in /etc/eks/eni-max-pods.txt",
  ],
  [
    'termination/drain-never-completes',
    'asked',
    '  Warning  FailedDraining     5m54s (x1561 over 2d4h)  karpenter  Failed to drain node, 8 pods are waiting to be evicted\n  Normal   DisruptionBlocked  58s (x1510 over 2d4h)    karpenter  Cannot disrupt Node: state node is marked for deletion',
  ],
  [
    'startup/sts-dns-timeout',
    'asked',
    '"logger":"controller","message":"unable to detect the cluster endpoint, failed to resolve cluster endpoint, RequestError: send request failed\\ncaused by: Get \\"https://eks.us-east-1.amazonaws.com/clusters/EKS-name\\": dial tcp: lookup eks.us-east-1.amazonaws.com on 10.100.0.10:53: no such host"',
  ],
  [
    'startup/sts-dns-timeout',
    'log',
    'karpenter-58f587745d-hwmmc controller {"level":"FATAL","time":"2024-02-16T05:22:06.931Z","logger":"controller","message":"Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.ap-northeast-2.amazonaws.com/\\": dial tcp: lookup sts.ap-northeast-2.amazonaws.com: i/o timeout","commit":"17d6c05"}',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'log',
    'ERROR    controller.provisioning    launching node, creating cloud provider instance, with fleet error(s), InvalidParameterValue: Value (***) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name; UnfulfillableCapacity: Unable to fulfill capacity due to your request configuration. Please adjust your request and try again.',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'asked',
    '"errorMessage": "Value (arn:aws:iam::111122223333:instance-profile/nodes) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",',
  ],
  [
    'startup/replicas-exceed-unmanaged-nodes',
    'asked',
    "kubectl describe pod karpenter-6b9f7c8d5b-abcde -n kube-system\nName:             karpenter-6b9f7c8d5b-abcde\n  Warning  FailedScheduling  2m  default-scheduler  0/2 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 1 node(s) didn't match Pod's node affinity/selector.",
  ],
  [
    'iam/controller-permission-missing',
    'log',
    '{"level":"ERROR","time":"2025-03-17T10:00:00.000Z","logger":"controller","message":"Reconciler error","commit":"0ebc224","controller":"nodeclass","EC2NodeClass":{"name":"generic"},"aws-error-code":"UnauthorizedOperation","aws-operation-name":"DescribePlacementGroups","aws-service-name":"EC2","aws-status-code":403,"error":"operation error EC2: DescribePlacementGroups, https response error StatusCode: 403, api error UnauthorizedOperation: You are not authorized to perform this operation."}',
  ],
];

const calm: readonly [Where, string][] = [
  [
    'cli',
    '18:57:09.709 STDERR terraform: │ Error: default/inflate failed to fetch resource from kubernetes: client rate limiter Wait returned an error: context deadline exceeded\n18:57:09.709 STDERR terraform: │\n18:57:09.709 STDERR terraform: │   with kubectl_manifest.karpenter_example_deployment,',
  ],
  [
    'cli',
    "Received response status [FAILED] from custom resource. Message returned: Error: b'Error: UPGRADE FAILED: context deadline exceeded\\n'",
  ],
  [
    'cli',
    'helm_release.karpenter: Still modifying... [id=karpenter, 17m41s elapsed]\nhelm_release.karpenter: Modifications complete after 17m48s [id=karpenter]\n\nApply complete! Resources: 0 added, 1 changed, 0 destroyed.',
  ],
  [
    'asked',
    '  Warning  Unhealthy  29m                   kubelet            Readiness probe failed: {"level":"info","ts":"2021-04-08T20:05:33.063Z","caller":"/usr/local/go/src/runtime/proc.go:203","msg":"timeout: failed to connect service \\":50051\\" within 1s"}\n  Normal   Started    28m   kubelet   Started container aws-node',
  ],
  [
    'asked',
    '{"level":"info","ts":"2021-09-01T18:08:24.002Z","caller":"aws-k8s-agent/main.go:42","msg":"Testing communication with server"}\n{"level":"info","ts":"2021-09-01T18:08:24.010Z","caller":"aws-k8s-agent/main.go:42","msg":"Successful communication with the Cluster! Cluster Version is: v1.19+. git version: v1.19.13-eks-8df270."}\n{"level":"warn","ts":"2021-09-01T18:08:27.030Z","caller":"awssession/session.go:64","msg":"HTTP_TIMEOUT env is not set or set to less than 10 seconds, defaulting to httpTimeout to 10sec"}',
  ],
  [
    'log',
    '{"level":"INFO","time":"2024-07-23T05:45:08.525Z","logger":"controller","message":"registered nodeclaim","commit":"490ef94","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-npglm"},"provider-id":"aws:///ap-southeast-2c/i-09c67717d3c4d1eab"}\n{"level":"INFO","time":"2024-07-23T05:45:21.678Z","logger":"controller","message":"initialized nodeclaim","commit":"490ef94","controller":"nodeclaim.lifecycle","NodeClaim":{"name":"default-npglm"}}\n{"level":"INFO","time":"2024-07-23T05:47:10.000Z","logger":"controller","message":"disrupting via drift delete, terminating 1 nodes (2 pods) ip-10-124-231-159.ap-southeast-2.compute.internal/m5.xlarge/spot","commit":"490ef94","controller":"disruption"}',
  ],
  [
    'log',
    '2023-06-01T11:30:30.656Z\tINFO\tcontroller.deprovisioning\tdeprovisioning via drift replace, terminating 1 nodes ip-xx-xx-xx-190.ap-south-1.compute.internal/c4.xlarge/spot and replacing with node from types c5.xlarge, m5a.xlarge, c5a.xlarge, t3a.xlarge, m5a.2xlarge and 2 other(s)\t{"commit": "5a7faa0-dirty"}\n2023-06-01T11:30:30.673Z\tINFO\tcontroller.deprovisioning\tlaunching node with 1 pods requesting {"cpu":"567m","memory":"1468Mi","pods":"8"} from types c5.xlarge, m5a.xlarge\t{"commit": "5a7faa0-dirty"}',
  ],
  [
    'log',
    'E0618 20:55:19.602094       1 runtime.go:78] Observed a panic: "invalid memory address or nil pointer dereference" (runtime error: invalid memory address or nil pointer dereference)\ngoroutine 321 [running]:\nk8s.io/apimachinery/pkg/util/runtime.logPanic(0x1d1d5e0, 0x30ea700)\n        k8s.io/apimachinery@v0.19.7/pkg/util/runtime/runtime.go:74 +0xa6\ngithub.com/awslabs/karpenter/pkg/controllers/provisioning/v1alpha1/reallocation.(*Utilization).markUnderutilized(0xc0001297c0)',
  ],
  [
    'asked',
    'Normal  DisruptionBlocked  10s  karpenter  Cannot disrupt Node: state node is nominated for a pending pod',
  ],
  [
    'asked',
    '14m         Warning   FailedScheduling    pod/coredns-rs-pod-ID1                  Pod provisioning timed out (will retry) for pod: kube-system/coredns-rs-pod-ID1',
  ],
  [
    'asked',
    "0/2 nodes are available: 2 node(s) had taint {eks.amazonaws.com/compute-type: fargate}, that the pod didn't tolerate.",
  ],
  [
    'asked',
    'I0422 10:16:26.334476       1 awsmachine_controller.go:636]  "msg"="Creating EC2 instance"\nE0422 10:16:29.231492       1 awsmachine_controller.go:497]  "msg"="unable to create instance" "error"="failed to create AWSMachine instance: failed to run instance: InvalidParameterValue: Value (control-plane.cluster-api-provider-aws.sigs.k8s.io) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"',
  ],
  [
    'log',
    '{"level":"DEBUG","time":"2024-12-12T09:56:54.845Z","logger":"controller","caller":"lo@v1.46.0/slice.go:469","message":"ignoring pod, configured to not run on a Karpenter provisioned node via the karpenter.sh/nodepool DoesNotExist requirement","commit":"a2875e3"}',
  ],
];

reportsAreRead(named, calm);
