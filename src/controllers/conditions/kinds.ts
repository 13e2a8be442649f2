// Whose conditions are reported: our own kinds, the provider's node classes, and Nodes.
import { label } from '../../api/index.ts';
import { resources } from '../../ports/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { nodeClassLabel } from '../managed.ts';
import { capacityBuffers, nodeClaims, nodePools } from '../own-resources.ts';
import { type ConditionedKind, conditionController } from './controller.ts';

export function conditionControllers(context: ControllerContext): Controller[] {
  const { cloud, settings } = context;
  const classLabels = cloud.nodeClasses.map(nodeClassLabel);
  const kinds: ConditionedKind[] = [
    { resource: nodeClaims, labels: [...classLabels, label.nodePool], isOwn: true },
    { resource: nodePools, isOwn: true },
    { resource: resources.nodes, labels: [...classLabels, label.nodePool, label.initialized], isOwn: false },
    ...cloud.nodeClasses.map((resource) => ({ resource, isOwn: true })),
  ];
  if (settings.featureGates['CapacityBuffer'] === true)
    kinds.push({ resource: capacityBuffers, isOwn: true, optional: true });
  return kinds.map((kind) => conditionController(context, kind));
}
