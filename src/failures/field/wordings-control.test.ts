// Wordings from the field, in the places where people meet them: each names its failure.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

/** Failure, text, and where it may stand. */
const wordings: readonly [FailureId, string, string?][] = [
  [
    'startup/cluster-endpoint-missing',
    '2022-09-14T03:11:24.112Z\tFATAL\tcontroller\tpanic: "" not a valid CLUSTER_ENDPOINT URL\t{"commit":"5d4ae35-dirty"}',
    'asked,log',
  ],
  [
    'startup/cluster-endpoint-missing',
    '{"level":"ERROR","time":"2024-09-14T03:11:24.112Z","logger":"controller","message":"panic: \\"\\" not a valid CLUSTER_ENDPOINT URL"}',
    'log',
  ],
  [
    'startup/cluster-endpoint-missing',
    'panic: validating options, missing field, cluster-endpoint\n\ngoroutine 1 [running]:\n',
    'asked,log',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'panic: failed to setup nodeclaim provider id indexer: failed to get restmapping: no matches for kind "NodeClaim" in group "karpenter.sh"\n\ngoroutine 1 [running]:\ngithub.com/samber/lo.must',
    'asked,log',
  ],
  [
    'startup/crd-missing-or-mismatched',
    '{"level":"ERROR","time":"2025-02-04T10:00:00.000Z","logger":"controller.controller-runtime.source.EventHandler","message":"if kind is a CRD, it should be installed before calling Start","commit":"a2875e3","kind":"NodePool.karpenter.sh","error":"no matches for kind \\"NodePool\\" in version \\"karpenter.sh/v1\\""}',
    'log,asked',
  ],
  [
    'startup/crd-missing-or-mismatched',
    'Reason: CrashLoopBackOff\nLast State: Terminated\n  Message: panic: unable to retrieve the complete list of server APIs: karpenter.sh/v1: no matches for kind "NodeClaim"',
    'asked',
  ],
  [
    'startup/sts-dns-timeout',
    '{"level":"ERROR","time":"2024-05-01T00:00:00Z","message":"ec2 api connectivity check failed","error":"operation error EC2: DescribeInstanceTypes, get identity: get credentials: failed to refresh cached credentials, failed to retrieve credentials, operation error STS: AssumeRoleWithWebIdentity, exceeded maximum number of attempts, 3, https response error StatusCode: 0, RequestID: , request send failed, Post \\"https://sts.eu-west-1.amazonaws.com/\\": dial tcp: lookup sts.eu-west-1.amazonaws.com: i/o timeout"}',
    'log,asked',
  ],
  [
    'startup/sts-dns-timeout',
    'Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.us-east-1.amazonaws.com/\\": dial tcp: lookup sts.us-east-1.amazonaws.com on 172.20.0.10:53: read udp 10.0.3.4:53211->172.20.0.10:53: read: connection refused',
    'log,asked',
  ],
  [
    'startup/sts-dns-timeout',
    'panic: ... dial tcp: lookup ec2.ap-southeast-1.amazonaws.com on 10.100.0.10:53: read udp 10.2.1.1:4->10.100.0.10:53: i/o timeout',
    'log,asked',
  ],
  [
    'startup/replicas-exceed-unmanaged-nodes',
    'NAME                         READY   STATUS    RESTARTS   AGE\nkarpenter-6b8f9d7c5d-2xk4p   1/1     Running   0          3d\nkarpenter-6b8f9d7c5d-9lmqz   0/1     Pending   0          3d',
    'asked,cli',
  ],
  [
    'startup/replicas-exceed-unmanaged-nodes',
    "Events:\n  Type     Reason            Age                  From               Message\n  ----     ------            ----                 ----               -------\n  Warning  FailedScheduling  2m (x120 over 3h)  default-scheduler  0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.\nName: karpenter-6b8f9d7c5d-9lmqz",
    'asked',
  ],
  [
    'startup/controller-pod-selector-unsatisfied',
    '{"level":"ERROR","time":"2025-12-11T20:14:02.112Z","logger":"controller","message":"could not schedule pod","controller":"provisioner","Pod":{"name":"karpenter-5f6d7c8b9-abcde","namespace":"kube-system"},"error":"incompatible with nodepool \\"default\\", daemonset overhead={\\"cpu\\":\\"150m\\"}, incompatible requirements, label \\"role\\" does not have known values"}',
    'log,asked',
  ],
  [
    'startup/controller-starved',
    'NAME  READY STATUS RESTARTS\nkarpenter-6b8f9d7c5d-2xk4p   0/1     OOMKilled   7 (3m ago)   1h',
    'asked,cli',
  ],
  [
    'startup/controller-starved',
    'Containers:\n  controller:\n    Image: public.ecr.aws/karpenter/controller:1.0.6\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137',
    'asked',
  ],
  [
    'startup/controller-on-managed-node',
    'Name: karpenter-6b8f9d7c5d-2xk4p\nNode: ip-10-0-1-1\n evicting pod kube-system/karpenter-6b8f9d7c5d-2xk4p for node with label karpenter.sh/nodepool=default',
    'asked',
  ],
  [
    'crd/removed-api-version',
    'error: resource mapping not found for name: "default" namespace: "" from "nodepool.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"\nensure CRDs are installed first',
    'asked,cli',
  ],
  [
    'crd/removed-api-version',
    'error: unable to recognize "prov.yaml": no matches for kind "Provisioner" in version "karpenter.sh/v1alpha5"',
    'asked,cli',
  ],
  [
    'crd/removed-api-version',
    "│ Error: default failed to create kubernetes rest client for update of resource: resource [karpenter.sh/v1beta1/NodePool] isn't valid for cluster, check the APIVersion and Kind fields are valid",
    'asked,cli',
  ],
  [
    'crd/removed-api-version',
    'Error: unable to build kubernetes objects from release manifest: [resource mapping not found for name: "default" namespace: "" from "": no matches for kind "EC2NodeClass" in version "karpenter.k8s.aws/v1beta1"',
    'asked,cli',
  ],
  [
    'crd/nodeclassref-incomplete',
    'The NodePool "default" is invalid: \n* spec.template.spec.nodeClassRef.group: Required value\n* spec.template.spec.nodeClassRef.kind: Required value',
    'asked,cli',
  ],
  [
    'crd/nodeclassref-incomplete',
    'error: error validating "np.yaml": error validating data: [ValidationError(NodePool.spec.template.spec.nodeClassRef): missing required field "group" in sh.karpenter.v1.NodePool.spec.template.spec.nodeClassRef]',
    'asked,cli',
  ],
  [
    'crd/nodeclassref-incomplete',
    'Error from server (BadRequest): error when creating "STDIN": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.template.spec.nodeClassRef.apiVersion"',
    'asked,cli',
  ],
  [
    'crd/consolidation-policy-renamed',
    'The NodePool "default" is invalid: spec.disruption.consolidationPolicy: Unsupported value: "WhenUnderutilized": supported values: "WhenEmpty", "WhenEmptyOrUnderutilized"',
    'asked,cli',
  ],
  [
    'crd/consolidation-policy-renamed',
    '│ Error: NodePool.karpenter.sh "x" is invalid: spec.disruption.consolidationPolicy: Unsupported\n│ value: "WhenUnderutilized": supported values: "WhenEmpty",\n│ "WhenEmptyOrUnderutilized"',
    'asked,cli',
  ],
  [
    'crd/consolidate-after-not-allowed-v1beta1',
    'The NodePool "default" is invalid: spec.disruption: Invalid value: "object": consolidateAfter cannot be combined with consolidationPolicy=WhenUnderutilized',
    'asked,cli',
  ],
  [
    'crd/consolidate-after-not-allowed-v1beta1',
    'admission webhook "validation.webhook.karpenter.sh" denied the request: validation failed: expected exactly one, got both: spec.disruption.consolidateAfter cannot be combined with consolidationPolicy=WhenUnderutilized',
    'asked,cli',
  ],
  [
    'crd/unknown-field',
    'Error from server (BadRequest): error when creating "STDIN": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.template.spec.nodeClassRef.foo"',
    'asked,cli',
  ],
  [
    'crd/unknown-field',
    'Error from server (BadRequest): error when applying patch: EC2NodeClass in version "v1" cannot be handled as a EC2NodeClass: strict decoding error: unknown field "spec.subnetSelector", unknown field "spec.securityGroupSelector"',
    'asked,cli',
  ],
  [
    'crd/unknown-field',
    'error: error validating "np.yaml": error validating data: ValidationError(NodePool.spec.template.spec): unknown field "affinity" in sh.karpenter.v1.NodePool.spec.template.spec; if you choose to ignore these errors, turn validation off with --validate=false',
    'asked,cli',
  ],
  [
    'crd/unknown-field',
    'Warning: unknown field "spec.disruption.expireAfter"\nnodepool.karpenter.sh/default configured',
    'asked,cli',
  ],
  [
    'crd/conversion-webhook-wrong-target',
    'Error from server: conversion webhook for karpenter.sh/v1beta1, Kind=NodeClaim failed: Post "https://karpenter.kube-system.svc:8443/?timeout=30s": service "karpenter" not found',
    'asked,cli',
  ],
  [
    'crd/conversion-webhook-wrong-target',
    '{"level":"ERROR","message":"Reconciler error","error":"conversion webhook for karpenter.k8s.aws/v1, Kind=EC2NodeClass failed: Post \\"https://karpenter.karpenter.svc:8443/conversion/karpenter.k8s.aws?timeout=30s\\": dial tcp 172.20.1.1:8443: connect: connection refused"}',
    'log,asked',
  ],
  [
    'crd/conversion-webhook-blocks-garbage-collection',
    'E1010 11:11:11.111111      11 garbagecollector.go:776] failed to sync all monitors ... W reflector.go:547] failed to list *v1.PartialObjectMetadata: conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: Post "https://karpenter.kube-system.svc:8443/conversion/karpenter.k8s.aws?timeout=30s": no endpoints available for service "karpenter"',
    'log,asked',
  ],
  [
    'crd/nodepool-not-ready-because-nodeclass',
    '{"level":"ERROR","time":"2025-01-01T00:00:00Z","logger":"controller","message":"skipping, nodepool not ready","controller":"provisioner","NodePool":{"name":"default"}}\n{"message":"ignoring nodepool, not ready","NodePool":{"name":"default"}}',
    'log,asked',
  ],
  [
    'crd/nodepool-not-ready-because-nodeclass',
    'Status:\n  Conditions:\n    Message:               Failed to resolve NodeClass\n    Reason:                NodeClassNotFound\n    Status:                False\n    Type:                  NodeClassReady',
    'asked',
  ],
  [
    'crd/ami-selector-required',
    'The EC2NodeClass "default" is invalid: spec.amiSelectorTerms: Required value',
    'asked,cli',
  ],
  [
    'crd/ami-selector-required',
    'EC2NodeClass.karpenter.k8s.aws "default" is invalid: [spec.amiSelectorTerms: Required value, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    'asked,cli',
  ],
  ['helm/oci-needs-newer-client', 'Error: scheme "oci" not supported', 'asked,cli'],
  [
    'helm/oci-needs-newer-client',
    'Error: failed to download "oci://public.ecr.aws/karpenter/karpenter" at version "1.0.0" (hint: running `helm repo update` may help)\n$ helm version\nversion.BuildInfo{Version:"v3.7.2", GitCommit:"x"}',
    'asked,cli',
  ],
  ['helm/oci-needs-newer-client', 'Error: could not find protocol handler for: oci', 'asked,cli'],
  ['helm/version-prefix', 'Error: public.ecr.aws/karpenter/karpenter:0.34.0: not found', 'asked,cli'],
  [
    'helm/version-prefix',
    'Error: INSTALLATION FAILED: public.ecr.aws/karpenter/karpenter:v1.0.6: not found',
    'asked,cli',
  ],
  ['helm/version-prefix', 'Error: public.ecr.aws/karpenter/karpenter-crd:v0.37.0: not found', 'asked,cli'],
  ['helm/chart-not-found-or-generic-error', 'Error: public.ecr.aws/karpenter/karpenter:1.99.0: not found', 'asked,cli'],
  [
    'helm/chart-not-found-or-generic-error',
    'Error: chart "karpenter" version "1.0.6" not found in https://charts.karpenter.sh repository',
    'asked,cli',
  ],
  [
    'helm/chart-not-found-or-generic-error',
    'Error: failed to do request: Head "https://public.ecr.aws/v2/karpenter/karpenter/manifests/1.5.0": EOF',
    'asked,cli',
  ],
  [
    'helm/registry-403',
    'Error: failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://public.ecr.aws/token/?scope=repository%3Akarpenter%2Fkarpenter%3Apull: 403 Forbidden',
    'asked,cli',
  ],
  [
    'helm/registry-403',
    'Error: pulling from host public.ecr.aws failed with status code [manifests 1.0.6]: 403 Forbidden',
    'asked,cli',
  ],
  [
    'helm/crd-ownership-label',
    'Error: INSTALLATION FAILED: Unable to continue with install: CustomResourceDefinition "ec2nodeclasses.karpenter.k8s.aws" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"; annotation validation error: missing key "meta.helm.sh/release-name": must be set to "karpenter-crd"; annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "kube-system"',
    'asked,cli',
  ],
  [
    'helm/crd-ownership-annotation',
    'annotation validation error: missing key "meta.helm.sh/release-namespace": must be set to "karpenter"',
    'asked,cli',
  ],
  [
    'helm/crd-ownership-annotation',
    'Error: rendered manifests contain a resource that already exists. Unable to continue with install: CustomResourceDefinition "nodepools.karpenter.sh" in namespace "" exists and cannot be imported into the current release: invalid ownership metadata; annotation validation error: key "meta.helm.sh/release-namespace" must equal "kube-system": current value is "karpenter"',
    'asked,cli',
  ],
  [
    'tooling/expired-credentials',
    'An error occurred (ExpiredToken) when calling the GetCallerIdentity operation: The security token included in the request is expired',
    'asked,cli',
  ],
  [
    'tooling/expired-credentials',
    'An error occurred (ExpiredTokenException) when calling the DescribeCluster operation: The security token included in the request is expired',
    'asked,cli',
  ],
  [
    'tooling/expired-credentials',
    'Error when retrieving token from sso: Token has expired and refresh failed',
    'asked,cli',
  ],
  [
    'tooling/expired-credentials',
    'The SSO session associated with this profile has expired or is otherwise invalid. To refresh this SSO session run aws sso login with the corresponding profile.',
    'asked,cli',
  ],
  [
    'tooling/kubeconfig-wrong',
    'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
    'asked,cli',
  ],
  [
    'tooling/kubeconfig-wrong',
    'couldn\'t get current server API group list: Get "http://localhost:8080/api?timeout=32s": dial tcp 127.0.0.1:8080: connect: connection refused',
    'asked,cli',
  ],
  [
    'tooling/kubeconfig-wrong',
    'Unable to connect to the server: dial tcp: lookup ABCDEF.gr7.us-east-1.eks.amazonaws.com on 8.8.8.8:53: no such host',
    'asked,cli',
  ],
  ['tooling/kubeconfig-wrong', 'error: You must be logged in to the server (Unauthorized)', 'asked,cli'],
  [
    'tooling/no-shell-on-node',
    'An error occurred (TargetNotConnected) when calling the StartSession operation: i-0abc is not connected.',
    'asked,cli',
  ],
];

describe.each(wordings)('%s', (id, text, places = 'asked') => {
  test.each(places.split(','))(`is named in ${JSON.stringify(text.slice(0, 60))} (%s)`, (where) => {
    expect(diagnoseCase(evidenceIn(where as Where, text)).findings.map((finding) => finding.id)).toContain(id);
  });
});
