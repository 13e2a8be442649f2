// What the embedded cluster has from the start: our CustomResourceDefinitions, a storage class, a node class and two
// NodePools. Whatever is there already (from a state file) stays as it is.
import type { KWOKNodeClass, KwokFaults, NodePool } from '../../api/index.ts';
import { annotation, awsLabel, capacityType, kwokGroup, label } from '../../api/names.ts';
import { nodePools } from '../../controllers/index.ts';
import { isKubeError, type Kube, type KubeObject, type Resource, resources } from '../../ports/index.ts';
import { kwokNodeClasses } from '../../sim/index.ts';
import { crdFiles } from '../crds/crd-files.ts';
import type { SimulatedCatalogue } from '../simulated-catalogue.ts';

const crds: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export async function createIfMissing<T extends KubeObject>(
  kube: Kube,
  resource: Resource<T>,
  object: T,
): Promise<void> {
  try {
    await kube.create(resource, object);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
}

export async function installDefinitions(kube: Kube): Promise<void> {
  for (const { crd } of crdFiles()) await createIfMissing(kube, crds, crd as unknown as KubeObject);
}

export interface Defaults {
  catalogue: SimulatedCatalogue;
  faults: KwokFaults | undefined;
}

export async function installDefaults(kube: Kube, { catalogue, faults }: Defaults): Promise<void> {
  // With EC2's machines, pools can name the families to take.
  const hasEc2Labels = catalogue === 'ec2';
  await createIfMissing(kube, resources.storageClasses, {
    metadata: { name: 'gp3', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'ebs.csi.aws.com',
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: true,
  });
  const nodeClass: KWOKNodeClass = {
    metadata: { name: 'default', annotations: { [annotation.catalogue]: catalogue } },
    spec: { nodeRegistrationDelay: '5s' },
  };
  await createIfMissing(kube, kwokNodeClasses, nodeClass);
  if (faults !== undefined) {
    await kube.patch(kwokNodeClasses, { name: 'default' }, { type: 'merge', body: { spec: { faults } } });
  }
  await createIfMissing(kube, nodePools, generalPool(hasEc2Labels));
  if (hasEc2Labels) await createIfMissing(kube, nodePools, gpuPool());
}

const nodeClassRef = { group: kwokGroup, kind: 'KWOKNodeClass', name: 'default' };
const isLinux = { key: label.os, operator: 'In', values: ['linux'] };

function generalPool(hasEc2Labels: boolean): NodePool {
  const requirements = [
    isLinux,
    { key: label.arch, operator: 'In', values: ['amd64'] },
    { key: label.capacityType, operator: 'In', values: [capacityType.spot, capacityType.onDemand] },
    ...(hasEc2Labels
      ? [
          { key: awsLabel.instanceCategory, operator: 'In', values: ['c', 'm', 'r'] },
          { key: awsLabel.instanceGeneration, operator: 'Gt', values: ['4'] },
          { key: awsLabel.instanceCpu, operator: 'Lt', values: ['33'] },
        ]
      : []),
  ];
  return {
    metadata: { name: 'default' },
    spec: {
      template: { spec: { nodeClassRef, requirements, expireAfter: '720h' } },
      limits: { cpu: '1000' },
      disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '30s' },
    },
  } as NodePool;
}

function gpuPool(): NodePool {
  const requirements = [
    isLinux,
    { key: awsLabel.instanceCategory, operator: 'In', values: ['g'] },
    { key: label.capacityType, operator: 'In', values: [capacityType.spot, capacityType.onDemand] },
  ];
  const taints = [{ key: 'nvidia.com/gpu', effect: 'NoSchedule' }];
  return {
    metadata: { name: 'gpu' },
    spec: {
      template: { spec: { nodeClassRef, requirements, taints, expireAfter: '24h' } },
      limits: { 'nvidia.com/gpu': '16' },
      disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: '1m' },
    },
  } as NodePool;
}
