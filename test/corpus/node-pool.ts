// NodePool: template metadata, limits, weight, static pools and status.
import { awsLabelKeys } from './aws-labels.ts';
import { accept, type Case, type CorpusCase, each, type Manifest, reject, shown, underRule } from './case.ts';
import { pool, withStatus } from './objects.ts';

const labels = (map: Record<string, unknown>): Manifest => pool({}, {}, { labels: map });
const labelsAt = 'spec.template.metadata.labels';

const manyLabels = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

const labelCases: CorpusCase[] = [
  ...underRule(
    'template labels',
    accept(
      'labels and annotations',
      pool({}, {}, { labels: { a: '1', 'example.com/B': '' }, annotations: { 'any thing': '!' } }),
    ),
    accept('100 labels', labels(manyLabels(100))),
    reject('101 labels', labels(manyLabels(101)), labelsAt, 'must have at most 100'),
    accept('a value of 63 characters', labels({ a: 'x'.repeat(63) })),
    reject('a value of 64 characters', labels({ a: 'x'.repeat(64) }), `${labelsAt}.a`, 'may not be more than 63'),
    reject('a value with blanks', labels({ a: 'x y' }), `${labelsAt}.a`, 'should match'),
    reject('a value that is not text', labels({ a: true }), `${labelsAt}.a`, 'must be of type string'),
  ),
  ...underRule(
    'restricted template labels',
    ...each(['karpenter.sh/x', 'a.karpenter.sh/x', 'mykarpenter.sh/x', 'karpenter.sh'], (key) =>
      reject(`label ${key}`, labels({ [key]: 'v' }), labelsAt, 'label domain "karpenter.sh" is restricted'),
    ),
    reject(
      'label karpenter.sh/nodepool',
      labels({ 'karpenter.sh/nodepool': 'v' }),
      labelsAt,
      'label "karpenter.sh/nodepool" is restricted',
    ),
    reject(
      'label kubernetes.io/hostname',
      labels({ 'kubernetes.io/hostname': 'v' }),
      labelsAt,
      'label "kubernetes.io/hostname" is restricted',
    ),
    reject(
      'label karpenter.k8s.aws/x',
      labels({ 'karpenter.k8s.aws/x': 'v' }),
      labelsAt,
      'label domain "karpenter.k8s.aws" is restricted',
    ),
    reject(
      'a restricted label among good ones',
      labels({ a: 'v', 'karpenter.sh/x': 'v', b: 'v' }),
      labelsAt,
      'is restricted',
    ),
    ...each(
      [
        'karpenter.sh/capacity-type',
        'karpenter.sh.example.com/x',
        'example.com/karpenter.sh',
        'kubernetes.io/custom',
        'node-restriction.kubernetes.io/x',
        'kops.k8s.io/x',
        'karpenter.kwok.sh/instance-family',
        'karpenter.kwok.sh/x',
      ],
      (key) => accept(`label ${key}`, labels({ [key]: 'v' })),
    ),
  ),
  ...underRule(
    'labels of AWS on nodes',
    ...each(awsLabelKeys, (key) => accept(`label ${key}`, labels({ [key]: 'v' }))),
  ),
];

const onlyNodes = "only 'limits.nodes' is supported on static NodePools";
const modes =
  'Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes';

const fleetCases: CorpusCase[] = [
  ...underRule(
    'weight',
    ...each([1, 50, 100], (weight) => accept(`weight ${weight}`, pool({ weight }))),
    reject('weight 0', pool({ weight: 0 }), 'spec.weight', 'should be greater than or equal to 1'),
    reject('weight -5', pool({ weight: -5 }), 'spec.weight', 'should be greater than or equal to 1'),
    reject('weight 101', pool({ weight: 101 }), 'spec.weight', 'should be less than or equal to 100'),
    reject('weight in words', pool({ weight: 'heavy' }), 'spec.weight', 'must be of type integer'),
    reject('weight 1.5', pool({ weight: 1.5 }), 'spec.weight', 'must be of type int32'),
  ),
  ...underRule(
    'limits',
    accept(
      'every form of quantity',
      pool({
        limits: {
          cpu: 100,
          memory: '1000Gi',
          nodes: '5',
          'nvidia.com/gpu': 2,
          a: '1.5',
          b: '500m',
          c: '1e3',
          d: '.5',
          e: '5.',
          f: '+1k',
        },
      }),
    ),
    accept('no limits', pool({ limits: {} })),
    ...each(['', 'lots', '1 Gi', '1GB', '1.2.3', '0x10'], (cpu) =>
      reject(`limit ${shown(cpu)}`, pool({ limits: { cpu } }), 'spec.limits.cpu', 'should match'),
    ),
    reject(
      'a limit that is true',
      pool({ limits: { cpu: true } }),
      'spec.limits.cpu',
      'must be of type integer,string',
    ),
    reject(
      'a limit of 1.5 as a number',
      pool({ limits: { cpu: 1.5 } }),
      'spec.limits.cpu',
      'must be of type integer,string',
    ),
  ),
  ...underRule(
    'static pools',
    ...each([0, 1, 100_000], (replicas) => accept(`replicas ${replicas}`, pool({ replicas }))),
    reject('replicas -1', pool({ replicas: -1 }), 'spec.replicas', 'should be greater than or equal to 0'),
    accept('replicas with limits.nodes', pool({ replicas: 2, limits: { nodes: '5' } })),
    accept('replicas with empty limits', pool({ replicas: 2, limits: {} })),
    ...each(['cpu', 'memory', 'pods', 'ephemeral-storage'], (resource) =>
      reject(`replicas with limits.${resource}`, pool({ replicas: 2, limits: { [resource]: '5' } }), 'spec', onlyNodes),
    ),
    reject(
      'replicas with limits.nodes and another',
      pool({ replicas: 2, limits: { nodes: '5', cpu: '5' } }),
      'spec',
      onlyNodes,
    ),
    reject(
      'replicas with weight',
      pool({ replicas: 2, weight: 3 }),
      'spec',
      "'weight' is not supported on static NodePools",
    ),
    accept(
      'replicas with everything in the template, and budgets',
      pool(
        { replicas: 2, disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '1' }] } },
        {
          taints: [{ key: 'a', effect: 'NoSchedule' }],
          startupTaints: [{ key: 'b', effect: 'NoExecute' }],
          requirements: [{ key: 'a', operator: 'Exists' }],
          expireAfter: '1h',
          terminationGracePeriod: '1h',
        },
        { labels: { a: 'b' } },
      ),
    ),
  ),
  ...underRule(
    'static and dynamic pools stay what they are',
    reject('replicas added', pool({ replicas: 1 }), 'spec', modes, { update: pool() }),
    reject('replicas removed', pool(), 'spec', modes, { update: pool({ replicas: 1 }) }),
    accept('replicas changed', pool({ replicas: 5 }), { update: pool({ replicas: 1 }) }),
    accept('limits.nodes changed', pool({ replicas: 5, limits: { nodes: 9 } }), {
      update: pool({ replicas: 5, limits: { nodes: 8 } }),
    }),
    accept('weight changed', pool({ weight: 5 }), { update: pool({ weight: 1 }) }),
  ),
  ...underRule(
    'nodeClassRef is fixed but for its name',
    ...each(['group', 'kind'], (field) =>
      reject(
        `${field} changed`,
        pool(
          {},
          { nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default', [field]: 'other' } },
        ),
        'spec.template.spec.nodeClassRef',
        `nodeClassRef.${field} is immutable`,
        { update: pool() },
      ),
    ),
    accept(
      'name changed',
      pool({}, { nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'other' } }),
      { update: pool() },
    ),
  ),
  ...underRule(
    'spec is required',
    reject('no spec', { ...pool(), spec: undefined }, 'spec', 'Required value'),
    reject('no template', pool({ template: undefined }), 'spec.template', 'Required value'),
    reject('no template spec', pool({ template: {} }), 'spec.template.spec', 'Required value'),
    reject('spec as text', { ...pool(), spec: 'x' }, 'spec', 'must be of type object'),
  ),
];

const condition = (fields: object = {}) => ({
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
  ...fields,
});

const status = (name: string, value: unknown): Case =>
  accept(`status: ${name}`, withStatus(pool(), value), { update: pool(), subresource: 'status' });
const badStatus = (name: string, field: string, message: string, value: unknown): Case =>
  reject(`status: ${name}`, withStatus(pool(), value), field, message, { update: pool(), subresource: 'status' });
const conditionAt = 'status.conditions[0]';

const statusCases: CorpusCase[] = [
  ...underRule(
    'NodePool status',
    {
      ...status('resources and nodes', { resources: { cpu: '5' }, nodes: 3, nodeClassObservedGeneration: 4 }),
      stored: { 'status.nodes': 3 },
    },
    { ...status('nodes unset are none', { resources: {} }), stored: { 'status.nodes': 0 } },
    accept('a status written with the object is dropped', withStatus(pool(), { nodes: 'many' })),
  ),
  ...underRule(
    'strict conditions',
    status('a condition', {
      conditions: [condition(), condition({ type: 'example.com/Other', observedGeneration: 3 })],
    }),
    badStatus('a type twice', 'status.conditions[1]', 'Duplicate value: {"type":"Ready"}', {
      conditions: [condition(), condition({ status: 'False' })],
    }),
    badStatus('no reason', `${conditionAt}.reason`, 'Required value', {
      conditions: [condition({ reason: undefined })],
    }),
    badStatus('an empty reason', `${conditionAt}.reason`, 'should be at least 1 chars long', {
      conditions: [condition({ reason: '' })],
    }),
    badStatus('a reason with blanks', `${conditionAt}.reason`, 'should match', {
      conditions: [condition({ reason: 'not ready' })],
    }),
    badStatus('no message', `${conditionAt}.message`, 'Required value', {
      conditions: [condition({ message: undefined })],
    }),
    badStatus('another status', `${conditionAt}.status`, 'Unsupported value: "Maybe"', {
      conditions: [condition({ status: 'Maybe' })],
    }),
    badStatus('no time', `${conditionAt}.lastTransitionTime`, 'Required value', {
      conditions: [condition({ lastTransitionTime: undefined })],
    }),
    badStatus('a type with blanks', `${conditionAt}.type`, 'should match', {
      conditions: [condition({ type: 'not ready' })],
    }),
    badStatus('a negative generation', `${conditionAt}.observedGeneration`, 'should be greater than or equal to 0', {
      conditions: [condition({ observedGeneration: -1 })],
    }),
  ),
];

export const nodePoolCases: CorpusCase[] = [...labelCases, ...fleetCases, ...statusCases];
