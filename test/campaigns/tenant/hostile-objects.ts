// What someone with rights in one namespace can write to harm the others: everything here is accepted by a real API server
// from a user who may edit one namespace. Drawn from a seed.
import type { Random } from '../../../bench/workloads/random.ts';

export const namespace = 'hostile';

/** Colours, a bell, a cleared screen, a carriage return, an end of line and a byte that ends strings elsewhere. */
const escapes = [
  '\u001b[31m',
  '\u0007',
  '\u001b[2J\u001b[H',
  '\r',
  '\n{"level":"INFO","message":"forged"}\n',
  '\u009b31m',
];

type Object = Record<string, unknown>;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const text = (random: Random, length: number): string =>
  times(length, () => random.pick([...'abcdefghijklmnopqrstuvwxyz'])).join('');

function pod(name: string, spec: Object = {}, metadata: Object = {}): Object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...metadata },
    spec: {
      containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '100m' } } }],
      ...spec,
    },
  };
}

const expression = (random: Random, values: number): Object => ({
  key: `example.com/${text(random, 20)}`,
  operator: 'NotIn',
  values: times(values, () => text(random, 60)),
});

/** Each of these alone is cheap to write and dear to read. */
export const attacks: Record<string, (random: Random, serial: number) => Object[]> = {
  'affinity values': (random, serial) => [
    pod(`affinity-${serial}`, {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: times(60, () => ({ matchExpressions: times(6, () => expression(random, 30)) })),
          },
          preferredDuringSchedulingIgnoredDuringExecution: times(60, (index) => ({
            weight: (index % 100) + 1,
            preference: { matchExpressions: [expression(random, 30)] },
          })),
        },
      },
    }),
  ],
  'pod affinities': (random, serial) =>
    times(8, (index) =>
      pod(
        `apart-${serial}-${index}`,
        {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: times(40, () => ({
                topologyKey: random.pick([
                  'kubernetes.io/hostname',
                  'topology.kubernetes.io/zone',
                  `x/${text(random, 8)}`,
                ]),
                namespaceSelector: {},
                labelSelector: {
                  matchExpressions: [{ key: 'app', operator: 'In', values: times(100, () => text(random, 40)) }],
                },
              })),
            },
          },
          topologySpreadConstraints: times(20, () => ({
            maxSkew: 1,
            topologyKey: `example.com/${text(random, 12)}`,
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: { matchLabels: { app: text(random, 10) } },
          })),
        },
        { labels: { app: text(random, 12) } },
      ),
    ),
  'many labels': (random, serial) => [
    pod(
      `labels-${serial}`,
      {},
      { labels: Object.fromEntries(times(9_000, () => [`l.example.com/${text(random, 30)}`, text(random, 60)])) },
    ),
  ],
  'large pods': (random, serial) => [
    pod(`large-${serial}`, {
      containers: [
        {
          name: 'main',
          image: 'none',
          env: times(1_300, (index) => ({ name: `E${index}`, value: text(random, 1) + 'x'.repeat(1_000) })),
          resources: { requests: { cpu: '100m' } },
        },
      ],
    }),
  ],
  'terminal escapes': (random, serial) =>
    times(6, (index) =>
      pod(
        `escape-${serial}-${index}`,
        {
          containers: [
            { name: 'main', image: `none${random.pick(escapes)}`.trim(), resources: { requests: { cpu: '9000' } } },
          ],
        },
        {
          annotations: Object.fromEntries([
            ['karpenter.sh/do-not-disrupt', escapes[index % escapes.length]],
            ['example.com/note', escapes.join('')],
            ['controller.kubernetes.io/pod-deletion-cost', '-2147483648'],
          ]),
        },
      ),
    ),
  'names and references': (random, serial) =>
    times(20, (index) =>
      pod(
        `${text(random, 50)}-${serial}-${index}.${text(random, 60)}.${text(random, 60)}`,
        {
          volumes: times(20, () => ({
            name: text(random, 30),
            persistentVolumeClaim: { claimName: text(random, 60) },
          })),
        },
        {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: text(random, 60), uid: text(random, 36) },
          ],
        },
      ),
    ),
  'device selectors': (random, serial) => [
    {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name: `devices-${serial}`, namespace },
      spec: {
        devices: {
          requests: times(8, (index) => ({
            name: `r${index}`,
            exactly: {
              deviceClassName: 'shared',
              count: 1,
              selectors: [
                {
                  cel: {
                    expression: `"${'a'.repeat(34 + random.below(4))}!".matches("^(a+)+$") || device.attributes["example.com"].model.matches("^(([a-z])+.)+[A-Z]([a-z])+$")`,
                  },
                },
              ],
            },
          })),
        },
      },
    },
    pod(`devices-${serial}`, { resourceClaims: [{ name: 'd', resourceClaimName: `devices-${serial}` }] }),
  ],
  'budgets and quantities': (random, serial) => [
    ...times(20, (index) => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: `b-${serial}-${index}`, namespace },
      spec: { maxUnavailable: 0, selector: { matchExpressions: [{ key: text(random, 9), operator: 'DoesNotExist' }] } },
    })),
    pod(`huge-${serial}`, {
      containers: [
        { name: 'main', image: 'none', resources: { requests: { cpu: '9223372036854775807', memory: '8Ei' } } },
      ],
    }),
  ],
};

export function crowd(serial: number, replicas: number): Object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `crowd-${serial}`, namespace },
    spec: {
      replicas,
      selector: { matchLabels: { crowd: String(serial) } },
      template: {
        metadata: { labels: { crowd: String(serial) } },
        spec: {
          nodeSelector: { 'example.com/nowhere': 'x' },
          containers: [{ name: 'main', image: 'none', resources: { requests: { cpu: '1' } } }],
        },
      },
    },
  };
}
