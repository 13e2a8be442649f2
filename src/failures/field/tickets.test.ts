// What stands in tickets: errors that are over by now, neighbours of well-known errors, and the same trouble in other words.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

const line = (time: string, message: string, error = ''): string =>
  JSON.stringify({
    level: error === '' ? 'INFO' : 'ERROR',
    time: `2026-05-10T${time}.000Z`,
    logger: 'controller',
    message,
    commit: '6b868db',
    ...(error === '' ? {} : { error }),
  });

const denied = (action: string): string =>
  `creating instance, with fleet error(s), UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::444455556666:assumed-role/atlas-karpenter/1 is not authorized to perform: ${action} on resource: *`;

const noQueue =
  'fetching queue url, operation error SQS: GetQueueUrl, https response error StatusCode: 400, RequestID: a, QueueDoesNotExist: The specified queue does not exist.';

const tickets: readonly [readonly FailureId[], Where, string][] = [
  // Refused, allowed, launched.
  [
    [],
    'log',
    [line('01:00:00', 'Reconciler error', denied('ec2:RunInstances')), line('06:00:00', 'launched nodeclaim')].join(
      '\n',
    ),
  ],
  [
    ['iam/controller-permission-missing'],
    'log',
    [line('06:00:00', 'launched nodeclaim'), line('07:00:00', 'Reconciler error', denied('ec2:RunInstances'))].join(
      '\n',
    ),
  ],
  // What launches do not need stays refused while they go on.
  [
    ['iam/controller-permission-missing'],
    'log',
    [
      line('05:00:00', 'Reconciler error', denied('iam:ListInstanceProfiles')),
      line('06:00:00', 'launched nodeclaim'),
    ].join('\n'),
  ],
  [
    [],
    'log',
    [
      line('02:00:00', 'Reconciler error', denied('iam:ListInstanceProfiles')),
      line('06:00:00', 'launched nodeclaim'),
      line('15:30:00', 'disrupting node(s)'),
    ].join('\n'),
  ],
  [['interruption/events-not-delivered'], 'log', line('05:00:00', 'Reconciler error', noQueue)],
  [
    [],
    'log',
    [
      line('05:00:00', 'Reconciler error', noQueue),
      line('05:20:00', 'initiating delete from interruption message'),
    ].join('\n'),
  ],
  [
    [],
    'log',
    [line('02:00:00', 'Reconciler error', noQueue), line('05:20:00', 'found provisionable pod(s)')].join('\n'),
  ],
  // Not the name of the device but its size.
  [
    ['scheduling/launch-rejected-by-provider'],
    'asked',
    "creating instance, with fleet error(s), InvalidBlockDeviceMapping: Volume of size 10GB is smaller than snapshot 'snap-0aa1', expect size>= 20GB",
  ],
  [
    ['startup/crd-missing-or-mismatched'],
    'asked',
    'panic: failed to setup nodepool nodeclass reference indexer: failed to get API group resources: unable to retrieve the complete list of server APIs: karpenter.sh/v1: the server could not find the requested resource\n\ngoroutine 1 [running]:',
  ],
  [
    ['crd/ami-selector-required'],
    'asked',
    "The EC2NodeClass \"bottlerocket\" is invalid: spec.amiSelectorTerms: Invalid value: \"array\": expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']",
  ],
  [
    ['startup/sts-dns-timeout'],
    'asked',
    'ERROR ec2 api connectivity check failed: operation error EC2: DescribeInstanceTypes, get identity: get credentials: operation error STS: AssumeRoleWithWebIdentity, request send failed, Post "https://sts.eu-central-1.amazonaws.com/": dial tcp: lookup sts.eu-central-1.amazonaws.com on 10.100.0.10:53: no such host (karpenter)',
  ],
  [
    ['scheduling/daemonset-overhead-ignored'],
    'asked',
    "datadog-agent-7x2kf 0/3 Pending: Warning FailedScheduling default-scheduler 0/12 nodes are available: 1 Insufficient memory, 11 node(s) didn't match Pod's node affinity/selector",
  ],
  // An application that selects one node by itself.
  [
    [],
    'asked',
    "web-5d9f-x 0/1 Pending: Warning FailedScheduling default-scheduler 0/12 nodes are available: 1 Insufficient memory, 11 node(s) didn't match Pod's node affinity/selector",
  ],
  [
    ['init/daemonset-selects-legacy-label'],
    'asked',
    'kube-proxy is not scheduled on new nodes.\n          nodeSelectorTerms:\n          - matchExpressions:\n            - key: beta.kubernetes.io/os\n              operator: In\n              values:\n              - linux',
  ],
  [
    ['init/core-daemonsets-absent'],
    'cli',
    '$ kubectl get pods -A --field-selector spec.nodeName=ip-10-0-5-5.ec2.internal\nNo resources found\n',
  ],
  [
    ['termination/finalizer-after-uninstall'],
    'asked',
    '$ helm uninstall karpenter -n kube-system\nrelease "karpenter" uninstalled\n$ kubectl get nodes\nNAME                       STATUS                        ROLES    AGE   VERSION\nip-10-0-1-2.ec2.internal   NotReady,SchedulingDisabled   <none>   4d    v1.33.1\n$ kubectl get node ip-10-0-1-2.ec2.internal -o yaml | grep -A3 finalizers\n  finalizers:\n  - karpenter.sh/termination',
  ],
  // Every node of a healthy cluster has it.
  [[], 'asked', '  finalizers:\n  - karpenter.sh/termination\n  labels:\n    karpenter.sh/nodepool: default'],
  [
    ['crd/removed-api-version'],
    'asked',
    'ComparisonError: The Kubernetes API could not find version "v1beta1" of karpenter.k8s.aws/EC2NodeClass for requested resource default/default. Version "v1" of karpenter.k8s.aws/EC2NodeClass is installed on the destination cluster.',
  ],
  [
    ['windows/image-host-version-mismatch'],
    'asked',
    'a Windows Server version 10.0.17763-based image is incompatible with a 10.0.20348 host',
  ],
  [
    ['tooling/no-shell-on-node'],
    'asked',
    'SSM Agent is not online. The SSM Agent was unable to connect to a Systems Manager endpoint to register itself with the service.',
  ],
];

describe('a ticket', () => {
  test.each(tickets)('%j (%s): %s', (ids, where, text) => {
    const { findings } = diagnoseCase(evidenceIn(where, text));
    const seen = findings.filter(({ id, severity }) => severity !== 'low' || ids.includes(id)).map(({ id }) => id);
    expect(seen).toEqual(ids);
  });
});
