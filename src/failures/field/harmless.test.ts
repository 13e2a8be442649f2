// Lines that look like trouble and are none: recovered, of another component, or about the person who collected.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import { evidenceIn, type Where } from './field.testing.ts';

/** Text, and where it may stand. */
const harmless: readonly [string, string][] = [
  [
    '{"level":"INFO","time":"2026-03-01T12:00:00Z","logger":"controller","message":"found provisionable pod(s)","Pods":"default/a"}\n{"level":"INFO","message":"computed new nodeclaim(s) to fit pod(s)"}\n{"level":"INFO","message":"created nodeclaim"}\n{"level":"INFO","message":"launched nodeclaim"}\n{"level":"INFO","message":"registered nodeclaim"}\n{"level":"INFO","message":"initialized nodeclaim"}',
    'asked,log',
  ],
  [
    '{"level":"ERROR","message":"Reconciler error","controller":"nodeclaim.lifecycle","error":"launching nodeclaim, creating instance, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-east-1a)."}\n{"level":"INFO","message":"launched nodeclaim"}',
    'asked,log',
  ],
  [
    '{"level":"ERROR","message":"Reconciler error","error":"RequestLimitExceeded: Request limit exceeded."}\n{"level":"INFO","message":"launched nodeclaim"}',
    'asked,log',
  ],
  [
    '{"level":"ERROR","message":"Reconciler error","error":"operation error EC2: DescribeInstances, ThrottlingException: Rate exceeded"}',
    'log',
  ],
  [
    'I0301 12:00:00.000 1 leaderelection.go:285] failed to renew lease kube-system/karpenter-leader-election: timed out waiting for the condition\nE0301 leader election lost\nI0301 leaderelection.go:250] attempting to acquire leader lease kube-system/karpenter-leader-election...\nI0301 leaderelection.go:260] successfully acquired lease kube-system/karpenter-leader-election',
    'asked,log',
  ],
  [
    'E0301 11:00:00 kubelet.go:2900] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"\nI0301 11:00:30 kubelet_node_status.go:497] "Fast updating node status as it just became ready"\nI0301 event="NodeReady"',
    'node,asked',
  ],
  [
    'E0301 "Unable to register node with API server" err="Post https://x.eks.amazonaws.com/api/v1/nodes: net/http: TLS handshake timeout"\nI0301 kubelet_node_status.go:75] "Successfully registered node" node="ip-10"',
    'node,asked',
  ],
  [
    '{"level":"ERROR","message":"Reconciler error","error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \\"default-abc\\": the object has been modified; please apply your changes to the latest version and try again"}',
    'log,asked',
  ],
  [
    '{"level":"error","logger":"aws-load-balancer-controller","msg":"WebIdentityErr: failed to retrieve credentials\\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity"}',
    'log',
  ],
  [
    'time="2026-03-01T12:00:00Z" level=error msg="external-dns: AccessDenied: User: arn:aws:sts::1:assumed-role/external-dns/x is not authorized to perform: route53:ListHostedZones"',
    'log,asked',
  ],
  ['{"level":"ERROR","message":"consolidation","error":"timed out waiting for the condition"}', 'log,asked'],
  [
    '{"level":"INFO","message":"disrupting node(s)","reason":"underutilized","decision":"delete"}\n{"level":"INFO","message":"tainted node"}\n{"level":"INFO","message":"deleted node"}\n{"level":"INFO","message":"deleted nodeclaim"}',
    'log,asked',
  ],
  [
    '{"level":"INFO","message":"initiating delete from interruption message","messageKind":"spot_interrupted"}\n{"level":"INFO","message":"deleted nodeclaim"}',
    'log,asked',
  ],
  [
    '{"level":"ERROR","message":"i/o timeout dialing","error":"Post \\"https://ec2.us-east-1.amazonaws.com/\\": dial tcp 1.2.3.4:443: i/o timeout"}\n{"level":"INFO","message":"launched nodeclaim"}',
    'log,asked',
  ],
  [
    'Warning  FailedScheduling  10s  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.\nNormal   Nominated  8s  karpenter  Pod should schedule on: nodeclaim/default-abc',
    'asked,cli',
  ],
  ['Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress', 'asked,cli'],
  [
    'Error from server (Forbidden): pods is forbidden: User "dev" cannot list resource "pods" in API group "" at the cluster scope',
    'asked,cli',
  ],
  [
    'An error occurred (AccessDenied) when calling the ListInstanceProfiles operation: User: arn:aws:iam::111122223333:user/alice is not authorized to perform: iam:ListInstanceProfiles',
    'cli,asked',
  ],
  [
    'Failed to pull image "myrepo/app:v1": rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/myrepo/app:v1": not found',
    'asked',
  ],
  [
    'Failed to pull image "111122223333.dkr.ecr.us-east-1.amazonaws.com/app:v9": rpc error: code = NotFound desc = manifest for app:v9 not found',
    'asked',
  ],
  [
    'Conditions:\n  MemoryPressure False KubeletHasSufficientMemory\n  Ready True KubeletReady kubelet is posting ready status',
    'asked,cli',
  ],
  ['nodepool.karpenter.sh/default created\nec2nodeclass.karpenter.k8s.aws/default created', 'asked,cli'],
  [
    'Release "karpenter" has been upgraded. Happy Helming!\nNAME: karpenter\nNAMESPACE: kube-system\nSTATUS: deployed',
    'asked,cli',
  ],
  [
    '{"level":"DEBUG","message":"discovered karpenter version","version":"1.7.4"}\n{"level":"INFO","message":"no nodepools found"}',
    'log',
  ],
  ['Apply complete! Resources: 3 added, 0 changed, 0 destroyed.', 'asked,cli'],
  [
    'systemd[1]: Starting pull sandbox image defined in containerd config.toml...\nsystemd[1]: Started pull sandbox image defined in containerd config.toml.\nsandbox-image.service: activating (start)\nsandbox-image.service: Succeeded',
    'node,asked',
  ],
];

describe.each(harmless)('%s', (text, places) => {
  test.each(places.split(','))('is not a finding above low (%s)', (where) => {
    const { findings } = diagnoseCase(evidenceIn(where as Where, text));
    expect(findings.filter((finding) => finding.severity !== 'low' && finding.harmless !== true)).toEqual([]);
  });
});
