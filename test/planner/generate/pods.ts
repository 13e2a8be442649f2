// Random pod specs: sizes, selectors, affinities, spreads, preferences, host ports, volumes, and pods that are invalid.
import * as fc from 'fast-check';
import { label } from '../../../src/api/index.ts';
import type {
  Affinity,
  Container,
  LabelSelector,
  PodSpec,
  PodTerm,
  SelectorTerm,
  Spread,
  Volume,
} from '../rules/objects.ts';
import { apps, defined, namespaces, selector, sometimes, tolerations } from './values.ts';

export interface PodOptions {
  preferences: boolean;
  spreads: boolean;
  /**
   * Spreads over a key the pod also has node requirements on, and that ignore those requirements or have alternatives to
   * them: planning as specified takes the least count over the domains of the first alternative, kube-scheduler over all
   * domains the spread looks at.
   */
  oddSpreads: boolean;
  affinities: boolean;
  /**
   * Pods that must be near others over a key they also have node requirements on: they may start a second domain, which
   * kube-scheduler refuses.
   */
  oddAffinities: boolean;
  antiAffinities: boolean;
  /** Several required node affinity terms. */
  alternatives: boolean;
  volumes: boolean;
  ports: boolean;
  invalid: boolean;
  namespaces: boolean;
}

export interface PodParts {
  app: string;
  revision: string;
  namespace: string;
  spec: PodSpec;
  age: number;
}

const requests = fc.record({
  cpu: fc.constantFrom('100m', '250m', '500m', '1', '1500m', '3'),
  memory: fc.constantFrom('128Mi', '512Mi', '1Gi', '2Gi', '6Gi'),
  gpu: fc.nat({ max: 24 }).map((n) => (n === 0 ? '1' : undefined)),
});

const container = (ports: boolean): fc.Arbitrary<Container> =>
  fc
    .record({
      requests,
      hostPort: ports ? sometimes(8, fc.constantFrom(8080, 9090)) : fc.constant(undefined),
    })
    .map(({ requests: { cpu, memory, gpu }, hostPort }) => ({
      name: 'main',
      image: 'app',
      resources: {
        requests: defined<Record<string, string>>({ cpu, memory, 'nvidia.com/gpu': gpu }),
        ...(gpu === undefined ? {} : { limits: { 'nvidia.com/gpu': gpu } }),
      },
      ...(hostPort === undefined ? {} : { ports: [{ containerPort: 80, hostPort }] }),
    }));

const expression = fc.constantFrom<NonNullable<SelectorTerm['matchExpressions']>[number]>(
  { key: label.zone, operator: 'In', values: ['zone-a'] },
  { key: label.zone, operator: 'In', values: ['zone-b', 'zone-c'] },
  { key: label.zone, operator: 'NotIn', values: ['zone-b'] },
  { key: label.capacityType, operator: 'In', values: ['on-demand'] },
  { key: label.capacityType, operator: 'In', values: ['spot'] },
  { key: label.arch, operator: 'In', values: ['amd64'] },
  { key: label.arch, operator: 'In', values: ['arm64'] },
  { key: 'test.kerf/cpu', operator: 'Gt', values: ['3'] },
  { key: 'test.kerf/gpu', operator: 'DoesNotExist' },
  { key: 'team', operator: 'In', values: ['a'] },
  { key: 'team', operator: 'DoesNotExist' },
  { key: 'tier', operator: 'NotIn', values: ['tin'] },
  { key: 'tier', operator: 'Exists' },
);

const nodeSelector = sometimes(
  20,
  fc.constantFrom<Record<string, string>>(
    { [label.zone]: 'zone-a' },
    { [label.zone]: 'zone-c' },
    { [label.arch]: 'amd64' },
    { [label.capacityType]: 'on-demand' },
    { team: 'a' },
    { tier: 'gold' },
  ),
);

/** Pools and nodes have the last two only sometimes. */
const topologyKey = fc.constantFrom(label.zone, label.zone, ...Array<string>(4).fill(label.hostname), 'team', 'tier');

const podTerm = (otherNamespaces: boolean): fc.Arbitrary<PodTerm> =>
  fc
    .record({
      labelSelector: selector,
      topologyKey,
      namespaces: otherNamespaces ? sometimes(10, fc.subarray(namespaces, { minLength: 1 })) : fc.constant(undefined),
      namespaceSelector: otherNamespaces
        ? sometimes(5, fc.constant<LabelSelector>({ matchLabels: { shared: 'yes' } }))
        : fc.constant(undefined),
    })
    .map((parts) => defined<PodTerm>(parts));

const selfTerm = (app: string): fc.Arbitrary<PodTerm> =>
  topologyKey.map((key) => ({ labelSelector: { matchLabels: { app } }, topologyKey: key }));

const spread = ({ preferences: soft }: PodOptions): fc.Arbitrary<Spread> =>
  fc
    .record({
      maxSkew: fc.constantFrom(1, 1, 2),
      topologyKey: fc.constantFrom(
        label.zone,
        label.zone,
        label.zone,
        label.hostname,
        label.hostname,
        label.capacityType,
        'team',
      ),
      whenUnsatisfiable: fc.constantFrom<Spread['whenUnsatisfiable']>(
        'DoNotSchedule',
        ...(soft ? ['ScheduleAnyway' as const] : []),
      ),
      labelSelector: selector,
      minDomains: sometimes(10, fc.constantFrom(2, 3)),
      nodeAffinityPolicy: sometimes(10, fc.constantFrom<'Honor' | 'Ignore'>('Honor', 'Ignore')),
      nodeTaintsPolicy: sometimes(10, fc.constantFrom<'Honor' | 'Ignore'>('Honor', 'Ignore')),
      matchLabelKeys: sometimes(8, fc.constant<string[]>(['revision'])),
    })
    .map((parts) =>
      defined<Spread>({
        ...parts,
        minDomains: parts.whenUnsatisfiable === 'DoNotSchedule' ? parts.minDomains : undefined,
      }),
    );

/** The API allows one constraint per topology key and reaction. */
const uniqueSpreads = (options: PodOptions): fc.Arbitrary<Spread[]> =>
  fc.uniqueArray(spread(options), {
    minLength: 1,
    maxLength: 2,
    selector: ({ topologyKey: key, whenUnsatisfiable }) => `${key} ${whenUnsatisfiable}`,
  });

function affinity(app: string, options: PodOptions): fc.Arbitrary<Affinity | undefined> {
  const term = podTerm(options.namespaces);
  const weighted = term.chain((podAffinityTerm) =>
    fc.integer({ min: 1, max: 9 }).map((weight) => ({ weight, podAffinityTerm })),
  );
  const soft = <T>(percent: number, value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    options.preferences ? sometimes(percent, value) : fc.constant(undefined);
  const none = fc.constant(undefined);
  return fc
    .record({
      required: sometimes(
        15,
        fc.array(fc.array(expression, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
      ),
      preferred: soft(12, fc.array(expression, { minLength: 1, maxLength: 2 })),
      together: options.affinities
        ? sometimes(10, fc.oneof({ weight: 3, arbitrary: selfTerm(app) }, { weight: 1, arbitrary: term }))
        : none,
      apart: options.antiAffinities
        ? sometimes(12, fc.oneof({ weight: 3, arbitrary: selfTerm(app) }, { weight: 1, arbitrary: term }))
        : none,
      nearer: options.affinities ? soft(6, fc.array(weighted, { minLength: 1, maxLength: 2 })) : none,
      further: options.antiAffinities ? soft(8, fc.array(weighted, { minLength: 1, maxLength: 2 })) : none,
    })
    .map(({ required, preferred, together, apart, nearer, further }) => {
      const node = defined<NonNullable<Affinity['nodeAffinity']>>({
        requiredDuringSchedulingIgnoredDuringExecution:
          required === undefined
            ? undefined
            : { nodeSelectorTerms: required.map((matchExpressions) => ({ matchExpressions })) },
        preferredDuringSchedulingIgnoredDuringExecution: preferred?.map((e, i) => ({
          weight: 3 + i,
          preference: { matchExpressions: [e] },
        })),
      });
      const pods = (hard: PodTerm | undefined, liked: typeof nearer) =>
        defined<NonNullable<Affinity['podAffinity']>>({
          requiredDuringSchedulingIgnoredDuringExecution: hard === undefined ? undefined : [hard],
          preferredDuringSchedulingIgnoredDuringExecution: liked,
        });
      const present = <T extends object>(value: T): T | undefined =>
        Object.keys(value).length === 0 ? undefined : value;
      return present(
        defined<Affinity>({
          nodeAffinity: present(node),
          podAffinity: present(pods(together, nearer)),
          podAntiAffinity: present(pods(apart, further)),
        }),
      );
    });
}

/** Claim names that generate/volumes.ts defines; the last ones are unusable. */
const usableClaims = ['bound-a', 'bound-b', 'bound-any', 'later-bc', 'later-any'];
const brokenClaims = ['missing', 'lost', 'immediate', 'unsupported', 'classless'];

const volumes = (options: PodOptions): fc.Arbitrary<Volume[] | undefined> =>
  options.volumes
    ? sometimes(
        12,
        fc
          .subarray(usableClaims, { minLength: 1, maxLength: 2 })
          .map((names) => names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }))),
      )
    : fc.constant(undefined);

const broken = fc.constantFrom<Partial<PodSpec>>(
  ...brokenClaims.map((claimName) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })),
  { nodeSelector: { [label.hostname]: 'node-1' } },
  { nodeSelector: { 'karpenter.sh/custom': 'x' } },
  {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [{}] }] } },
    },
  },
  { nodeSelector: { [label.capacityType]: 'free' } },
  {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: label.nodePool, operator: 'DoesNotExist' }] }],
        },
      },
    },
  },
  { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] },
);

/** The label keys a pod's node selector and required node affinity speak about. */
function requiredKeys({ nodeSelector, affinity: own }: PodSpec): Set<string> {
  const terms = own?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return new Set([
    ...Object.keys(nodeSelector ?? {}),
    ...terms.flatMap(({ matchExpressions }) => (matchExpressions ?? []).map(({ key }) => key)),
  ]);
}

function withoutOddities(drawn: PodSpec, options: PodOptions): PodSpec {
  const spec = plainSpreads(options.alternatives ? drawn : withoutAlternatives(drawn), options);
  const nearby = spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const keys = requiredKeys(spec);
  if (options.oddAffinities || !nearby.some((term) => keys.has(term.topologyKey))) return spec;
  const { nodeSelector, ...rest } = spec;
  const { requiredDuringSchedulingIgnoredDuringExecution: strict, ...nodeAffinity } = rest.affinity?.nodeAffinity ?? {};
  void [nodeSelector, strict];
  return { ...rest, affinity: { ...rest.affinity, nodeAffinity } };
}

function plainSpreads(spec: PodSpec, options: PodOptions): PodSpec {
  const { topologySpreadConstraints: spreads } = spec;
  const keys = requiredKeys(spec);
  if (options.oddSpreads || !spreads?.some((rule) => keys.has(rule.topologyKey))) return spec;
  const honoring = spreads.map(({ nodeAffinityPolicy, ...rest }) => {
    void nodeAffinityPolicy;
    return rest;
  });
  return { ...withoutAlternatives(spec), topologySpreadConstraints: honoring };
}

function withoutAlternatives(spec: PodSpec): PodSpec {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined) return spec;
  const one = { nodeSelectorTerms: required.nodeSelectorTerms.slice(0, 1) };
  const nodeAffinity = { ...spec.affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: one };
  return { ...spec, affinity: { ...spec.affinity, nodeAffinity } };
}

export function podParts(options: PodOptions): fc.Arbitrary<PodParts> {
  return fc.constantFrom(...apps).chain((app) =>
    fc
      .record({
        containers: container(options.ports).map((c) => [c]),
        initContainers: sometimes(
          8,
          fc.constantFrom<Container[]>(
            [{ name: 'init', image: 'app', resources: { requests: { cpu: '2', memory: '256Mi' } } }],
            [
              {
                name: 'side',
                image: 'app',
                restartPolicy: 'Always',
                resources: { requests: { cpu: '200m', memory: '64Mi' } },
              },
            ],
          ),
        ),
        nodeSelector,
        tolerations,
        affinity: affinity(app, options),
        topologySpreadConstraints: options.spreads ? sometimes(25, uniqueSpreads(options)) : fc.constant(undefined),
        volumes: volumes(options),
        namespace: options.namespaces
          ? fc.constantFrom('default', 'default', 'default', 'other')
          : fc.constant('default'),
        broken: options.invalid ? sometimes(6, broken) : fc.constant(undefined),
        age: fc.nat({ max: 3 }),
        revision: fc.constantFrom('one', 'one', 'two'),
      })
      .map(({ namespace, broken: override, age, revision, ...spec }) => ({
        app,
        revision,
        namespace,
        age,
        spec: { ...withoutOddities(defined<PodSpec>(spec), options), ...override },
      })),
  );
}
