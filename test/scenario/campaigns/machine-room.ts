// The cloud behind all replicas: machines that exist whatever etcd says about them, as instances of EC2 do. One that runs
// joins as a Node, and joins again if its Node is lost; one that was terminated stops reporting. Each replica asks through a
// door of its own (cloud-door.ts), where answers may come late or never.
import { kwokNode, label, type NodeClaim, taint } from '../../../src/api/index.ts';
import { type Clock, formatTime } from '../../../src/base/index.ts';
import {
  allocatableOf,
  type InstanceTypeSpec,
  launchOptions,
  type RequirementSpec,
  singleValuedLabels,
} from '../../../src/core/index.ts';
import {
  type Cloud,
  CloudError,
  type CreateOptions,
  type Instance,
  isKubeError,
  type Kube,
  type Node,
  resources,
} from '../../../src/ports/index.ts';
import { kwokNodeClasses, kwokProviderFacts } from '../../../src/sim/index.ts';

export interface Machine {
  instance: Instance & { nodeClaim: string };
  launchedMs: number;
  joinsMs: number;
  node: Node;
  isTerminated: boolean;
}

const lookEveryMs = 15_000;

export class MachineRoom {
  readonly machines = new Map<string, Machine>();
  readonly facts = kwokProviderFacts();
  private readonly kube: Kube;
  private readonly clock: Clock;
  private readonly catalogue: readonly InstanceTypeSpec[];
  private readonly bootMs: number;
  /** The cloud's own clock minus true time. */
  skewMs = 0;
  private serial = 0;
  private isClosed = false;

  constructor(options: { kube: Kube; clock: Clock; catalogue: readonly InstanceTypeSpec[]; bootMs: number }) {
    this.kube = options.kube;
    this.clock = options.clock;
    this.catalogue = options.catalogue;
    this.bootMs = options.bootMs;
    const look = (): void => {
      if (this.isClosed) return;
      void this.join();
      void this.stopReporting();
      this.clock.after(lookEveryMs, look);
    };
    look();
  }

  close(): void {
    this.isClosed = true;
  }

  alive(): Machine[] {
    return [...this.machines.values()].filter(({ isTerminated }) => !isTerminated);
  }

  cloud(): Cloud {
    return {
      name: 'machine-room',
      facts: this.facts,
      nodeClasses: [kwokNodeClasses],
      create: async (claim, options) => this.create(claim, options),
      delete: async ({ status }) => this.terminate(status?.providerID ?? ''),
      get: async (providerID) => this.running(providerID).instance,
      list: async () => this.alive().map(({ instance }) => instance),
      instanceTypes: async () => this.catalogue,
      driftReason: async () => undefined,
      repairPolicies: () => [],
    };
  }

  private create(claim: NodeClaim, { instanceTypes = this.catalogue }: CreateOptions = {}): Instance {
    const requirements = claim.spec.requirements as RequirementSpec[];
    const wanted = requirements.find(({ key, operator }) => key === label.instanceType && operator === 'In');
    const types = instanceTypes.filter(({ name }) => wanted?.values?.includes(name) === true);
    const [option] = launchOptions(types, requirements, this.facts);
    if (option === undefined) throw new CloudError('insufficientCapacity', 'no offering');
    const { instanceType, offering } = option;
    const name = claim.metadata.name ?? '';
    const providerID = `room:///i-${(this.serial += 1)}`;
    const labels = {
      ...claim.metadata.labels,
      ...singleValuedLabels(requirements, this.facts),
      ...singleValuedLabels(instanceType.requirements, this.facts),
      ...singleValuedLabels(offering.requirements, this.facts),
      [label.instanceType]: instanceType.name,
      [label.hostname]: name,
    };
    const capacity = Object.fromEntries(
      Object.entries(instanceType.capacity).map(([resource, amount]) => [resource, String(amount)]),
    );
    const allocatable = allocatableOf(instanceType);
    const nowMs = this.clock.now();
    const annotations = { ...claim.metadata.annotations, [kwokNode.label]: kwokNode.value };
    this.machines.set(providerID, {
      instance: {
        providerID,
        labels,
        annotations: {},
        capacity,
        allocatable,
        nodeClaim: name,
        createdAt: formatTime(nowMs + this.skewMs),
      },
      launchedMs: nowMs,
      joinsMs: nowMs + this.bootMs,
      isTerminated: false,
      node: {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: `node-${name}-${this.serial}`, labels, annotations },
        spec: { providerID, taints: [{ ...taint.unregistered }] },
        status: { capacity, allocatable, phase: 'Pending' },
      },
    });
    this.clock.after(this.bootMs, () => void this.join());
    return this.running(providerID).instance;
  }

  private terminate(providerID: string): void {
    this.running(providerID).isTerminated = true;
    void this.stopReporting();
  }

  private running(providerID: string): Machine {
    const machine = this.machines.get(providerID);
    if (machine === undefined || machine.isTerminated)
      throw new CloudError('notFound', `no machine has provider id ${providerID}`);
    return machine;
  }

  /** Every machine that has booted and has no Node makes one, as a kubelet does. */
  private async join(): Promise<void> {
    for (const { node, joinsMs } of this.alive()) {
      if (joinsMs > this.clock.now()) continue;
      try {
        await this.kube.get(resources.nodes, { name: node.metadata.name ?? '' });
      } catch (error) {
        if (!isKubeError(error, 'NotFound')) return;
        await this.kube.create(resources.nodes, node).catch(() => {});
      }
    }
  }

  /** Nodes of terminated machines, also those that a restored backup brought back: their kubelets are silent. */
  private async stopReporting(): Promise<void> {
    const { items } = await this.kube.list(resources.nodes);
    for (const { metadata, spec } of items) {
      const isOver = this.machines.get(spec?.providerID ?? '')?.isTerminated === true;
      if (!isOver || metadata.annotations?.[kwokNode.label] === 'gone') continue;
      const ref = { name: metadata.name ?? '' };
      const gone = { metadata: { annotations: { [kwokNode.label]: 'gone' } } };
      const lastTransitionTime = formatTime(this.clock.now());
      const silent = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: '', lastTransitionTime };
      const status = { status: { conditions: [silent] } };
      await this.kube.patch(resources.nodes, ref, { type: 'merge', body: gone }).catch(() => {});
      await this.kube
        .patch(resources.nodes, ref, { type: 'strategic', body: status }, { subresource: 'status' })
        .catch(() => {});
    }
  }
}
