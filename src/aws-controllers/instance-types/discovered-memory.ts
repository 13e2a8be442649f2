// providers.instancetype.capacity: learns how much memory machines of a type really have, from nodes that registered. Only
// nodes that run the image their class would boot today count: another image may keep more or less for itself.
import { type EC2NodeClass, label, type NodeClaim } from '../../api/index.ts';
import { parseQuantity, quantityIn } from '../../base/index.ts';
import type { Controller, ControllerContext } from '../../controllers/index.ts';
import type { InstanceTypeSpec } from '../../core/index.ts';
import { type Node, resources } from '../../ports/index.ts';
import { done } from '../../runtime/index.ts';

export interface DiscoveredMemoryParts {
  nodeClassOf(name: string): EC2NodeClass | undefined;
  types: {
    list(nodeClass: EC2NodeClass): readonly InstanceTypeSpec[];
    learnMemory(nodeClass: EC2NodeClass, instanceType: string, memoryBytes: number): void;
  };
  /** The image a class boots a type from now. */
  imageFor(nodeClass: EC2NodeClass, type: InstanceTypeSpec): string | undefined;
}

const isRegistered = (node: Node | undefined): boolean => node?.metadata.labels?.[label.registered] === 'true';
const factOf = (node: Node | undefined): string => (isRegistered(node) ? (memoryOf(node) ?? '') : 'not registered');
const memoryOf = (node: Node | undefined): string | undefined => node?.status?.capacity?.['memory'];
const nameOf = (node: Node | undefined): string => node?.metadata.name ?? '';

export function discoveredMemoryController(context: ControllerContext, parts: DiscoveredMemoryParts): Controller {
  const { cluster, isManaged, cacheOf } = context;
  const claimOf = (providerID: string): NodeClaim | undefined =>
    cluster.claims.filedUnder(providerID).find(({ spec }) => isManaged(spec.nodeClassRef));
  return {
    name: 'providers.instancetype.capacity',
    concurrency: 1,
    sources: [
      {
        resource: resources.nodes,
        // Once per node: when it registers, or when the kubelet says only later how much there is.
        keys: ({ before, after }) => (isRegistered(after) && factOf(before) !== factOf(after) ? [nameOf(after)] : []),
      },
    ],
    async reconcile(name) {
      const node = cacheOf(resources.nodes).get(name);
      const claim = claimOf(node?.spec?.providerID ?? '');
      const nodeClass = claim && parts.nodeClassOf(claim.spec.nodeClassRef.name);
      const memory = memoryOf(node);
      if (nodeClass === undefined || memory === undefined || (nodeClass.status?.subnets ?? []).length === 0)
        return done;
      const type = parts.types
        .list(nodeClass)
        .find((each) => each.name === node?.metadata.labels?.[label.instanceType]);
      if (type === undefined || parts.imageFor(nodeClass, type) !== claim?.status?.imageID) return done;
      parts.types.learnMemory(nodeClass, type.name, quantityIn('units', parseQuantity(memory)));
      return done;
    },
  };
}
