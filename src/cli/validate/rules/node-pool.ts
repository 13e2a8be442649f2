// Rules about a NodePool's template, requirements and limits.

import { awsLabel, label } from '../../../api/names.ts';
import { nearestName, parseQuantity, quantityIn } from '../../../base/index.ts';
import { asList, asMap, asText, type PlainMap, valueAt } from '../../manifests/index.ts';
import type { Hit, Subject } from '../finding.ts';
import type { Seen } from '../seen.ts';
import type { Rule } from './rule.ts';
import { leastVcpus } from './vcpus.ts';

const templateSpec = ['spec', 'template', 'spec'];
const requirementsPath = [...templateSpec, 'requirements'];
const isPool = ({ kind }: Subject): boolean => kind === 'NodePool';
const requirements = ({ value }: Subject): PlainMap[] => asList(valueAt(value, requirementsPath)).map(asMap);

/** Values of the first `In` requirement on a key, with its place; undefined when there is none. */
function allowed(subject: Subject, key: string): { values: string[]; index: number } | undefined {
  const index = requirements(subject).findIndex((one) => one['key'] === key && one['operator'] === 'In');
  if (index < 0) return undefined;
  return { values: asList(requirements(subject)[index]?.['values']).map(String), index };
}

const burstable = /^t\d/;

export const nodePoolRules: Rule[] = [
  {
    id: 'M19',
    severity: 'warning',
    strict: false,
    wrong: '`limits: {cpu: 1000m}`',
    why: '1000m is one vCPU. Limits count whole nodes, so below the smallest allowed type no node is ever launched. A plain number that is too low is an error.',
    instead: '`cpu: "1000"` for a thousand cores',
    failure: 'scheduling/limit-unit-mistake',
    *check(subject): Generator<Hit> {
      if (!isPool(subject)) return;
      const limits = asMap(valueAt(subject.value, ['spec', 'limits']));
      yield* cpuLimit(subject, limits['cpu']);
      const memory = quantity(limits['memory']);
      if (memory !== undefined && memory > 0 && memory < 512 * 1024 * 1024)
        yield {
          path: ['spec', 'limits', 'memory'],
          message: `${String(limits['memory'])} is less memory than any node has, so this pool never launches one`,
          fix: 'give the unit: memory: 1000Gi',
          severity: 'error',
        };
    },
  },
  {
    id: 'M20',
    severity: 'error',
    strict: true,
    wrong: '`spec.template.spec.affinity` (or tolerations, nodeSelector, topologySpreadConstraints)',
    why: 'The template describes nodes, not pods: a NodePool has requirements.',
    instead: 'a requirement such as `topology.kubernetes.io/zone In [...]`; spreading belongs to pods',
    failure: 'crd/unknown-field',
    explain(problem, subject) {
      const field = problem.path.at(-1);
      if (!isPool(subject) || problem.kind !== 'unknown' || problem.path.length !== 4) return undefined;
      if (problem.path[1] !== 'template' || problem.path[2] !== 'spec') return undefined;
      const isPodField = ['affinity', 'tolerations', 'nodeSelector', 'topologySpreadConstraints'].includes(
        String(field),
      );
      if (!isPodField) return undefined;
      const fix =
        field === 'tolerations'
          ? 'tolerations belong to pods; a pool has taints'
          : '- {key: topology.kubernetes.io/zone, operator: In, values: [...]} under requirements; spreading belongs to pods';
      return { path: problem.path, message: `${String(field)} is a field of pods; a NodePool has requirements`, fix };
    },
  },
  {
    id: 'M21',
    severity: 'error',
    strict: true,
    wrong: 'a `weight` inside a requirement, or "80 % spot, 20 % on-demand"',
    why: 'Requirements have neither weights nor ratios; only `spec.weight` (1 to 100) ranks whole NodePools. With both capacity types allowed, spot is simply preferred.',
    instead: 'two NodePools with different `spec.weight`',
    explain(problem, subject) {
      if (problem.kind !== 'unknown' || problem.path.at(-1) !== 'weight' || problem.path.at(-3) !== 'requirements')
        return undefined;
      if (!isPool(subject)) return undefined;
      return {
        path: problem.path,
        message: 'requirements have no weights; only whole NodePools have one, in spec.weight',
        fix: 'two NodePools with different spec.weight (1 to 100)',
      };
    },
  },
  {
    id: 'M22',
    severity: 'error',
    strict: true,
    wrong: '`instance-type:` or `capacity-type:` as fields',
    why: 'They are label keys, not fields, and the keys are longer.',
    instead:
      '`- {key: node.kubernetes.io/instance-type, operator: In, values: [...]}` and the like, under requirements',
    *check({ value }): Generator<Hit> {
      for (const field of Object.keys(strategyKeys)) {
        if (value[field] === undefined) continue;
        yield {
          path: [field],
          message: `${field} is not a field of any manifest`,
          fix: `- {key: ${strategyKeys[field]}, operator: In, values: [${asList(value[field]).join(', ')}]} under requirements`,
        };
      }
    },
  },
  {
    id: 'M30',
    severity: 'warning',
    strict: false,
    wrong: "a node label in the NodePool's own `metadata.labels`",
    why: 'Labels there do not reach nodes, so a pod that selects them never finds one.',
    instead: '`spec.template.metadata.labels`',
    failure: 'scheduling/label-without-known-values',
    conclude: misplacedLabels,
  },
  {
    id: 'M33',
    severity: 'warning',
    strict: false,
    wrong: 'a short list of instance types with spot',
    why: 'Few types mean poor odds for spot; replacing spot by cheaper spot needs at least 15 types to choose from.',
    instead:
      'categories, generations and size bounds: `karpenter.k8s.aws/instance-category In [c, m, r]`, `instance-generation Gt 4`',
    *check(subject): Generator<Hit> {
      const types = isPool(subject) ? allowed(subject, label.instanceType) : undefined;
      const capacity = isPool(subject) ? allowed(subject, label.capacityType) : undefined;
      if (types === undefined || types.values.length >= 15 || types.values.length === 0 || subject.fragment) return;
      if (capacity !== undefined && !capacity.values.includes('spot')) return;
      yield {
        path: [...requirementsPath, types.index, 'values'],
        message: `${types.values.length} instance type${types.values.length === 1 ? '' : 's'} with spot: poor odds, and replacing spot by cheaper spot needs at least 15`,
        fix: '- {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]} and {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["4"]}',
      };
    },
  },
  {
    id: 'M34',
    severity: 'error',
    strict: true,
    wrong: '`kubelet` or `kubeletConfiguration` on the NodePool, `kubeletConfiguration` on the node class',
    why: "The kubelet's settings belong to the EC2NodeClass since v1.",
    instead: '`EC2NodeClass.spec.kubelet`',
    failure: 'crd/unknown-field',
    explain(problem, subject) {
      const field = String(problem.path.at(-1));
      const isOld = field === 'kubeletConfiguration' || (field === 'kubelet' && isPool(subject));
      if (problem.kind !== 'unknown' || !isOld || problem.path.length > 4) return undefined;
      return {
        path: problem.path,
        message: `${field} ${isPool(subject) ? 'moved from the NodePool to the EC2NodeClass' : 'is called kubelet'} in v1`,
        fix: 'spec.kubelet of the EC2NodeClass that nodeClassRef names',
      };
    },
  },
  {
    id: 'L01',
    severity: 'warning',
    strict: false,
    wrong: 'a NodePool of burstable types only (`t3`, `t3a`, …)',
    why: 'Burstable instances fall to a fraction of a core when their credits are used up, which steady work does.',
    instead: 'add `m`, `c` or `r` families, or say what they are for in a taint',
    *check(subject): Generator<Hit> {
      if (!isPool(subject) || subject.fragment) return;
      for (const key of [
        'karpenter.k8s.aws/instance-family',
        'karpenter.k8s.aws/instance-category',
        label.instanceType,
      ]) {
        const found = allowed(subject, key);
        const isBurstable = (value: string): boolean => burstable.test(value) || value === 't';
        if (found === undefined || found.values.length === 0 || !found.values.every(isBurstable)) continue;
        yield {
          path: [...requirementsPath, found.index, 'values'],
          message: 'only burstable types are allowed: they are throttled once their CPU credits are used up',
          fix: 'add families such as m6i, c6i or r6i for steady work',
        };
      }
    },
  },
  {
    id: 'L02',
    severity: 'warning',
    strict: false,
    wrong: 'neither `expireAfter` nor `terminationGracePeriod` written',
    why: 'Nodes then expire after 720h, without any budget, and a drain that a pod blocks never ends.',
    instead: 'write both under `spec.template.spec`',
    failure: 'termination/drain-never-completes',
    *check(subject): Generator<Hit> {
      const template = asMap(valueAt(subject.value, templateSpec));
      // Old versions and half-written samples have more urgent problems.
      if (!isPool(subject) || subject.version !== 'v1' || subject.fragment || template['nodeClassRef'] === undefined)
        return;
      if (template['expireAfter'] !== undefined || template['terminationGracePeriod'] !== undefined) return;
      yield {
        path: templateSpec,
        message:
          'neither expireAfter nor terminationGracePeriod is written: nodes expire after 720h, and a blocked drain never ends',
        fix: 'expireAfter: 720h and terminationGracePeriod: 24h',
      };
    },
  },
  {
    id: 'L07',
    severity: 'warning',
    strict: false,
    wrong: '`karpenter.sh/capacity-type In [spott]`, `node.kubernetes.io/instance-type In [m5.xlrge]`',
    why: 'No machine has such a value, so the requirement silently allows less than it seems to, or nothing.',
    instead: 'a value that exists',
    failure: 'scheduling/no-instance-type-fits',
    *check(subject): Generator<Hit> {
      if (!isPool(subject)) return;
      for (const [index, { key, values }] of requirements(subject).entries()) {
        const written = asList(values).map(String);
        for (const [at, value] of written.entries()) {
          const near = misspelt(String(key), value);
          if (near === undefined) continue;
          yield {
            path: [...requirementsPath, index, 'values', at],
            message: `${value} is not a value of ${String(key)}`,
            fix: near === '' ? `one of ${(closedValues[String(key)] ?? sizes).join(', ')}` : near,
          };
        }
      }
    },
    conclude: typesWithoutMachine,
  },
  {
    id: 'L09',
    severity: 'warning',
    strict: false,
    wrong: 'capacity type `reserved` without `capacityReservationSelectorTerms`, or the other way round',
    why: 'Nodes use only reservations that the EC2NodeClass selects and the NodePool allows. Launches never take an open reservation by chance, so one that is not selected is paid for and not used.',
    instead:
      '`capacityReservationSelectorTerms` in the EC2NodeClass, and `reserved` among the capacity types of the NodePool',
    conclude: unusedReservations,
  },
];

function* unusedReservations({ capacityTypes, nodeClasses }: Seen): Generator<{ subject: Subject; hit: Hit }> {
  for (const { subject, path, values, nodeClass } of capacityTypes) {
    const known = nodeClasses.get(nodeClass);
    if (known === undefined) continue;
    const allowsReserved = values.includes('reserved');
    if (allowsReserved === known.selectsReservations) continue;
    yield {
      subject,
      hit: allowsReserved
        ? {
            path: [...path, 'values'],
            message: `reserved is allowed, but EC2NodeClass ${nodeClass} selects no reservation: also open ones are paid for and not used`,
            fix: `capacityReservationSelectorTerms: [{tags: {…}}] or [{instanceMatchCriteria: open}] in EC2NodeClass ${nodeClass}`,
          }
        : {
            path: [...path, 'values'],
            message: `EC2NodeClass ${nodeClass} selects capacity reservations, but the pool does not allow reserved: they are not used`,
            fix: `values: [${['reserved', ...values].join(', ')}]`,
          },
    };
  }
}

const closedValues: Readonly<Record<string, readonly string[]>> = {
  [label.capacityType]: ['spot', 'on-demand', 'reserved'],
  [label.arch]: ['amd64', 'arm64'],
  [label.os]: ['linux', 'windows'],
};
/** What other tools call them. */
const otherNames: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  'x86-64': 'amd64',
  x64: 'amd64',
  aarch64: 'arm64',
  ondemand: 'on-demand',
};
const sizes = ['nano', 'micro', 'small', 'medium', 'large', 'xlarge', '2xlarge', '4xlarge', '8xlarge', 'metal'];

/** What was meant; empty if that is unknown; undefined for values that may exist. */
function misspelt(key: string, value: string): string | undefined {
  const known = closedValues[key];
  if (known !== undefined)
    return known.includes(value) ? undefined : (otherNames[value.toLowerCase()] ?? nearestName(value, known) ?? '');
  // EC2's names alone can be judged: other providers name machines as they like.
  const [, family, size] = (key === label.instanceType && /^([a-z]+\d[a-z0-9-]*)\.([a-z0-9-]+)$/.exec(value)) || [];
  if (family === undefined || size === undefined || /^(metal(-\d+xl)?|\d+xlarge)$/.test(size) || sizes.includes(size))
    return undefined;
  const near = nearestName(size, sizes);
  return near === undefined ? '' : `${family}.${near}`;
}

/**
 * A family that is known has all its sizes known; one that is not may be newer than the figures built in, so that only what
 * is close to a known one counts as misspelt.
 */
function* typesWithoutMachine({ namedTypes, machines }: Seen): Generator<{ subject: Subject; hit: Hit }> {
  const families = new Set([...machines].map((type) => type.split('.')[0] ?? ''));
  const categories = new Set([...families].map((family) => /^[a-z]+?(?=\d|-)/.exec(family)?.[0] ?? family));
  for (const { subject, path, key, value } of namedTypes) {
    if (machines.size === 0 || misspelt(key, value) !== undefined) continue;
    if (key === label.instanceType) {
      const [family = ''] = value.split('.');
      const siblings = [...machines].filter((each) => each.startsWith(`${family}.`));
      if (machines.has(value) || siblings.length === 0) continue;
      const fix = nearestName(value, siblings) ?? `one of ${siblings.join(', ')}`;
      yield { subject, hit: { path, message: `EC2 has no ${value}`, fix } };
      continue;
    }
    const known = key === awsLabel.instanceFamily ? families : categories;
    const near = known.has(value.toLowerCase()) ? value.toLowerCase() : nearestName(value, [...known]);
    if (known.has(value) || near === undefined) continue;
    yield { subject, hit: { path, message: `${value} is not a value of ${key} that EC2 has`, fix: near } };
  }
}

const strategyKeys: Readonly<Record<string, string>> = {
  'instance-type': label.instanceType,
  'capacity-type': label.capacityType,
};

function quantity(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  try {
    return quantityIn('milli', parseQuantity(value)) / 1000;
  } catch {
    return undefined;
  }
}

function* cpuLimit(subject: Subject, written: unknown): Generator<Hit> {
  const cores = quantity(written);
  if (cores === undefined || cores <= 0) return;
  const isMilli = /^\d+m$/.test(asText(written) ?? '');
  const sizes = (allowed(subject, label.instanceType)?.values ?? []).map(leastVcpus);
  const smallest = sizes.length > 0 && sizes.every((size) => size !== undefined) ? Math.min(...sizes) : undefined;
  const isTooLow = smallest !== undefined && cores < smallest;
  if (!isMilli && !isTooLow) return;
  const amount = cores === 1 ? 'one vCPU' : `${cores} vCPUs`;
  const consequence = isTooLow
    ? `, but the smallest allowed type has ${smallest}: this pool never launches a node`
    : ': limits count cores, not millicores';
  yield {
    path: ['spec', 'limits', 'cpu'],
    message: `${isMilli ? `${String(written)} is ${amount}` : `the limit is ${amount}`}${consequence}`,
    fix: isMilli
      ? `cpu: "${String(written).slice(0, -1)}"`
      : `a limit of at least ${smallest}, and of what all nodes of the pool may have together`,
    // With millicores the unit is the mistake, and the number tells what was meant; a plain number is simply too low.
    ...(isTooLow && !isMilli ? { severity: 'error' as const } : {}),
  };
}

function* misplacedLabels(seen: Seen): Generator<{ subject: Subject; hit: Hit }> {
  for (const subject of seen.nodePoolsWithLabels) {
    const onNodes = asMap(valueAt(subject.value, ['spec', 'template', 'metadata', 'labels']));
    for (const [key, value] of Object.entries(asMap(valueAt(subject.value, ['metadata', 'labels'])))) {
      if (onNodes[key] !== undefined || !seen.selectedNodeLabels.has(`${key}=${value}`)) continue;
      yield {
        subject,
        hit: {
          path: ['metadata', 'labels', key],
          message: `a pod selects nodes by ${key}, but labels of the NodePool itself do not reach its nodes`,
          fix: `spec.template.metadata.labels: {${key}: ${JSON.stringify(value)}}`,
        },
      };
    }
  }
}
