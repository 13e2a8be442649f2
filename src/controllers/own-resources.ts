// Our own kinds as resources of the Kube port.
import type { CapacityBuffer, NodeClaim, NodeOverlay, NodePool } from '../api/index.ts';
import { bufferGroup, group } from '../api/index.ts';
import type { Resource } from '../ports/index.ts';

export const nodePools: Resource<NodePool> = {
  group,
  version: 'v1',
  plural: 'nodepools',
  kind: 'NodePool',
  namespaced: false,
};
export const nodeClaims: Resource<NodeClaim> = {
  group,
  version: 'v1',
  plural: 'nodeclaims',
  kind: 'NodeClaim',
  namespaced: false,
};
export const nodeOverlays: Resource<NodeOverlay> = {
  group,
  version: 'v1alpha1',
  plural: 'nodeoverlays',
  kind: 'NodeOverlay',
  namespaced: false,
};
export const capacityBuffers: Resource<CapacityBuffer> = {
  group: bufferGroup,
  version: 'v1beta1',
  plural: 'capacitybuffers',
  kind: 'CapacityBuffer',
  namespaced: true,
};
