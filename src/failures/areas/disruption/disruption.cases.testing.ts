// Cases of disruption/.
import { condition, type FailureCase, minutesAgo, now, object } from '../../case.testing.ts';

const node = (name: string, minutes = 5_000, cpu = '8'): object =>
  object('Node', name, {
    metadata: { creationTimestamp: minutesAgo(minutes), labels: { 'karpenter.sh/nodepool': 'default' } },
    status: { allocatable: { cpu }, conditions: [condition('Ready', 'True')] },
  });
const pod = (name: string, nodeName: string, cpu = '500m', annotations: object = {}): object =>
  object(
    'Pod',
    name,
    {
      metadata: { labels: { app: 'web' }, annotations },
      spec: { nodeName, containers: [{ name: 'c', resources: { requests: { cpu } } }] },
      status: { phase: 'Running', containerStatuses: [{ ready: true }] },
    },
    'shop',
  );
const pdb = (allowed: number, spec: object = { minAvailable: 1 }): object =>
  object(
    'PodDisruptionBudget',
    'web',
    {
      spec: { ...spec, selector: { matchLabels: { app: 'web' } } },
      status: { disruptionsAllowed: allowed, expectedPods: 1, desiredHealthy: 1, currentHealthy: 1 },
    },
    'shop',
  );
const event = (kind: string, name: string, reason: string, message: string, minutes = 5): object =>
  object(
    'Event',
    `${name}-${reason}-${minutes}`,
    { reason, message, lastTimestamp: minutesAgo(minutes), involvedObject: { kind, name } },
    'default',
  );
const pool = (disruption: object): object => object('NodePool', 'default', { spec: { disruption } });
const claim = (index: number, minutes: number): object =>
  object('NodeClaim', `default-${index}`, {
    metadata: {
      creationTimestamp: minutesAgo(minutes),
      labels: { 'karpenter.sh/nodepool': 'default', 'node.kubernetes.io/instance-type': 'c6a.large' },
    },
    status: { conditions: [condition('Initialized', 'True')] },
  });
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

export const disruptionCases: readonly FailureCase[] = [
  {
    id: 'disruption/pdb-blocks',
    name: 'a rollout whose new pod is not ready yet',
    nearMiss: true,
    now,
    objects: [
      node('ip-1'),
      pod('web-1', 'ip-1'),
      object(
        'Pod',
        'web-2',
        {
          metadata: { labels: { app: 'web' }, creationTimestamp: minutesAgo(1) },
          spec: { nodeName: 'ip-1', containers: [] },
          status: { phase: 'Running', containerStatuses: [{ ready: false }] },
        },
        'shop',
      ),
      object(
        'PodDisruptionBudget',
        'web',
        {
          spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
          status: { disruptionsAllowed: 0, expectedPods: 2, desiredHealthy: 1, currentHealthy: 1 },
        },
        'shop',
      ),
      event('Node', 'ip-1', 'DisruptionBlocked', 'Pdb prevents pod evictions (PodDisruptionBudget=[shop/web])', 1),
    ],
  },
  {
    id: 'disruption/pdb-blocks',
    name: 'an event and a budget that needs every pod',
    objects: [
      node('n1'),
      pod('web-1', 'n1'),
      pdb(0),
      event('Node', 'n1', 'DisruptionBlocked', 'Pdb prevents pod evictions (PodDisruptionBudget=[shop/web])'),
    ],
    now,
    confidence: 'certain',
    fix: ['kubectl -n shop patch pdb web'],
  },
  {
    id: 'disruption/pdb-blocks',
    name: 'an older wording',
    text: 'Normal  Unconsolidatable  6m  karpenter  pdb default/inflate-pdb prevents pod evictions',
    confidence: 'likely',
    fix: ['inflate-pdb'],
  },
  {
    id: 'disruption/pdb-blocks',
    name: 'a budget that allows evictions again',
    nearMiss: true,
    objects: [
      node('n1'),
      pod('web-1', 'n1'),
      pdb(1),
      event('Node', 'n1', 'DisruptionBlocked', 'Pdb prevents pod evictions (PodDisruptionBudget=[shop/web])'),
    ],
    now,
  },
  {
    id: 'disruption/do-not-disrupt-blocks',
    name: 'an annotated pod on an old, sparse node',
    objects: [node('n1'), pod('job-1', 'n1', '500m', { 'karpenter.sh/do-not-disrupt': 'true' })],
    now,
    confidence: 'likely',
    fix: ['annotate pod job-1'],
  },
  {
    id: 'disruption/do-not-disrupt-blocks',
    name: 'an event of an older release',
    text: 'Normal DisruptionBlocked node/ip-10-0-0-1 Cannot disrupt Node: pod "shop/job-1" has "karpenter.sh/do-not-disrupt" annotation',
    fix: ['kubectl -n shop annotate pod job-1'],
  },
  {
    id: 'disruption/do-not-disrupt-blocks',
    name: 'a job on a young node',
    nearMiss: true,
    objects: [node('n1', 60), pod('job-1', 'n1', '500m', { 'karpenter.sh/do-not-disrupt': 'true' })],
    now,
  },
  {
    id: 'disruption/constraints-prevent-consolidation',
    name: 'a pod that must be alone',
    objects: [
      node('n1'),
      event(
        'Node',
        'n1',
        'Unconsolidatable',
        'not all pods would schedule, shop/web-1 => would schedule against a non-initialized node; unsatisfiable topology constraint for pod anti-affinity, key=kubernetes.io/hostname',
      ),
    ],
    now,
    confidence: 'likely',
    fix: ['shop/web-1'],
  },
  {
    id: 'disruption/constraints-prevent-consolidation',
    name: 'a question about the event',
    text: "Unconsolidatable   Can't remove without creating 1 candidates: topology spread of shop/web leaves no other zone",
  },
  {
    id: 'disruption/constraints-prevent-consolidation',
    name: 'a node that is the cheapest already',
    nearMiss: true,
    objects: [node('n1'), event('Node', 'n1', 'Unconsolidatable', "Can't replace with a cheaper node")],
    now,
  },
  {
    id: 'disruption/not-consolidating-unexplained',
    name: 'a pool that only lets empty nodes go',
    objects: [
      pool({ consolidationPolicy: 'WhenEmpty', consolidateAfter: '30s' }),
      ...many(4, (index) => node(`n${index}`)),
      ...many(4, (index) => pod(`web-${index}`, `n${index}`)),
    ],
    now,
    confidence: 'likely',
    fix: ['WhenEmptyOrUnderutilized'],
  },
  {
    id: 'disruption/not-consolidating-unexplained',
    name: 'a question about spot',
    text: "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
    confidence: 'likely',
    fix: ['spotToSpotConsolidation=true'],
  },
  {
    id: 'disruption/not-consolidating-unexplained',
    name: 'full nodes',
    nearMiss: true,
    objects: [
      pool({ consolidationPolicy: 'WhenEmpty', consolidateAfter: '30s' }),
      ...many(4, (index) => node(`n${index}`)),
      ...many(4, (index) => pod(`web-${index}`, `n${index}`, '7')),
    ],
    now,
  },
  {
    id: 'disruption/budget-zero-in-force',
    name: 'a budget without a schedule',
    objects: [pool({ budgets: [{ nodes: '10%' }, { nodes: '0', reasons: ['Drifted'] }] })],
    now,
    confidence: 'certain',
  },
  {
    id: 'disruption/budget-zero-in-force',
    name: 'an event of the pool',
    objects: [
      pool({ budgets: [{ nodes: '0', schedule: '0 9 * * 1-5', duration: '8h' }] }),
      event(
        'NodePool',
        'default',
        'DisruptionBlocked',
        'No allowed disruptions for disruption reason Drifted due to blocking budget',
      ),
    ],
    now,
  },
  {
    id: 'disruption/budget-zero-in-force',
    name: 'a window that closes',
    nearMiss: true,
    objects: [pool({ budgets: [{ nodes: '0', schedule: '0 9 * * *', duration: '8h' }] })],
    now,
  },
  {
    id: 'disruption/consolidation-thrash',
    name: 'young nodes of one type, and many that went',
    objects: [
      ...many(8, (index) =>
        event(
          'NodeClaim',
          `gone-${index}`,
          'DisruptionTerminating',
          'Disrupting NodeClaim: Underutilized',
          5 + index * 5,
        ),
      ),
      ...many(4, (index) => claim(index, 6 + index)),
    ],
    now,
    confidence: 'likely',
    fix: ['kubectl patch nodepool default'],
  },
  {
    id: 'disruption/consolidation-thrash',
    name: 'a log in which a type replaces itself',
    texts: {
      'logs/karpenter.log': many(
        5,
        (index) =>
          `{"level":"INFO","time":"2026-03-01T11:${10 + index}:00Z","logger":"controller","message":"disrupting node(s) via replace, terminating 1 nodes (3 pods) ip-10-0-0-${index}.ec2.internal/c6a.large/spot and replacing with spot node from types c6a.large, c5a.large and 12 other(s)"}`,
      ).join('\n'),
    },
  },
  {
    id: 'disruption/consolidation-thrash',
    name: 'one replacement by a smaller node',
    nearMiss: true,
    text: '{"level":"INFO","message":"disrupting node(s) via replace, terminating 1 nodes (3 pods) ip-10-0-0-1.ec2.internal/c6a.2xlarge/spot and replacing with spot node from types c6a.large"}',
  },
  {
    id: 'disruption/consolidation-thrash',
    name: 'nodes of a day that go as load goes down, and others that came this hour',
    nearMiss: true,
    objects: [
      ...many(8, (index) =>
        event('NodeClaim', `gone-${index}`, 'DisruptionTerminating', 'Disrupting NodeClaim: Underutilized', 5 + index),
      ),
      ...many(4, (index) =>
        event('NodeClaim', `new-${index}`, 'Launched', 'Status condition transitioned', 50 + index),
      ),
      ...many(4, (index) => claim(index, 50 + index)),
    ],
    now,
  },
  {
    id: 'disruption/consolidation-thrash',
    name: 'nodes that went minutes after they came',
    objects: [
      ...many(8, (index) =>
        event('NodeClaim', `gone-${index}`, 'Launched', 'Status condition transitioned', 20 + index),
      ),
      ...many(8, (index) =>
        event('NodeClaim', `gone-${index}`, 'DisruptionTerminating', 'Disrupting NodeClaim: Underutilized', 5 + index),
      ),
      ...many(4, (index) => claim(index, 6 + index)),
    ],
    now,
  },
];
