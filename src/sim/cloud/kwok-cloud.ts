// The simulated provider as a Cloud: machines are Node objects with nothing behind them. Interchangeable with Karpenter's
// KWOK provider, on the embedded cluster or any real API server where something plays kubelet.
//
// Promises:
// 1. `create` answers at once with everything known; the Node object follows after the node class's registration delay.
// 2. A machine is its Node: once the Node is gone or going, the machine is not found. A machine whose Node is still to
//    come can be deleted, and then its Node never comes.
// 3. After a restart, `recover` brings the Nodes of launched claims whose creation the old process did not live to see.
// 4. What goes wrong, goes wrong because the node class asks for it: see faults.ts.
import type { KWOKNodeClass, KwokFaults, NodeClaim, NodePool } from '../../api/index.ts';
import { kwokGroup, kwokNode, label, taint } from '../../api/index.ts';
import { type Clock, messageOf, parseGoDuration, type Timer } from '../../base/index.ts';
import {
  allocatableOf,
  type FailedOffering,
  type InstanceTypeSpec,
  type LaunchOption,
  launchOptions,
  OfferingMemory,
  type OfferingName,
  type ProviderFacts,
  probeShare,
  type RequirementSpec,
  singleValuedLabels,
} from '../../core/index.ts';
import {
  type AskOptions,
  type Cloud,
  CloudError,
  type CreateOptions,
  type Instance,
  isKubeError,
  type Kube,
  type Log,
  type Node,
  type RepairPolicy,
  type Resource,
  resources,
} from '../../ports/index.ts';
import { Faults, hasVanished } from './faults.ts';

export const kwokNodeClasses: Resource<KWOKNodeClass> = {
  group: kwokGroup,
  version: 'v1alpha1',
  plural: 'kwoknodeclasses',
  kind: 'KWOKNodeClass',
  namespaced: false,
};

export interface KwokCloudOptions {
  kube: Kube;
  clock: Clock;
  log: Log;
  catalogue: readonly InstanceTypeSpec[];
  facts: ProviderFacts;
  /** Uniform in [0, 1): breaks ties between equal prices and makes node names. */
  random: () => number;
}

const providerPrefix = kwokNode.providerIdPrefix;
const repairAfterMs = 600_000;
/** Between tries to write a Node; the API server may be busy or away. */
const retryMs = { first: 1_000, most: 30_000 };

export class KwokCloud implements Cloud {
  readonly name = 'kwok';
  readonly nodeClasses = [kwokNodeClasses];
  readonly facts: ProviderFacts;
  private readonly options: KwokCloudOptions;
  private readonly byName: Map<string, InstanceTypeSpec>;
  private readonly faults: Faults;
  private readonly failed: OfferingMemory;
  private isDisposed = false;
  /** Nodes still to be written, by provider id; one without a timer never will be. */
  private readonly coming = new Map<string, { node: Node; timer: Timer | undefined; isWriting?: boolean }>();

  constructor(options: KwokCloudOptions) {
    this.options = options;
    this.facts = options.facts;
    this.byName = new Map(options.catalogue.map((type) => [type.name, type]));
    const { kube, clock, random, log } = options;
    const typeNames = options.catalogue.map(({ name }) => name);
    this.failed = new OfferingMemory({ clock, typeNames: () => typeNames });
    this.faults = new Faults({ kube, clock, random, onFailure: (error) => log.error('simulated fault', error) });
  }

  async create(claim: NodeClaim, { instanceTypes, probing = false }: CreateOptions = {}): Promise<Instance> {
    const nodeClass = await this.readyNodeClass(claim);
    const faults = this.faults.learn(nodeClass);
    this.faults.throttle('Create');
    await this.faults.delayLaunch(faults);
    const option = this.choose(claim, faults, instanceTypes, probing);
    const nodeName = `kwok-${claim.metadata.name}-${this.suffix()}`;
    const node = this.nodeFor(claim, option, nodeName);
    if (this.faults.neverJoins(faults, node)) this.coming.set(providerIdOf(node), { node, timer: undefined });
    else this.bringNode(node, faults, parseGoDuration(nodeClass.spec?.nodeRegistrationDelay ?? '') ?? 0);
    return instanceOf(node);
  }

  async delete(claim: NodeClaim): Promise<void> {
    this.faults.throttle('Delete');
    const providerID = claim.status?.providerID ?? '';
    const coming = this.coming.get(providerID);
    if (coming !== undefined) {
      // A Node that is being written right now comes; the next call finds and deletes it.
      if (coming.isWriting === true) return;
      coming.timer?.dispose();
      this.coming.delete(providerID);
      return;
    }
    const node = await this.nodeOf(providerID);
    await this.options.kube.delete(resources.nodes, { name: node.metadata.name ?? '' });
  }

  async get(providerID: string): Promise<Instance> {
    this.faults.throttle('Get');
    return instanceOf(this.coming.get(providerID)?.node ?? (await this.nodeOf(providerID)));
  }

  async list(): Promise<Instance[]> {
    this.faults.throttle('List');
    const { items } = await this.options.kube.list(resources.nodes);
    const nodes = items.filter((node) => providerIdOf(node).startsWith(providerPrefix) && !hasVanished(node));
    const there = new Set(nodes.map(providerIdOf));
    const coming = [...this.coming.values()].map(({ node }) => node).filter((node) => !there.has(providerIdOf(node)));
    return [...nodes, ...coming].map(instanceOf);
  }

  instanceTypes(_pool: NodePool): Promise<readonly InstanceTypeSpec[]> {
    return Promise.resolve(this.options.catalogue);
  }

  failedOfferings(options: Pick<AskOptions, 'probing'> = {}): FailedOffering[] {
    return this.failed.list(options);
  }

  /** The simulated provider changes nothing behind one's back. */
  driftReason(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** There is nothing to restart: the Node gets another boot id, the same for every try of one reboot. */
  async reboot(claim: NodeClaim, operationId: string): Promise<void> {
    const { metadata } = await this.nodeOf(claim.status?.providerID ?? '');
    const body = { status: { nodeInfo: { bootID: `kwok-${operationId}` } } };
    const ref = { name: metadata.name ?? '' };
    await this.options.kube.patch(resources.nodes, ref, { type: 'merge', body }, { subresource: 'status' });
  }

  repairPolicies(): readonly RepairPolicy[] {
    const unready = { conditionType: 'Ready', tolerationMs: repairAfterMs, terminationGracePeriodMs: 0 };
    const simulated = { conditionStatus: 'True', reasonRegex: '.*', tolerationMs: 30_000 } as const;
    return [
      { ...unready, conditionStatus: 'False' },
      { ...unready, conditionStatus: 'Unknown', reasonRegex: '.*' },
      { ...simulated, conditionType: 'KWOKUnhealthy', terminationGracePeriodMs: 45_000 },
      { ...simulated, conditionType: 'KWOKRebootRequired', terminationGracePeriodMs: 60_000, action: 'RebootNode' },
    ];
  }

  /** Brings the Nodes of claims that were launched but whose Node was never written, and sets the faults of the others. */
  async recover(claims: readonly NodeClaim[]): Promise<void> {
    const { items: nodes } = await this.options.kube.list(resources.nodes);
    const { items: classes } = await this.options.kube.list(kwokNodeClasses);
    const faultsOf = new Map(classes.map((each) => [each.metadata.name, this.faults.learn(each)]));
    const existing = new Map(nodes.map((node) => [providerIdOf(node), node]));
    for (const claim of claims) {
      // Listed as they are stored: a malformed one must not end the process that recovers the others.
      const nodeClass = (claim as Partial<NodeClaim>).spec?.nodeClassRef?.name;
      if (nodeClass === undefined) continue;
      const faults = faultsOf.get(nodeClass) ?? {};
      const providerID = claim.status?.providerID ?? '';
      const node = existing.get(providerID);
      if (node !== undefined) this.faults.arm(faults, node);
      const isLost = providerID.startsWith(providerPrefix) && node === undefined && !this.coming.has(providerID);
      const registered = claim.status?.conditions?.some((each) => each.type === 'Registered' && each.status === 'True');
      if (!isLost || registered || claim.metadata.deletionTimestamp !== undefined) continue;
      const type = this.byName.get(claim.metadata.labels?.[label.instanceType] ?? '');
      const [option] = type === undefined ? [] : launchOptions([type], labelRequirements(claim), this.facts);
      if (option === undefined) continue;
      this.bringNode(this.nodeFor(claim, option, providerID.slice(providerPrefix.length)), faults, 0);
    }
  }

  /** The machines that are there suffer these faults as well, as if they had appeared just now. */
  async strike(faults: KwokFaults): Promise<void> {
    const { kube, clock } = this.options;
    const { items } = await kube.list(resources.nodes);
    for (const node of items) {
      if (providerIdOf(node).startsWith(providerPrefix) && !hasVanished(node)) {
        this.faults.arm(faults, node, clock.now());
      }
    }
  }

  /** Stops writing Nodes; what was asked for is brought by the next process. */
  dispose(): void {
    this.isDisposed = true;
    this.faults.dispose();
    for (const { timer } of this.coming.values()) timer?.dispose();
    this.coming.clear();
  }

  private async readyNodeClass(claim: NodeClaim): Promise<KWOKNodeClass> {
    const { name } = claim.spec.nodeClassRef;
    let nodeClass: KWOKNodeClass;
    try {
      nodeClass = await this.options.kube.get(kwokNodeClasses, { name });
    } catch (error) {
      if (isKubeError(error, 'NotFound'))
        throw new CloudError(
          'insufficientCapacity',
          `resolving node class from nodeclaim, KWOKNodeClass.karpenter.kwok.sh "${name}" not found`,
          { cause: error },
        );
      throw error;
    }
    const ready = nodeClass.status?.conditions?.find((condition) => condition.type === 'Ready');
    if (ready?.status === 'False')
      throw new CloudError('nodeClassNotReady', ready.message || `KWOKNodeClass ${name} is not ready`);
    return nodeClass;
  }

  /** The cheapest offering the claim allows; equal prices are drawn by lot. */
  private choose(
    claim: NodeClaim,
    faults: KwokFaults,
    catalogue: readonly InstanceTypeSpec[] | undefined,
    probing: boolean,
  ): LaunchOption {
    const byName = catalogue === undefined ? this.byName : new Map(catalogue.map((type) => [type.name, type]));
    const requirements = claim.spec.requirements as RequirementSpec[];
    const wanted = requirements.find((each) => each.key === label.instanceType && each.operator === 'In');
    if (wanted === undefined) throw new Error('translating nodeclaim to node, instance type requirement not found');
    const types = (wanted.values ?? []).map((name) => {
      const type = byName.get(name);
      if (type !== undefined) return type;
      throw new Error(`translating nodeclaim to node, instance type not found (instance-type=${name})`);
    });
    const options = this.asked(launchOptions(types, requirements, this.facts), probing).filter((option) => {
      const hasCapacity = this.faults.hasCapacity(faults, option);
      if (!hasCapacity) this.failed.failed(offeringName(option), 'insufficient capacity', { isShortage: true });
      return hasCapacity;
    });
    const cheapest = options.filter((option) => option.offering.price === options[0]?.offering.price);
    const drawn = cheapest[Math.floor(this.options.random() * cheapest.length)];
    if (drawn === undefined) {
      throw new CloudError('insufficientCapacity', `no available offering among ${types.length} instance types`);
    }
    this.failed.succeeded(offeringName(drawn));
    return drawn;
  }

  /** What failed lately is not asked for again, unless the launch probes. */
  private asked(options: readonly LaunchOption[], probing: boolean): LaunchOption[] {
    if (!probing) return options.filter((option) => !this.failed.isLeftAlone(offeringName(option)));
    const share = new Set(
      probeShare(options, (option) => this.failed.lastFailedMs(offeringName(option)), this.options.clock.elapsed()),
    );
    return options.filter((option) => share.has(option));
  }

  private nodeFor(claim: NodeClaim, { instanceType, offering }: LaunchOption, nodeName: string): Node {
    const requirements = claim.spec.requirements as RequirementSpec[];
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: nodeName,
        labels: {
          ...claim.metadata.labels,
          ...singleValuedLabels(requirements, this.facts),
          ...singleValuedLabels(instanceType.requirements, this.facts),
          ...singleValuedLabels(offering.requirements, this.facts),
          [label.instanceType]: instanceType.name,
          [label.hostname]: claim.metadata.name ?? nodeName,
          [kwokNode.label]: kwokNode.value,
          [kwokNode.partitionLabel]: 'a',
          [kwokNode.priceLabel]: offering.price.toFixed(6),
        },
        annotations: { ...claim.metadata.annotations, [kwokNode.label]: kwokNode.value },
      },
      spec: { providerID: `${providerPrefix}${nodeName}`, taints: [{ ...taint.unregistered }] },
      status: {
        capacity: Object.fromEntries(
          Object.entries(instanceType.capacity).map(([name, amount]) => [name, String(amount)]),
        ),
        allocatable: allocatableOf(instanceType),
        phase: 'Pending',
      },
    };
  }

  /** Writes the Node after `delayMs`, trying until it is there. One that is refused as invalid never joins. */
  private bringNode(node: Node, faults: KwokFaults, delayMs: number, nextRetryMs = retryMs.first): void {
    const providerID = providerIdOf(node);
    const { clock, kube, log } = this.options;
    const write = async (): Promise<void> => {
      const coming = this.coming.get(providerID);
      if (coming !== undefined) coming.isWriting = true;
      try {
        const written = await kube.create(resources.nodes, node);
        this.coming.delete(providerID);
        if (!this.isDisposed) this.faults.arm(faults, written);
      } catch (error) {
        if (isKubeError(error, 'AlreadyExists')) {
          this.coming.delete(providerID);
        } else if (this.coming.has(providerID)) {
          log.error('could not create simulated node', error, {
            Node: { name: node.metadata.name },
            cause: messageOf(error),
          });
          if (isKubeError(error, 'Invalid')) this.coming.set(providerID, { node, timer: undefined });
          else this.bringNode(node, faults, nextRetryMs, Math.min(retryMs.most, nextRetryMs * 2));
        }
      }
    };
    if (this.isDisposed) return;
    const timer = clock.after(delayMs, () => void write());
    this.coming.set(providerID, { node, timer });
  }

  private async nodeOf(providerID: string): Promise<Node> {
    const missing = (): CloudError => new CloudError('notFound', `no node has provider id ${providerID}`);
    if (!providerID.startsWith(providerPrefix)) throw missing();
    try {
      const node = await this.options.kube.get(resources.nodes, { name: providerID.slice(providerPrefix.length) });
      if (node.metadata.deletionTimestamp !== undefined || hasVanished(node)) throw missing();
      return node;
    } catch (error) {
      throw isKubeError(error, 'NotFound') ? missing() : error;
    }
  }

  private suffix(): string {
    return Math.floor(this.options.random() * 0x1_0000_0000)
      .toString(36)
      .padStart(7, '0');
  }
}

function offeringName({ instanceType, offering }: LaunchOption): OfferingName {
  const valueOf = (key: string): string =>
    offering.requirements.find((requirement) => requirement.key === key)?.values?.[0] ?? '';
  return { instanceType: instanceType.name, zone: valueOf(label.zone), capacityType: valueOf(label.capacityType) };
}

const providerIdOf = (node: Node): string => node.spec?.providerID ?? '';

function instanceOf(node: Node): Instance {
  return {
    providerID: providerIdOf(node),
    labels: { ...node.metadata.labels },
    annotations: { ...node.metadata.annotations },
    capacity: { ...(node.status?.capacity as Record<string, string>) },
    allocatable: { ...(node.status?.allocatable as Record<string, string>) },
    ...(node.metadata.creationTimestamp === undefined ? {} : { createdAt: node.metadata.creationTimestamp }),
    ...(node.metadata.labels?.[label.hostname] === undefined
      ? {}
      : { nodeClaim: node.metadata.labels[label.hostname] }),
    isDeleting: node.metadata.deletionTimestamp !== undefined,
  };
}

/** What a launched claim's labels say about where it runs. */
function labelRequirements(claim: NodeClaim): RequirementSpec[] {
  return [label.zone, label.capacityType].flatMap((key) => {
    const value = claim.metadata.labels?.[key];
    return value === undefined ? [] : [{ key, operator: 'In' as const, values: [value] }];
  });
}
