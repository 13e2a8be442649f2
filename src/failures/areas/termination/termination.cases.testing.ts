// Cases of termination/.
import { condition, type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const controller = (replicas = 2): object =>
  object(
    'Deployment',
    'karpenter',
    { metadata: { labels: { 'app.kubernetes.io/name': 'karpenter' } }, spec: { replicas } },
    'kube-system',
  );
const other = object('Deployment', 'web', { spec: { replicas: 2 } }, 'shop');
const leavingNode = (minutes: number): object =>
  object('Node', 'ip-10-0-0-1', {
    metadata: {
      deletionTimestamp: minutesAgo(minutes),
      finalizers: ['karpenter.sh/termination'],
      labels: { 'karpenter.sh/nodepool': 'default' },
    },
    spec: { providerID: 'aws:///us-east-1a/i-0abc12345678def01' },
  });
const leavingClaim = (minutes: number, spec: object = {}): object =>
  object('NodeClaim', 'default-abcde', {
    metadata: {
      deletionTimestamp: minutesAgo(minutes),
      finalizers: ['karpenter.sh/termination'],
      labels: { 'karpenter.sh/nodepool': 'default' },
    },
    spec,
    status: { nodeName: 'ip-10-0-0-1', conditions: [condition('Drained', 'Unknown', 'Draining')] },
  });
const pod = (annotations: object = {}): object =>
  object(
    'Pod',
    'db-0',
    {
      metadata: { labels: { app: 'db' }, annotations },
      spec: { nodeName: 'ip-10-0-0-1' },
      status: { phase: 'Running' },
    },
    'shop',
  );
const pdb = object(
  'PodDisruptionBudget',
  'db',
  {
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'db' } } },
    status: { disruptionsAllowed: 0, expectedPods: 1, desiredHealthy: 1 },
  },
  'shop',
);
const instance = (id: string, tags: Record<string, string>, minutes = 600): object => ({
  InstanceId: id,
  State: { Name: 'running' },
  LaunchTime: minutesAgo(minutes),
  Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
});
const own = { 'karpenter.sh/nodepool': 'default', 'kubernetes.io/cluster/prod': 'owned' };

export const terminationCases: readonly FailureCase[] = [
  {
    id: 'termination/finalizer-after-uninstall',
    name: 'a node in deletion without a controller',
    objects: [other, leavingNode(30)],
    now,
    confidence: 'certain',
    fix: ['i-0abc12345678def01', 'kubectl patch node ip-10-0-0-1'],
  },
  {
    id: 'termination/finalizer-after-uninstall',
    name: 'a controller without replicas',
    objects: [controller(0), leavingClaim(30)],
    now,
  },
  {
    id: 'termination/finalizer-after-uninstall',
    name: 'a transcript',
    text: '$ helm uninstall karpenter -n kube-system\nrelease "karpenter" uninstalled\n$ kubectl delete node ip-10-0-0-1\nnode "ip-10-0-0-1" deleted\n^C\n$ kubectl get node ip-10-0-0-1 -o yaml | grep -A2 finalizers\n  finalizers:\n  - karpenter.sh/termination',
    confidence: 'likely',
  },
  {
    id: 'termination/finalizer-after-uninstall',
    name: 'a node in deletion with a controller at work',
    nearMiss: true,
    objects: [controller(), leavingNode(3)],
    now,
  },
  {
    id: 'termination/finalizer-after-uninstall',
    name: 'a node that is drained just now, by a controller that no Deployment shows',
    nearMiss: true,
    objects: [other, leavingNode(3)],
    now,
  },
  {
    id: 'termination/finalizer-strip-leaks-instances',
    name: 'an instance that no object stands for',
    objects: [object('Node', 'ip-10-0-0-2', { spec: { providerID: 'aws:///us-east-1a/i-0aaaaaaaaaaaaaaa1' } })],
    none: ['NodeClaim'],
    aws: { 'ec2-describe-instances': { Reservations: [{ Instances: [instance('i-0bbbbbbbbbbbbbbb2', own)] }] } },
    cluster: { name: 'prod' },
    now,
    confidence: 'certain',
    fix: ['terminate-instances --instance-ids i-0bbbbbbbbbbbbbbb2'],
  },
  {
    id: 'termination/finalizer-strip-leaks-instances',
    name: 'the published one-liner',
    text: `kubectl get nodes -ojsonpath='{range .items[*].metadata}{@.name}:{@.finalizers}{"\\n"}' | grep "karpenter.sh/termination" | cut -d ':' -f 1 | xargs kubectl patch node --type='json' -p='[{"op": "remove", "path": "/metadata/finalizers"}]'\nkubectl patch node ip-10-0-0-1 -p '{"metadata":{"finalizers":null}}' --type=merge`,
    confidence: 'likely',
  },
  {
    id: 'termination/finalizer-strip-leaks-instances',
    name: 'an instance of another cluster',
    nearMiss: true,
    none: ['NodeClaim', 'Node'],
    aws: {
      'ec2-describe-instances': {
        Reservations: [
          {
            Instances: [
              instance('i-0ccccccccccccccc3', { 'karpenter.sh/nodepool': 'x', 'kubernetes.io/cluster/dev': 'owned' }),
            ],
          },
        ],
      },
    },
    cluster: { name: 'prod' },
    now,
  },
  {
    id: 'termination/finalizer-strip-leaks-instances',
    name: 'an instance that was launched a moment ago',
    nearMiss: true,
    none: ['NodeClaim', 'Node'],
    aws: { 'ec2-describe-instances': { Reservations: [{ Instances: [instance('i-0ddddddddddddddd4', own, 2)] }] } },
    cluster: { name: 'prod' },
    now,
  },
  {
    id: 'termination/drain-never-completes',
    name: 'a budget that allows nothing',
    objects: [controller(), leavingClaim(90), leavingNode(90), pod(), pdb],
    now,
    confidence: 'certain',
    fix: ['kubectl -n shop patch pdb db', 'terminationGracePeriod'],
  },
  {
    id: 'termination/drain-never-completes',
    name: 'an annotated pod',
    objects: [controller(), leavingClaim(45), leavingNode(45), pod({ 'karpenter.sh/do-not-disrupt': 'true' })],
    now,
    fix: ['annotate pod db-0 karpenter.sh/do-not-disrupt-'],
  },
  {
    id: 'termination/drain-never-completes',
    name: 'a question about the event',
    text: '47m  Warning  FailedDraining  node/ip-10-0-0-1  Failed to drain node, 3 pods are waiting to be evicted',
    confidence: 'likely',
  },
  {
    id: 'termination/drain-never-completes',
    name: 'a drain that ended',
    nearMiss: true,
    text: '{"level":"ERROR","time":"2026-05-01T10:00:03Z","message":"Reconciler error","controller":"node.termination","error":"draining node, 2 pods are waiting to be evicted"}\n{"level":"INFO","time":"2026-05-01T10:00:19Z","message":"deleted node","controller":"node.termination"}',
  },
  {
    id: 'termination/drain-never-completes',
    name: 'a drain that has just begun',
    nearMiss: true,
    objects: [controller(), leavingClaim(4), leavingNode(4), pod(), pdb],
    now,
  },
  {
    id: 'termination/drain-never-completes',
    name: 'a drain with a deadline ahead',
    nearMiss: true,
    objects: [controller(), leavingClaim(90, { terminationGracePeriod: '12h' }), pod(), pdb],
    now,
  },
];
