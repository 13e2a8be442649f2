// How full a planned node is: what its pods and daemons ask for, of what the chosen type can give.
import { parseQuantity } from '../../base/index.ts';
import type { InstanceTypeSpec, PlannedNode, PoolInstanceTypes, ResourceQuantities } from '../../core/index.ts';

/** Requested part of the allocatable amount, 0 to 1; undefined where the type is not known. */
export class Fullness {
  private readonly types = new Map<string, InstanceTypeSpec>();
  private readonly allocatable = new Map<InstanceTypeSpec, Map<string, number>>();

  constructor(instanceTypes: readonly PoolInstanceTypes[]) {
    for (const { nodePool, items } of instanceTypes) {
      for (const type of items ?? []) this.types.set(`${nodePool}/${type.name}`, type);
    }
  }

  of(node: PlannedNode, resource: string): number | undefined {
    const type = this.types.get(`${node.nodePool}/${node.chosen.instanceType}`);
    if (type === undefined) return undefined;
    const most = this.allocatableOf(type, resource);
    return most > 0 ? unitsOf(node.requests, resource) / most : undefined;
  }

  private allocatableOf(type: InstanceTypeSpec, resource: string): number {
    let known = this.allocatable.get(type);
    if (known === undefined) this.allocatable.set(type, (known = new Map()));
    let amount = known.get(resource);
    if (amount === undefined) {
      const { kubeReserved, systemReserved, evictionThreshold } = type.overhead ?? {};
      amount = unitsOf(type.capacity, resource);
      for (const part of [kubeReserved, systemReserved, evictionThreshold]) amount -= unitsOf(part ?? {}, resource);
      known.set(resource, amount);
    }
    return amount;
  }
}

function unitsOf(resources: ResourceQuantities, resource: string): number {
  const quantity = resources[resource];
  return quantity === undefined ? 0 : Number(parseQuantity(quantity).nano) / 1e9;
}
