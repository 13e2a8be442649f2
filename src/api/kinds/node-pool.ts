// NodePool: which nodes may be launched, how many, and when they may be replaced.
import type * as Type from 'typebox';
import { conditionType, disruptionReason, group } from '../names.ts';
import type { ObjectMeta } from '../object-meta.ts';
import {
  int32,
  int64,
  listOf,
  mapOf,
  object,
  oneOf,
  optional,
  resourceList,
  rule,
  rules,
  text,
} from '../schema/build.ts';
import { strictConditions } from './conditions.ts';
import { ageColumn, conditionColumn, defineKind } from './definition.ts';
import { expireAfter, nodeClassRef, startupTaints, taints, terminationGracePeriod } from './node-template.ts';
import { durationOrNever, labelValue } from './patterns.ts';
import { labelKeyRules, requirements } from './requirements.ts';

const budget = object('How many nodes may be disrupted at once, and when.', {
  nodes: text('A number or a share of the nodes.', { pattern: '^((100|[0-9]{1,2})%|[0-9]+)$', default: '10%' }),
  reasons: optional(
    listOf(
      'Reasons this applies to; all of them if unset.',
      oneOf('A reason to disrupt a node.', Object.values(disruptionReason)),
      { maxItems: 50, 'x-kubernetes-list-type': 'set' },
    ),
  ),
  schedule: optional(
    text('When the budget begins to count, as a cron line in UTC.', {
      pattern: '^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\\s(.+)\\s(.+)\\s(.+)\\s(.+))$',
    }),
  ),
  duration: optional(
    text('How long it counts from then, in hours and minutes.', {
      pattern: '^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$',
    }),
  ),
});

const disruption = object(
  'When nodes may be removed or replaced without being asked.',
  {
    consolidateAfter: optional(
      text('How long a node must be quiet before it may be consolidated; Never forbids it.', {
        pattern: durationOrNever,
        default: '0s',
      }),
    ),
    consolidationPolicy: optional(
      oneOf('Which nodes may be consolidated.', ['WhenEmpty', 'WhenEmptyOrUnderutilized', 'Balanced'], {
        default: 'WhenEmptyOrUnderutilized',
      }),
    ),
    budgets: optional(
      listOf('Bounds on how many nodes are disrupted at once; an empty list sets none.', budget, {
        maxItems: 50,
        default: [{ nodes: '10%' }],
        'x-kubernetes-list-type': 'atomic',
        ...rules(rule('self.all(b, has(b.schedule) == has(b.duration))', "'schedule' must be set with 'duration'")),
      }),
    ),
  },
  { default: { consolidateAfter: '0s' } },
);

const template = object('What the nodes look like.', {
  metadata: optional(
    object('Metadata the nodes get.', {
      labels: optional(
        mapOf('Labels of the nodes.', text('A value.', { maxLength: 63, pattern: labelValue }), {
          maxProperties: 100,
          'x-kubernetes-map-type': 'atomic',
          'x-kubernetes-validations': labelKeyRules(
            { ownedByPool: true, of: 'label' },
            (test) => `self.all(k, ${test.replaceAll('KEY', 'k')})`,
          ),
        }),
      ),
      annotations: optional(
        mapOf('Annotations of the nodes.', text('A value.'), { 'x-kubernetes-map-type': 'granular' }),
      ),
    }),
  ),
  spec: object('The nodes themselves.', {
    taints: taints(),
    startupTaints: startupTaints(),
    requirements: requirements(true),
    nodeClassRef: nodeClassRef({ fixedKind: true }),
    terminationGracePeriod: terminationGracePeriod(),
    expireAfter: expireAfter(),
  }),
});

const spec = object(
  'What is wanted.',
  {
    template,
    disruption: optional(disruption),
    limits: optional(resourceList('Most the pool may use of each resource; `nodes` bounds the number of nodes.')),
    weight: optional(int32('Pools with more weight are tried first; unset is 0.', { minimum: 1, maximum: 100 })),
    replicas: optional(int64('Keeps exactly this many nodes, whatever pods ask for (a static pool).', { minimum: 0 })),
  },
  rules(
    rule(
      'has(self.replicas) == has(oldSelf.replicas)',
      'Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes',
    ),
    rule(
      "!has(self.replicas) || !has(self.limits) || self.limits.all(k, k == 'nodes')",
      "only 'limits.nodes' is supported on static NodePools",
    ),
    rule('!has(self.replicas) || !has(self.weight)', "'weight' is not supported on static NodePools"),
  ),
);

const status = object('What there is.', {
  resources: optional(resourceList('Capacity of the nodes that are not being deleted.')),
  nodes: optional(int64('How many nodes that is.', { default: 0 })),
  nodeClassObservedGeneration: optional(
    int64('Generation of the node class that registration health was judged against.'),
  ),
  conditions: optional(strictConditions()),
});

export const nodePool = defineKind({
  group,
  version: 'v1',
  kind: 'NodePool',
  plural: 'nodepools',
  category: 'karpenter',
  namespaced: false,
  description: 'A kind of nodes that may be launched for pods, with its bounds and how its nodes are replaced.',
  columns: [
    { name: 'NodeClass', type: 'string', jsonPath: '.spec.template.spec.nodeClassRef.name' },
    { name: 'Nodes', type: 'string', jsonPath: '.status.nodes' },
    conditionColumn('Ready', conditionType.ready),
    ageColumn,
    { name: 'Weight', type: 'integer', jsonPath: '.spec.weight', wide: true },
    { name: 'CPU', type: 'string', jsonPath: '.status.resources.cpu', wide: true },
    { name: 'Memory', type: 'string', jsonPath: '.status.resources.memory', wide: true },
  ],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.nodes' },
  spec,
  status,
});

export type NodePoolSpec = Type.Static<typeof spec>;
export type NodeClaimTemplate = Type.Static<typeof template>;
export type DisruptionBudget = Type.Static<typeof budget>;

export interface NodePool {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: NodePoolSpec;
  status?: Type.Static<typeof status>;
}
