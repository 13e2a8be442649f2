// Lines of public threads about the controller, its definitions and charts, with what people write around them;
// labelled before the doctor saw them.
import type { FailureId } from '../failure.ts';
import type { Where } from './field.testing.ts';
import { reportsAreRead } from './issue-reports.testing.ts';

const named: readonly [FailureId, Where, string][] = [
  [
    'startup/cluster-endpoint-missing',
    'log',
    '{"level":"INFO","time":"2024-01-09T08:12:01.120Z","logger":"controller","message":"Starting"}\npanic: validating options, "" not a valid CLUSTER_ENDPOINT URL\n\ngoroutine 1 [running]:\ngithub.com/samber/lo.must({0x21bd3c0, 0xc000a2e5d0}, {0x0, 0x0, 0x0})\n\tgithub.com/samber/lo@v1.38.1/errors.go:53 +0x1e9',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'log',
    'panic: failed to setup nodeclaim provider id indexer: failed to get API group resources: unable to retrieve the complete list of server APIs: karpenter.sh/v1: the server could not find the requested resource',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'log',
    '{"level":"ERROR","time":"2025-01-22T10:40:36.104Z","logger":"controller.controller-runtime.source.EventHandler","message":"if kind is a CRD, it should be installed before calling Start","commit":"5bdf9c3","kind":"NodeOverlay.karpenter.sh","error":"no matches for kind \\"NodeOverlay\\" in version \\"karpenter.sh/v1alpha1\\""}\n{"level":"ERROR","time":"2025-01-22T10:40:46.106Z","logger":"controller.controller-runtime.source.EventHandler","message":"if kind is a CRD, it should be installed before calling Start","commit":"5bdf9c3","kind":"NodeOverlay.karpenter.sh","error":"no matches for kind \\"NodeOverlay\\" in version \\"karpenter.sh/v1alpha1\\""}\n{"level":"ERROR","time":"2025-01-22T10:42:36.106Z","logger":"controller","message":"Could not wait for Cache to sync","commit":"5bdf9c3","controller":"nodeoverlay","error":"failed to wait for nodeoverlay caches to sync: timed out waiting for cache to be synced for Kind *v1alpha1.NodeOverlay"}',
  ],
  [
    'startup/sts-dns-timeout',
    'log',
    '{"level":"ERROR","time":"2025-05-01T07:00:00.000Z","logger":"controller","message":"ec2 api connectivity check failed","commit":"1072d3b","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, operation error STS: AssumeRoleWithWebIdentity, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://sts.eu-central-1.amazonaws.com/\\": dial tcp: lookup sts.eu-central-1.amazonaws.com on 172.20.0.10:53: read udp 10.0.31.7:44310->172.20.0.10:53: i/o timeout"}',
  ],
  [
    'startup/replicas-exceed-unmanaged-nodes',
    'cli',
    "$ kubectl -n kube-system get deploy karpenter\nNAME        READY   UP-TO-DATE   AVAILABLE   AGE\nkarpenter   1/2     2            1           44m\n$ kubectl -n kube-system describe pod karpenter-5bb9f6f8d8-lz9nq | tail -4\nEvents:\n  Type     Reason            Age                 From               Message\n  Warning  FailedScheduling  88s (x9 over 43m)   default-scheduler  0/3 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.",
  ],
  [
    'startup/controller-pod-selector-unsatisfied',
    'log',
    '{"level":"ERROR","time":"2025-12-11T09:10:11.120Z","logger":"controller","message":"could not schedule pod","commit":"1ad0d78","controller":"provisioner","namespace":"","name":"","reconcileID":"9b3e","Pod":{"name":"karpenter-79c8d8cb6c-wt2tx","namespace":"kube-system"},"error":"incompatible with nodepool \\"general\\", daemonset overhead={\\"cpu\\":\\"150m\\",\\"pods\\":\\"4\\"}, incompatible requirements, label \\"node-group\\" does not have known values"}',
  ],
  [
    'startup/controller-starved',
    'cli',
    'ubuntu@bastion:~$ kubectl describe pod karpenter-7cdbdd5f4f-m22g4 -n karpenter\nName:             karpenter-7cdbdd5f4f-m22g4\nNamespace:        karpenter\nContainers:\n  controller:\n    Image:          public.ecr.aws/karpenter/controller:1.5.0\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Ready:          False\n    Restart Count:  14',
  ],
  [
    'crd/removed-api-version',
    'cli',
    'Error: UPGRADE FAILED: unable to build kubernetes objects from current release manifest: resource mapping not found for name: "default" namespace: "" from "": no matches for kind "Provisioner" in version "karpenter.sh/v1alpha5"\nensure CRDs are installed first',
  ],
  [
    'crd/removed-api-version',
    'cli',
    '│ Error: resource mapping not found for name: "gpu" namespace: "" from "STDIN": no matches for kind "AWSNodeTemplate" in version "karpenter.k8s.aws/v1alpha1"\n│   with kubectl_manifest.karpenter_node_template,\n│   on karpenter.tf line 88, in resource "kubectl_manifest" "karpenter_node_template":',
  ],
  [
    'crd/removed-api-version',
    'cli',
    'The CustomResourceDefinition "ec2nodeclasses.karpenter.k8s.aws" is invalid: status.storedVersions[0]: Invalid value: "v1beta1": must appear in spec.versions\nThe CustomResourceDefinition "nodeclaims.karpenter.sh" is invalid: status.storedVersions[0]: Invalid value: "v1beta1": must appear in spec.versions',
  ],
  [
    'crd/nodeclassref-incomplete',
    'cli',
    'Failed sync attempt to 1.5.0: one or more objects failed to apply, reason: NodePool.karpenter.sh "default" is invalid: [spec.template.spec.nodeClassRef.group: Required value, spec.template.spec.nodeClassRef.kind: Required value, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
  ],
  [
    'crd/nodeclassref-incomplete',
    'asked',
    'The NodePool "spot" is invalid: spec.template.spec.nodeClassRef.group: Invalid value: "string": group may not be empty / spec.template.spec.nodeClassRef.group in body should match \'^[^/]*$\' (got "karpenter.k8s.aws/v1")',
  ],
  [
    'crd/consolidation-policy-renamed',
    'cli',
    'kubectl apply -f nodepools/\nnodepool.karpenter.sh/system unchanged\nThe NodePool "batch" is invalid: spec.disruption.consolidationPolicy: Unsupported value: "WhenUnderutilized": supported values: "WhenEmpty", "WhenEmptyOrUnderutilized"',
  ],
  [
    'crd/consolidate-after-not-allowed-v1beta1',
    'cli',
    'Error from server (Invalid): error when applying patch: for: "np.yaml": error when patching "np.yaml": NodePool.karpenter.sh "default" is invalid: spec.disruption: Invalid value: "object": consolidateAfter cannot be combined with consolidationPolicy=WhenUnderutilized',
  ],
  [
    'crd/unknown-field',
    'cli',
    'Warning: unknown field "spec.template.spec.startupTaint"\nnodepool.karpenter.sh/default configured',
  ],
  [
    'crd/unknown-field',
    'cli',
    'helm_release.nodepools: Error: 1 error occurred: * Internal error occurred: EC2NodeClass in version "v1" cannot be handled as a EC2NodeClass: strict decoding error: unknown field "spec.metadataOptions.httpPutResponseHoplimit", unknown field "spec.capacityReservationSelectorTerms"',
  ],
  [
    'crd/conversion-webhook-wrong-target',
    'log',
    '{"level":"ERROR","time":"2024-08-21T09:02:09.801Z","logger":"controller","message":"k8s.io/client-go@v0.30.3/tools/cache/reflector.go:232: Failed to watch *v1.NodeClaim: failed to list *v1.NodeClaim: conversion webhook for karpenter.sh/v1beta1, Kind=NodeClaim failed: Post \\"https://karpenter.kube-system.svc:8443/conversion/karpenter.sh?timeout=30s\\": service \\"karpenter\\" not found","commit":"5bdf9c3"}',
  ],
  [
    'crd/conversion-webhook-wrong-target',
    'cli',
    'failed to load initial state of resource EC2NodeClass.karpenter.k8s.aws: conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: Post "https://karpenter.kube-system.svc:8443/conversion/karpenter.k8s.aws?timeout=30s": no service port 8443 found for service "karpenter"',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'log',
    '{"level":"ERROR","time":"2024-10-25T00:35:14.103Z","logger":"webhook.ConversionWebhook","message":"Reconcile error","commit":"0ebc224","knative.dev/traceid":"54c0","knative.dev/key":"nodeclaims.karpenter.sh","duration":"63.4µs","error":"custom resource \\"nodeclaims.karpenter.sh\\" isn\'t configured for webhook conversion"}\n{"level":"ERROR","time":"2024-10-25T00:35:24.103Z","logger":"webhook.ConversionWebhook","message":"Reconcile error","commit":"0ebc224","knative.dev/key":"nodeclaims.karpenter.sh","error":"custom resource \\"nodeclaims.karpenter.sh\\" isn\'t configured for webhook conversion"}',
  ],
  [
    'crd/conversion-webhook-blocks-garbage-collection',
    'log',
    'I1003 06:12:31.104823       1 garbagecollector.go:814] "failed to discover some groups" groups=""\nE1003 06:12:44.481205       1 reflector.go:158] "Unhandled Error" err="k8s.io/client-go/metadata/metadatainformer/informer.go:138: Failed to watch *v1.PartialObjectMetadata: failed to list *v1.PartialObjectMetadata: conversion webhook for karpenter.sh/v1, Kind=NodeClaim failed: Post \\"https://karpenter.kube-system.svc:8443/conversion/karpenter.sh?timeout=30s\\": no endpoints available for service \\"karpenter\\"" logger="UnhandledError"\nE1003 06:13:10.481205       1 shared_informer.go:316] "Unhandled Error" err="unable to sync caches for garbage collector" logger="garbage-collector-controller"\nE1003 06:13:10.481411       1 garbagecollector.go:268] "Unhandled Error" err="timed out waiting for dependency graph builder sync during GC sync (attempt 21)"',
  ],
  [
    'crd/nodepool-not-ready-because-nodeclass',
    'asked',
    'Status condition transitioned, Type: Ready, Status: True -> False, Reason: UnhealthyDependents, Message: NodeClassReady=False\nStatus condition transitioned, Type: NodeClassReady, Status: True -> False, Reason: NodeClassNotFound, Message: NodeClass not found on cluster',
  ],
  [
    'crd/ami-selector-required',
    'cli',
    'The EC2NodeClass "bottlerocket" is invalid: \n* spec.amiSelectorTerms: Required value\n* <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ],
  [
    'crd/ami-selector-required',
    'cli',
    'Error: EC2NodeClass.karpenter.k8s.aws "default" is invalid: spec.amiSelectorTerms: Invalid value: "array": \'alias\' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms',
  ],
  [
    'helm/registry-403',
    'cli',
    '│ Error: could not login to OCI registry "public.ecr.aws": login attempt to https://public.ecr.aws/v2/ failed with status: 403 Forbidden\n│   with helm_release.karpenter,',
  ],
  [
    'helm/registry-403',
    'cli',
    'Error: failed to install Karpenter: failed to install Karpenter chart: failed to locate chart: pulling from host public.ecr.aws failed with status code [manifests v0.18.1]: 403 Forbidden',
  ],
  [
    'helm/oci-needs-newer-client',
    'cli',
    '$ helm repo add karpenter oci://public.ecr.aws/karpenter/karpenter\nError: looks like "oci://public.ecr.aws/karpenter/karpenter" is not a valid chart repository or cannot be reached: object required',
  ],
  [
    'helm/crd-ownership-label',
    'cli',
    'Error: UPGRADE FAILED: Unable to continue with update: CustomResourceDefinition "nodepools.karpenter.sh" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "karpenter-crd"; annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "kube-system"',
  ],
  [
    'helm/version-prefix',
    'cli',
    'Error: failed to download "oci://public.ecr.aws/karpenter/karpenter" at version "v1.3.3"',
  ],
  [
    'tooling/no-shell-on-node',
    'cli',
    '% aws ssm start-session --target i-0ac7b3b5075a6effb\n\nAn error occurred (TargetNotConnected) when calling the StartSession operation: i-0ac7b3b5075a6effb is not connected.',
  ],
  [
    'tooling/expired-credentials',
    'cli',
    '$ eksctl get nodegroup --cluster prod\nError: checking AWS STS access – cannot get role ARN for current session: operation error STS: GetCallerIdentity, https response error StatusCode: 403, RequestID: 6a0e, api error ExpiredToken: The security token included in the request is expired',
  ],
  [
    'tooling/kubeconfig-wrong',
    'cli',
    'E0209 12:12:01.123456   44121 memcache.go:265] couldn\'t get current server API group list: Get "http://localhost:8080/api?timeout=32s": dial tcp [::1]:8080: connect: connection refused\nThe connection to the server localhost:8080 was refused - did you specify the right host or port?',
  ],
  [
    'tooling/kubeconfig-wrong',
    'cli',
    'Unable to connect to the server: dial tcp: lookup 0F3A51D2C1.gr7.eu-west-1.eks.amazonaws.com on 192.168.1.1:53: no such host',
  ],
  [
    'crd/conversion-webhook-blocks-garbage-collection',
    'asked',
    'Seit dem Upgrade werden Pods gelöschter Deployments im ganzen Cluster nicht mehr entfernt. kube-controller-manager (CloudWatch):\nE0611 09:01:44.481205      11 reflector.go:150] k8s.io/client-go/metadata/metadatainformer/informer.go:138: Failed to watch *v1.PartialObjectMetadata: failed to list *v1.PartialObjectMetadata: conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: Post "https://karpenter.kube-system.svc:8443/conversion/karpenter.k8s.aws?timeout=30s": no endpoints available for service "karpenter"',
  ],
  [
    'startup/kubernetes-permission-missing',
    'log',
    'E0405 10:10:10.111111       1 reflector.go:158] "Unhandled Error" err="pkg/mod/k8s.io/client-go/tools/cache/reflector.go:243: Failed to watch *v1.PodDisruptionBudget: failed to list *v1.PodDisruptionBudget: poddisruptionbudgets.policy is forbidden: User \\"system:serviceaccount:kube-system:karpenter\\" cannot list resource \\"poddisruptionbudgets\\" in API group \\"policy\\" at the cluster scope"',
  ],
  [
    'helm/version-prefix',
    'cli',
    '$ helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version v1.8.3 -n kube-system\nRelease "karpenter" does not exist. Installing it now.\nError: public.ecr.aws/karpenter/karpenter:v1.8.3: not found',
  ],
  [
    'helm/version-prefix',
    'cli',
    'Error: chart "karpenter" version "0.32.7" not found in oci://public.ecr.aws/karpenter repository',
  ],
  [
    'helm/oci-needs-newer-client',
    'cli',
    '$ helm version --short\nv3.6.3+gd506314\n$ helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version 1.8.3\nError: scheme "oci" not supported',
  ],
  [
    'helm/registry-403',
    'cli',
    'Error: INSTALLATION FAILED: failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://public.ecr.aws/token/?scope=repository%3Akarpenter%2Fkarpenter%3Apull&service=public.ecr.aws: 403 Forbidden',
  ],
  [
    'helm/crd-ownership-annotation',
    'cli',
    'Error: Unable to continue with install: CustomResourceDefinition "ec2nodeclasses.karpenter.k8s.aws" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; annotation validation error: key "meta.helm.sh/release-name" must equal "karpenter-crd": current value is "karpenter"; annotation validation error: key "meta.helm.sh/release-namespace" must equal "kube-system": current value is "karpenter"',
  ],
  [
    'crd/removed-api-version',
    'cli',
    'Error: error validating "": error validating data: [ValidationError(NodePool.spec): unknown field]\nerror: unable to recognize "nodepool.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"',
  ],
  [
    'crd/unknown-field',
    'cli',
    'error: error validating "np.yaml": error validating data: ValidationError(NodePool.spec.disruption): unknown field "expireAfter" in sh.karpenter.v1.NodePool.spec.disruption; if you choose to ignore these errors, turn validation off with --validate=false',
  ],
  [
    'startup/controller-starved',
    'asked',
    '{"level":"ERROR","time":"2026-02-01T01:00:00.001Z","logger":"controller","message":"Failed to renew lease kube-system/karpenter-leader-election: timed out waiting for the condition"}\n$ kubectl -n kube-system top pod karpenter-1\nkarpenter-1   998m   1021Mi\nLast State: Terminated Reason: OOMKilled Exit Code: 137\n  name karpenter-1 image public.ecr.aws/karpenter/controller:1.5.0',
  ],
  [
    'tooling/expired-credentials',
    'cli',
    'Error: error configuring S3 Backend: error validating provider credentials: error calling sts:GetCallerIdentity: ExpiredToken: The security token included in the request is expired\n\tstatus code: 403, request id: 1111',
  ],
  [
    'tooling/expired-credentials',
    'cli',
    'Error loading SSO Token: Token for https://acme.awsapps.com/start does not exist\nUnable to connect to the server: getting credentials: exec: executable aws failed with exit code 255',
  ],
  [
    'tooling/kubeconfig-wrong',
    'cli',
    '│ Error: Get "http://localhost/api/v1/namespaces/karpenter": dial tcp [::1]:80: connect: connection refused\n│   with kubernetes_namespace.karpenter,',
  ],
  [
    'helm/namespace-moved',
    'cli',
    '$ helm uninstall karpenter -n karpenter && helm install karpenter oci://public.ecr.aws/karpenter/karpenter --version 1.0.6 -n kube-system\n$ kubectl -n kube-system logs deploy/karpenter | tail -1\n{"level":"ERROR","time":"2025-08-25T06:14:55.421Z","logger":"controller","message":"ec2 api connectivity check failed","error":"operation error STS: AssumeRoleWithWebIdentity, https response error StatusCode: 403, RequestID: 1e7d, api error AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"}\n$ aws iam get-role --role-name KarpenterControllerRole --query \'Role.AssumeRolePolicyDocument.Statement[0].Condition\'\n{"StringEquals": {"oidc.eks.us-east-1.amazonaws.com/id/X:sub": "system:serviceaccount:karpenter:karpenter"}}',
  ],
];

const calm: readonly [Where, string][] = [
  [
    'node',
    "[    9.812] cloud-init[1601]: 2025-12-10 10:11:12,123 - __init__.py[WARNING]: Unhandled unknown content-type (application/node.eks.aws) userdata: 'b'apiVersion: node.eks'...'",
  ],
  [
    'log',
    '{"level":"INFO","time":"2025-05-22T09:09:05.334Z","logger":"controller","message":"created nodeclaim","commit":"1c39126","controller":"disruption","NodePool":{"name":"runner-ng-arm"},"NodeClaim":{"name":"runner-ng-arm-f7m5k"}}\n{"level":"INFO","time":"2025-05-22T09:09:07.719Z","logger":"controller","message":"launched nodeclaim","commit":"1c39126","controller":"nodeclaim.lifecycle"}\n{"level":"ERROR","time":"2025-05-22T09:09:17.719Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \\"runner-ng-arm-f7m5k\\": the object has been modified; please apply your changes to the latest version and try again"}\n{"level":"INFO","time":"2025-05-22T09:09:57.719Z","logger":"controller","message":"registered nodeclaim","controller":"nodeclaim.lifecycle"}\n{"level":"INFO","time":"2025-05-22T09:10:17.719Z","logger":"controller","message":"initialized nodeclaim","controller":"nodeclaim.lifecycle"}',
  ],
  [
    'node',
    'Normal  Starting                 10m                  kubelet                Starting kubelet.\nNormal  NodeHasSufficientMemory  10m (x2 over 10m)    kubelet                Node ip-10-211-186-14.ec2.internal status is now: NodeHasSufficientMemory\nNormal  RegisteredNode           10m                  node-controller        Node ip-10-211-186-14.ec2.internal event: Registered Node ip-10-211-186-14.ec2.internal in Controller\nNormal  NodeReady                10m                  kubelet                Node ip-10-211-186-14.ec2.internal status is now: NodeReady',
  ],
  [
    'asked',
    'Bei uns läuft alles. kubectl get nodepools\nNAME      NODECLASS   NODES   READY   AGE\ndefault   default     12      True    44d\ngpu       gpu         0       True    44d',
  ],
  [
    'log',
    'I0905 12:16:18.771350       1 leaderelection.go:243] attempting to acquire leader lease karpenter/karpenter-leader-election...\nE0905 12:16:28.771350       1 leaderelection.go:369] Failed to update lock: Operation cannot be fulfilled on leases.coordination.k8s.io "karpenter-leader-election": the object has been modified\nI0905 12:16:38.800252       1 leaderelection.go:253] successfully acquired lease karpenter/karpenter-leader-election',
  ],
  [
    'log',
    '{"level":"ERROR","time":"2026-02-01T01:00:00.001Z","logger":"external-dns","message":"AccessDenied: User: arn:aws:sts::111122223333:assumed-role/external-dns/17 is not authorized to perform: route53:ListHostedZones"}\n{"level":"INFO","time":"2026-02-01T01:00:10.001Z","logger":"external-dns","message":"sleeping"}',
  ],
  [
    'node',
    'Apr 13 12:24:01 ip-10-0-9-4 kubelet[2001]: E0413 12:24:01.1 2001 kubelet.go:3008] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"\nApr 13 12:24:02 ip-10-0-9-4 kubelet[2001]: E0413 12:24:02.1 2001 kubelet_node_status.go:107] "Unable to register node with API server" err="Post \\"https://X.gr7.eu-west-1.eks.amazonaws.com/api/v1/nodes\\": dial tcp 10.0.1.1:443: connect: connection refused" node="ip-10-0-9-4"\nApr 13 12:24:11 ip-10-0-9-4 kubelet[2001]: I0413 12:24:11.1 2001 kubelet_node_status.go:79] "Successfully registered node" node="ip-10-0-9-4"\nApr 13 12:24:25 ip-10-0-9-4 kubelet[2001]: I0413 12:24:25.1 2001 kubelet_node_status.go:502] "Fast updating node status as it just became ready"',
  ],
  [
    'log',
    '{"level":"DEBUG","time":"2026-02-01T01:00:00.001Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"a","namespace":"b"},"error":"incompatible with nodepool \\"x\\", did not tolerate taint (taint=gpu:NoSchedule)"}\n{"level":"INFO","time":"2026-02-01T01:00:10.001Z","logger":"controller","message":"created nodeclaim","NodeClaim":{"name":"x-1"}}\n{"level":"INFO","time":"2026-02-01T01:01:10.001Z","logger":"controller","message":"initialized nodeclaim","NodeClaim":{"name":"x-1"}}',
  ],
  [
    'log',
    '{"level":"ERROR","time":"2026-02-01T01:00:00.001Z","logger":"controller","message":"Reconciler error","controller":"nodeclaim.lifecycle","error":"launching nodeclaim, creating instance, creating fleet request, operation error EC2: CreateFleet, exceeded maximum number of attempts, 3, https response error StatusCode: 503, RequestID: 1, api error RequestLimitExceeded: Request limit exceeded."}\n{"level":"INFO","time":"2026-02-01T01:00:10.001Z","logger":"controller","message":"launched nodeclaim","NodeClaim":{"name":"x-1"}}\n{"level":"INFO","time":"2026-02-01T01:01:10.001Z","logger":"controller","message":"registered nodeclaim","NodeClaim":{"name":"x-1"}}',
  ],
  [
    'log',
    '{"level":"INFO","time":"2026-02-01T01:00:00.001Z","logger":"controller","message":"initiating delete from interruption message","queue":"prod","messageKind":"spot_interrupted","NodeClaim":{"name":"x-0"}}\n{"level":"INFO","time":"2026-02-01T01:00:01.001Z","logger":"controller","message":"tainted node","Node":{"name":"ip-1"}}\n{"level":"INFO","time":"2026-02-01T01:01:10.001Z","logger":"controller","message":"deleted node","Node":{"name":"ip-1"}}\n{"level":"ERROR","time":"2026-02-01T01:01:11.001Z","logger":"controller","message":"Reconciler error","controller":"node.termination","error":"getting nodeclaim, not found"}',
  ],
];

reportsAreRead(named, calm);
