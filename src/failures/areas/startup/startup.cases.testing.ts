// Cases of startup/.
import { condition, type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const deployment = (rest: object = {}, container: object = {}): object =>
  object(
    'Deployment',
    'karpenter',
    {
      metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } },
      spec: {
        replicas: 2,
        template: {
          spec: {
            dnsPolicy: 'ClusterFirst',
            containers: [
              {
                name: 'controller',
                image: 'public.ecr.aws/karpenter/controller:1.7.4',
                resources: { requests: { cpu: '1' } },
                ...container,
              },
            ],
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
              },
            },
            ...rest,
          },
        },
      },
    },
    'karpenter',
  );
const own = { metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } } };
const running = object(
  'Pod',
  'karpenter-5697769d6c-cdwct',
  { ...own, spec: { nodeName: 'system-1' }, status: { phase: 'Running' } },
  'karpenter',
);
const waiting = object(
  'Pod',
  'karpenter-5697769d6c-7lglp',
  {
    ...own,
    spec: {},
    status: {
      phase: 'Pending',
      conditions: [
        condition(
          'PodScheduled',
          'False',
          'Unschedulable',
          "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules",
        ),
      ],
    },
  },
  'karpenter',
);
const systemNode = (name: string, labels: object = {}, taints: object[] = []): object =>
  object('Node', name, {
    metadata: { labels },
    spec: { taints },
    status: { conditions: [condition('Ready', 'True')] },
  });
const managed = systemNode('managed-1', { 'karpenter.sh/nodepool': 'default' });
const crdNamed = (name: string, ...versions: string[]): object =>
  object('CustomResourceDefinition', name, {
    spec: { versions: versions.map((one) => ({ name: one, served: true })) },
  });

const binding = (name: string, namespace: string): object =>
  object('ClusterRoleBinding', name, {
    roleRef: { kind: 'ClusterRole', name },
    subjects: [{ kind: 'ServiceAccount', name: 'karpenter', namespace }],
  });

export const startupCases: readonly FailureCase[] = [
  {
    id: 'startup/cluster-endpoint-missing',
    name: 'a panic of 0.16',
    text: 'panic: "" not a valid CLUSTER_ENDPOINT URL\n\ngoroutine 1 [running]:',
    confidence: 'certain',
    fix: ['settings.clusterEndpoint'],
  },
  {
    id: 'startup/cluster-endpoint-missing',
    name: 'escaped, in the last state of the pod',
    objects: [
      object(
        'Pod',
        'karpenter-5697769d6c-cdwct',
        {
          ...own,
          status: {
            phase: 'Running',
            containerStatuses: [
              {
                ready: false,
                lastState: {
                  terminated: { reason: 'Error', message: 'panic: \\"\\" not a valid CLUSTER_ENDPOINT URL' },
                },
              },
            ],
          },
        },
        'karpenter',
      ),
    ],
  },
  {
    id: 'startup/cluster-endpoint-missing',
    name: 'an endpoint that was looked up',
    nearMiss: true,
    text: '{"level":"DEBUG","message":"discovered cluster endpoint","cluster-endpoint":"https://ABC.gr7.us-east-1.eks.amazonaws.com"}',
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'a panic of the indexer',
    text: 'panic: failed to setup nodeclaim provider id indexer: no matches for kind "NodeClaim" in version "karpenter.sh/v1"',
    confidence: 'certain',
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'a kind source that cannot start',
    text: '{"level":"ERROR","logger":"controller.controller-runtime.source.EventHandler","message":"if kind is a CRD, it should be installed before calling Start","kind":"NodePool.karpenter.sh","error":"no matches for kind \\"NodePool\\" in version \\"karpenter.sh/v1\\""}',
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'definitions that serve only v1beta1',
    objects: [
      deployment(),
      crdNamed('nodepools.karpenter.sh', 'v1beta1'),
      crdNamed('nodeclaims.karpenter.sh', 'v1beta1'),
    ],
    fix: ['--version 1.7.4', '--namespace karpenter'],
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'definitions of the release',
    nearMiss: true,
    objects: [
      deployment(),
      crdNamed('nodepools.karpenter.sh', 'v1', 'v1beta1'),
      crdNamed('nodeclaims.karpenter.sh', 'v1'),
    ],
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'an old manifest that kubectl refuses',
    nearMiss: true,
    instead: 'crd/removed-api-version',
    text: 'error: resource mapping not found for name: "default" namespace: "" from "np.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"\nensure CRDs are installed first',
  },
  {
    id: 'startup/sts-dns-timeout',
    name: 'a start that times out',
    text: 'Checking EC2 API connectivity, WebIdentityErr: failed to retrieve credentials\\ncaused by: RequestError: send request failed\\ncaused by: Post \\"https://sts.us-east-1.amazonaws.com/\\": dial tcp: lookup sts.us-east-1.amazonaws.com: i/o timeout',
    confidence: 'certain',
    fix: ['dnsPolicy=Default'],
  },
  {
    id: 'startup/sts-dns-timeout',
    name: 'a DNS service that refuses',
    texts: {
      'logs/karpenter.log':
        '{"level":"ERROR","message":"operation error EC2: DescribeInstanceTypes, https response error StatusCode: 0, request send failed, Post \\"https://ec2.eu-west-1.amazonaws.com/\\": dial tcp: lookup ec2.eu-west-1.amazonaws.com on 172.20.0.10:53: read udp 10.0.1.5:43210->172.20.0.10:53: read: connection refused"}',
    },
  },
  {
    id: 'startup/sts-dns-timeout',
    name: 'one name that did not resolve before the controllers started',
    nearMiss: true,
    texts: {
      'logs/karpenter.log':
        '2026-01-01T00:00:01Z ERROR dial tcp: lookup sts.us-east-1.amazonaws.com: i/o timeout\n2026-01-01T00:00:09Z INFO Starting workers {"controller":"nodeclaim.lifecycle"}\n',
    },
  },
  {
    id: 'startup/sts-dns-timeout',
    name: 'a role that may not be assumed',
    nearMiss: true,
    text: 'WebIdentityErr: failed to retrieve credentials\ncaused by: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity',
  },
  {
    id: 'startup/replicas-exceed-unmanaged-nodes',
    name: 'two replicas and one node',
    now,
    objects: [deployment(), running, waiting, systemNode('system-1'), managed],
    confidence: 'certain',
    fix: ['--set replicas=1'],
  },
  {
    id: 'startup/replicas-exceed-unmanaged-nodes',
    name: 'a listing of pods',
    text: 'NAME                         READY   STATUS    RESTARTS   AGE\nkarpenter-5697769d6c-7lglp   0/1     Pending   0          9m50s\nkarpenter-5697769d6c-cdwct   1/1     Running   0          9m50s',
    confidence: 'likely',
  },
  {
    id: 'startup/replicas-exceed-unmanaged-nodes',
    name: 'a replica that has waited for seconds',
    nearMiss: true,
    now,
    objects: [
      deployment(),
      running,
      { ...waiting, metadata: { ...(waiting as { metadata: object }).metadata, creationTimestamp: minutesAgo(0.2) } },
      systemNode('system-1'),
      managed,
    ],
  },
  {
    id: 'startup/replicas-exceed-unmanaged-nodes',
    name: 'a listing in which both run',
    nearMiss: true,
    text: 'karpenter-5697769d6c-7lglp   1/1     Running   0          9m50s\nkarpenter-5697769d6c-cdwct   1/1     Running   0          9m50s',
  },
  {
    id: 'startup/controller-pod-selector-unsatisfied',
    name: 'a JSON log',
    text: '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"karpenter-5697769d6c-7lglp","namespace":"karpenter"},"error":"incompatible requirements, label \\"role\\" does not have known values"}',
    confidence: 'certain',
  },
  {
    id: 'startup/controller-pod-selector-unsatisfied',
    name: 'a selector that no system node has',
    now,
    objects: [
      deployment({ nodeSelector: { role: 'system', 'kubernetes.io/os': 'linux' } }),
      waiting,
      systemNode('system-1', { role: 'other' }),
    ],
    fix: ['role=system'],
  },
  {
    id: 'startup/controller-pod-selector-unsatisfied',
    name: "someone else's pod",
    nearMiss: true,
    instead: 'scheduling/label-without-known-values',
    text: '{"level":"ERROR","message":"could not schedule pod","Pod":{"name":"inflate-5cf78d58f6-9snnr","namespace":"default"},"error":"incompatible requirements, label \\"role\\" does not have known values"}',
  },
  {
    id: 'startup/controller-on-managed-node',
    name: 'the pod on a node of a pool',
    objects: [
      object(
        'Pod',
        'karpenter-5697769d6c-cdwct',
        { ...own, spec: { nodeName: 'managed-1' }, status: { phase: 'Running' } },
        'karpenter',
      ),
      managed,
    ],
    confidence: 'certain',
    fix: ['karpenter.sh/nodepool', '-n karpenter'],
  },
  {
    id: 'startup/controller-on-managed-node',
    name: 'Kerf on its own node',
    objects: [
      object(
        'Pod',
        'kerf-7d9f8c6b5-x2x4z',
        {
          metadata: { labels: { 'app.kubernetes.io/name': 'kerf' } },
          spec: { nodeName: 'managed-1' },
          status: { phase: 'Running' },
        },
        'kube-system',
      ),
      managed,
    ],
  },
  {
    id: 'startup/controller-on-managed-node',
    name: 'a pod on the system node',
    nearMiss: true,
    objects: [running, systemNode('system-1'), managed],
  },
  {
    id: 'startup/controller-starved',
    name: 'killed for memory',
    objects: [
      object(
        'Pod',
        'karpenter-5697769d6c-cdwct',
        {
          ...own,
          status: {
            phase: 'Running',
            containerStatuses: [
              { ready: true, restartCount: 7, lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } } },
            ],
          },
        },
        'karpenter',
      ),
    ],
    confidence: 'certain',
    fix: ['limits.memory'],
  },
  {
    id: 'startup/controller-starved',
    name: 'a listing of pods',
    text: 'karpenter   karpenter-5697769d6c-cdwct   0/1   OOMKilled   6 (20s ago)   12m',
  },
  {
    id: 'startup/controller-starved',
    name: 'an application that was killed',
    nearMiss: true,
    objects: [
      object(
        'Pod',
        'api-5697769d6c-cdwct',
        { status: { phase: 'Running', containerStatuses: [{ lastState: { terminated: { reason: 'OOMKilled' } } }] } },
        'shop',
      ),
    ],
  },
  {
    id: 'startup/user-pod-on-system-node',
    name: 'a pod that tolerates the taint',
    objects: [
      systemNode('system-1', {}, [{ key: 'CriticalAddonsOnly', effect: 'NoSchedule' }]),
      object(
        'Pod',
        'batch-1',
        {
          spec: { nodeName: 'system-1', tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }] },
          status: { phase: 'Running' },
        },
        'shop',
      ),
    ],
  },
  {
    id: 'startup/user-pod-on-system-node',
    name: 'a pod that tolerates everything',
    objects: [
      systemNode('system-1', {}, [{ key: 'CriticalAddonsOnly', value: 'true', effect: 'NoSchedule' }]),
      object(
        'Pod',
        'agent-1',
        { spec: { nodeName: 'system-1', tolerations: [{ operator: 'Exists' }] }, status: { phase: 'Running' } },
        'shop',
      ),
    ],
  },
  {
    id: 'startup/user-pod-on-system-node',
    name: 'a DaemonSet and CoreDNS',
    nearMiss: true,
    objects: [
      systemNode('system-1', {}, [{ key: 'CriticalAddonsOnly', effect: 'NoSchedule' }]),
      object(
        'Pod',
        'coredns-1',
        { spec: { nodeName: 'system-1', tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }] } },
        'kube-system',
      ),
      object(
        'Pod',
        'logs-x1',
        {
          metadata: { ownerReferences: [{ kind: 'DaemonSet', name: 'logs' }] },
          spec: { nodeName: 'system-1', tolerations: [{ operator: 'Exists' }] },
        },
        'observability',
      ),
    ],
  },
  {
    id: 'startup/debug-output-missing',
    name: 'a level of error',
    objects: [deployment({}, { env: [{ name: 'LOG_LEVEL', value: 'error' }] })],
    fix: ['-n karpenter', 'LOG_LEVEL=debug'],
  },
  {
    id: 'startup/debug-output-missing',
    name: 'values with logLevel warn',
    text: 'helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --set logLevel=warn',
  },
  {
    id: 'startup/debug-output-missing',
    name: 'the default level, and nothing that would have to be explained',
    nearMiss: true,
    objects: [deployment({}, { env: [{ name: 'LOG_LEVEL', value: 'info' }] })],
  },
  {
    id: 'startup/kubernetes-permission-missing',
    name: 'a reflector that may not list',
    text: 'E0729 01:51:55.864520 1 reflector.go:138] k8s.io/client-go@v0.21.4/tools/cache/reflector.go:167: Failed to watch *v1.Namespace: failed to list *v1.Namespace: namespaces is forbidden: User "system:serviceaccount:karpenter:karpenter" cannot list resource "namespaces" in API group "" at the cluster scope',
    confidence: 'certain',
    fix: ['kubectl auth can-i list namespaces --as system:serviceaccount:karpenter:karpenter', '--namespace karpenter'],
  },
  {
    id: 'startup/kubernetes-permission-missing',
    name: 'JSON of a step that is refused',
    texts: {
      'logs/karpenter.log':
        '{"level":"ERROR","time":"2026-03-01T12:00:00Z","logger":"controller","message":"Reconciler error","controller":"nodeoverlay","error":"nodeoverlays.karpenter.sh \\"gpu\\" is forbidden: User \\"system:serviceaccount:kube-system:karpenter\\" cannot patch resource \\"nodeoverlays/status\\" in API group \\"karpenter.sh\\" at the cluster scope"}',
    },
    fix: ['kubectl auth can-i patch nodeoverlays.karpenter.sh/status'],
  },
  {
    id: 'startup/kubernetes-permission-missing',
    name: 'bindings that name the namespace of before',
    objects: [deployment({ serviceAccountName: 'karpenter' }), binding('karpenter', 'kube-system')],
    confidence: 'certain',
    fix: ['--namespace karpenter'],
  },
  {
    id: 'startup/kubernetes-permission-missing',
    name: 'a binding that names the account, among few that were picked',
    nearMiss: true,
    objects: [deployment({ serviceAccountName: 'karpenter' }), binding('karpenter', 'karpenter')],
  },
  {
    id: 'startup/kubernetes-permission-missing',
    name: 'a person who may not look',
    nearMiss: true,
    text: 'Error from server (Forbidden): nodeclaims.karpenter.sh is forbidden: User "alice" cannot list resource "nodeclaims" in API group "karpenter.sh" at the cluster scope',
  },
  {
    id: 'startup/kubernetes-permission-missing',
    name: 'a refusal of AWS',
    nearMiss: true,
    instead: 'iam/controller-permission-missing',
    text: '{"level":"ERROR","logger":"controller","message":"Reconciler error","error":"operation error EC2: DescribeInstances, User: arn:aws:sts::111122223333:assumed-role/KarpenterController/karpenter is not authorized to perform: ec2:DescribeInstances"}',
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'a manifest of today in a cluster without definitions',
    text: 'error: resource mapping not found for name: "default" namespace: "" from "nodepool.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1"\nensure CRDs are installed first',
    confidence: 'likely',
  },
  {
    id: 'startup/crd-missing-or-mismatched',
    name: 'a manifest of a version that is gone',
    nearMiss: true,
    instead: 'crd/removed-api-version',
    text: 'error: resource mapping not found for name: "default" namespace: "" from "nodepool.yaml": no matches for kind "NodePool" in version "karpenter.sh/v1beta1"\nensure CRDs are installed first',
  },
];
