// NodeClaim: one machine, asked for by a NodePool or by hand, from its launch to its end.
import type * as Type from 'typebox';
import { conditionType, group, label } from '../names.ts';
import type { ObjectMeta } from '../object-meta.ts';
import { object, optional, resourceList, rule, rules, text, time } from '../schema/build.ts';
import { laxConditions } from './conditions.ts';
import { ageColumn, conditionColumn, defineKind, type PrinterColumn } from './definition.ts';
import { expireAfter, nodeClassRef, startupTaints, taints, terminationGracePeriod } from './node-template.ts';
import { requirements } from './requirements.ts';

const spec = object(
  'What is wanted; fixed once written.',
  {
    taints: taints(),
    startupTaints: startupTaints(),
    requirements: requirements(false),
    resources: optional(
      object('What must fit.', {
        requests: optional(resourceList('Least the instance must have.')),
      }),
    ),
    nodeClassRef: nodeClassRef({ fixedKind: false }),
    terminationGracePeriod: terminationGracePeriod(),
    expireAfter: expireAfter(),
  },
  rules(rule('self == oldSelf', 'spec is immutable')),
);

const status = object('What there is.', {
  nodeName: optional(text('Name of the Node that joined.')),
  providerID: optional(text("The provider's name of the instance.")),
  imageID: optional(text('Image the instance was started from.')),
  capacity: optional(resourceList('Capacity of the node, estimated until it is registered.')),
  allocatable: optional(resourceList('What pods can use of it.')),
  conditions: optional(laxConditions()),
  lastPodEventTime: optional(time('When a pod was last bound to the node, finished or left it.')),
});

const labelColumn = (name: string, key: string, wide = false): PrinterColumn => ({
  name,
  type: 'string',
  jsonPath: `.metadata.labels.${key.replaceAll('.', '\\.')}`,
  wide,
});

export const nodeClaim = defineKind({
  group,
  version: 'v1',
  kind: 'NodeClaim',
  plural: 'nodeclaims',
  category: 'karpenter',
  namespaced: false,
  description: 'One machine that was asked for, and what became of it.',
  columns: [
    labelColumn('Type', label.instanceType),
    labelColumn('Capacity', label.capacityType),
    labelColumn('Zone', label.zone),
    { name: 'Node', type: 'string', jsonPath: '.status.nodeName' },
    conditionColumn('Ready', conditionType.ready),
    ageColumn,
    { name: 'ImageID', type: 'string', jsonPath: '.status.imageID', wide: true },
    { name: 'ID', type: 'string', jsonPath: '.status.providerID', wide: true },
    labelColumn('NodePool', label.nodePool, true),
    { name: 'NodeClass', type: 'string', jsonPath: '.spec.nodeClassRef.name', wide: true },
    conditionColumn('Drifted', conditionType.drifted, true),
  ],
  spec,
  status,
});

export interface NodeClaim {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: Type.Static<typeof spec>;
  status?: Type.Static<typeof status>;
}
