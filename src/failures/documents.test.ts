// Troubleshooting reports from the field, section by section: the evidence of each in, its true cause out. Where a report
// drew the wrong conclusion, the true cause is what counts.
import { describe, expect, test } from 'vitest';
import { type CaseEvidence, condition, diagnoseCase, minutesAgo, now, object } from './case.testing.ts';
import type { FailureId } from './failure.ts';

const claim = object('NodeClaim', 'default-kb85v', {
  metadata: { creationTimestamp: minutesAgo(9), labels: { 'karpenter.sh/nodepool': 'default' } },
  spec: { nodeClassRef: { name: 'default' } },
  status: {
    providerID: 'aws:///us-east-1a/i-01d1ff6c07a0e70f9',
    imageID: 'ami-071a9f2683c2da4bd',
    conditions: [
      condition('Launched', 'True', '', '', 8.5),
      condition('Initialized', 'Unknown', 'NodeNotFound', 'Node not registered with cluster', 8.5),
    ],
  },
});
const nodeClass = object('EC2NodeClass', 'default', {
  spec: {
    role: 'aws-2026-eks-karpenter-node',
    amiFamily: 'AL2',
    amiSelectorTerms: [{ owner: '602401143452', name: 'amazon-eks-node-1.32-*' }],
  },
});
const awsAuth = object(
  'ConfigMap',
  'aws-auth',
  {
    data: {
      mapRoles:
        '- rolearn: arn:aws:iam::069057294951:role/aws-2026-eks-node-role\n  groups:\n  - system:bootstrappers\n  - system:nodes\n  username: system:node:{{EC2PrivateDNSName}}\n',
    },
  },
  'kube-system',
);
const console =
  '[OK] Started Kubernetes Kubelet.\n2025-12-28T21:17:57+0000 [eks-bootstrap] INFO: complete!\nCloud-init v. 19.3-46.amzn2.0.7 finished\n';

type Section = [string, CaseEvidence, FailureId[]];

const report: Section[] = [
  [
    '1 old API',
    {
      text: 'error: resource mapping not found for name: "default": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"',
    },
    ['crd/removed-api-version'],
  ],
  [
    '2 conversion webhook',
    {
      text: 'Error: conversion webhook for karpenter.sh/v1beta1, Kind=NodeClaim failed:\nPost "https://karpenter.kube-system.svc:8443/?timeout=30s": service "karpenter" not found',
    },
    ['crd/conversion-webhook-wrong-target'],
  ],
  [
    '3 spot role',
    {
      text: '{\n  "level":"ERROR",\n  "message":"Reconciler error",\n  "error":"launching nodeclaim, creating instance, with fleet error(s),\n   AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials\n   do not have permission to create the service-linked role for EC2 Spot Instances."\n}',
    },
    ['iam/spot-service-linked-role-missing'],
  ],
  [
    '4 permission',
    {
      text: '{\n  "level":"ERROR",\n  "controller":"instanceprofile.garbagecollection",\n  "aws-error-code":"AccessDenied",\n  "error":"listing instance profiles, User is not authorized to perform:\n   iam:ListInstanceProfiles on resource: arn:aws:iam::069057294951:instance-profile/"\n}',
    },
    ['iam/controller-permission-missing'],
  ],
  [
    '5 a warning that is harmless',
    {
      text: "cloud-init[2156]: 2025-12-28 20:35:39,951 - __init__.py[WARNING]:\nUnhandled unknown content-type (application/node.eks.aws) userdata: 'b'# Karpenter Generated No'...'",
    },
    ['ami/nodeadm-content-type-warning'],
  ],
  [
    '6 a foreign image',
    {
      objects: [
        object('EC2NodeClass', 'default', {
          spec: { amiFamily: 'AL2', amiSelectorTerms: [{ alias: 'al2@latest' }] },
          status: { amis: [{ id: 'ami-03ad4f0274233f98e', name: 'Offseclab Base AMI' }] },
        }),
      ],
    },
    ['ami/unintended-image-selected'],
  ],
  [
    '7 no image',
    {
      objects: [
        object('EC2NodeClass', 'default', {
          spec: { amiFamily: 'AL2', amiSelectorTerms: [{ alias: 'al2@latest' }] },
          status: {
            conditions: [condition('AMIsReady', 'False', 'AMINotFound', 'AMISelector did not match any AMIs')],
          },
        }),
        object('NodePool', 'default', {
          spec: {
            template: { spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' } } },
          },
          status: {
            conditions: [condition('NodeClassReady', 'False', 'NodeClassNotReady'), condition('Ready', 'False')],
          },
        }),
      ],
      cluster: { kubernetesVersion: '1.33' },
    },
    ['ami/none-for-cluster-version'],
  ],
  [
    '8 a replica that waits',
    {
      text: '{\n  "level":"ERROR",\n  "message":"could not schedule pod",\n  "Pod":{"name":"karpenter-5697769d6c-7lglp","namespace":"karpenter"},\n  "error":"incompatible requirements, label \\"role\\" does not have known values"\n}',
    },
    ['startup/controller-pod-selector-unsatisfied'],
  ],
  [
    '9 a role that is not mapped',
    { now, objects: [claim, nodeClass, awsAuth], texts: { 'nodes/i-01d1ff6c07a0e70f9/console.txt': console } },
    ['registration/node-role-not-mapped'],
  ],
  [
    '10 expired credentials',
    {
      text: 'An error occurred (ExpiredToken) when calling the GetCallerIdentity operation:\nThe security token included in the request is expired',
    },
    ['tooling/expired-credentials'],
  ],
  [
    '11 the wrong kubeconfig',
    { text: 'The connection to the server localhost:42169 was refused -\ndid you specify the right host or port?' },
    ['tooling/kubeconfig-wrong'],
  ],
];

const blog: Section[] = [
  [
    'the network plugin',
    {
      text: 'Apr 23 05:26:38 ip-10-10-11-100 containerd: time="2022-04-23T05:26:38.814171952Z" level=error msg="failed to load cni during init, please check CRI plugin status before setting up network for pods" error="cni config load failed: no network config found in /etc/cni/net.d: cni plugin not initialized: failed to load cni config"',
    },
    ['init/cni-not-initialised'],
  ],
  [
    'legacy labels',
    {
      text: '        - matchExpressions:\n          - key: beta.kubernetes.io/os\n            operator: In\n            values:\n            - linux\n          - key: beta.kubernetes.io/arch\n            operator: In',
    },
    ['init/daemonset-selects-legacy-label'],
  ],
  [
    'a hollow node',
    {
      text: 'Lease:              Failed to get lease: leases.coordination.k8s.io "ip-10-10-11-198.ap-southeast-1.compute.internal" not found\nConditions:\n  Ready            Unknown   Fri, 22 Apr 2022 15:37:34 +0000   Fri, 22 Apr 2022 15:38:34 +0000   NodeStatusNeverUpdated   Kubelet never posted node status.',
    },
    ['registration/kubelet-never-posted-status'],
  ],
  [
    'the bootstrap',
    {
      text: "sed: can't read /etc/eks/containerd/containerd-config.toml: No such file or directory\nExited with error on line 469",
    },
    ['ami/containerd-config-missing'],
  ],
  [
    'the pause image',
    {
      text: '● sandbox-image.service - pull sandbox image defined in containerd config.toml\n  Loaded: loaded (/etc/systemd/system/sandbox-image.service; enabled; vendor preset: disabled)\n  Active: activating (start) since Sat 2022-04-23 08:52:45 UTC; 12min ago',
    },
    ['ami/sandbox-image-pull-stuck'],
  ],
];

const crashes: Section[] = [
  [
    '1',
    { text: '- **錯誤**: `panic: "" not a valid CLUSTER_ENDPOINT URL`\n- **原因**: 缺少 CLUSTER_ENDPOINT 環境變數' },
    ['startup/cluster-endpoint-missing'],
  ],
  [
    '2',
    {
      text: '- **錯誤**: `panic: failed to setup nodeclaim provider id indexer: no matches for kind "NodeClaim"`\n- **原因**: CRD 版本與 Karpenter 版本不匹配',
    },
    ['startup/crd-missing-or-mismatched'],
  ],
  [
    '3',
    {
      text: '- **錯誤**: `WebIdentityErr: failed to retrieve credentials - AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity`\n- **狀態**: ✅ 已修復',
    },
    ['iam/irsa-trust-subject-mismatch'],
  ],
  [
    'a remedy that is too broad',
    {
      text: 'eksctl create iamserviceaccount \\\n  --cluster eks-lab-test-eks \\\n  --namespace kube-system \\\n  --name karpenter \\\n  --attach-policy-arn arn:aws:iam::aws:policy/PowerUserAccess',
    },
    ['iam/controller-policy-too-broad'],
  ],
];

const page: Section[] = [
  [
    'unknown field',
    {
      text: 'Error from server (BadRequest): error when creating "STDIN": NodePool in version "v1" cannot be handled as a NodePool: strict decoding error: unknown field "spec.template.spec.nodeClassRef.foo"',
    },
    ['crd/unknown-field'],
  ],
  [
    'DNS at start',
    {
      text: 'Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.us-east-1.amazonaws.com/\\": dial tcp: lookup sts.us-east-1.amazonaws.com: i/o timeout',
    },
    ['startup/sts-dns-timeout'],
  ],
  [
    'garbage collection',
    {
      text: 'conversion webhook for karpenter.k8s.aws/v1beta1, Kind=EC2NodeClass failed: Post "https://karpenter.kube-system.svc:8443/conversion/karpenter.k8s.aws?timeout=30s": no endpoints available for service "karpenter"',
    },
    ['crd/conversion-webhook-blocks-garbage-collection'],
  ],
  [
    'swap',
    {
      text: '"command failed" err="failed to run Kubelet: running with swap on is not supported, please disable swap!..."',
    },
    ['ami/swap-blocks-kubelet'],
  ],
  [
    'in-tree volumes',
    {
      text: "2023-04-05T23:56:53.363Z        ERROR   controller.node_state   PersistentVolume source 'AWSElasticBlockStore' uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes.",
    },
    ['storage/in-tree-driver-limits-unknown'],
  ],
  [
    'volumes that race',
    {
      text: 'Warning   FailedAttachVolume    pod/example-pod                      AttachVolume.Attach failed for volume "***" : rpc error: code = Internal desc = Could not attach volume "***" to node "***": attachment of disk "***" failed, expected device to be attached but was attaching',
    },
    ['storage/attach-limit-race-at-registration'],
  ],
  [
    'addresses',
    {
      text: 'time=2023-06-12T19:18:15Z type=Warning reason=FailedCreatePodSandBox from=kubelet message=Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0f46f3f1289eed7afab81b6945c49336ef556861fe5bb09a902a00772848b7cc": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
    },
    ['net/max-pods-above-ip-capacity'],
  ],
  [
    'no type',
    { text: 'no instance type met the scheduling requirements or had a required offering' },
    ['scheduling/no-instance-type-fits'],
  ],
  [
    'a block device',
    {
      text: '2022-01-19T18:22:23.366Z ERROR controller.provisioning Could not launch node, launching instances, with fleet error(s), InvalidBlockDeviceMapping: Invalid device name /dev/xvda; ...',
    },
    ['ami/block-device-name-invalid'],
  ],
  [
    'not registered',
    {
      text: 'Attempting to register node" node="ip-192-168-67-130.ec2.internal"\nUnable to register node with API server" err="Unauthorized" node="ip-192-168-67-130.ec2.internal"\nError getting node" err="node \\"ip-192-168-67-130.ec2.internal\\" not found\nFailed to contact API server when waiting for CSINode publishing: Unauthorized',
    },
    ['registration/node-role-not-mapped'],
  ],
  [
    'outdated data',
    { text: '> No entry for c6i.xlarge in /etc/eks/eni-max-pods.txt' },
    ['ami/eni-max-pods-entry-missing'],
  ],
  [
    'pod interfaces',
    {
      text: 'inflight check failed for node, Expected resource "vpc.amazonaws.com/pod-eni" didn\'t register on the node',
    },
    ['init/pod-eni-not-registered'],
  ],
  [
    'consistency',
    {
      text: '{\n    "type": "ConsistentStateFound",\n    "status": "False",\n    "reason": "ConsistencyCheckFailed",\n    "message": "Consistency Check Failed"\n}',
    },
    ['scheduling/allocatable-overestimated'],
  ],
  [
    'Windows support',
    {
      text: 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "x": plugin type="vpc-bridge" name="vpc" failed (add): failed to parse Kubernetes args: pod does not have label vpc.amazonaws.com/PrivateIPv4Address',
    },
    ['windows/support-not-enabled'],
  ],
  [
    'Windows images',
    {
      text: 'Failed to pull image "mcr.microsoft.com/windows/servercore:xxx": rpc error: code = NotFound desc = failed to pull and unpack image "mcr.microsoft.com/windows/servercore:xxx": no match for platform in manifest: not found',
    },
    ['windows/image-host-version-mismatch'],
  ],
  [
    'ownership by label',
    {
      text: 'Error: invalid ownership metadata; label validation error: missing key "app.kubernetes.io/managed-by": must be set to "Helm"',
    },
    ['helm/crd-ownership-label'],
  ],
  [
    'prices',
    {
      text: 'ERROR   controller.aws.pricing  updating on-demand pricing, RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout; RequestError: send request failed\ncaused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout, using existing pricing data from 2022-08-17T00:19:52Z  {"commit": "4b5f953"}',
    },
    ['pricing/api-unreachable'],
  ],
];

describe.each([
  ['a field report', report],
  ['a blog', blog],
  ['a report of crashes', crashes],
  ['a troubleshooting page', page],
] as const)('%s', (_, sections) => {
  test.each([...sections])('section %s', (_title, evidence, expected) => {
    expect(diagnoseCase(evidence).findings.map(({ id }) => id)).toEqual(expected);
  });
});
