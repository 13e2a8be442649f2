// CapacityBuffer: room kept free ahead of time, described by pods that do not exist yet.
import type * as Type from 'typebox';
import { bufferGroup } from '../names.ts';
import type { ObjectMeta } from '../object-meta.ts';
import { int32, int64, object, optional, resourceList, rule, rules, text } from '../schema/build.ts';
import { strictConditions } from './conditions.ts';
import { ageColumn, defineKind } from './definition.ts';

const podTemplateRef = (description: string) =>
  object(description, { name: text('Name of a PodTemplate in the same namespace.', { minLength: 1 }) });

const spec = object(
  'How much room to keep.',
  {
    provisioningStrategy: optional(text('How the room is kept.', { default: 'buffer.x-k8s.io/active-capacity' })),
    podTemplateRef: optional(podTemplateRef('The pod to keep room for.')),
    scalableRef: optional(
      object('The workload whose pods to keep room for.', {
        apiGroup: optional(text('API group of the workload.')),
        kind: text('Kind of the workload.', { minLength: 1 }),
        name: text('Name of the workload.', { minLength: 1 }),
      }),
    ),
    replicas: optional(int32('For how many pods.', { minimum: 0 })),
    percentage: optional(int32("For this share of the workload's pods.", { minimum: 0 })),
    limits: optional(resourceList('Most that the pods together may ask for.')),
  },
  rules(
    rule(
      '!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)',
      'If podTemplateRef is set, replicas or limits must also be set',
    ),
    rule(
      '!(has(self.podTemplateRef) && has(self.scalableRef))',
      'You must define either PodTemplateRef or ScalableRef, but not both',
    ),
  ),
);

const status = object('What the buffer came to.', {
  podTemplateRef: optional(podTemplateRef('The pod the room is kept for.')),
  replicas: optional(int32('For how many pods room is kept.')),
  podTemplateGeneration: optional(int64('Generation of the pod template that was used.')),
  provisioningStrategy: optional(text('Strategy that was used.')),
  conditions: optional(strictConditions()),
});

export const capacityBuffer = defineKind({
  group: bufferGroup,
  version: 'v1beta1',
  kind: 'CapacityBuffer',
  plural: 'capacitybuffers',
  shortNames: ['cb'],
  category: 'autoscaling',
  namespaced: true,
  description: 'Room that is kept free for pods still to come.',
  columns: [
    { name: 'Strategy', type: 'string', jsonPath: '.spec.provisioningStrategy' },
    { name: 'PodTemplate', type: 'string', jsonPath: '.status.podTemplateRef.name' },
    { name: 'Replicas', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'ConditionsType', type: 'string', jsonPath: '.status.conditions[*].type' },
    { name: 'ConditionsStatus', type: 'string', jsonPath: '.status.conditions[*].status' },
    { name: 'ConditionsReason', type: 'string', jsonPath: '.status.conditions[*].reason' },
    ageColumn,
  ],
  spec,
  status,
});

export interface CapacityBuffer {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: Type.Static<typeof spec>;
  status?: Type.Static<typeof status>;
}
