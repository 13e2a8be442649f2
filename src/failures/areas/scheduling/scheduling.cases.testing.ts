// Cases of scheduling/.
import { condition, type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const refused = condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available');
const pod = (spec: object = {}, name = 'web-1', minutes = 30, message = refused): object =>
  object(
    'Pod',
    name,
    { metadata: { creationTimestamp: minutesAgo(minutes) }, spec, status: { phase: 'Pending', conditions: [message] } },
    'shop',
  );
const pool = (name: string, template: object = {}, rest: object = {}): object =>
  object('NodePool', name, {
    ...rest,
    spec: {
      template: {
        metadata: {},
        ...template,
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          ...(template as { spec?: object }).spec,
        },
      },
      ...(rest as { spec?: object }).spec,
    },
  });
const nodeClass = (...zones: string[]): object =>
  object('EC2NodeClass', 'default', {
    spec: { amiSelectorTerms: [{ alias: 'al2023@latest' }] },
    status: { subnets: zones.map((zone) => ({ id: `subnet-${zone}`, zone })) },
  });
const types = (...values: string[]): object => ({
  spec: { requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values }] },
});
const containers = (cpu: string, memory = '1Gi'): object => ({
  containers: [{ name: 'a', resources: { requests: { cpu, memory } } }],
});
const volume = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-1' } }] };
const claimAndVolume = (zone: string): object[] => [
  object('PersistentVolumeClaim', 'data-web-1', { spec: { volumeName: 'pv-1' } }, 'shop'),
  object('PersistentVolume', 'pv-1', {
    spec: {
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'topology.ebs.csi.aws.com/zone', operator: 'In', values: [zone] }] },
          ],
        },
      },
    },
  }),
];
const zones = (...values: string[]): object => ({
  requirements: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values }],
});
const spread = {
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
  ],
  nodeSelector: { project: 'zonal' },
};
const claim = (conditions: object[], status: object = {}): object =>
  object('NodeClaim', 'default-abcde', {
    metadata: { labels: { 'karpenter.sh/nodepool': 'default' } },
    status: { nodeName: 'n1', conditions, ...status },
  });
const deployment = (env: object[]): object =>
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: {
        template: { spec: { containers: [{ name: 'controller', env, resources: { requests: { cpu: '1' } } }] } },
      },
    },
    'kube-system',
  );
const killed = (resources: object): object =>
  object(
    'Pod',
    'web-1',
    {
      spec: { containers: [{ name: 'a', resources }] },
      status: {
        phase: 'Running',
        containerStatuses: [{ ready: true, lastState: { terminated: { reason: 'OOMKilled' } } }],
      },
    },
    'shop',
  );
const daemonPod = (message: string): object =>
  object(
    'Pod',
    'logs-x',
    {
      metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'logs' }] },
      spec: {},
      status: { phase: 'Pending', conditions: [condition('PodScheduled', 'False', 'Unschedulable', message)] },
    },
    'kube-system',
  );

export const schedulingCases: readonly FailureCase[] = [
  {
    id: 'scheduling/no-instance-type-fits',
    name: 'a line of the log',
    text: '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"big-0","namespace":"shop"},"error":"incompatible with nodepool \\"default\\", daemonset overhead={\\"cpu\\":\\"480m\\"}, no instance type satisfied resources {\\"cpu\\":\\"64480m\\"} and requirements karpenter.sh/nodepool In [default] (no instance type which met the scheduling requirements and the required offering had enough resources)"}',
    confidence: 'certain',
  },
  {
    id: 'scheduling/no-instance-type-fits',
    name: 'the older wording',
    text: '2022-05-09T20:04:37.981Z\tERROR\tcontroller\tno instance type satisfied resources {"cpu":"1","pods":"1"} and requirements karpenter.sh/provisioner-name In [omo]',
  },
  {
    id: 'scheduling/no-instance-type-fits',
    name: 'a pod larger than the list of types',
    now,
    objects: [pod(containers('8')), pool('default', types('m5.large', 'm5.xlarge')), nodeClass('us-east-1a')],
    confidence: 'certain',
    fix: ['NodePool default'],
  },
  {
    id: 'scheduling/no-instance-type-fits',
    name: 'a pod that fits',
    nearMiss: true,
    now,
    objects: [pod(containers('3')), pool('default', types('m5.large', 'm5.xlarge')), nodeClass('us-east-1a')],
  },
  {
    id: 'scheduling/no-instance-type-fits',
    name: 'a pod that got its node on the next try',
    nearMiss: true,
    texts: {
      'logs/karpenter.log':
        '2026-01-01T00:00:00Z ERROR controller could not schedule pod no instance type met the scheduling requirements or had a required offering\n2026-01-01T00:00:10Z INFO launched nodeclaim {"NodeClaim":{"name":"default-x"}}\n',
    },
  },
  {
    id: 'scheduling/zone-locked-no-offering',
    name: 'a volume in a zone without a subnet',
    now,
    objects: [pod(volume), ...claimAndVolume('us-east-1c'), pool('default'), nodeClass('us-east-1a', 'us-east-1b')],
    confidence: 'certain',
    fix: ['us-east-1c'],
  },
  {
    id: 'scheduling/zone-locked-no-offering',
    name: 'a line of the log',
    text: 'no instance type satisfied resources {"cpu":"2655m"} and requirements karpenter.sh/nodepool In [db], topology.kubernetes.io/zone In [us-east-1d] (no instance type which met the scheduling requirements and had enough resources had a required offering)',
    confidence: 'likely',
  },
  {
    id: 'scheduling/zone-locked-no-offering',
    name: 'a volume in a zone that is served',
    nearMiss: true,
    now,
    objects: [pod(volume), ...claimAndVolume('us-east-1a'), pool('default'), nodeClass('us-east-1a', 'us-east-1b')],
  },
  {
    id: 'scheduling/spread-over-unreachable-domain',
    name: 'a pool of two zones out of three',
    now,
    objects: [
      pod(spread),
      pool('default'),
      pool('zonal', { metadata: { labels: { project: 'zonal' } }, spec: zones('us-east-1a', 'us-east-1b') }),
      nodeClass('us-east-1a', 'us-east-1b', 'us-east-1c'),
    ],
    fix: ['us-east-1a, us-east-1b'],
  },
  {
    id: 'scheduling/spread-over-unreachable-domain',
    name: 'a line of the log',
    text: 'incompatible with nodepool "zonal", unsatisfiable topology constraint for topology spread, key=topology.kubernetes.io/zone (counts = map[us-east-1a:1 us-east-1b:1 us-east-1c:0], podDomains = topology.kubernetes.io/zone Exists)',
  },
  {
    id: 'scheduling/spread-over-unreachable-domain',
    name: 'a pool of all zones',
    nearMiss: true,
    now,
    objects: [
      pod(spread),
      pool('zonal', { metadata: { labels: { project: 'zonal' } } }),
      nodeClass('us-east-1a', 'us-east-1b', 'us-east-1c'),
    ],
  },
  {
    id: 'scheduling/pool-limit-reached',
    name: 'a line of the log',
    text: '{"level":"ERROR","message":"could not schedule pod","error":"all available instance types exceed limits for nodepool: \\"default\\""}',
    confidence: 'certain',
    fix: ['nodepool default'],
  },
  {
    id: 'scheduling/pool-limit-reached',
    name: 'a full pool and a pod that waits',
    now,
    objects: [
      pod(containers('1')),
      pool('default', {}, { spec: { limits: { cpu: '100' } }, status: { resources: { cpu: '99' } } }),
      nodeClass('us-east-1a'),
    ],
    fix: ['"cpu":"200"'],
  },
  {
    id: 'scheduling/pool-limit-reached',
    name: 'a full pool for which nothing waits',
    nearMiss: true,
    now,
    objects: [pool('default', {}, { spec: { limits: { cpu: '100' } }, status: { resources: { cpu: '100' } } })],
    none: ['Pod'],
  },
  {
    id: 'scheduling/limit-unit-mistake',
    name: 'a pool as kubectl prints it',
    text: 'kind: NodePool\nspec:\n  disruption:\n    consolidateAfter: 30s\n  limits:\n    cpu: 1000m\n  template:\n    spec:',
    fix: ['1000'],
  },
  {
    id: 'scheduling/limit-unit-mistake',
    name: 'the limits of a container',
    nearMiss: true,
    text: 'resources:\n  limits:\n    cpu: 1000m\n    memory: 2Gi\n  requests:\n    cpu: 500m',
  },
  {
    id: 'scheduling/limit-unit-mistake',
    name: 'millicores',
    objects: [pool('default', {}, { spec: { limits: { cpu: '1000m', memory: '1000Gi' } } })],
    confidence: 'certain',
    fix: ['"cpu":"1000"'],
  },
  {
    id: 'scheduling/limit-unit-mistake',
    name: 'a manifest',
    text: 'spec:\n  limits:\n    cpu: 1000m\n    memory: 1000Gi',
  },
  {
    id: 'scheduling/limit-unit-mistake',
    name: 'a limit of a container',
    nearMiss: true,
    text: '        resources:\n          limits:\n            cpu: 500m\n            memory: 1Gi',
  },
  {
    id: 'scheduling/limit-unit-mistake',
    name: 'a pool that is closed on purpose',
    nearMiss: true,
    objects: [pool('default', {}, { spec: { limits: { cpu: '0' } } })],
  },
  {
    id: 'scheduling/requests-missing-overpacked',
    name: 'a pod that was killed',
    objects: [killed({})],
    confidence: 'likely',
    fix: ['-n shop'],
  },
  {
    id: 'scheduling/requests-missing-overpacked',
    name: 'an eviction',
    text: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi. Container app was using 900Mi, request is 0, has larger consumption of memory.',
  },
  {
    id: 'scheduling/requests-missing-overpacked',
    name: 'a pod that passed its own limit',
    nearMiss: true,
    objects: [killed({ requests: { memory: '1Gi' }, limits: { memory: '1Gi' } })],
  },
  {
    id: 'scheduling/daemonset-overhead-ignored',
    name: 'a pod of a DaemonSet without room',
    now,
    objects: [
      daemonPod("0/26 nodes are available: 1 Insufficient cpu, 25 node(s) didn't match Pod's node affinity/selector."),
    ],
    confidence: 'certain',
    fix: ['daemonset logs'],
  },
  {
    id: 'scheduling/daemonset-overhead-ignored',
    name: 'types that are left out',
    text: '2022-01-19T17:25:12.184Z\tDEBUG\tcontroller.provisioning\tExcluding instance type t3.micro because there are not enough resources for daemons',
  },
  {
    id: 'scheduling/daemonset-overhead-ignored',
    name: 'a pod of a DaemonSet that does not tolerate',
    nearMiss: true,
    now,
    objects: [daemonPod('0/26 nodes are available: 1 node(s) had untolerated taint {gpu: true}.')],
  },
  {
    id: 'scheduling/allocatable-overestimated',
    name: 'a condition',
    now,
    objects: [
      claim([condition('ConsistentStateFound', 'False', 'ConsistencyCheckFailed', 'Consistency Check Failed')]),
    ],
    confidence: 'certain',
  },
  {
    id: 'scheduling/allocatable-overestimated',
    name: 'an event',
    text: 'Warning  FailedConsistencyCheck  2m  karpenter  expected 7Gi of resource memory, but found 6Gi (85.7% of expected)',
  },
  {
    id: 'scheduling/allocatable-overestimated',
    name: 'a consistent claim',
    nearMiss: true,
    now,
    objects: [claim([condition('ConsistentStateFound', 'True')])],
  },
  {
    id: 'scheduling/memory-underestimated',
    name: 'a setting',
    objects: [deployment([{ name: 'VM_MEMORY_OVERHEAD_PERCENT', value: '0.2' }])],
    confidence: 'certain',
  },
  {
    id: 'scheduling/memory-underestimated',
    name: 'a node with more than planned',
    objects: [
      claim([], { allocatable: { memory: '6Gi' } }),
      object('Node', 'n1', { status: { allocatable: { memory: '7Gi' } } }),
    ],
    confidence: 'possible',
  },
  {
    id: 'scheduling/memory-underestimated',
    name: 'the usual difference',
    nearMiss: true,
    objects: [
      deployment([{ name: 'VM_MEMORY_OVERHEAD_PERCENT', value: '0.075' }]),
      claim([], { allocatable: { memory: '6900Mi' } }),
      object('Node', 'n1', { status: { allocatable: { memory: '7100Mi' } } }),
    ],
  },
  {
    id: 'scheduling/no-usable-nodepool',
    name: 'pods and no pool',
    now,
    objects: [pod()],
    none: ['NodePool'],
    confidence: 'certain',
  },
  {
    id: 'scheduling/no-usable-nodepool',
    name: 'a line of the log',
    text: '{"level":"INFO","message":"no dynamic nodepools found","controller":"provisioner"}',
  },
  {
    id: 'scheduling/no-usable-nodepool',
    name: 'a fresh install',
    nearMiss: true,
    now,
    objects: [object('Pod', 'coredns-1', { spec: { nodeName: 'n' }, status: { phase: 'Running' } }, 'kube-system')],
    none: ['NodePool'],
    texts: { 'logs/karpenter.log': '{"level":"INFO","message":"no nodepools found","controller":"provisioner"}' },
  },
  {
    id: 'scheduling/label-without-known-values',
    name: 'a JSON log',
    text: '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"inflate-5cf78d58f6-9snnr","namespace":"default"},"error":"incompatible requirements, label \\"role\\" does not have known values"}',
    confidence: 'certain',
    fix: ['role'],
  },
  {
    id: 'scheduling/label-without-known-values',
    name: 'an event',
    text: 'Warning  FailedScheduling  2m  karpenter  Failed to schedule pod, incompatible with nodepool "default", daemonset overhead={"cpu":"150m"}, incompatible requirements, label "team" does not have known values',
  },
  {
    id: 'scheduling/label-without-known-values',
    name: 'a selector that no pool declares',
    now,
    objects: [pod({ nodeSelector: { team: 'blue' } }), pool('default'), nodeClass('us-east-1a')],
    fix: ['"team":"blue"'],
  },
  {
    id: 'scheduling/label-without-known-values',
    name: "the controller's own pod",
    nearMiss: true,
    instead: 'startup/controller-pod-selector-unsatisfied',
    text: '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"karpenter-5697769d6c-7lglp","namespace":"karpenter"},"error":"incompatible requirements, label \\"role\\" does not have known values"}',
  },
  {
    id: 'scheduling/launch-rejected-by-provider',
    name: 'a fleet error',
    text: '{"level":"ERROR","error":"launching nodeclaim, creating instance, with fleet error(s), InvalidParameterCombination: Enclave options are not supported for t3.medium"}',
    confidence: 'certain',
  },
  {
    id: 'scheduling/launch-rejected-by-provider',
    name: 'a quota',
    objects: [
      claim([
        condition(
          'Launched',
          'Unknown',
          'LaunchFailed',
          'creating instance, with fleet error(s), VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows',
        ),
      ]),
    ],
    fix: ['service-quotas'],
  },
  {
    id: 'scheduling/launch-rejected-by-provider',
    name: 'a type that was out of stock once',
    nearMiss: true,
    texts: {
      'logs/karpenter.log':
        '2026-01-01T00:00:00Z ERROR creating instance, with fleet error(s), InsufficientInstanceCapacity: We currently do not have sufficient m5.large capacity\n2026-01-01T00:00:05Z INFO launched nodeclaim {"NodeClaim":{"name":"default-x"}}\n',
    },
  },
  {
    id: 'scheduling/launch-rejected-by-provider',
    name: 'calls refused by the simulated provider, as its node class asks',
    nearMiss: true,
    objects: [
      claim([
        condition(
          'Launched',
          'Unknown',
          'LaunchFailed',
          'Create was refused: too many calls (the node class asks for this fault); try again later',
        ),
      ]),
    ],
  },
  {
    id: 'scheduling/launch-rejected-by-provider',
    name: 'a missing role for spot',
    nearMiss: true,
    instead: 'iam/spot-service-linked-role-missing',
    text: 'launching nodeclaim, creating instance, with fleet error(s), AuthFailure.ServiceLinkedRoleCreationNotPermitted: The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.',
  },
  {
    id: 'scheduling/zone-locked-no-offering',
    name: 'zones of a pod that exclude each other',
    text: 'Could not schedule pod, incompatible with provisioner "default", incompatible requirements, key topology.kubernetes.io/zone, topology.kubernetes.io/zone DoesNotExist not in topology.kubernetes.io/zone In [eu-central-1a eu-central-1b]',
    confidence: 'likely',
  },
];
