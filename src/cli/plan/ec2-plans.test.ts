// Plans on the built-in EC2 figures: that every label, device and limit of an instance type means to the planner what it
// means to EC2. One pod or a few, and what they may run on.
import { describe, expect, test } from 'vitest';
import { awsLabel, label } from '../../api/names.ts';
import { awsProviderFacts, builtInCatalogue, type NodeClassShape } from '../../aws/catalogue.ts';
import { type InstanceTypeSpec, type Plan, planSnapshot, type SnapshotObject } from '../../core/index.ts';

const requirement = (key: string, ...values: string[]) => ({ key, operator: 'In', values });

interface Wish {
  requests?: Record<string, string>;
  nodeSelector?: Record<string, string>;
  tolerations?: object[];
}

const pod = (name: string, { requests = {}, ...spec }: Wish): SnapshotObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: name },
  spec: { containers: [{ name: 'main', resources: { requests } }], ...spec },
  status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
});

const catalogue = await builtInCatalogue();
const al2023: NodeClassShape = { spec: { amiFamily: 'AL2023' } };
const known = new Map<NodeClassShape, InstanceTypeSpec[]>();

function typesFor(nodeClass: NodeClassShape): InstanceTypeSpec[] {
  const types = known.get(nodeClass) ?? catalogue.instanceTypes(nodeClass);
  known.set(nodeClass, types);
  return types;
}

/** Plans the pods on one NodePool; `names` narrows the catalogue, which is large. */
function plan(
  wishes: Wish[],
  { requirements = [] as object[], names = [] as string[], nodeClass = al2023 } = {},
): Plan {
  const nodePool: SnapshotObject = {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: {
        spec: { nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' }, requirements },
      },
    },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
  const items = typesFor(nodeClass).filter(({ name }) => names.length === 0 || names.includes(name));
  return planSnapshot({
    apiVersion: 'kerf/v1',
    kind: 'Snapshot',
    provider: awsProviderFacts,
    instanceTypes: [{ nodePool: 'default', items }],
    objects: {
      apiVersion: 'v1',
      kind: 'List',
      items: [nodePool, ...wishes.map((wish, index) => pod(`pod-${index}`, wish))],
    },
  });
}

const typesOf = (made: Plan): string[] => made.newNodes.map(({ chosen }) => chosen.instanceType);

describe('labels', () => {
  const single: [string, string][] = [
    [awsLabel.instanceHypervisor, 'nitro'],
    [awsLabel.instanceCategory, 'c'],
    [awsLabel.instanceGeneration, '7'],
    [awsLabel.instanceFamily, 'm6i'],
    [awsLabel.instanceSize, '4xlarge'],
    [awsLabel.instanceCpu, '32'],
    [awsLabel.instanceCpuManufacturer, 'amd'],
    [awsLabel.instanceCpuSustainedClockSpeedMhz, '3600'],
    [awsLabel.instanceMemory, '131072'],
    [awsLabel.instanceEbsBandwidth, '9500'],
    [awsLabel.instanceNetworkBandwidth, '50000'],
    [awsLabel.instanceLocalNvme, '900'],
    [awsLabel.instanceGpuName, 't4'],
    [awsLabel.instanceGpuManufacturer, 'nvidia'],
    [awsLabel.instanceGpuCount, '4'],
    [awsLabel.instanceGpuMemory, '16384'],
    [awsLabel.instanceAcceleratorName, 'inferentia2'],
    [awsLabel.instanceAcceleratorManufacturer, 'aws'],
    [awsLabel.instanceAcceleratorCount, '1'],
    [awsLabel.instanceTenancy, 'dedicated'],
    [awsLabel.instanceEncryptionInTransitSupported, 'true'],
    [awsLabel.instanceCapabilityFlex, 'true'],
    [label.instanceType, 'm5.large'],
    [label.zone, 'us-east-1b'],
    [label.region, 'us-east-1'],
    [label.arch, 'arm64'],
    ['topology.ebs.csi.aws.com/zone', 'us-east-1b'],
    ['beta.kubernetes.io/instance-type', 'm5.large'],
    ['failure-domain.beta.kubernetes.io/zone', 'us-east-1b'],
  ];
  // One plan for all of them: indexing the whole catalogue for each would take long.
  const { unschedulable } = plan(single.map(([key, value]) => ({ nodeSelector: { [key]: value } })));

  test.each(single.map(([key, value], index) => [key, value, index] as const))(
    'a pod may ask for %s=%s',
    (_key, _value, index) => {
      expect(unschedulable.map(({ pod: name }) => name)).not.toContain(`default/pod-${index}`);
    },
  );

  test('all labels of g4dn.8xlarge together choose it', () => {
    const nodeSelector = {
      [awsLabel.instanceHypervisor]: 'nitro',
      [awsLabel.instanceCategory]: 'g',
      [awsLabel.instanceGeneration]: '4',
      [awsLabel.instanceFamily]: 'g4dn',
      [awsLabel.instanceSize]: '8xlarge',
      [awsLabel.instanceCpu]: '32',
      [awsLabel.instanceMemory]: '131072',
      [awsLabel.instanceCpuSustainedClockSpeedMhz]: '2500',
      [awsLabel.instanceEbsBandwidth]: '9500',
      [awsLabel.instanceNetworkBandwidth]: '50000',
      [awsLabel.instanceGpuName]: 't4',
      [awsLabel.instanceGpuManufacturer]: 'nvidia',
      [awsLabel.instanceGpuCount]: '1',
      [awsLabel.instanceGpuMemory]: '16384',
      [awsLabel.instanceLocalNvme]: '900',
    };
    expect(typesOf(plan([{ nodeSelector }]))).toEqual(['g4dn.8xlarge']);
  });

  test('flex is asked for and refused by name', () => {
    const wanted = [{ nodeSelector: { [awsLabel.instanceCapabilityFlex]: 'true' } }];
    expect(typesOf(plan(wanted))[0]).toContain('flex');
    const without = { key: awsLabel.instanceCapabilityFlex, operator: 'NotIn', values: ['true'] };
    expect(plan(wanted, { requirements: [without] }).unschedulable).toHaveLength(1);
  });

  test('an undefined label in the provider’s domain makes the pod invalid', () => {
    const { unschedulable } = plan([{ nodeSelector: { 'karpenter.k8s.aws/instance-pods': '10' } }]);
    expect(unschedulable[0]?.reasons[0]?.code).toBe('PodInvalid');
  });
});

describe('devices', () => {
  test('branch interfaces exist only on types that support trunking', () => {
    const wanted = [{ requests: { 'vpc.amazonaws.com/pod-eni': '1' } }];
    expect(plan(wanted, { names: ['t3.large'] }).unschedulable).toHaveLength(1);
    expect(plan(wanted).unschedulable).toEqual([]);
  });

  test.each([
    ['nvidia.com/gpu', 'g5.12xlarge', ['1', '2'], ['4']],
    ['aws.amazon.com/neuron', 'inf2.24xlarge', ['2', '2'], ['4']],
    ['amd.com/gpu', 'g4ad.16xlarge', ['1', '2'], ['4']],
  ])('%s of a %s are shared as far as they go', (resource, type, together, alone) => {
    const wishes = [...together, ...alone].map((count) => ({ requests: { [resource]: count } }));
    const made = plan(wishes, { names: [type] });
    expect(typesOf(made)).toEqual([type, type]);
    expect(made.newNodes.map(({ pods }) => pods.length).sort()).toEqual([1, 2]);
  });

  test('trn1.2xlarge serves one Neuron device, inf2.xlarge two cores', () => {
    const one = plan([{ requests: { 'aws.amazon.com/neuron': '1' } }], { names: ['trn1.2xlarge'] });
    expect(typesOf(one)).toEqual(['trn1.2xlarge']);
    const cores = plan([{ requests: { 'aws.amazon.com/neuroncore': '2' } }], { names: ['inf2.xlarge'] });
    expect(typesOf(cores)).toEqual(['inf2.xlarge']);
  });

  test('Windows addresses exist on Windows nodes alone', () => {
    const wanted = [{ requests: { 'vpc.amazonaws.com/PrivateIPv4Address': '1' } }];
    expect(plan(wanted).unschedulable).toHaveLength(1);
    const windows = plan(wanted, { nodeClass: { spec: { amiFamily: 'Windows2022' } } });
    expect(windows.unschedulable).toEqual([]);
  });
});

describe('storage and pods', () => {
  test('5000Gi of ephemeral storage needs the local disks joined', () => {
    const wanted = [{ requests: { 'ephemeral-storage': '5000Gi' } }];
    expect(plan(wanted).unschedulable).toHaveLength(1);
    const raid = { spec: { amiFamily: 'AL2023', instanceStorePolicy: 'RAID0' } };
    const made = plan(wanted, { names: ['m6idn.32xlarge', 'm5.large'], nodeClass: raid });
    expect(typesOf(made)).toEqual(['m6idn.32xlarge']);
  });

  test('more pods than a type has addresses for need more nodes', () => {
    const wishes = Array.from({ length: 40 }, () => ({ requests: { cpu: '1m' } }));
    const made = plan(wishes, { names: ['t3.large'] });
    expect(made.newNodes).toHaveLength(2);
    expect(Math.max(...made.newNodes.map(({ pods }) => pods.length))).toBeLessThanOrEqual(35);
  });

  test('Graviton of the first generation is never planned with AL2023', () => {
    const a1 = [requirement(awsLabel.instanceFamily, 'a1')];
    expect(plan([{}], { requirements: a1 }).unschedulable).toHaveLength(1);
    expect(plan([{}], { requirements: a1, nodeClass: { spec: { amiFamily: 'Bottlerocket' } } }).unschedulable).toEqual(
      [],
    );
  });
});

test('the plan’s chosen offering is one of the catalogue, at its price', () => {
  const { newNodes } = plan([{ requests: { cpu: '3', memory: '6Gi' } }]);
  const chosen = newNodes[0]?.chosen;
  const type = typesFor(al2023).find(({ name }) => name === chosen?.instanceType);
  const offering = type?.offerings.find(({ requirements }) =>
    [chosen?.zone, chosen?.capacityType].every((value) => requirements.some(({ values }) => values?.[0] === value)),
  );
  expect(offering).toMatchObject({ available: true, price: chosen?.pricePerHour });
});
