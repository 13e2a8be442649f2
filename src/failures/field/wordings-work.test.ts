// Wordings from the field, in the places where people meet them: each names its failure.
import { describe, expect, test } from 'vitest';
import { diagnoseCase } from '../case.testing.ts';
import type { FailureId } from '../failure.ts';
import { evidenceIn, type Where } from './field.testing.ts';

/** Failure, text, and where it may stand. */
const wordings: readonly [FailureId, string, string?][] = [
  [
    'scheduling/no-instance-type-fits',
    '{"level":"ERROR","time":"2024-05-01T10:00:00Z","logger":"controller","message":"could not schedule pod","Pod":{"name":"api-5f6d-x","namespace":"shop"},"error":"incompatible with nodepool \\"default\\", daemonset overhead={\\"cpu\\":\\"310m\\",\\"memory\\":\\"340Mi\\",\\"pods\\":\\"5\\"}, no instance type satisfied resources {\\"cpu\\":\\"64310m\\",\\"memory\\":\\"300Gi\\",\\"pods\\":\\"6\\"} and requirements karpenter.sh/capacity-type In [on-demand], node.kubernetes.io/instance-type In [m5.large] (no instance type which had enough resources and the required offering met the scheduling requirements)"}',
    'log,asked',
  ],
  [
    'scheduling/no-instance-type-fits',
    'Warning  FailedScheduling  2m  karpenter  Failed to schedule pod, incompatible with nodepool "default", no instance type met the scheduling requirements or had a required offering',
    'asked',
  ],
  [
    'scheduling/no-instance-type-fits',
    'Warning NoCompatibleInstanceTypes 5m karpenter NodePool requirements filtered out all compatible available instance types',
    'asked',
  ],
  [
    'scheduling/pool-limit-reached',
    '{"level":"ERROR","message":"could not schedule pod","error":"all available instance types exceed limits for nodepool: \\"default\\""}',
    'log,asked',
  ],
  [
    'scheduling/pool-limit-reached',
    'Failed to schedule pod, all available instance types exceed limits for provisioner: "default"',
    'asked,log',
  ],
  ['scheduling/pool-limit-reached', 'launching node, cpu resource usage of 1004 exceeds limit of 1000', 'asked,log'],
  [
    'scheduling/no-usable-nodepool',
    '{"level":"INFO","message":"no dynamic nodepools found","controller":"provisioner"}',
    'asked',
  ],
  ['scheduling/no-usable-nodepool', '2025-01-01T10:00:00Z DEBUG controller.provisioner no nodepools found', 'asked'],
  [
    'scheduling/label-without-known-values',
    '{"message":"could not schedule pod","Pod":{"name":"web-5f6d-abc"},"error":"incompatible with nodepool \\"default\\", incompatible requirements, label \\"team\\" does not have known values"}',
    'log,asked',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    '{"level":"ERROR","message":"failed launching nodeclaim","error":"creating instance, with fleet error(s), InvalidParameterCombination: The parameter X is not supported"}',
    'log,asked',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'launching nodeclaim, creating instance, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.',
    'log,asked',
  ],
  [
    'scheduling/launch-rejected-by-provider',
    'MaxSpotInstanceCountExceeded: Max spot instance count exceeded',
    'log,asked',
  ],
  [
    'scheduling/allocatable-overestimated',
    'ConsistentStateFound=False ConsistencyCheckFailed: expected 7Gi of resource memory, but found 6.6Gi (94.2% of expected)',
    'asked',
  ],
  [
    'scheduling/allocatable-overestimated',
    '{"level":"ERROR","message":"consistency error","error":"expected 7700Mi of resource memory, but found 7100Mi (92.2% of expected)"}',
    'log,asked',
  ],
  [
    'scheduling/zone-locked-no-offering',
    'incompatible with nodepool "default", no instance type satisfied resources {"cpu":"1"} and requirements topology.kubernetes.io/zone In [us-east-1c] (no instance type has a required offering); pod has persistentvolumeclaim data-db-0 bound to volume in zone us-east-1c',
    'asked',
  ],
  [
    'scheduling/spread-over-unreachable-domain',
    'Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"150m"}, unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = map[us-east-1a:2 us-east-1b:2 us-east-1c:0], podDomains = topology.kubernetes.io/zone Exists, nodeDomains = topology.kubernetes.io/zone In [us-east-1a us-east-1b])',
    'asked,log',
  ],
  [
    'storage/in-tree-driver-limits-unknown',
    '{"level":"ERROR","message":"PersistentVolume source \'AWSElasticBlockStore\' uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes. Scale-ups may fail because Karpenter will not discover driver limits. Use a PersistentVolume that references the \'ebs.csi.aws.com\' CSI driver for Karpenter auto-scaling support."}',
    'log,asked',
  ],
  [
    'storage/in-tree-driver-limits-unknown',
    'StorageClass .spec.provisioner uses an in-tree storage plugin which is unsupported by Karpenter and is deprecated by Kubernetes.',
    'log,asked',
  ],
  [
    'storage/attach-limit-race-at-registration',
    'Warning  FailedAttachVolume  attachdetach-controller  AttachVolume.Attach failed for volume "pvc-x" : rpc error: code = Internal desc = Could not attach volume "vol-1" to node "i-1": attachment of disk "vol-1" failed, expected device to be attached but was attaching',
    'asked',
  ],
  [
    'storage/attach-limit-race-at-registration',
    'AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = ResourceExhausted desc = Could not attach volume "vol-0abc" to node "i-0abc": node i-0abc has reached the maximum number of volumes',
    'asked',
  ],
  [
    'net/max-pods-above-ip-capacity',
    'Warning FailedCreatePodSandBox kubelet Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "abc": plugin type="aws-cni" name="aws-cni" failed (add): add cmd: failed to assign an IP address to container',
    'asked,cli',
  ],
  [
    'net/subnet-addresses-exhausted',
    "creating instance, with fleet error(s), InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet 'subnet-0abc' to satisfy the requested number of instances.",
    'log,asked',
  ],
  [
    'net/subnet-addresses-exhausted',
    '{"level":"error","caller":"awsutils/awsutils.go:900","msg":"Failed to allocate a private IP/Prefix addresses on ENI eni-0abc: InsufficientFreeAddressesInSubnet: The specified subnet does not have enough free addresses to satisfy the request.\\n\\tstatus code: 400, request id: x"}',
    'log,asked',
  ],
  [
    'net/subnet-addresses-exhausted',
    'InsufficientCidrBlocks: The specified subnet does not have enough free cidr blocks to satisfy the request.',
    'log,asked',
  ],
  [
    'net/discovery-tag-missing',
    'SubnetsReady=False SubnetsNotFound: SubnetSelector did not match any Subnets',
    'asked',
  ],
  [
    'net/discovery-tag-missing',
    '{"level":"ERROR","message":"Reconciler error","error":"no subnets exist given constraints [{map[karpenter.sh/discovery:prod] }]"}',
    'log,asked',
  ],
  [
    'net/discovery-tag-missing',
    'SecurityGroupsReady  False  SecurityGroupsNotFound  SecurityGroupSelector did not match any SecurityGroups',
    'asked',
  ],
  ['net/discovery-tag-missing', 'no security groups exist given constraints', 'log,asked'],
  [
    'net/security-groups-for-pods-slow-start',
    'Warning FailedScheduling default-scheduler 0/5 nodes are available: 5 Insufficient vpc.amazonaws.com/pod-eni.',
    'asked',
  ],
  [
    'net/cluster-dns-unreachable-from-node',
    ";; connection timed out; no servers could be reached\nnslookup: can't resolve kubernetes.default from pod on node ip-10-0-1-2 server 172.20.0.10",
    'asked',
  ],
  [
    'disruption/pdb-blocks',
    'Normal  Unconsolidatable  3m (x50 over 12h)  karpenter  pdb default/web prevents pod evictions',
    'asked,cli',
  ],
  [
    'disruption/pdb-blocks',
    'Warning  DisruptionBlocked  karpenter  Cannot disrupt Node: pdb prevents pod evictions (PodDisruptionBudget=[shop/api])',
    'asked,cli',
  ],
  [
    'disruption/pdb-blocks',
    'error when evicting pods/"web-0" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod\'s disruption budget.',
    'asked,cli',
  ],
  [
    'disruption/do-not-disrupt-blocks',
    'Cannot disrupt Node: pod "batch/job-1" has "karpenter.sh/do-not-disrupt" annotation',
    'asked,cli',
  ],
  [
    'disruption/do-not-disrupt-blocks',
    'Normal  Unconsolidatable  karpenter  Pod "default/inflate-1" has do not evict annotation',
    'asked,cli',
  ],
  [
    'disruption/do-not-disrupt-blocks',
    'Normal DisruptionBlocked 10m karpenter Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=ci/runner-0)',
    'asked,cli',
  ],
  [
    'disruption/not-consolidating-unexplained',
    "Normal Unconsolidatable karpenter Can't replace with a cheaper node",
    'asked,cli',
  ],
  [
    'disruption/not-consolidating-unexplained',
    "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
    'asked,cli',
  ],
  [
    'disruption/not-consolidating-unexplained',
    'SpotToSpotConsolidation requires 15 cheaper instance type options than the current candidate to consolidate, got 3',
    'asked,cli',
  ],
  [
    'disruption/budget-zero-in-force',
    'Normal DisruptionBlocked karpenter No allowed disruptions for disruption reason Underutilized due to blocking budget',
    'asked,cli',
  ],
  ['disruption/budget-zero-in-force', 'No allowed disruptions due to blocking budget', 'asked,cli'],
  [
    'termination/drain-never-completes',
    'Warning FailedDraining 2m (x300 over 5h) karpenter Failed to drain node, 3 pods are waiting to be evicted',
    'asked,cli',
  ],
  [
    'termination/drain-never-completes',
    'Drained  Unknown  Draining  Draining\nVolumesDetached Unknown AwaitingVolumeDetachment',
    'asked',
  ],
  [
    'termination/finalizer-after-uninstall',
    'kubectl delete node ip-10-0-1-2\nnode "ip-10-0-1-2" deleted\n^C\nkubectl get node ip-10-0-1-2 -o yaml\n  deletionTimestamp: "2025-01-01T00:00:00Z"\n  finalizers:\n  - karpenter.sh/termination\n$ kubectl -n karpenter get deploy\nNo resources found in karpenter namespace.',
    'asked,cli',
  ],
  [
    'termination/finalizer-strip-leaks-instances',
    'kubectl get nodes -ojsonpath=\'{range .items[*].metadata}{@.name}:{@.finalizers}{"\\n"}\' | grep "karpenter.sh/termination" | cut -d \':\' -f 1 | xargs kubectl patch node --type=\'json\' -p=\'[{"op": "remove", "path": "/metadata/finalizers"}]\'',
    'asked,cli',
  ],
  [
    'interruption/events-not-delivered',
    '{"level":"ERROR","time":"2025-01-01T00:00:00Z","logger":"controller","message":"Reconciler error","controller":"interruption","error":"getting messages from queue, operation error SQS: ReceiveMessage, https response error StatusCode: 400, RequestID: x, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist."}',
    'log,asked',
  ],
  [
    'interruption/events-not-delivered',
    'discovering queue url, fetching queue url, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist for this wsdl version.',
    'log,asked',
  ],
  [
    'interruption/events-not-delivered',
    'operation error SQS: GetQueueUrl, QueueDoesNotExist: The specified queue does not exist.',
    'log,asked',
  ],
  [
    'interruption/nth-relaunch-loop',
    'aws-node-termination-handler: 2023/05/05 10:00:00 INF Rebalance recommendation received. Instance will be cordoned and drained node_name=ip-10-0-1-1\nINF Draining the node',
    'asked,log',
  ],
  [
    'interruption/rebalance-not-acted-on',
    'Warning  SpotRebalanceRecommendation  2m  karpenter  Spot rebalance recommendation was triggered for the nodeclaim',
    'asked',
  ],
  [
    'pricing/api-unreachable',
    '2022-08-17T12:10:21.896Z ERROR controller.aws.pricing updating on-demand pricing, RequestError: send request failed caused by: Post "https://api.pricing.us-east-1.amazonaws.com/": dial tcp 52.94.231.236:443: i/o timeout; RequestError: send request failed, using existing pricing data from 2022-08-17T00:19:52Z {"commit": "4b5f953"}',
    'log,asked',
  ],
  [
    'pricing/api-unreachable',
    '{"level":"ERROR","controller":"providers.pricing","error":"updating on-demand pricing, operation error Pricing: GetProducts, exceeded maximum number of attempts, 3, https response error StatusCode: 0, request send failed, Post \\"https://api.pricing.us-east-1.amazonaws.com/\\": dial tcp: lookup api.pricing.us-east-1.amazonaws.com: i/o timeout"}',
    'log,asked',
  ],
];

describe.each(wordings)('%s', (id, text, places = 'asked') => {
  test.each(places.split(','))(`is named in ${JSON.stringify(text.slice(0, 60))} (%s)`, (where) => {
    expect(diagnoseCase(evidenceIn(where as Where, text)).findings.map((finding) => finding.id)).toContain(id);
  });
});
