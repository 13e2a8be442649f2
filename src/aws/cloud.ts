// EC2 as a Cloud: machines for claims, instance types for pools. Each question is answered by a part of its own (types,
// launcher, instances, drift); here they are put together, and their outcomes become the errors the port promises.
import {
  awsLabel,
  capacityType,
  conditionType,
  type EC2NodeClass,
  label,
  type NodeClaim,
  type NodePool,
} from '../api/index.ts';
import { conditionOf, messageOf } from '../base/index.ts';
import type { FailedOffering, InstanceTypeSpec } from '../core/index.ts';
import {
  type AskOptions,
  type Cloud,
  CloudError,
  type CreateOptions,
  type EventSubject,
  type Instance,
  isCloudError,
  type Recorder,
  type RegistrationHook,
  type RepairPolicy,
} from '../ports/index.ts';
import { ec2NodeClasses } from './ec2-node-classes.ts';
import type { FleetLauncher } from './fleet/fleet-launcher.ts';
import type { InstanceTypes } from './instance-types/live-instance-types.ts';
import { awsProviderFacts } from './instance-types/provider-facts.ts';
import type { Ec2Instance } from './instances/ec2-instance.ts';
import type { Instances } from './instances/instances.ts';
import { instanceIdOf } from './instances/provider-id.ts';
import { launchAnnotations, machineFacts } from './machine-facts.ts';
import { restrictedTag } from './tags.ts';
import type { UnavailableOfferings } from './unavailable-offerings/unavailable-offerings.ts';

export interface AwsCloudOptions {
  types: InstanceTypes;
  instances: Instances;
  launcher: FleetLauncher;
  recorder: Recorder;
  /** What nodes trust the API server by, part of a class's hash; base64, empty if none is known. */
  caBundle: string;
  /** The class as it is now; asked for at every call, so it should come from a cache. */
  nodeClassOf(name: string): EC2NodeClass | undefined | Promise<EC2NodeClass | undefined>;
  /** Counts of capacity reservations between two looks at EC2. */
  reservations: { launched(id: string): void; terminated(id: string): void };
  placementGroupOf(nodeClass: EC2NodeClass): { id: string; strategy: string } | undefined;
  /** Whether the class names a group that was not looked up since this process started. */
  isPlacementGroupUnknown(nodeClass: EC2NodeClass): boolean;
  /** Gate RebootForRepair: what a restart may cure is restarted before it is replaced. */
  reboots?: boolean;
  /** Why the claim's machine is no longer what its class asks for. */
  driftOf(claim: NodeClaim, nodeClass: EC2NodeClass): Promise<string | undefined>;
  whyNotJoined(claim: NodeClaim, nodeClass: EC2NodeClass | undefined): Promise<string | undefined>;
  /** What EC2 said it cannot sell just now. */
  unavailable?: Pick<UnavailableOfferings, 'list' | 'launched'>;
}

const minuteMs = 60_000;

/** Of a node whose kubelet is gone no pod leaves in order; from the others pods are moved while they can be. */
const unready = { conditionType: 'Ready', tolerationMs: 30 * minuteMs, terminationGracePeriodMs: 0 };
const monitored = {
  conditionStatus: 'False',
  tolerationMs: 30 * minuteMs,
  terminationGracePeriodMs: 10 * minuteMs,
} as const;

/** What the kubelet and the node monitoring agent of EKS report. */
const repairPolicies: readonly RepairPolicy[] = [
  { ...unready, conditionStatus: 'False' },
  { ...unready, conditionStatus: 'Unknown' },
  { ...monitored, conditionType: 'AcceleratedHardwareReady', tolerationMs: 10 * minuteMs },
  { ...monitored, conditionType: 'StorageReady' },
  { ...monitored, conditionType: 'NetworkingReady' },
  { ...monitored, conditionType: 'KernelReady' },
  { ...monitored, conditionType: 'ContainerRuntimeReady' },
];

/** Faults of accelerators and their drivers, which a restart often clears; such machines are scarce. */
const rebootPolicy: RepairPolicy = {
  ...monitored,
  conditionType: 'AcceleratedHardwareReady',
  reasonRegex: '^(Nvidia|Neuron|DCGM)',
  tolerationMs: 10 * minuteMs,
  action: 'RebootNode',
};
const policiesWithReboot: readonly RepairPolicy[] = [...repairPolicies, rebootPolicy];

export class AwsCloud implements Cloud {
  readonly name = 'aws';
  readonly facts = awsProviderFacts;
  readonly nodeClasses = [ec2NodeClasses];
  readonly registrationHooks: readonly RegistrationHook[];
  private readonly options: AwsCloudOptions;
  private readonly annotationsOf: ReturnType<typeof launchAnnotations>;
  private readonly byName = new WeakMap<readonly InstanceTypeSpec[], ReadonlyMap<string, InstanceTypeSpec>>();

  constructor(options: AwsCloudOptions) {
    this.options = options;
    this.annotationsOf = launchAnnotations(options.caBundle);
    this.registrationHooks = [{ name: 'placement-group-partition', isReady: (claim) => this.hasPartition(claim) }];
  }

  async create(claim: NodeClaim, { instanceTypes, probing = false }: CreateOptions = {}): Promise<Instance> {
    const { launcher, instances, reservations, placementGroupOf } = this.options;
    const nodeClass = await this.readyClass(claim);
    const types = instanceTypes ?? this.typesFor(nodeClass, { probing });
    const instance = await launcher.launch(claim, nodeClass, types, { probing });
    this.options.unavailable?.launched(instance);
    instances.remember(instance);
    if (instance.reservation !== undefined) reservations.launched(instance.reservation.id);
    const facts = machineFacts(instance, this.named(types, instance.instanceType));
    const hasPartitions = placementGroupOf(nodeClass)?.strategy === 'partition';
    return {
      ...facts,
      nodeClaim: claim.metadata.name ?? '',
      labels: {
        ...facts.labels,
        // Which partition EC2 chose is seen later; until then the label is there and empty.
        ...(hasPartitions ? { [awsLabel.placementGroupPartition]: instance.partition ?? '' } : {}),
      },
      annotations: this.annotationsOf(nodeClass),
    };
  }

  failedOfferings(options?: Pick<AskOptions, 'probing'>): FailedOffering[] {
    return this.options.unavailable?.list(options) ?? [];
  }

  async delete(claim: NodeClaim): Promise<void> {
    const id = this.idOf(claim.status?.providerID ?? '');
    try {
      await this.options.instances.delete(id);
    } catch (error) {
      const { labels = {} } = claim.metadata;
      const reservation = labels[awsLabel.capacityReservationId];
      const isReserved = labels[label.capacityType] === capacityType.reserved && reservation !== undefined;
      // Gone at last: its place in the reservation is free again.
      if (isCloudError(error, 'notFound') && isReserved) this.options.reservations.terminated(reservation);
      throw error;
    }
  }

  async get(providerID: string): Promise<Instance> {
    const instance = await this.options.instances.get(this.idOf(providerID), { isFresh: true });
    return machineFacts(instance, await this.typeOf(instance));
  }

  async list(): Promise<Instance[]> {
    const instances = await this.options.instances.list();
    return Promise.all(instances.map(async (instance) => machineFacts(instance, await this.typeOf(instance))));
  }

  async instanceTypes(pool: NodePool, options?: AskOptions): Promise<readonly InstanceTypeSpec[]> {
    const { name } = pool.spec.template.spec.nodeClassRef;
    const nodeClass = await this.options.nodeClassOf(name);
    if (nodeClass === undefined || nodeClass.metadata.deletionTimestamp !== undefined) {
      this.tellMissingClass({ kind: 'NodePool', ...pool.metadata });
      throw new CloudError('createFailed', `EC2NodeClass ${name} of NodePool ${pool.metadata.name} not found`);
    }
    return this.options.types.listInSlices(nodeClass, options);
  }

  /** A missing class is not drift: there is nothing to compare with. */
  async driftReason(claim: NodeClaim): Promise<string | undefined> {
    if (claim.metadata.labels?.[label.nodePool] === undefined) return undefined;
    const nodeClass = await this.options.nodeClassOf(claim.spec.nodeClassRef.name);
    if (nodeClass === undefined || nodeClass.metadata.deletionTimestamp !== undefined) return undefined;
    return this.options.driftOf(claim, nodeClass);
  }

  async whyNotJoined(claim: NodeClaim): Promise<string | undefined> {
    return this.options.whyNotJoined(claim, await this.options.nodeClassOf(claim.spec.nodeClassRef.name));
  }

  async whyForeign(providerID: string): Promise<string | undefined> {
    const id = instanceIdOf(providerID);
    if (id === undefined) return `"${providerID}" names no EC2 instance`;
    try {
      return await this.options.instances.whyForeign(id);
    } catch (error) {
      if (isCloudError(error, 'notFound')) return undefined;
      throw error;
    }
  }

  async reboot(claim: NodeClaim): Promise<void> {
    if (this.options.reboots !== true) {
      throw new CloudError('rebootFailed', 'reboots are off; turn on the gate RebootForRepair of AWS_FEATURE_GATES');
    }
    await this.options.instances.reboot(this.idOf(claim.status?.providerID ?? ''));
  }

  repairPolicies(): readonly RepairPolicy[] {
    return this.options.reboots === true ? policiesWithReboot : repairPolicies;
  }

  private async readyClass(claim: NodeClaim): Promise<EC2NodeClass> {
    const { name } = claim.spec.nodeClassRef;
    const nodeClass = await this.options.nodeClassOf(name);
    if (nodeClass === undefined || nodeClass.metadata.deletionTimestamp !== undefined) {
      this.tellMissingClass({ kind: 'NodeClaim', ...claim.metadata });
      const state = nodeClass === undefined ? 'not found' : 'being deleted';
      throw new CloudError('insufficientCapacity', `resolving node class, EC2NodeClass ${name} is ${state}`);
    }
    const ready = conditionOf(nodeClass.status?.conditions, conditionType.ready);
    const paused = conditionOf(nodeClass.status?.conditions, conditionType.launchesPaused);
    if (paused?.status === 'True') throw new CloudError('nodeClassNotReady', paused.message ?? '');
    if (ready?.status === 'False') throw new CloudError('nodeClassNotReady', ready.message ?? '');
    if (ready?.status !== 'True') {
      const message = 'NodeClass is in Ready=Unknown';
      const condition = { conditionReason: 'NodeClassReadinessUnknown', conditionMessage: message };
      throw new CloudError('createFailed', `resolving NodeClass readiness, ${message}`, condition);
    }
    if (ready.observedGeneration !== nodeClass.metadata.generation) {
      throw new CloudError('nodeClassNotReady', `EC2NodeClass ${name} has changed and is being looked at again`);
    }
    const tag = restrictedTag(nodeClass.spec.tags);
    if (tag !== undefined) {
      throw new CloudError('nodeClassNotReady', `EC2NodeClass ${name} sets the restricted tag ${tag}; remove it`);
    }
    if (this.options.isPlacementGroupUnknown(nodeClass)) {
      throw new CloudError('nodeClassNotReady', `the placement group of EC2NodeClass ${name} was not looked up yet`);
    }
    return nodeClass;
  }

  private typesFor(nodeClass: EC2NodeClass, options: AskOptions): readonly InstanceTypeSpec[] {
    const failed = (reason: string, error: unknown): CloudError =>
      new CloudError('createFailed', messageOf(error), {
        cause: error,
        conditionReason: reason,
        conditionMessage: messageOf(error),
      });
    if ((nodeClass.status?.subnets ?? []).length === 0) {
      throw failed('InstanceTypeResolutionFailed', `no subnets found for EC2NodeClass ${nodeClass.metadata.name}`);
    }
    try {
      return this.options.types.list(nodeClass, options);
    } catch (error) {
      throw failed('InstanceTypeResolutionFailed', error);
    }
  }

  /** The type as the machine's class sees it; undefined when the class is gone or cannot be read. */
  private async typeOf({ tags, instanceType }: Ec2Instance): Promise<InstanceTypeSpec | undefined> {
    const nodeClass = await this.options.nodeClassOf(tags[awsLabel.nodeClass] ?? '');
    if (nodeClass === undefined || (nodeClass.status?.subnets ?? []).length === 0) return undefined;
    return this.named(await this.options.types.listInSlices(nodeClass), instanceType);
  }

  private named(types: readonly InstanceTypeSpec[], name: string): InstanceTypeSpec | undefined {
    let byName = this.byName.get(types);
    if (byName === undefined) this.byName.set(types, (byName = new Map(types.map((type) => [type.name, type]))));
    return byName.get(name);
  }

  /** A node in a partition placement group registers once it is known which partition EC2 chose. */
  private async hasPartition(claim: NodeClaim): ReturnType<RegistrationHook['isReady']> {
    const { labels = {} } = claim.metadata;
    const isWaiting =
      labels[awsLabel.placementGroupId] !== undefined && labels[awsLabel.placementGroupPartition] === '';
    if (!isWaiting) return { ready: true };
    const providerID = claim.status?.providerID;
    if (providerID === undefined) return { ready: false };
    const { partition } = await this.options.instances.get(this.idOf(providerID), { isFresh: true });
    if (partition === undefined) return { ready: false };
    return { ready: true, labels: { [awsLabel.placementGroupPartition]: partition } };
  }

  private idOf(providerID: string): string {
    const id = instanceIdOf(providerID);
    if (id === undefined) throw new CloudError('notFound', `"${providerID}" names no EC2 instance`);
    return id;
  }

  private tellMissingClass({ kind, name, uid }: Pick<EventSubject, 'kind'> & { name?: string; uid?: string }): void {
    this.options.recorder.publish({
      subject: { apiVersion: 'karpenter.sh/v1', kind, name: name ?? '', ...(uid === undefined ? {} : { uid }) },
      type: 'Warning',
      reason: 'FailedResolvingNodeClass',
      message: 'Failed resolving NodeClass',
    });
  }
}
