// Turns one planned node into the NodeClaim that asks for it: what the pool's template says, narrowed by the plan.
import {
  annotation,
  label,
  type NodeClaim,
  type NodePool,
  nodePoolHash,
  nodePoolHashVersion,
} from '../../api/index.ts';
import {
  customLabels,
  type InstanceTypeSpec,
  launchCapacityTypes,
  type PlannedNode,
  type ProviderFacts,
  type RequirementSpec,
} from '../../core/index.ts';
import { nodeClassLabel } from '../managed.ts';

export interface ClaimInputs {
  pool: NodePool;
  /** What the provider offers to the pool. */
  instanceTypes: readonly InstanceTypeSpec[];
  facts: ProviderFacts;
  /** For pools whose template has none; unset by default. */
  defaultTerminationGracePeriod?: string;
}

export function nodeClaimFor(planned: PlannedNode, inputs: ClaimInputs): NodeClaim {
  const requirements = claimRequirements(planned, inputs);
  const claim = claimFromTemplate(inputs, requirements);
  return {
    ...claim,
    metadata: { ...claim.metadata, annotations: { ...claim.metadata.annotations, ...planned.annotations } },
    spec: { ...claim.spec, resources: { requests: planned.requests } },
  };
}

/** The claim a pool's template alone asks for: static pools launch these. */
export function claimFromTemplate(inputs: ClaimInputs, requirements: readonly RequirementSpec[]): NodeClaim {
  const { pool, facts } = inputs;
  const { template } = pool.spec;
  const { nodeClassRef } = template.spec;
  const gracePeriod = template.spec.terminationGracePeriod ?? inputs.defaultTerminationGracePeriod;
  const name = pool.metadata.name ?? '';
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      generateName: `${name}-`,
      labels: {
        ...template.metadata?.labels,
        ...customLabels(requirements, facts),
        [label.nodePool]: name,
        [nodeClassLabel(nodeClassRef)]: nodeClassRef.name,
      },
      annotations: {
        ...template.metadata?.annotations,
        [annotation.nodePoolHash]: hashOf(pool),
        [annotation.nodePoolHashVersion]: nodePoolHashVersion,
      },
      ownerReferences: [
        {
          apiVersion: 'karpenter.sh/v1',
          kind: 'NodePool',
          name,
          uid: pool.metadata.uid ?? '',
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...(template.spec.taints === undefined ? {} : { taints: template.spec.taints }),
      ...(template.spec.startupTaints === undefined ? {} : { startupTaints: template.spec.startupTaints }),
      requirements: requirements.map((each) => ({ ...each })),
      nodeClassRef,
      ...(gracePeriod === undefined ? {} : { terminationGracePeriod: gracePeriod }),
      ...(template.spec.expireAfter === undefined ? {} : { expireAfter: template.spec.expireAfter }),
    },
  };
}

/** All claims of a burst are of a few pools. */
const hashes = new WeakMap<NodePool, string>();

function hashOf(pool: NodePool): string {
  const hash = hashes.get(pool) ?? nodePoolHash(pool.spec.template);
  hashes.set(pool, hash);
  return hash;
}

/** The plan's requirements with the instance types it settled on and the capacity types they are available as. */
function claimRequirements(planned: PlannedNode, { instanceTypes, facts }: ClaimInputs): RequirementSpec[] {
  const chosen = new Set(planned.instanceTypes);
  const types = instanceTypes.filter((type) => chosen.has(type.name));
  const capacityTypes = launchCapacityTypes(types, planned.requirements, facts);
  const narrowed = new Map<string, string[]>([[label.instanceType, planned.instanceTypes]]);
  if (capacityTypes.length > 0) narrowed.set(label.capacityType, capacityTypes);
  const minValuesOf = (key: string): number =>
    Math.max(0, ...planned.requirements.filter((each) => each.key === key).map((each) => each.minValues ?? 0));
  return [
    ...planned.requirements.filter((each) => !narrowed.has(each.key)),
    ...[...narrowed].map(([key, values]): RequirementSpec => {
      const minValues = minValuesOf(key);
      return { key, operator: 'In', values, ...(minValues > 0 ? { minValues } : {}) };
    }),
  ];
}
