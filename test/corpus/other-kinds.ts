// NodeClaim beyond what it shares with NodePools, NodeOverlay, CapacityBuffer and KWOKNodeClass.
import { accept, type Case, type CorpusCase, each, reject, shown, underRule } from './case.ts';
import { buffer, claim, kwokClass, overlay, withStatus } from './objects.ts';

const changed = (name: string, fields: object): Case =>
  reject(`NodeClaim: ${name} changed`, claim(fields), 'spec', 'spec is immutable', { update: claim() });

const strictCondition = {
  type: 'Ready',
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
};
const laxCondition = { type: 'Launched', status: 'Unknown', lastTransitionTime: '2026-01-02T03:04:05Z' };

const claimStatus = (name: string, value: unknown, more: Partial<Case> = {}): Case =>
  accept(`NodeClaim status: ${name}`, withStatus(claim(), value), { update: claim(), subresource: 'status', ...more });

const claimCases: CorpusCase[] = [
  ...underRule(
    'NodeClaim spec is fixed',
    changed('expireAfter', { expireAfter: '1h' }),
    changed('requirements', { requirements: [{ key: 'a', operator: 'Exists' }] }),
    changed('taints', { taints: [{ key: 'a', effect: 'NoSchedule' }] }),
    changed('nodeClassRef', { nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'other' } }),
    changed('requests', { resources: { requests: { cpu: 1 } } }),
    accept('NodeClaim: written again as it was', claim({ expireAfter: '1h' }), {
      update: claim({ expireAfter: '1h' }),
    }),
    accept('NodeClaim: a default written out', claim({ expireAfter: '720h' }), { update: claim() }),
  ),
  ...underRule(
    'NodeClaim requests',
    accept('NodeClaim: requests', claim({ resources: { requests: { cpu: '2', memory: '1Gi', pods: 5 } } })),
    reject(
      'NodeClaim: requests in words',
      claim({ resources: { requests: { cpu: 'two' } } }),
      'spec.resources.requests.cpu',
      'should match',
    ),
    reject('NodeClaim: no spec', { ...claim(), spec: undefined }, 'spec', 'Required value'),
  ),
  ...underRule(
    'lax conditions',
    claimStatus('a condition without reason and message', { conditions: [laxCondition] }),
    claimStatus('an empty reason', { conditions: [{ ...laxCondition, reason: '', message: '' }] }),
    claimStatus('everything', {
      nodeName: 'n',
      providerID: 'kwok://n',
      imageID: 'ami-1',
      capacity: { cpu: '2' },
      allocatable: { cpu: '1900m' },
      lastPodEventTime: '2026-01-02T03:04:05Z',
    }),
    claimStatus(
      'a reason with blanks',
      { conditions: [{ ...laxCondition, reason: 'not yet' }] },
      { expect: { field: 'status.conditions[0].reason', message: 'should match' } },
    ),
    claimStatus(
      'a type twice',
      { conditions: [laxCondition, laxCondition] },
      { expect: { field: 'status.conditions[1]', message: 'Duplicate value: {"type":"Launched"}' } },
    ),
    claimStatus(
      'a time in words',
      { lastPodEventTime: 'now' },
      { expect: { field: 'status.lastPodEventTime', message: 'must be of type date-time' } },
    ),
  ),
];

const overlayRequirement = (key: string, operator: string, values?: string[], more: object = {}) => ({
  requirements: [{ key, operator, ...(values === undefined ? {} : { values }), ...more }],
});
const notIn = "requirements with operator 'NotIn' must have a value defined";
const overlayNumber = "requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value";
const overlayList = 'spec.requirements';
const overlayKey = 'spec.requirements[0].key';

const overlayCases: CorpusCase[] = [
  ...underRule(
    'overlay requirements',
    accept('overlay: no requirements', overlay()),
    reject('overlay: requirements missing', overlay({ requirements: undefined }), overlayList, 'Required value'),
    ...each(['In', 'NotIn'], (operator) =>
      accept(`overlay: ${operator}`, overlay(overlayRequirement('a', operator, ['x']))),
    ),
    ...each(['Exists', 'DoesNotExist'], (operator) =>
      accept(`overlay: ${operator}`, overlay(overlayRequirement('a', operator))),
    ),
    ...each(['Gt', 'Lt', 'Gte', 'Lte'], (operator) =>
      accept(`overlay: ${operator}`, overlay(overlayRequirement('a', operator, ['0']))),
    ),
    reject('overlay: NotIn with an empty list', overlay(overlayRequirement('a', 'NotIn', [])), overlayList, notIn),
    reject('overlay: NotIn without values', overlay(overlayRequirement('a', 'NotIn')), overlayList, notIn),
    reject(
      'overlay: In without values',
      overlay(overlayRequirement('a', 'In')),
      overlayList,
      "requirements with operator 'In' must have a value defined",
    ),
    ...each(['-1', 'x'], (value) =>
      reject(`overlay: Gt ${value}`, overlay(overlayRequirement('a', 'Gt', [value])), overlayList, overlayNumber),
    ),
    reject(
      'overlay: Lte with two values',
      overlay(overlayRequirement('a', 'Lte', ['1', '2'])),
      overlayList,
      overlayNumber,
    ),
    reject(
      'overlay: 101 requirements',
      overlay({ requirements: Array.from({ length: 101 }, (_, i) => ({ key: `k${i}`, operator: 'Exists' })) }),
      overlayList,
      'must have at most 100 items',
    ),
    reject(
      'overlay: an unknown operator',
      overlay(overlayRequirement('a', 'Near', ['x'])),
      'spec.requirements[0].operator',
      'Unsupported value',
    ),
  ),
  ...underRule(
    'overlay keys',
    ...each(
      [
        'karpenter.sh/nodepool',
        'karpenter.sh/capacity-type',
        'karpenter.k8s.aws/instance-family',
        'karpenter.kwok.sh/instance-cpu',
        'karpenter.kwok.sh/x',
        'a.b/c',
      ],
      (key) => accept(`overlay: key ${key}`, overlay(overlayRequirement(key, 'Exists'))),
    ),
    reject(
      'overlay: key karpenter.sh/x',
      overlay(overlayRequirement('karpenter.sh/x', 'Exists')),
      overlayKey,
      'label domain "karpenter.sh" is restricted',
    ),
    reject(
      'overlay: the hostname',
      overlay(overlayRequirement('kubernetes.io/hostname', 'Exists')),
      overlayKey,
      'label "kubernetes.io/hostname" is restricted',
    ),
    ...each(
      [
        'instance-tenancy',
        'capacity-reservation-id',
        'capacity-reservation-type',
        'capacity-reservation-interruptible',
        'placement-group-id',
        'placement-group-partition',
        'x',
      ],
      (name) =>
        reject(
          `overlay: key karpenter.k8s.aws/${name}`,
          overlay(overlayRequirement(`karpenter.k8s.aws/${name}`, 'Exists')),
          overlayKey,
          'label domain "karpenter.k8s.aws" is restricted',
        ),
    ),
    reject('overlay: a key that is none', overlay(overlayRequirement('a b', 'Exists')), overlayKey, 'should match'),
  ),
  ...underRule(
    'overlay price',
    ...each(['0', '1', '0.5', '12.345'], (price) => accept(`overlay: price ${price}`, overlay({ price }))),
    ...each(['', '-1', '+1', '.5', '1.', '10%', 'x'], (price) =>
      reject(`overlay: price ${shown(price)}`, overlay({ price }), 'spec.price', 'should match'),
    ),
    ...each(['+0.5', '-0.5', '+5', '-5', '+.5', '+10%', '-15.5%', '-99%', '-100%', '+1000%'], (priceAdjustment) =>
      accept(`overlay: adjustment ${priceAdjustment}`, overlay({ priceAdjustment })),
    ),
    ...each(['', '0.5', '10%', '-101%', '-100.0%', '+', '+-5', '5%5', '-200%'], (priceAdjustment) =>
      reject(
        `overlay: adjustment ${shown(priceAdjustment)}`,
        overlay({ priceAdjustment }),
        'spec.priceAdjustment',
        'should match',
      ),
    ),
    reject(
      'overlay: price and adjustment',
      overlay({ price: '1', priceAdjustment: '+1' }),
      'spec',
      "cannot set both 'price' and 'priceAdjustment'",
    ),
  ),
  ...underRule(
    'overlay capacity',
    accept('overlay: extended resources', overlay({ capacity: { 'example.com/gpu': 4, 'hugepages-2Mi': '1Gi' } })),
    ...each(['cpu', 'memory', 'ephemeral-storage', 'pods'], (resource) =>
      reject(
        `overlay: capacity ${resource}`,
        overlay({ capacity: { a: 1, [resource]: 1 } }),
        'spec.capacity',
        'invalid resource restricted',
      ),
    ),
    reject('overlay: capacity in words', overlay({ capacity: { a: 'four' } }), 'spec.capacity.a', 'should match'),
  ),
  ...underRule(
    'overlay weight',
    ...each([1, 10_000], (weight) => accept(`overlay: weight ${weight}`, overlay({ weight }))),
    reject('overlay: weight 0', overlay({ weight: 0 }), 'spec.weight', 'should be greater than or equal to 1'),
    reject(
      'overlay: weight 10001',
      overlay({ weight: 10_001 }),
      'spec.weight',
      'should be less than or equal to 10000',
    ),
    reject('overlay: no spec', { ...overlay(), spec: undefined }, 'spec', 'Required value'),
  ),
];

const needsSize = 'If podTemplateRef is set, replicas or limits must also be set';
const podTemplateRef = { name: 'web' };
const scalableRef = { apiGroup: 'apps', kind: 'Deployment', name: 'web' };

const bufferCases: CorpusCase[] = underRule(
  'CapacityBuffer',
  accept('buffer: nothing set', buffer(), {
    stored: { 'spec.provisioningStrategy': 'buffer.x-k8s.io/active-capacity' },
  }),
  accept('buffer: another strategy', buffer({ provisioningStrategy: 'x', podTemplateRef, replicas: 1 }), {
    stored: { 'spec.provisioningStrategy': 'x' },
  }),
  accept('buffer: pod template and replicas', buffer({ podTemplateRef, replicas: 3 })),
  accept('buffer: pod template and limits', buffer({ podTemplateRef, limits: { cpu: '5' } })),
  accept('buffer: workload and percentage', buffer({ scalableRef, percentage: 20 })),
  accept(
    'buffer: workload without a group',
    buffer({ scalableRef: { kind: 'ReplicationController', name: 'web' }, replicas: 1 }),
  ),
  reject('buffer: pod template alone', buffer({ podTemplateRef }), 'spec', needsSize),
  reject('buffer: pod template and percentage', buffer({ podTemplateRef, percentage: 20 }), 'spec', needsSize),
  reject(
    'buffer: both references',
    buffer({ podTemplateRef, scalableRef, replicas: 1 }),
    'spec',
    'You must define either PodTemplateRef or ScalableRef, but not both',
  ),
  reject(
    'buffer: an empty template name',
    buffer({ podTemplateRef: { name: '' }, replicas: 1 }),
    'spec.podTemplateRef.name',
    'should be at least 1 chars long',
  ),
  reject(
    'buffer: no template name',
    buffer({ podTemplateRef: {}, replicas: 1 }),
    'spec.podTemplateRef.name',
    'Required value',
  ),
  ...each(['kind', 'name'], (field) =>
    reject(
      `buffer: empty workload ${field}`,
      buffer({ scalableRef: { ...scalableRef, [field]: '' } }),
      `spec.scalableRef.${field}`,
      'should be at least 1 chars long',
    ),
  ),
  ...each(['kind', 'name'], (field) =>
    reject(
      `buffer: no workload ${field}`,
      buffer({ scalableRef: { ...scalableRef, [field]: undefined } }),
      `spec.scalableRef.${field}`,
      'Required value',
    ),
  ),
  accept('buffer: no replicas', buffer({ podTemplateRef, replicas: 0 })),
  reject(
    'buffer: replicas -1',
    buffer({ podTemplateRef, replicas: -1 }),
    'spec.replicas',
    'should be greater than or equal to 0',
  ),
  reject(
    'buffer: percentage -1',
    buffer({ scalableRef, percentage: -1 }),
    'spec.percentage',
    'should be greater than or equal to 0',
  ),
  reject(
    'buffer: limits in words',
    buffer({ podTemplateRef, limits: { cpu: 'five' } }),
    'spec.limits.cpu',
    'should match',
  ),
  reject('buffer: no spec', { ...buffer(), spec: undefined }, 'spec', 'Required value'),
);

const faults = (fields: object) => kwokClass({ faults: fields });

const kwokCases: CorpusCase[] = [
  ...underRule(
    'KWOKNodeClass',
    accept('kwok: nothing set is ready', kwokClass(), {
      stored: {
        'status.conditions.0.type': 'Ready',
        'status.conditions.0.status': 'True',
        'status.conditions.0.reason': 'Ready',
      },
    }),
    ...each(['0s', '30s', '1h30m', '5m'], (nodeRegistrationDelay) =>
      accept(`kwok: delay ${nodeRegistrationDelay}`, kwokClass({ nodeRegistrationDelay })),
    ),
    ...each(['', '-1s', '1.5s', 'Never', '30'], (nodeRegistrationDelay) =>
      reject(
        `kwok: delay ${shown(nodeRegistrationDelay)}`,
        kwokClass({ nodeRegistrationDelay }),
        'spec.nodeRegistrationDelay',
        'should match',
      ),
    ),
    accept('kwok: no spec', { ...kwokClass(), spec: undefined }, { stored: { 'status.conditions.0.status': 'True' } }),
    accept(
      'kwok: a condition type twice',
      withStatus(kwokClass(), { conditions: [strictCondition, { ...strictCondition, status: 'False' }] }),
      { update: kwokClass(), subresource: 'status' },
    ),
    ...each(['reason', 'message'], (field) =>
      reject(
        `kwok: a condition without ${field}`,
        withStatus(kwokClass(), { conditions: [{ ...strictCondition, [field]: undefined }] }),
        `status.conditions[0].${field}`,
        'Required value',
        { update: kwokClass(), subresource: 'status' },
      ),
    ),
  ),
  ...underRule(
    'KWOKNodeClass faults',
    accept('kwok: no faults', faults({})),
    accept(
      'kwok: every fault',
      faults({
        seed: 7,
        insufficientCapacity: [
          { instanceTypes: ['c-1x-amd64-linux'], zones: ['test-zone-a'], capacityTypes: ['spot'], for: '10m' },
        ],
        launch: { delay: '5s', jitter: '10s' },
        registration: { percent: 50 },
        notReady: [{ percent: 10, after: '5m', for: '1m', status: 'False' }],
        interruption: [{ after: '1h', notice: '2m' }],
        throttling: { percent: 20, calls: ['Create', 'List'], for: '1m' },
        vanish: [{ zones: ['test-zone-b'], after: '30m' }],
      }),
    ),
    accept('kwok: defaults of faults', faults({ interruption: [{}], notReady: [{}] }), {
      stored: {
        'spec.faults.interruption.0.notice': '2m',
        'spec.faults.interruption.0.percent': 100,
        'spec.faults.notReady.0.status': 'Unknown',
        'spec.faults.notReady.0.after': '0s',
      },
    }),
    reject(
      'kwok: a share of 101',
      faults({ registration: { percent: 101 } }),
      'spec.faults.registration.percent',
      'should be less than or equal to 100',
    ),
    reject(
      'kwok: an unknown capacity type',
      faults({ vanish: [{ capacityTypes: ['free'] }] }),
      'spec.faults.vanish[0].capacityTypes[0]',
      'Unsupported value',
    ),
    reject(
      'kwok: an unknown call',
      faults({ throttling: { calls: ['Reboot'] } }),
      'spec.faults.throttling.calls[0]',
      'Unsupported value',
    ),
    reject(
      'kwok: a call twice',
      faults({ throttling: { calls: ['Get', 'Get'] } }),
      'spec.faults.throttling.calls[1]',
      'Duplicate value',
    ),
    reject('kwok: a time in words', faults({ launch: { delay: 'long' } }), 'spec.faults.launch.delay', 'should match'),
  ),
];

export const otherCases: CorpusCase[] = [...claimCases, ...overlayCases, ...bufferCases, ...kwokCases];
